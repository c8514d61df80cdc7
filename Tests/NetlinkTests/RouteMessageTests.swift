import TestSupport
import Testing

@testable import Netlink

/// rtnetlink(7) from octets.
@Suite struct RouteMessageTests {
    private func decode(_ type: UInt16, _ hexadecimal: String) throws -> RouteMessage? {
        try RouteMessage(NetlinkMessage(type: type, payload: octets(hexadecimal)[...]))
    }

    // MARK: Links

    /// `ip link`: wlan2 of the recordings, while the handshake runs.
    private let dormant = """
        00 00 0100 05000000 03100100 00000000
        0a00 0300 776c616e32 00 0000
        0500 1000 05 000000
        0500 1100 01 000000
        0a00 0100 020000000200 0000
        """

    @Test func link() throws {
        guard case .link(let link) = try decode(16, dormant) else {
            Issue.record("no link")
            return
        }
        #expect(link.index == 5)
        #expect(link.hardwareType == 1)
        #expect(link.flags == 0x11003)
        #expect(link.isUp && !link.isLoopback && !link.isPointToPoint)
        #expect(link.name == "wlan2")
        #expect(link.operationalState == 5)
        #expect(link.linkMode == 1)
        #expect(link.hardwareAddress?.description == "02:00:00:00:02:00")
        #expect(link.kind == nil)
    }

    @Test func linkWithAKind() throws {
        guard case .link(let link) = try RouteMessage(Signal.link(9, name: "wg0", state: 0, kind: "wireguard").message)
        else {
            Issue.record("no link")
            return
        }
        #expect(link.kind == "wireguard")
    }

    /// What only flags changed carries nothing else.
    @Test func linkOfFlagsOnly() throws {
        guard case .link(let link) = try decode(16, "00 00 0100 05000000 02100000 01000000") else {
            Issue.record("no link")
            return
        }
        #expect(!link.isUp)
        #expect(link.name == nil && link.operationalState == nil && link.linkMode == nil && link.hardwareAddress == nil)
    }

    /// InfiniBand has 20 octets, an IPIP tunnel 4.
    @Test func hardwareAddressesOfOtherMedia() throws {
        for address in [[UInt8](repeating: 1, count: 20), [1, 2, 3, 4]] {
            let message = Signal.route(
                16, octets("00 00 2000 05000000 01000000 00000000"), Wire.attribute(1, address)
            ).message
            guard case .link(let link) = try RouteMessage(message) else {
                Issue.record("no link")
                return
            }
            #expect(link.hardwareAddress == nil)
        }
    }

    @Test func bridgeCopiesSayNothingOfLinks() throws {
        #expect(try RouteMessage(Signal.link(state: 6, family: 7).message) == nil)
        #expect(try RouteMessage(Signal.linkRemoved(family: 7).message) == nil)
        #expect(try RouteMessage(Signal.linkRemoved(5).message) == .linkRemoved(index: 5))
    }

    @Test(arguments: [
        "", "00 00 0100 05000000 03100100 000000", "00 00 0100 00000000 03100100 00000000",
        "00 00 0100 ffffffff 03100100 00000000", "00 00 0100 05000000 03100100 00000000 0600 1000 0505 0000",
        "00 00 0100 05000000 03100100 00000000 0500 1000 05 000000 0500 1000 05 000000",
    ])
    func brokenLinks(hexadecimal: String) {
        #expect(throws: MalformedMessage.self) { try decode(16, hexadecimal) }
    }

    // MARK: Addresses

    @Test func address() throws {
        let message = try RouteMessage(Signal.address("192.0.2.7", prefix: 25, on: 5).message)
        guard case .address(let address, false) = message else {
            Issue.record("no address")
            return
        }
        #expect(address.index == 5)
        #expect(address.prefixLength == 25)
        #expect(address.address?.description == "192.0.2.7")
        #expect(!address.isTentative)
    }

    /// On a point-to-point link IFA_ADDRESS is the other end, IFA_LOCAL our own.
    @Test func addressWithAPeer() throws {
        let message = try RouteMessage(Signal.address("10.0.0.1", prefix: 32, peer: "10.0.0.2").message)
        guard case .address(let address, false) = message else {
            Issue.record("no address")
            return
        }
        #expect(address.address?.description == "10.0.0.1")
    }

    /// IFA_FLAGS has what the header has no room for.
    @Test(arguments: zip([0x40, 0x08, 0x80, 0x440, 0x400] as [UInt32], [true, true, false, true, false]))
    func tentativeAddresses(flags: UInt32, isTentative: Bool) throws {
        let signal = Signal.address("2001:db8::1", prefix: 64, flags: flags, isRemoved: true)
        guard case .address(let address, true) = try RouteMessage(signal.message) else {
            Issue.record("no address")
            return
        }
        #expect(address.flags == flags)
        #expect(address.isTentative == isTentative)
    }

