import Netlink
import Platform
import TestSupport
import Testing
import WiFi

@testable import Environment

/// Links, addresses and routes: what there is beside Wi-Fi.
@Suite struct LinkTests {
    let world = World()

    /// All but the evidence, which has tests of its own.
    private func kinds(_ changes: [EnvironmentChange]) -> [EnvironmentChange.Kind] {
        changes.map(\.kind).filter { if case .evidenceChanged = $0 { false } else { true } }
    }

    private func address(_ text: String, _ length: UInt8 = 24) -> InterfaceAddress {
        guard let address = IPAddress(text) else { preconditionFailure(text) }
        return InterfaceAddress(address: address, prefixLength: length)
    }

    /// A wired link, known from the start.
    private func plug(_ index: Int32 = 5, name: String = "eth0", state: UInt8 = 2) {
        world.hear(.link(index, name: name, state: state, mode: 0))
        _ = world.toldEverything()
    }

    // MARK: Kinds

    private static let facts: [(LinkMessage.Shape, DeviceFacts?, LinkKind)] = [
        (.init(hardware: 1), DeviceFacts(type: nil, hasHardware: true), .ethernet),
        (.init(hardware: 1), nil, .ethernet),
        (.init(hardware: 1), DeviceFacts(type: nil, hasHardware: false), .virtual),
        (.init(hardware: 1), DeviceFacts(type: "wlan", hasHardware: true), .wifi),
        (.init(hardware: 1), DeviceFacts(type: "wwan", hasHardware: true), .cellular),
        (.init(hardware: 65534), DeviceFacts(type: "wwan", hasHardware: true), .cellular),
        (.init(hardware: 1), DeviceFacts(type: "bluetooth", hasHardware: true), .bluetooth),
        (.init(hardware: 519), nil, .cellular),
        (.init(hardware: 65534), nil, .tunnel),
        (.init(hardware: 512), nil, .tunnel),
        (.init(hardware: 803), nil, .wifi),
        (.init(hardware: 772, flags: 0x8), nil, .loopback),
        (.init(hardware: 824), nil, .unknown),
        (.init(hardware: 1, kind: "dsa"), DeviceFacts(type: "dsa", hasHardware: true), .ethernet),
        (.init(hardware: 1, kind: "veth"), DeviceFacts(type: nil, hasHardware: false), .virtual),
        (.init(hardware: 1, kind: "bridge"), nil, .virtual),
        (.init(hardware: 1, kind: "bond"), nil, .virtual),
        (.init(hardware: 1, kind: "vlan"), nil, .virtual),
        (.init(hardware: 1, kind: "dummy"), nil, .virtual),
        (.init(hardware: 1, kind: "macvlan"), nil, .virtual),
        (.init(hardware: 1, kind: "tun"), nil, .tunnel),
        (.init(hardware: 65534, kind: "wireguard"), nil, .tunnel),
        (.init(hardware: 1, kind: "vxlan"), nil, .tunnel),
        (.init(hardware: 519, kind: "rmnet"), nil, .cellular),
        (.init(hardware: 1, kind: "something-new"), nil, .virtual),
    ]

    @Test(arguments: facts.indices)
    func kindsAreToldByWhatTheKernelSays(row: Int) throws {
        let (shape, device, kind) = LinkTests.facts[row]
        // The name lies.
        let signal = Signal.link(
            5, name: "wlan9", state: 6, mode: 0, kind: shape.kind, hardware: shape.hardware, extraFlags: shape.flags)
        if let device { world.observe(.device(index: 5, device)) }
        world.hear(signal)
        #expect(world.environment.interfaces[5]?.kind == kind)
    }

    @Test func factsThatComeLate() {
        plug(state: 6)
        #expect(world.environment.interfaces[5]?.kind == .ethernet)
        world.observe(.device(index: 5, DeviceFacts(type: nil, hasHardware: false)))
        #expect(world.environment.interfaces[5]?.kind == .virtual)
    }

    @Test func onlyHardwareIsAPlace() {
        for kind: LinkKind in [.wifi, .ethernet, .cellular, .bluetooth] {
            #expect(Interface(index: 1, name: "", kind: kind).isPhysical)
        }
        for kind: LinkKind in [.tunnel, .virtual, .loopback, .unknown] {
            #expect(!Interface(index: 1, name: "", kind: kind).isPhysical)
        }
    }

    // MARK: Up and down

    @Test func cable() {
        plug()
        world.hear(.link(5, name: "eth0", state: 6, mode: 0))
        #expect(kinds(world.toldEverything()) == [.linkUp])
        world.hear(.link(5, name: "eth0", state: 6, mode: 0))
        #expect(kinds(world.toldEverything()) == [])
        world.hear(.link(5, name: "eth0", state: 2, mode: 0))
        #expect(kinds(world.toldEverything()) == [.linkDown])
        world.hear(.link(5, name: "eth0", state: 6, mode: 0), .linkRemoved(5, name: "eth0"))
        #expect(kinds(world.toldEverything()) == [.linkUp, .linkDown])
    }

