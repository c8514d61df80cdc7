import Environment
import Netlink
import ProbeProtocol
import Testing
import WiFi

@testable import Rules

/// Each kind of evidence: what agrees, what does not, and what is not known.
@Suite struct EvidenceTests {
    private static let mac = given(MACAddress("02:00:5e:10:00:01"))

    private static func link(_ change: (inout Interface) -> Void = { _ in }) -> Interface {
        var link = Interface(index: 3, name: "wlan0", kind: .wifi)
        link.wifi = .joined(WiFiNetwork(ssid: SSID(utf8: "Corp"), bssid: mac, security: .wpa2PSK))
        change(&link)
        return link
    }

    struct Case: Sendable, CustomTestStringConvertible {
        let evidence: String
        let link: Interface
        let expected: String

        var testDescription: String { "\(evidence) \(expected)" }

        init(_ evidence: String, _ expected: String, _ change: (inout Interface) -> Void = { _ in }) {
            self.evidence = evidence
            self.expected = expected
            link = EvidenceTests.link(change)
        }
    }

    static let cases: [Case] = [
        Case("ssid = [\"corp\"]", "no"),
        Case("ssid = [\"Corp \"]", "no"),
        Case("ssid-glob = [\"C*p\"]", "yes"),
        Case("ssid-glob = [\"Corp?\"]", "no"),
        Case("ssid-glob = [\"x\", \"?or?\"]\nssid = [\"y\"]", "yes"),
        Case("ssid = [\"Corp\"]\nssid-glob = [\"x*\"]", "yes"),
        Case("bssid = [\"02:00:5e:10:00:01\"]", "yes"),
        Case("bssid = [\"02-00-5E-10-00-02\"]", "no"),
        Case("bssid = [\"0200.5e1f.ffff/28\"]", "yes"),
        Case("bssid = [\"0200.5e2f.ffff/28\"]", "no"),
        Case("bssid = [\"000000000000/1\"]", "yes"),
        Case("ssid = [\"Corp\"]\nbssid = [\"02:00:5e:10:00:01\"]", "maybe") {
            $0.wifi = .joined(WiFiNetwork(ssid: SSID(utf8: "Corp"), bssid: nil, security: .open))
        },
        Case("ssid = [\"Corp\"]\nsecurity = [\"akm:00-0f-ac:2\"]", "maybe"),
        Case("ssid = [\"Corp\"]\nsecurity = [\"akm:00-0f-ac:2\"]", "yes") {
            var network = given($0.wifi?.network)
            network.akm = .ieee80211(2)
            $0.wifi = .joined(network)
        },
        Case("ssid = [\"Corp\"]\nsecurity = [\"akm:00-0f-ac:2\"]", "no") {
            var network = given($0.wifi?.network)
            network.akm = .ieee80211(4)
            $0.wifi = .joined(network)
        },
        Case("ssid = [\"Corp\"]\nsecurity = [\"akm:00-0f-ac:8\", \"wpa2-psk\"]", "yes"),
        Case("interface = [\"wlan0\"]", "yes"),
        Case("interface = [\"wl*\"]", "yes"),
        Case("interface = [\"wlan1\", \"eth*\"]", "no"),
        Case("gateway-mac = [\"02:00:5e:10:00:01\"]", "maybe"),
        Case("gateway-mac = [\"02:00:5e:10:00:01\"]", "maybe") {
            $0.evidence.gateways = [Gateway(address: ip("10.0.0.1"))]
        },
        Case("gateway-mac = [\"02:00:5e:10:00:01\"]", "yes") {
            $0.evidence.gateways = [Gateway(address: ip("10.0.0.1"), hardwareAddress: mac)]
        },
        Case("gateway-mac = [\"02:00:5e:10:00:02\"]", "no") {
            $0.evidence.gateways = [Gateway(address: ip("10.0.0.1"), hardwareAddress: mac)]
        },
        Case("subnet = [\"10.0.0.0/8\"]", "maybe"),
        Case("subnet = [\"10.0.0.0/8\"]", "maybe") { $0.add("169.254.1.1", "fe80::1") },
        Case("subnet = [\"192.0.2.0/24\", \"10.0.0.0/8\"]", "yes") { $0.add("10.255.255.255") },
        Case("subnet = [\"10.0.0.0/8\"]", "no") { $0.add("11.0.0.0", "2001:db8::1") },
        Case("subnet = [\"2001:db8::/33\"]", "yes") { $0.add("192.0.2.1", "2001:db8:7fff::1") },
        Case("subnet = [\"2001:db8::/33\"]", "no") { $0.add("2001:db8:8000::1") },
        Case("subnet = [\"0.0.0.0/0\"]", "no") { $0.add("2001:db8::1") },
        Case("dns-suffix = [\"corp.example\"]", "maybe"),
        Case("dns-suffix = [\"corp.example\"]", "no") { $0.evidence.searchDomains = [] },
        Case("dns-suffix = [\"corp.example\"]", "yes") { $0.evidence.searchDomains = ["x.example", "CORP.example."] },
        Case("dns-suffix = [\"corp.example\"]", "yes") { $0.evidence.searchDomains = ["lab.Corp.Example"] },
        Case("dns-suffix = [\"corp.example\"]", "no") { $0.evidence.searchDomains = ["evilcorp.example", "example"] },
        Case("dns-suffix = [\"corp.example\"]", "no") {
            $0.evidence.searchDomains = ["corp.example.evil", "c\u{0}", ""]
        },
        Case("ssid = [\"Corp\"]\nsubnet = [\"10.0.0.0/8\"]\ndns-suffix = [\"a\"]", "no") {
            $0.evidence.searchDomains = ["b"]
        },
        // On a wire.
        Case("ssid = [\"Corp\"]\ninterface = [\"eth0\"]", "no") { $0 = .wire },
        Case("bssid = [\"02:00:5e:10:00:01\"]", "no") { $0 = .wire },
        Case("interface = [\"eth0\"]", "yes") { $0 = .wire },
        Case("interface = [\"eth0\"]\nsecurity = [\"enterprise\"]", "maybe") { $0 = .wire },
        Case("interface = [\"eth0\"]\nsecurity = [\"personal\"]", "no") { $0 = .wire },
        Case("interface = [\"eth0\"]\nsecurity = [\"enterprise\"]", "yes") {
            $0 = .wire
            $0.evidence.authentication = .mutual
        },
    ]