    @Test(arguments: ["", "02 18 00 00 050000", "02 18 00 00 00000000", "02 18 00 00 05000000 0700 0100 c00002 00"])
    func brokenAddresses(hexadecimal: String) {
        #expect(throws: MalformedMessage.self) { try decode(20, hexadecimal) }
    }

    // MARK: Routes

    private func route(_ signal: Signal) throws -> RouteEntry? {
        guard case .route(let route, _) = try RouteMessage(signal.message) else { return nil }
        return route
    }

    @Test func defaultRoute() throws {
        let route = try route(.defaultRoute(via: "192.0.2.1", on: 5, priority: 600))
        #expect(route?.isDefault == true)
        #expect(route?.family == .v4)
        #expect(route?.gateway?.description == "192.0.2.1")
        #expect(route?.interfaceIndex == 5)
        #expect(route?.priority == 600)
        #expect(route?.table == 254)
    }

    /// Tables from 256 on do not fit the header.
    @Test func otherTables() throws {
        let found = try route(.defaultRoute(on: 6, table: 51_820, isIPv6: true))
        #expect(found?.table == 51_820)
        #expect(found?.family == .v6)
        #expect(found?.gateway == nil)
    }

    @Test func routesThatAreNotDefault() throws {
        #expect(try route(.defaultRoute(length: 1))?.isDefault == false)
        #expect(try route(.defaultRoute(kind: 7))?.isDefault == false)
        #expect(try route(.defaultRoute(flags: 0x200))?.isDefault == false)
    }

    /// rtnexthop: length, flags, hops, index, attributes. The first one speaks.
    @Test func severalNextHops() throws {
        func hop(_ index: Int32, _ attributes: [UInt8]) -> [UInt8] {
            Wire.number(UInt16(8 + attributes.count)) + [0, 0] + Wire.number(index) + attributes
        }
        let hops = hop(5, Wire.attribute(5, [192, 0, 2, 1])) + hop(6, Wire.attribute(5, [198, 51, 100, 1]))
        let found = try route(.defaultRoute(on: nil, extra: Wire.attribute(9, hops)))
        #expect(found?.interfaceIndex == 5)
        #expect(found?.gateway?.description == "192.0.2.1")
        let via = hop(6, Wire.attribute(18, octets("0a00 fe800000000000000000000000000001")))
        #expect(try route(.defaultRoute(on: nil, extra: Wire.attribute(9, via)))?.gateway?.description == "fe80::1")
        for broken in [[], [8], [7, 0, 0, 0, 5, 0, 0, 0], [9, 0, 0, 0, 5, 0, 0, 0]] as [[UInt8]] {
            #expect(throws: MalformedMessage.self) { try route(.defaultRoute(on: nil, extra: Wire.attribute(9, broken))) }
        }
    }

    /// RTA_VIA: an IPv4 route through an IPv6 gateway.
    @Test func gatewayOfTheOtherFamily() throws {
        let via = Wire.attribute(18, octets("0a00 fe800000000000000000000000000001"))
        #expect(try route(.defaultRoute(on: 5, extra: via))?.gateway?.description == "fe80::1")
        #expect(try route(.defaultRoute(on: 5, extra: Wire.attribute(18, [10])))?.gateway == nil)
    }

    /// Multicast routing shares the message type.
    @Test func routesOfOtherFamilies() throws {
        guard case .route(let route, _) = try decode(24, "81 00 00 00 fe 11 00 05 00000000 0900 0400 0102030405") else {
            Issue.record("no route")
            return
        }
        #expect(!route.isDefault)
        #expect(route.kind == 0)
    }

    @Test(arguments: ["", "02 00 00 00 fe 03 00 01 000000", "02 00 00 00 fe 03 00 01 00000000 0700 0500 010203 00"])
    func brokenRoutes(hexadecimal: String) {
        #expect(throws: MalformedMessage.self) { try decode(24, hexadecimal) }
    }

    @Test func rules() throws {
        #expect(try RouteMessage(Signal.rule().message) == .rulesChanged)
        #expect(try RouteMessage(Signal.rule(isRemoved: true).message) == .rulesChanged)
    }

    // MARK: Neighbours

    @Test(
        arguments: zip(
            [0x01, 0x02, 0x04, 0x08, 0x10, 0x20, 0x40, 0x80, 0] as [UInt16],
            [false, true, true, true, true, false, false, true, false]))
    func neighbour(state: UInt16, isValid: Bool) throws {
        let message = try RouteMessage(Signal.neighbour("192.0.2.1", .numbered(1), on: 5, state: state).message)
        guard case .neighbour(let neighbour, false) = message else {
            Issue.record("no neighbour")
            return
        }
        #expect(neighbour.interfaceIndex == 5)
        #expect(neighbour.address?.description == "192.0.2.1")
        #expect(neighbour.hardwareAddress == .numbered(1))
        #expect(neighbour.isValid == isValid)
    }