    @Test func tunnelsKnowNoState() {
        world.hear(.link(6, name: "wg0", isUp: false, state: 2, mode: 0, kind: "wireguard"))
        world.hear(.link(6, name: "wg0", state: 0, mode: 0, kind: "wireguard"))
        #expect(kinds(world.toldEverything()) == [.linkUp])
        world.hear(.linkFlags(6, isUp: false))
        #expect(kinds(world.toldEverything()) == [.linkDown])
    }

    // MARK: Addresses

    @Test func addressesComeAndGo() {
        plug(state: 6)
        world.hear(.address("192.0.2.7", on: 5))
        #expect(
            kinds(world.toldEverything()) == [
                .addressChanged(added: [address("192.0.2.7")], removed: []), .connectivityChanged(.local),
            ])
        world.hear(.address("192.0.2.7", on: 5))
        #expect(world.toldEverything() == [])
        world.hear(.address("192.0.2.7", on: 5, isRemoved: true))
        #expect(
            kinds(world.toldEverything()) == [
                .addressChanged(added: [], removed: [address("192.0.2.7")]), .connectivityChanged(.none),
            ])
    }

    @Test func tentativeAddressesAreNotThereYet() {
        plug(state: 6)
        world.hear(.address("2001:db8::7", prefix: 64, on: 5, flags: 0x40))
        #expect(world.toldEverything() == [])
        world.hear(.address("2001:db8::7", prefix: 64, on: 5))
        #expect(
            kinds(world.toldEverything()).first == .addressChanged(added: [address("2001:db8::7", 64)], removed: []))
        world.hear(.address("2001:db8::7", prefix: 64, on: 5, flags: 0x08))
        #expect(
            kinds(world.toldEverything()).first == .addressChanged(added: [], removed: [address("2001:db8::7", 64)]))
    }

    @Test func linkLocalAddressesConnectNobody() {
        plug(state: 6)
        world.hear(.address("fe80::1", prefix: 64, on: 5), .address("169.254.3.4", prefix: 16, on: 5))
        #expect(world.environment.connectivity == .none)
    }

    @Test func addressesAreReadAgain() {
        plug(state: 6)
        world.hear(.address("192.0.2.7", on: 5))
        _ = world.toldEverything()
        world.kernel.route = [
            .link(5, name: "eth0", state: 6, mode: 0), .address("192.0.2.8", on: 5),
            .address("2001:db8::9", prefix: 64, on: 5, flags: 0x40),
        ]
        world.observe(.lost(.overrun))
        #expect(
            kinds(world.toldEverything()) == [
                .addressChanged(added: [address("192.0.2.8")], removed: [address("192.0.2.7")]), .resynced(.overrun),
            ])
    }

    // MARK: The way to the internet

    private func route(via gateway: String, on index: Int32 = 5) -> PrimaryRoute {
        PrimaryRoute(interfaceIndex: index, gateway: IPAddress(gateway))
    }

    @Test func routeIsWhatTheKernelWouldTake() {
        plug(state: 6)
        world.kernel.path = .defaultRoute(via: "192.0.2.1", on: 5, length: 32, flags: 0x200)
        world.hear(.defaultRoute(via: "192.0.2.1", on: 5, priority: 100))
        #expect(kinds(world.toldEverything()) == [.routeChanged(route(via: "192.0.2.1"))])
        // A worse one changes nothing.
        world.hear(.defaultRoute(via: "198.51.100.1", on: 3, priority: 600))
        #expect(kinds(world.toldEverything()) == [])
        world.kernel.path = nil
        world.hear(.defaultRoute(via: "192.0.2.1", on: 5, priority: 100, isRemoved: true))
        #expect(kinds(world.toldEverything()) == [.routeChanged(nil)])
    }

    /// Everything that can turn the way: other tables, rules, the halves of the internet, routes that say no, links
    /// set down and addresses taken away, whose routes go without a word.
    @Test(arguments: [
        Signal.defaultRoute(on: 6, table: 51_820), .rule(), .rule(isRemoved: true), .defaultRoute(on: 6, length: 1),
        .defaultRoute(on: nil, kind: 7), .defaultRoute(on: nil, kind: 6, isIPv6: true),
        .link(5, name: "eth0", isUp: false, state: 2, mode: 0), .linkRemoved(5, name: "eth0"),
        .address("192.0.2.7", on: 5, isRemoved: true),
    ])
    func whatCanTurnTheWay(signal: Signal) {
        plug(state: 6)
        world.hear(.address("192.0.2.7", on: 5))
        world.kernel.path = .defaultRoute(via: "192.0.2.1", on: 5, length: 32, flags: 0x200)
        world.hear(.defaultRoute(via: "192.0.2.1", on: 5))
        _ = world.toldEverything()
        world.kernel.path = .defaultRoute(on: 6, length: 32, flags: 0x200)
        world.hear(signal)
        #expect(world.environment.primaryRoute == PrimaryRoute(interfaceIndex: 6, gateway: nil))
    }

    /// A link that had lost its carrier is set down: nothing about its usability changes, but its routes are gone.
    @Test func settingDownALinkWithoutCarrier() {
        plug(state: 2)
        world.kernel.path = .defaultRoute(via: "192.0.2.1", on: 5, length: 32, flags: 0x200)
        world.hear(.defaultRoute(via: "192.0.2.1", on: 5))
        world.kernel.path = nil
        world.hear(.link(5, name: "eth0", isUp: false, state: 2, mode: 0))
        #expect(world.environment.primaryRoute == nil)
    }

    /// `ip route replace` there and back: the kernel says nothing of what was replaced.
    @Test func routeThatIsReplacedAndPutBack() {
        plug(state: 6)
        for gateway in ["192.0.2.1", "192.0.2.2", "192.0.2.1"] {
            world.kernel.path = .defaultRoute(via: gateway, on: 5, length: 32, flags: 0x200)
            world.hear(.defaultRoute(via: gateway, on: 5))
            #expect(world.environment.primaryRoute == route(via: gateway))
        }
    }

    @Test func routesToSinglePlacesAreNotAskedAbout() {
        let count = world.questionCount
        world.hear(.defaultRoute(via: "192.0.2.1", on: 5, length: 24), .defaultRoute(on: 5, length: 0, flags: 0x200))
        world.hear(.defaultRoute(on: 5, kind: 2), .defaultRoute(on: 5, kind: 3))
        #expect(world.questionCount == count)
    }

    @Test func gatewayAndItsAddress() {
        plug(state: 6)
        world.kernel.path = .defaultRoute(via: "192.0.2.1", on: 5, length: 32, flags: 0x200)
        world.kernel.neighbour = .neighbour("192.0.2.1", nil, on: 5, state: 1)
        world.hear(.defaultRoute(via: "192.0.2.1", on: 5))
        #expect(world.environment.primaryRoute?.gatewayMAC == nil)
        _ = world.toldEverything()
        // Not its own, not on its link, not yet, and then.
        world.hear(.neighbour("192.0.2.9", .numbered(9), on: 5), .neighbour("192.0.2.1", .numbered(9), on: 3))
        world.hear(.neighbour("192.0.2.1", .numbered(9), on: 5, state: 0x20))
        #expect(world.toldEverything() == [])
        world.hear(.neighbour("192.0.2.1", .numbered(1), on: 5))
        #expect(kinds(world.toldEverything()).count == 1)
        #expect(world.environment.primaryRoute?.gatewayMAC == .numbered(1))
        world.hear(.neighbour("192.0.2.1", .numbered(1), on: 5, isRemoved: true))
        #expect(world.environment.primaryRoute?.gatewayMAC == .numbered(1))
        world.hear(.neighbour("192.0.2.1", .numbered(2), on: 5))
        #expect(world.environment.primaryRoute?.gatewayMAC == .numbered(2))
    }

    /// In a capture nobody can be asked, so the main table has to do.
    @Test func routeOfACapture() {
        plug(state: 6)
        world.isSlow = true
        func capture(_ signal: Signal) -> PrimaryRoute? {
            world.hear(signal)
            world.observe(.answer(.path(.unknown)))
            return world.environment.primaryRoute
        }
        #expect(capture(.defaultRoute(via: "192.0.2.1", on: 5, priority: 600)) == route(via: "192.0.2.1"))
        #expect(capture(.defaultRoute(via: "198.51.100.1", on: 3)) == route(via: "198.51.100.1", on: 3))
        #expect(capture(.defaultRoute(on: 6, table: 51_820)) == route(via: "198.51.100.1", on: 3))
        #expect(
            capture(.defaultRoute(via: "198.51.100.1", on: 3, isRemoved: true)) == route(via: "192.0.2.1"))
        #expect(capture(.defaultRoute(via: "192.0.2.2", on: 5, priority: 600)) == route(via: "192.0.2.2"))
    }

    @Test func resolvers() {
        let configuration = DNSConfiguration(servers: [IPAddress("192.0.2.53")].compactMap { $0 })
        world.observe(.dns(configuration))
        world.observe(.dns(configuration))
        #expect(kinds(world.toldEverything()) == [.dnsChanged(configuration)])
    }

    @Test func resolverFiles() {
        func parse(_ text: String) -> DNSConfiguration { ResolverConfiguration.parse(Array(text.utf8)) }
        #expect(parse("") == DNSConfiguration())
        let full = parse(
            """
            # nameserver 9.9.9.9
            domain one.example
            search two.example three.example .
            nameserver 192.0.2.53
            nameserver\tfe80::1%wlan0
            nameserver nonsense
            nameserver
            options edns0\r
            """)
        #expect(full.servers.map(\.description) == ["192.0.2.53", "fe80::1"])
        #expect(full.searchDomains == ["two.example", "three.example"])
    }
}

extension LinkMessage {
    /// What RTM_NEWLINK says of a device.
    struct Shape: Sendable {
        var hardware: UInt16
        var kind: String?
        var flags: UInt32

        init(hardware: UInt16, kind: String? = nil, flags: UInt32 = 0) {
            (self.hardware, self.kind, self.flags) = (hardware, kind, flags)
        }
    }
}
