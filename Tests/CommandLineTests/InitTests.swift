import Environment
import Glibc
import Netlink
import Platform
import Rules
import Testing
import WiFi

@testable import CommandLine

/// What `vicinity init` writes, whatever strangers call their networks.
@Suite struct InitTests {
    private static func wireless(
        _ ssid: [UInt8], _ security: Security = .wpa2PSK, domains: [String]? = nil, name: String = "wlan0"
    ) -> Interface {
        var link = Interface(index: 3, name: name, kind: .wifi)
        link.wifi = .joined(
            WiFiNetwork(ssid: SSID(octets: ssid), bssid: BSSID("02:00:5e:10:00:1b"), security: security))
        link.evidence.gateways = ["192.0.2.1", "192.0.2.9"].compactMap { IPAddress($0) }.map {
            Gateway(address: $0, hardwareAddress: MACAddress("02:00:5e:00:53:01"))
        }
        link.evidence.searchDomains = domains
        link.addresses = Set(
            [("192.0.2.77", 24), ("2001:db8::5", 60), ("fe80::1", 64)].compactMap { text, length in
                IPAddress(text).map { InterfaceAddress(address: $0, prefixLength: length) }
            })
        return link
    }

    private func text(_ link: Interface) -> String {
        let name = FirstRules.name(of: link)
        return FirstRules(link: link, name: name, rule: "at-\(name)").text
    }

    private func load(_ text: String) -> RuleSet.LoadResult {
        RuleSet.load([RuleFile(path: "first.toml", contents: Array(text.utf8))], reviewing: true)
    }

    /// The same with the evidence in force that stands there for a person to take.
    private func withEvidence(_ text: String) -> String {
        let keys = ["bssid", "gateway-mac", "dns-suffix", "subnet", "interface", "enter", "leave", "unit", "proxy"]
        return text.split(separator: "\n", omittingEmptySubsequences: false).map { line in
            keys.contains { line.hasPrefix("# \($0) ") } ? String(line.dropFirst(2)) : String(line)
        }.joined(separator: "\n")
    }

    static let hostile: [[UInt8]] =
        [
            "Seven Oaks", "\"", "\"\"\"", "'''", "\\", "\\\"", "a\"]\n[rule.x]\non = \"any-wifi\"", "x\"] # y",
            "# comment",
            "]\r\nprivate = false", "\n", "\r", "\t", "\0", " leading", "trailing ", " ", "[network.home]", "${HOME}",
            "$(id)",
            "`id`", "\u{1b}[2J", "\u{202e}evil", "a\u{200b}b", "Cafe\u{301}", "Café", "漢字", "👩‍👩‍👧", "\u{feff}x",
            "\u{2028}",
            "\u{7f}", "\u{e000}", "=cmd|' /C calc'!A0", "\\u0041", "\\x41", "\\n", "a\\", "%s%n", "\u{301}", "\u{a0}",
            "ssid = [\"other\"]",
        ].map { Array($0.utf8) } + [
            [0xFF], [0xC3, 0x28], [0xED, 0xA0, 0x80], Array(repeating: 0x22, count: 32),
            Array(repeating: 0x5C, count: 32),
            Array(repeating: 0, count: 32), [0xF0, 0x9F], [0x80],
        ]

    @Test(arguments: hostile) func namesAreReadBackOctetByOctet(ssid: [UInt8]) throws {
        for security in [Security.wpa2PSK, .open, .wpa3Enterprise, .unknown] {
            let link = Self.wireless(ssid, security)
            let text = text(link)
            for version in [text, withEvidence(text)] {
                let result = load(version)
                #expect(result.diagnostics.allSatisfy { $0.severity != .error }, "\(result.diagnostics)")
                let ruleSet = try #require(result.ruleSet)
                #expect(ruleSet.networks.count == 1 && ruleSet.rules.count == 1)
                let network = try #require(ruleSet.networks.first)
                #expect(network.ssids.map(\.value.octets) == [ssid] && network.ssidPatterns.isEmpty)
                #expect(network.isPrivate == security.isPersonal)
                #expect(network.security?.value.classes == (security == .unknown ? nil : [security]))
                let rule = try #require(ruleSet.rules.first)
                #expect(rule.isObserving && rule.name == "at-\(network.name)")
            }
            // Nobody who looks at the file sees anything else than what is in it.
            for scalar in text.unicodeScalars where scalar != "\n" {
                #expect(scalar.properties.generalCategory != .control && scalar.properties.generalCategory != .format)
            }
        }
    }

