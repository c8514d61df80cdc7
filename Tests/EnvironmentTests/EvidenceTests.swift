import Netlink
import Platform
import SystemBus
import TestSupport
import Testing
import WiFi

@testable import Environment

/// What the network behind a link shows of itself, and that none of it outlives its network.
@Suite struct EvidenceTests {
    let world = World()

    private func ip(_ text: String) -> IPAddress {
        guard let address = IPAddress(text) else { preconditionFailure(text) }
        return address
    }

    private func plug(_ index: Int32 = 5, name: String = "eth0") {
        world.hear(.link(index, name: name, state: 6, mode: 0))
        _ = world.toldEverything()
    }

    private func evidence(_ index: Int32 = 5) -> LinkEvidence {
        world.environment.interfaces[index]?.evidence ?? LinkEvidence()
    }

    private func gateways(_ index: Int32 = 5) -> [String] { evidence(index).gateways.map { "\($0.address)" } }

    private func toldEvidence() -> [LinkEvidence] {
        world.toldEverything().compactMap { if case .evidenceChanged(let evidence) = $0.kind { evidence } else { nil } }
    }

    private let mutual = EAPDemands(certificationAuthority: true, serverName: true)

    private func profile(_ accessPoint: AccessPoint?) -> LinkAnnouncements {
        LinkAnnouncements(
            profile: AppliedProfile(ssid: accessPoint.flatMap { SSID(octets: $0.ssid) }, demands: mutual))
    }

    // MARK: Gateways

    @Test func gatewaysOfTheMainTableByMetric() {
        plug()
        world.hear(
            .defaultRoute(via: "192.0.2.1", on: 5, priority: 600),
            .defaultRoute(via: "192.0.2.2", on: 5, priority: 100),
            .defaultRoute(via: "fe80::1", on: 5, priority: 100, isIPv6: true),
            .defaultRoute(via: "fe80::2", on: 5, priority: 50, isIPv6: true),
            .defaultRoute(via: "192.0.2.1", on: 5, priority: 700),
            .defaultRoute(via: "198.51.100.1", on: 3, priority: 10),
            // Another table's, half of the internet, one that says no, one without a gateway.
            .defaultRoute(via: "192.0.2.9", on: 5, table: 51_820), .defaultRoute(via: "192.0.2.9", on: 5, length: 1),
            .defaultRoute(via: "192.0.2.9", on: 5, priority: 1, kind: 7), .defaultRoute(on: 5, priority: 2))
        #expect(gateways() == ["fe80::2", "192.0.2.2", "fe80::1", "192.0.2.1"])
        #expect(gateways(3) == ["198.51.100.1"])
    }

    @Test func onlySoManyGateways() {
        plug()
        for number in 1...20 as ClosedRange<UInt32> {
            world.hear(.defaultRoute(via: "192.0.2.\(number)", on: 5, priority: number))
        }
        #expect(gateways() == (1...8).map { "192.0.2.\($0)" })
    }

    @Test func gatewayThatIsReplacedOrGoes() {
        plug()
        world.hear(.defaultRoute(via: "192.0.2.1", on: 5))
        world.hear(.defaultRoute(via: "192.0.2.2", on: 5))
        #expect(gateways() == ["192.0.2.2"])
        world.hear(.defaultRoute(via: "192.0.2.2", on: 5, isRemoved: true))
        #expect(gateways() == [])
        #expect(toldEvidence().map { $0.gateways.map { "\($0.address)" } } == [["192.0.2.1"], ["192.0.2.2"], []])
    }

    /// The kernel says no word of the routes that go with a link that is set down.
    @Test func gatewaysGoWithALinkThatIsSetDown() {
        plug()
        world.hear(.defaultRoute(via: "192.0.2.1", on: 5))
        world.hear(.link(5, name: "eth0", isUp: false, state: 2, mode: 0))
        #expect(gateways() == [])
        world.hear(.link(5, name: "eth0", state: 6, mode: 0))
        #expect(gateways() == [])
    }