    @Test func neighbourWithoutAnAddress() throws {
        let message = try RouteMessage(Signal.neighbour("192.0.2.1", nil, isRemoved: true).message)
        guard case .neighbour(let neighbour, true) = message else {
            Issue.record("no neighbour")
            return
        }
        #expect(!neighbour.isValid)
        #expect(throws: MalformedMessage.self) { try decode(28, "02 00 0000 05000000 0200 00") }
    }

    @Test func otherMessagesSayNothing() throws {
        for type in [18, 22, 26, 30, 36, 52, 80, 0xffff] as [UInt16] { #expect(try decode(type, "00") == nil) }
    }

    /// Every octet changed in every bit, and every cut: understood or rejected, never a trap.
    @Test func everyMutationSurvives() {
        let signals: [Signal] = [
            .link(state: 6, kind: "tun"), .address("2001:db8::1"), .neighbour("192.0.2.1", .numbered(1)),
            .defaultRoute(via: "192.0.2.1", extra: Wire.attribute(9, octets("0800 0000 05000000"))),
        ]
        for signal in signals {
            let message = signal.message
            for position in message.payload.indices {
                for bit in 0..<8 {
                    var mutated = message
                    mutated.payload[position] ^= 1 << UInt8(bit)
                    _ = try? RouteMessage(mutated)
                }
                var cut = message
                cut.payload = message.payload[..<position]
                _ = try? RouteMessage(cut)
            }
        }
    }
}

/// Addresses as text.
@Suite struct AddressTextTests {
    @Test(arguments: [
        "02:00:5e:10:00:0f", "02-00-5e-10-00-0F", "0200.5e10.000f", "02005E10000f",
    ])
    func hardwareAddresses(text: String) {
        #expect(MACAddress(text)?.description == "02:00:5e:10:00:0f")
    }

    @Test(arguments: [
        "", ":", "02:00:5e:10:00", "02:00:5e:10:00:0f:", ":02:00:5e:10:00:0f", "02:00:5e:10:00:0f:01", "2:0:5e:10:0:f",
        "02:00-5e:10:00:0f", "0200:5e10:000f", "02.00.5e.10.00.0f", "02005e:10000f", "02:00:5e:10:00:0g",
        "02:00:5e:10:00:0f ", "02::5e:10:00:0f", "0200.5e10.000f.", "02005e10000", "02005e10000f0", "０２005e10000f",
        "+2:00:5e:10:00:0f", "0x:00:5e:10:00:0f",
    ])
    func noHardwareAddresses(text: String) {
        #expect(MACAddress(text) == nil)
    }

    @Test func octetsOfHardwareAddresses() {
        #expect(MACAddress(octets: [2, 0, 0x5e, 0x10, 0, 0x0f])?.octets == [2, 0, 0x5e, 0x10, 0, 0x0f])
        #expect(MACAddress(octets: [1, 2, 3, 4, 5]) == nil)
        #expect(MACAddress(octets: [1, 2, 3, 4, 5, 6, 7]) == nil)
        #expect(MACAddress.numbered(1) < .numbered(2))
    }

    @Test(arguments: ["192.0.2.1", "2001:db8::1", "::", "0.0.0.0", "fe80::1", "::ffff:192.0.2.1"])
    func internetAddresses(text: String) {
        #expect(IPAddress(text)?.description == text)
    }

    @Test(arguments: ["", "192.0.2", "192.0.2.256", "1.2.3.4.5", "192.0.2.1/24", " 192.0.2.1", "fe80::1%lo", ":::", "1.2.3.4\0x", "g::"])
    func noInternetAddresses(text: String) {
        #expect(IPAddress(text) == nil)
    }

    @Test func kindsOfInternetAddresses() {
        func address(_ text: String) -> IPAddress? { IPAddress(text) }
        #expect(address("169.254.1.1")?.isLinkLocal == true)
        #expect(address("169.255.1.1")?.isLinkLocal == false)
        #expect(address("fe80::1")?.isLinkLocal == true)
        #expect(address("febf::1")?.isLinkLocal == true)
        #expect(address("fec0::1")?.isLinkLocal == false)
        #expect(address("::")?.isUnspecified == true)
        #expect(address("::1")?.isUnspecified == false)
        #expect(IPAddress(octets: [1, 2, 3]) == nil)
    }

    @Test func hexadecimal() {
        #expect(([0, 0x0f, 0xa0, 0xff] as [UInt8]).hexadecimal == "000fa0ff")
        #expect(([] as [UInt8]).hexadecimal == "")
    }
}