    @Test(arguments: cases)
    func judges(_ it: Case) {
        var environment = NetworkEnvironment()
        environment.interfaces[it.link.index] = it.link
        let judgement = ruleSet("[network.n]\n\(it.evidence)").judge(environment)
        let found = judgement["n"] != nil ? "yes" : judgement.doubt("n") != nil ? "maybe" : "no"
        #expect(found == it.expected)
    }

    /// The index must find exactly what looking at every network finds.
    @Test func theIndexFindsWhatASearchFinds() {
        var generator = SeededGenerator(state: 11)
        func pick(_ values: [String]) -> String { values.randomElement(using: &generator) ?? "" }
        let kinds: [(String, [String])] = [
            ("ssid", ["Corp", "Home", "a", "Corp-1"]), ("ssid-glob", ["C*", "*p", "Corp?1", "H?me", "a*b"]),
            ("bssid", ["02:00:5e:10:00:01", "02:00:5e:10:00:00/28", "02:00:00:00:00:00/8"]),
            ("gateway-mac", ["02:00:5e:10:00:01", "02:00:5e:10:00:02"]),
            ("subnet", ["10.0.0.0/8", "10.1.0.0/16", "2001:db8::/32"]),
            ("dns-suffix", ["corp.example", "example", "x"]), ("interface", ["wlan0", "eth0", "w*"]),
            ("security", ["personal", "enterprise", "open"]),
        ]
        for _ in 0..<30 {
            var text = ""
            for number in 0..<40 {
                text += "[network.n\(number)]\n"
                var listed = 0
                for (kind, values) in kinds where Int.random(in: 0..<4, using: &generator) == 0 {
                    text += "\(kind) = [\"\(pick(values))\", \"\(pick(values))\"]\n"
                    listed += kind == "security" ? 0 : 1
                }
                if listed == 0 { text += "interface = [\"\(pick(["wlan0", "eth0", "e?h*"]))\"]\n" }
            }
            let set = ruleSet(text)
            for _ in 0..<20 {
                var link = Bool.random(using: &generator) ? EvidenceTests.link() : .wire
                if let octet = UInt8("\(Int.random(in: 1...2, using: &generator))"), link.wifi != nil {
                    link.wifi = .joined(
                        WiFiNetwork(
                            ssid: SSID(utf8: pick(["Corp", "Home", "Corp-1", "ab", "zzz"])),
                            bssid: MACAddress(octets: [2, 0, 0x5e, 0x10, 0, octet]),
                            security: given(Security.allCases.randomElement(using: &generator))))
                }
                if Bool.random(using: &generator) {
                    link.add(pick(["10.0.0.1", "10.1.0.1", "2001:db8::5", "192.0.2.1"]))
                }
                if Bool.random(using: &generator) {
                    link.evidence.searchDomains = [pick(["corp.example", "a.corp.example", "y", "b.x"])]
                }
                if Bool.random(using: &generator) {
                    link.evidence.gateways = [
                        Gateway(
                            address: ip("10.0.0.1"),
                            hardwareAddress: MACAddress(pick(["02005e100001", "02005e100009"]))
                        )
                    ]
                }
                var environment = NetworkEnvironment()
                environment.interfaces[link.index] = link
                let judgement = set.judge(environment)
                for network in set.networks {
                    let truth = network.findings(on: link).map(\.truth).min() ?? .yes
                    let found: Truth =
                        judgement[network.name] != nil ? .yes : judgement.doubt(network.name) != nil ? .maybe : .no
                    #expect(found == truth, "\(network.name)\n\(text)")
                }
            }
        }
    }