    /// Nor of those that go with an address.
    @Test func gatewaysGoWithAnAddress() {
        plug()
        world.kernel.route = [.defaultRoute(via: "192.0.2.1", on: 5)]
        world.hear(.address("192.0.2.7", on: 5), .address("192.0.2.8", on: 5), world.kernel.route[0])
        world.hear(.defaultRoute(via: "192.0.2.1", on: 5, table: 100))
        world.hear(.address("192.0.2.8", on: 5, isRemoved: true))
        #expect(gateways() == ["192.0.2.1"])
        world.kernel.route = [.defaultRoute(via: "198.51.100.1", on: 3)]
        world.hear(.address("192.0.2.7", on: 5, isRemoved: true))
        #expect(gateways() == [])
        #expect(gateways(3) == [])
    }

    @Test func hardwareAddressesOfGateways() {
        plug()
        world.kernel.route = [.neighbour("192.0.2.1", .numbered(1), on: 5)]
        world.hear(
            .defaultRoute(via: "192.0.2.1", on: 5, priority: 1), .defaultRoute(via: "192.0.2.2", on: 5, priority: 2))
        #expect(
            evidence().gateways == [
                Gateway(address: ip("192.0.2.1"), hardwareAddress: .numbered(1)), Gateway(address: ip("192.0.2.2")),
            ])
        _ = toldEvidence()
        let count = world.questionCount
        // Not its link, not valid, not a gateway; and then it is resolved, told twice.
        world.hear(
            .neighbour("192.0.2.2", .numbered(2), on: 3), .neighbour("192.0.2.2", .numbered(2), on: 5, state: 0x20),
            .neighbour("192.0.2.3", .numbered(3), on: 5), .neighbour("192.0.2.2", .numbered(4), on: 5),
            .neighbour("192.0.2.2", .numbered(4), on: 5))
        #expect(toldEvidence().map { $0.gateways.map(\.hardwareAddress) } == [[.numbered(1), .numbered(4)]])
        // A neighbour that is forgotten is no other one.
        world.hear(.neighbour("192.0.2.2", .numbered(4), on: 5, isRemoved: true))
        #expect(toldEvidence() == [])
        #expect(world.questionCount == count)
    }

    /// The same gateway address on the next network is another machine.
    @Test func hardwareAddressesEndWithTheNetwork() {
        world.join(home)
        world.kernel.route = [.neighbour("192.0.2.1", .numbered(1), on: 3)]
        world.hear(.defaultRoute(via: "192.0.2.1"))
        #expect(evidence(3).gateways.map(\.hardwareAddress) == [.numbered(1)])
        world.disconnect()
        world.kernel.route = []
        world.pass(2)
        #expect(evidence(3).gateways.map(\.hardwareAddress) == [nil])
        world.kernel.route = [.neighbour("192.0.2.1", .numbered(9), on: 3)]
        world.join(office)
        world.hear(.defaultRoute(via: "192.0.2.1"))
        world.hear(world.kernel.route[0])
        #expect(evidence(3).gateways.map(\.hardwareAddress) == [.numbered(9)])
    }

    @Test func aRoamKeepsTheGatewayAndAsksAgain() {
        world.join(home)
        world.kernel.route = [.neighbour("192.0.2.1", .numbered(1), on: 3)]
        world.hear(.defaultRoute(via: "192.0.2.1"))
        _ = toldEvidence()
        world.disconnect(reason: 1)
        world.pass(0.05)
        #expect(toldEvidence() == [])
        world.kernel.route = [.neighbour("192.0.2.1", .numbered(2), on: 3)]
        world.join(upstairs)
        #expect(evidence(3).gateways.map(\.hardwareAddress) == [.numbered(2)])
    }

    @Test func onlyPhysicalLinksHaveEvidence() {
        world.hear(.link(9, name: "tun0", state: 6, mode: 0, kind: "tun"))
        world.hear(.defaultRoute(via: "10.8.0.1", on: 9))
        world.kernel.announcements[9] = LinkAnnouncements(searchDomains: .told(["vpn.example"]))
        world.observe(.announcementsChanged(index: 9))
        #expect(evidence(9) == LinkEvidence())
        #expect(toldEvidence() == [])
    }

    @Test func evidenceOfTheStartIsNoChange() {
        var kernel = SimulatedKernel()
        kernel.route = [
            .link(5, name: "eth0", state: 6, mode: 0), .defaultRoute(via: "192.0.2.1", on: 5, priority: 1),
            .defaultRoute(via: "192.0.2.2", on: 5, priority: 2), .neighbour("192.0.2.1", .numbered(1), on: 5),
            .neighbour("192.0.2.2", .numbered(2), on: 5),
        ]
        kernel.announcements[5] = LinkAnnouncements(searchDomains: .unknown)
        let world = World(kernel)
        #expect(
            world.environment.interfaces[5]?.evidence.gateways.map(\.hardwareAddress) == [.numbered(1), .numbered(2)])
        #expect(world.toldEverything() == [])
    }

    // MARK: Domains

    private func announce(_ domains: LinkAnnouncements.SearchDomains, on index: Int32 = 5) {
        world.kernel.announcements[index] = LinkAnnouncements(searchDomains: domains)
        world.observe(.announcementsChanged(index: index))
    }

    @Test func domainsAsTheyAreTold() {
        plug()
        announce(.told(["corp.example"]))
        announce(.told(["corp.example"]))
        #expect(toldEvidence().map(\.searchDomains) == [["corp.example"]])
        #expect(evidence(3).searchDomains == nil)
        announce(.told([]))
        #expect(evidence().searchDomains == [])
        announce(.unknown)
        #expect(evidence().searchDomains == nil)
    }

    /// The daemon that brought the address, or wrote resolv.conf, has heard more.
    @Test func domainsAreAskedForAgain() {
        plug()
        announce(.unknown)
        world.kernel.announcements[5] = LinkAnnouncements(searchDomains: .told(["one.example"]))
        world.hear(.address("192.0.2.7", on: 5))
        #expect(evidence().searchDomains == ["one.example"])
        world.kernel.announcements[5] = LinkAnnouncements(searchDomains: .told(["two.example"]))
        world.observe(.dns(DNSConfiguration(searchDomains: ["two.example"])))
        #expect(evidence().searchDomains == ["two.example"])
    }

    @Test func domainsEndWithTheNetwork() {
        world.join(home)
        announce(.told(["home.example"]), on: 3)
        world.disconnect(reason: 1)
        world.pass(0.05)
        // A roam is not the end.
        #expect(evidence(3).searchDomains == ["home.example"])
        world.join(upstairs)
        #expect(evidence(3).searchDomains == ["home.example"])
        world.isSlow = true
        world.disconnect()
        world.pass(3)
        #expect(world.state == .idle)
        #expect(evidence(3).searchDomains == nil)
        plug()
        world.answer()
        announce(.told(["corp.example"]))
        world.answer()
        #expect(evidence().searchDomains == ["corp.example"])
        world.hear(.link(5, name: "eth0", state: 2, mode: 0))
        #expect(evidence().searchDomains == nil)
    }

    private func lead(_ index: Int32, table: UInt32 = 254) {
        world.kernel.path = .defaultRoute(via: "192.0.2.1", on: index, length: 32, flags: 0x200)
        world.hear(.defaultRoute(via: "192.0.2.1", on: index, table: table))
    }

    @Test func domainsOfTheFileWhereNoOtherNetworkCanHaveWrittenThem() {
        plug()
        world.observe(.dns(DNSConfiguration(searchDomains: ["Corp.Example.", "corp.example", ".", "bad name"])))
        #expect(evidence().searchDomains == nil)
        lead(5)
        #expect(evidence().searchDomains == ["corp.example"])
        #expect(evidence(3).searchDomains == nil)
        // A tunnel may have brought them, though the way out is the old one.
        world.hear(.link(9, name: "tun0", state: 0, mode: 0, kind: "tun"))
        #expect(evidence().searchDomains == nil)
        world.hear(.linkRemoved(9, name: "tun0"))
        #expect(evidence().searchDomains == ["corp.example"])
        world.hear(.defaultRoute(via: "198.51.100.1", on: 3, priority: 600))
        #expect(evidence().searchDomains == nil)
        world.hear(.defaultRoute(via: "198.51.100.1", on: 3, priority: 600, isRemoved: true))
        #expect(evidence().searchDomains == ["corp.example"])
        announce(.unknown)
        #expect(evidence().searchDomains == nil)
    }

    @Test func theFileOfTheNetworkBeforeSaysNothing() {
        let office = Observation.dns(DNSConfiguration(searchDomains: ["corp.example"]))
        world.observe(office)
        plug()
        lead(5)
        // It was there before the network was.
        #expect(evidence().searchDomains == nil)
        world.observe(office)
        #expect(evidence().searchDomains == ["corp.example"])
        world.hear(.link(5, name: "eth0", state: 2, mode: 0))
        world.observe(office)
        plug()
        #expect(evidence().searchDomains == nil)
        _ = world.toldEverything()
        world.observe(office)
        #expect(evidence().searchDomains == ["corp.example"])
        #expect(world.toldEverything().count == 1)
    }

    @Test func theFileOfTheStartIsOfTheNetworkOfTheStart() {
        var kernel = SimulatedKernel()
        kernel.route = [.link(5, name: "eth0", state: 6, mode: 0), .defaultRoute(via: "192.0.2.1", on: 5)]
        kernel.path = .defaultRoute(via: "192.0.2.1", on: 5, length: 32, flags: 0x200)
        let world = World(kernel)
        #expect(world.environment.interfaces[5]?.evidence.searchDomains == [])
    }

    @Test func domainsOfTheFileAreNotThoseOfALinkBehindATunnel() {
        plug()
        world.observe(.dns(DNSConfiguration(searchDomains: ["corp.example"])))
        world.hear(.link(9, name: "br0", state: 6, mode: 0, kind: "bridge"))
        lead(5)
        lead(9, table: 100)
        #expect(evidence().searchDomains == nil)
    }

    // MARK: Authentication

    @Test func authenticationOfTheAssociation() {
        world.kernel.announcements[3] = profile(office)
        world.join(office)
        #expect(evidence(3).authentication == mutual)
        world.disconnect(reason: 1)
        #expect(evidence(3).authentication == nil)
        world.kernel.announcements[3] = LinkAnnouncements()
        world.join(office.with { $0.bssid = .numbered(0x44) })
        #expect(world.told().last?.hasPrefix("roamed") == true)
        #expect(evidence(3).authentication == nil)
        world.kernel.announcements[3] = profile(office)
        world.observe(.announcementsChanged(index: 3))
        #expect(evidence(3).authentication == mutual)
    }

    /// A network manager may know of a switch later than we.
    @Test func profileOfAnotherNetworkSaysNothing() {
        world.kernel.announcements[3] = profile(office)
        world.join(home)
        #expect(evidence(3).authentication == nil)
        world.disconnect()
        world.pass(2)
        world.join(AccessPoint("Office", 0x55))
        #expect(world.state?.network?.security == .wpa2PSK)
        #expect(evidence(3).authentication == nil)
        world.kernel.announcements[3] = profile(nil)
        world.disconnect()
        world.pass(2)
        world.join(office)
        #expect(evidence(3).authentication == nil)
    }

    @Test func answerAboutAnEarlierAssociation() throws {
        world.kernel.announcements[3] = profile(office)
        world.join(office)
        world.isSlow = true
        world.observe(.announcementsChanged(index: 3))
        let question = try #require(world.questions.last)
        world.kernel.announcements[3] = profile(nil)
        let answer = world.ask(question)
        world.disconnect(reason: 1)
        world.associate(office)
        world.observe(answer)
        // What the profile demanded serves until the new question is answered.
        #expect(evidence(3).authentication == mutual)
        world.answer()
        #expect(evidence(3).authentication == nil)
    }

    @Test func aQuestionThatFailsLeavesNothing() throws {
        world.kernel.announcements[3] = profile(office)
        world.join(office)
        #expect(evidence(3).authentication == mutual)
        world.isSlow = true
        world.disconnect(reason: 1)
        world.associate(office)
        #expect(evidence(3).authentication == mutual)
        let isAboutIt = { (query: Query) in if case .announcements(3, _) = query { true } else { false } }
        let question = try #require(world.questions.last(where: isAboutIt))
        world.observe(.answer(.failed(question)))
        #expect(evidence(3).authentication == nil)
    }

    @Test func answerBeforeTheEndOfTheActivation() throws {
        world.kernel.announcements[3] = profile(office)
        world.join(office)
        world.observe(.deactivated(index: 3))
        #expect(evidence(3).authentication == nil)
        world.isSlow = true
        world.observe(.announcementsChanged(index: 3))
        let answer = world.ask(try #require(world.questions.last))
        world.observe(.deactivated(index: 3))
        world.observe(answer)
        #expect(evidence(3).authentication == nil)
        #expect(world.toldEverything().filter { $0.kind == .evidenceChanged(LinkEvidence()) }.count == 1)
    }

    @Test func authenticationOfAWire() {
        world.kernel.announcements[5] = profile(nil)
        plug()
        #expect(evidence().authentication == mutual)
        world.kernel.announcements[5] = LinkAnnouncements()
        world.hear(.link(5, name: "eth0", state: 2, mode: 0))
        #expect(evidence().authentication == nil)
        world.hear(.link(5, name: "eth0", state: 6, mode: 0))
        #expect(evidence().authentication == nil)
        world.kernel.announcements[5] = profile(office)
        world.observe(.announcementsChanged(index: nil))
        #expect(evidence().authentication == nil)
    }

    /// The index may come again, for another device.
    @Test func nothingOutlivesItsInterface() throws {
        plug()
        announce(.told(["corp.example"]))
        world.isSlow = true
        world.observe(.announcementsChanged(index: 5))
        let answer = world.ask(try #require(world.questions.last))
        world.hear(.linkRemoved(5, name: "eth0"), .link(5, name: "eth1", state: 6, mode: 0))
        world.observe(answer)
        #expect(evidence() == LinkEvidence())
    }

    @Test func cost() {
        for isMetered in [true, true, false, nil, nil] as [Bool?] { world.observe(.metered(isMetered)) }
        #expect(
            world.toldEverything().map(\.kind) == [.meteredChanged(true), .meteredChanged(false), .meteredChanged(nil)])
    }
}