    @Test func anyOctetsAreReadBack() throws {
        var generator = SystemRandomNumberGenerator()
        let alphabet: [UInt8] = Array("\"\\#[]=\n\r' a'".utf8) + [0, 0x1B, 0x7F, 0xC3, 0xA9, 0xE2, 0x80, 0xAE, 0xFF]
        for _ in 0..<200 {
            let ssid = (0..<Int.random(in: 1...32, using: &generator)).map { _ in alphabet.randomElement() ?? 0 }
            let ruleSet = try #require(load(text(Self.wireless(ssid))).ruleSet, "\(ssid)")
            #expect(ruleSet.networks.map { $0.ssids.map(\.value.octets) } == [[ssid]])
        }
    }

    @Test func evidenceIsFound() throws {
        let text = text(Self.wireless(Array("Seven Oaks".utf8), domains: ["corp.example", "home.arpa"]))
        #expect(text.contains("ssid     = [\"Seven Oaks\"]") && text.contains("private  = true"))
        let network = try #require(load(withEvidence(text)).ruleSet?.networks.first)
        #expect(network.bssids.map(\.value) == [MACAddressPrefix("02:00:5e:10:00:10/44")])
        #expect(network.gateways.map(\.value) == [MACAddress("02:00:5e:00:53:01")])
        #expect(network.domains.map(\.value) == ["corp.example", "home.arpa"])
        #expect(network.subnets.map(\.value) == [IPSubnet("192.0.2.0/24"), IPSubnet("2001:db8::/60")])
        #expect(network.interfaces.count == 1)
        // What stands there by itself excludes nothing but other names and protections.
        let bare = try #require(load(text).ruleSet?.networks.first)
        #expect(bare.evidenceKinds == ["ssid", "security"])
        #expect(load(text).diagnostics.isEmpty)
    }

    @Test func strangersDomainsAndLinksStayOut() throws {
        let domains = [
            "a\"]\n[rule.x]", "", ".", "a..b", "-a.example", "a-.example", "a b", "\u{1b}[2J", "ex*mple",
            String(repeating: "a", count: 64), "é.example",
        ]
        for name in ["wl\"an", "a*", "\\x1b", ""] {
            let text = text(Self.wireless([0x41], domains: domains, name: name))
            #expect(!text.contains("dns-suffix") && !text.contains("interface ="))
            #expect(load(withEvidence(text)).ruleSet != nil)
        }
    }

    @Test func aWireIsToldByItsGateway() throws {
        var link = Self.wireless([], domains: ["corp.example"], name: "eth0")
        link.wifi = nil
        var wire = Interface(index: 2, name: "eth0", kind: .ethernet)
        (wire.evidence, wire.addresses) = (link.evidence, link.addresses)
        #expect(load(withEvidence(text(wire))).ruleSet?.networks.first?.gateways.count == 1)
        wire.evidence.gateways = []
        #expect(load(text(wire)).ruleSet?.networks.first?.interfaces.count == 1)
        let odd = Interface(index: 2, name: "e*", kind: .ethernet)
        #expect(!FirstRules(link: odd, name: "desk", rule: "at-desk").hasEvidence)
        #expect(!FirstRules(link: Self.wireless([]), name: "home", rule: "at-home").hasEvidence)
    }

    // MARK: The file

    private func temporaryDirectory() throws -> String {
        var template = Array("/tmp/vicinity-init-XXXXXX\0".utf8.map { CChar($0) })
        try #require(mkdtemp(&template) != nil)
        return String(decoding: template.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self)
    }

    @Test func whatIsThereStays() throws {
        let directory = try temporaryDirectory()
        let path = "\(directory)/home.toml"
        defer { for name in ["home.toml", "link.toml"] { unlink("\(directory)/\(name)") }; rmdir(directory) }
        try NewFile.write([0x61], to: path, replaces: false)
        var status = stat()
        stat(path, &status)
        #expect(status.st_mode & 0o7777 == 0o644)
        #expect(throws: SystemError("link", path, code: EEXIST)) {
            try NewFile.write([0x62], to: path, replaces: false)
        }
        #expect(try Files.read(path, limit: 9) == [0x61])
        try NewFile.write([0x62], to: path, replaces: true)
        #expect(try Files.read(path, limit: 9) == [0x62])
        // A link that somebody put there leads nowhere, and is not followed.
        symlink("\(directory)/elsewhere", "\(directory)/link.toml")
        #expect(throws: SystemError.self) { try NewFile.write([0x63], to: "\(directory)/link.toml", replaces: false) }
        #expect(Set(Files.names(in: directory)) == ["home.toml", "link.toml"])
        #expect(throws: SystemError.self) { try NewFile.write([], to: "\(directory)/none/x.toml", replaces: false) }
    }
}