    @Test func showsNoMoreThanTheEvidence() {
        let set = ruleSet(
            """
            [network.named]
            ssid = ["Corp"]
            security = ["personal", "enterprise"]
            [network.bare]
            ssid = ["Bare"]
            [network.nameless]
            subnet = ["192.0.2.0/24"]
            security = ["personal", "enterprise"]
            [network.wire]
            interface = ["eth0"]
            """)
        func assurance(_ name: String, _ ssid: String, _ security: Security, _ demands: EAPDemands?) -> Assurance? {
            var environment = environment(.joined(ssid, security))
            environment.interfaces[3]?.evidence.authentication = demands
            return set.judge(environment)[name]?.assurance
        }
        #expect(assurance("named", "Corp", .wpa2PSK, nil) == .keyed)
        // A demand without 802.1X says nothing.
        #expect(assurance("named", "Corp", .wpa2PSK, .mutual) == .keyed)
        #expect(assurance("named", "Corp", .wpa2Enterprise, nil) == .claimed)
        #expect(assurance("named", "Corp", .wpa3Enterprise192, .mutual) == .mutual)
        let half = EAPDemands(certificationAuthority: false, serverName: true)
        #expect(assurance("named", "Corp", .wpa2Enterprise, half) == .claimed)
        #expect(assurance("bare", "Bare", .wpa3SAE, nil) == .claimed)
        #expect(assurance("bare", "Bare", .wpa2Enterprise, .mutual) == .mutual)
        // Without a name any network of that kind could be behind the address.
        #expect(assurance("nameless", "x", .wpa2PSK, nil) == .claimed)
        #expect(assurance("nameless", "x", .wpa2Enterprise, .mutual) == .claimed)
        var wired = NetworkEnvironment()
        wired.interfaces[10] = .wire
        #expect(set.judge(wired)["wire"]?.assurance == .claimed)
        wired.interfaces[10]?.evidence.authentication = .mutual
        #expect(set.judge(wired)["wire"]?.assurance == .mutual)
        #expect(set.networks.map(\.highestAssurance) == [.mutual, .claimed, .mutual, .claimed])
    }

    @Test func knowsMeteredAndTunnels() {
        let set = ruleSet("")
        var environment = environment(nil, .cellular, .tunnel)
        #expect(set.judge(environment)["metered"] == nil)
        environment.isMetered = false
        #expect(set.judge(environment).matches.map(\.name) == ["cellular", "vpn", "unlisted"])
        environment.isMetered = true
        environment.primaryRoute = PrimaryRoute(interfaceIndex: 10, gateway: nil)
        #expect(set.judge(environment)["metered"]?.links.map(\.interfaceName) == ["cellular0"])
        #expect(set.judge(environment)["vpn"]?.links.map(\.interfaceName) == ["tunnel1"])
    }

    @Test func readsPatterns() {
        func matches(_ pattern: String, _ text: String) -> Bool {
            given(OctetPattern(pattern.utf8)).matches(Array(text.utf8))
        }
        #expect(matches("", "") && !matches("", "a") && matches("*", "") && matches("a*", "a") && !matches("a?", "a"))
        #expect(matches("*ab*ab", "abxabxab") && !matches("*ab*ab", "ab") && matches("a**b", "ab"))
        #expect(matches("\\*\\?", "*?") && !matches("\\*", "x") && matches("caf??", "café"))
        #expect(OctetPattern("a\\".utf8) == nil)
        // Time is at most the product of both lengths.
        let bomb = given(OctetPattern((String(repeating: "a*", count: 16) + "b").utf8))
        #expect(!bomb.matches([UInt8](repeating: UInt8(ascii: "a"), count: 32)))
    }

    @Test func readsPins() {
        let octets = (0..<32).map { UInt8($0) }
        #expect(SPKIPin(octets.hexadecimal)?.octets == octets)
        #expect(SPKIPin(octets.hexadecimal.uppercased())?.octets == octets)
        #expect(SPKIPin("AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8=")?.octets == octets)
        #expect(SPKIPin("AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8")?.octets == octets)
        for wrong in [
            "", "AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh9=", "AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8-",
            "AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh=8", String(repeating: "g", count: 64),
            String(repeating: "0", count: 63), String(repeating: "\u{FF10}", count: 64),
        ] { #expect(SPKIPin(wrong) == nil) }
    }
}

extension Interface {
    fileprivate static var wire: Interface {
        var wire = Interface.up(10, .ethernet)
        wire.name = "eth0"
        return wire
    }

    fileprivate mutating func add(_ addresses: String...) {
        for address in addresses {
            self.addresses.insert(InterfaceAddress(address: ip(address), prefixLength: 24))
        }
    }
}