/// What the values of daemons mean.
@Suite struct AnnouncementTests {
    @Test(
        arguments: [
            ("corp.example", "corp.example"), ("Corp.EXAMPLE.", "corp.example"), ("Bücher.example", "bücher.example"),
            ("", nil), (".", nil), ("a b", nil), ("a,b", nil), ("a\u{7}", nil), ("a\u{0}", nil),
        ] as [(String, String?)])
    func domainNames(text: String, name: String?) {
        #expect(DomainName.normalised(text) == name)
    }

    @Test func listsOfDomainsAreCut() {
        let names = DomainName.list((0..<1_000).flatMap { ["n\($0)", "N\($0)."] })
        #expect(names == (0..<32).map { "n\($0)" })
        #expect(DomainName.normalised(String(repeating: "x", count: 255)) == nil)
    }

    private static func link(_ domains: [(String, Bool)], hasServers: Bool) -> BusValue {
        .dictionary([
            "Domains": .list(domains.map { .list([.text($0), .flag($1)]) }),
            "DNS": .list(hasServers ? [.list([.number(2), .octets([192, 0, 2, 53])])] : []),
        ])
    }

    @Test func whatResolvedHoldsOfALink() {
        func domains(_ domains: [(String, Bool)], hasServers: Bool) -> LinkAnnouncements.SearchDomains {
            Resolver.domains(Self.link(domains, hasServers: hasServers))
        }
        #expect(
            domains([("corp.example", false), (".", true), ("lab.example", true)], hasServers: true)
                == .told(["corp.example"]))
        #expect(domains([], hasServers: true) == .told([]))
        #expect(domains([], hasServers: false) == .unknown)
        #expect(Resolver.domains(.dictionary([:])) == .unknown)
        #expect(Resolver.domains(.number(3)) == .unknown)
        #expect(Resolver.domains(.dictionary(["Domains": .list([.number(1), .list([.text("x")])])])) == .told([]))
    }

    @Test(arguments: [(0, nil), (1, true), (2, false), (3, true), (4, false), (5, nil)] as [(Int64, Bool?)])
    func metered(number: Int64, isMetered: Bool?) {
        #expect(NetworkManager.isMetered(.number(number)) == isMetered)
        #expect(NetworkManager.isMetered(.text("1")) == nil)
    }

    private func demands(_ setting: [String: BusValue], methods: [String] = ["peap"]) -> EAPDemands? {
        var setting = setting
        setting["eap"] = .list(methods.map { .text($0) })
        return NetworkManager.profile(.dictionary(["802-1x": .dictionary(setting)]))?.demands
    }

    private let certificate: [String: BusValue] = ["ca-cert": .octets(Array("file:///ca.pem\0".utf8))]
    private let name: [String: BusValue] = ["domain-suffix-match": .text("radius.example")]

    private func both(_ methods: [String], _ more: [String: BusValue] = [:]) -> EAPDemands? {
        demands(certificate.merging(name) { $1 }.merging(more) { $1 }, methods: methods)
    }

    @Test func authorities() {
        for setting in [certificate, ["ca-path": .text("/etc/ssl")], ["system-ca-certs": .flag(true)]] {
            #expect(demands(setting) == EAPDemands(certificationAuthority: true, serverName: false))
        }
        for setting: [String: BusValue] in [
            [:], ["ca-cert": .octets([])], ["ca-path": .text("")], ["system-ca-certs": .flag(false)],
            ["phase2-ca-cert": .octets([1])], ["phase2-domain-match": .text("x")], ["ca-cert": .number(1)],
        ] {
            #expect(demands(setting) == EAPDemands(certificationAuthority: false, serverName: false))
        }
    }

    @Test func serverNames() {
        for setting: [String: BusValue] in [
            name, ["domain-match": .text("x")], ["subject-match": .text("x")],
            ["altsubject-matches": .list([.text("DNS:x")])],
        ] {
            #expect(demands(setting) == EAPDemands(certificationAuthority: false, serverName: true))
        }
        for setting: [String: BusValue] in [["domain-match": .text("")], ["altsubject-matches": .list([])]] {
            #expect(demands(setting) == EAPDemands(certificationAuthority: false, serverName: false))
        }
    }

    @Test func aUsersOwnProfileDemandsNothing() {
        let methods: BusValue = .dictionary(
            ["eap": .list([.text("peap")]), "ca-path": .text("/c"), "domain-match": .text("x")])
        func demands(_ permissions: [BusValue]) -> EAPDemands? {
            let connection: BusValue = .dictionary(["permissions": .list(permissions)])
            return NetworkManager.profile(.dictionary(["802-1x": methods, "connection": connection]))?.demands
        }
        #expect(demands([]) == EAPDemands(certificationAuthority: true, serverName: true))
        #expect(demands([.text("user:mallory:")]) == EAPDemands(certificationAuthority: false, serverName: false))
    }

    @Test func methodsWithoutACertificateDemandNothing() {
        let none = EAPDemands(certificationAuthority: false, serverName: false)
        for method in ["tls", "peap", "ttls"] { #expect(both([method])?.isMutual == true) }
        for method in ["pwd", "leap", "md5", "fast", "external", ""] {
            #expect(both([method]) == none)
            #expect(both(["peap", method]) == none)
        }
        #expect(both([]) == none)
        // A wire that comes up without it.
        #expect(both(["tls"], ["optional": .flag(true)]) == none)
        #expect(both(["tls"], ["optional": .flag(false)])?.isMutual == true)
    }

    @Test func networksOfProfiles() {
        let setting = BusValue.dictionary([:])
        func profile(_ settings: [String: BusValue]) -> AppliedProfile? {
            NetworkManager.profile(.dictionary(settings))
        }
        #expect(profile(["802-1x": setting])?.ssid == nil)
        #expect(profile(["802-1x": setting]) != nil)
        let wireless = BusValue.dictionary(["ssid": .octets([0, 0xff])])
        #expect(profile(["802-1x": setting, "802-11-wireless": wireless])?.ssid == SSID(octets: [0, 0xff]))
        #expect(profile(["802-11-wireless": wireless]) == nil)
        #expect(profile(["802-1x": setting, "802-11-wireless": .dictionary([:])]) == nil)
        #expect(NetworkManager.profile(.number(1)) == nil)
    }
}
