import Netlink
import ProbeProtocol
@testable import Rules
import Testing
import WiFi

@Suite struct LoadingTests {
    private func load(_ texts: String...) -> RuleSet.LoadResult {
        RuleSet.load(
            texts.enumerated().map { RuleFile(path: "\($0.offset + 1).toml", contents: Array($0.element.utf8)) })
    }

    @Test(arguments: BrokenFile.all)
    func refuses(file: BrokenFile) {
        let result = load(file.text)
        #expect(
            result.diagnostics.map { "\($0.line):\($0.column) \($0.code.rawValue): \($0.message)" } == file.diagnostics)
        #expect(result.ruleSet == nil)
        #expect(result.diagnostics.allSatisfy { $0.severity == .error && $0.file == "1.toml" })
    }

    @Test func readsEveryKeyOfANetwork() throws {
        let result = load(GoodFile.everyKeyOfANetwork)
        #expect(result.diagnostics.isEmpty)
        let set = try #require(result.ruleSet)

        var office = NetworkDefinition(name: "office", location: place(2, 10))
        office.ssids = [
            ssid("Corp-Staff", 3, 16), ssid("Caf\u{E9}", 3, 30), ssid(octets: [0, 0xFF], 4, 16), ssid("Corp", 4, 24),
        ]
        office.ssidPatterns = [pattern("Corp-*", 5, 16), pattern("a\\*?", 5, 26)]
        office.security = Listed(
            AllowedSecurity(
                classes: [.wpa2Enterprise, .wpaPSK, .wpa2PSK, .wpa3SAE], suites: [.ieee80211(24)]), at: place(6, 1))
        office.bssids = [
            Listed(try #require(MACAddressPrefix("02:00:5e:10:00:00/44")), at: place(7, 16)),
            Listed(try #require(MACAddressPrefix("02:00:5e:10:00:01")), at: place(7, 40)),
            Listed(try #require(MACAddressPrefix("02:00:5e:10:00:02/48")), at: place(7, 58)),
        ]
        office.gateways = [Listed(try #require(MACAddress("02:00:5e:10:00:01")), at: place(8, 16))]
        office.domains = [Listed("corp.example", at: place(9, 16)), Listed("local", at: place(9, 34))]
        office.subnets = [
            Listed(try #require(IPSubnet("192.0.2.0/24")), at: place(10, 16)),
            Listed(try #require(IPSubnet("2001:db8::/32")), at: place(10, 32)),
        ]
        office.interfaces = [pattern("wlan0", 11, 16), pattern("wlp*", 11, 25)]
        office.stableFor = 10_000_000
        office.probe = ProbeDefinition(
            host: "inside.example", port: 8443, address: IPAddress("10.1.0.2"),
            pins: [try #require(SPKIPin(String(repeating: "0a", count: 32)))], location: place(13, 1))
        var home = NetworkDefinition(name: "home", location: place(15, 10))
        home.ssids = [ssid("Seven Oaks ", 16, 12)]
        home.isPrivate = true
        #expect(set.networks == [office, home])
    }

    @Test func readsEveryKeyOfARule() throws {
        let result = load(GoodFile.everyKeyOfARule)
        #expect(result.diagnostics.isEmpty)
        let rules = try #require(result.ruleSet).rules

        var a = Rule(name: "a", location: place(5, 7))
        a.condition = .all([
            .all([
                network("office", 6, 22), .not(network("vpn", 6, 40)),
                .any([network("wired", 6, 58), .any([network("cellular", 6, 68)])]),
            ]),
            .not(.any([network("metered", 7, 14), network("open-wifi", 7, 25)])),
        ])
        a.times = [try #require(WeeklyTime("mon-fri 08:00-18:00")), try #require(WeeklyTime("sat"))]
        a.settle = 500_000
        a.readiness = .internet
        a.priority = -5
        a.isEnabled = false
        a.isObserving = true
        a.mayBeHeldByUser = true
        a.acceptedWeakness = "a test"
        var command = EdgeAction.Command(arguments: ["/usr/local/bin/mount-nas", "--fast", ""])
        command.timeout = 90_000_000
        command.user = "alice"
        command.isRelaxing = true
        a.enter = [
            Listed(.command(command), at: place(17, 3)),
            Listed(.unit(.init(name: "nas.mount", isRunning: true, scope: .user)), at: place(18, 3)),
            Listed(.vpn(.init(connection: .wgQuick("wg0"), isUp: true, portal: .ignore)), at: place(19, 3)),
            Listed(.notify(.init(summary: "At work")), at: place(20, 3)),
            Listed(.lock, at: place(21, 3)), Listed(.secondFactor(.init(message: "Confirm")), at: place(22, 3)),
        ]
        #expect(rules[0] == a)

        var b = Rule(name: "b", location: place(25, 7), condition: network("office", 26, 12))
        var proxy = StateAction.Proxy(mode: .manual)
        proxy.http = "http://proxy.example:3128"
        proxy.https = "http://[2001:db8::1]:1"
        proxy.socks = "socks5://192.0.2.1:1080"
        proxy.exclusions = ["localhost", ".corp.example", "*.x.example", "10.0.0.0/8", "::1"]
        proxy.targets = [.gnome, .apt]
        b.states = [
            Listed(.proxy(proxy), at: place(27, 1)),
            Listed(.vpn(.init(connection: .networkManager("corp vpn"), isUp: false)), at: place(28, 1)),
            Listed(.unit(.init(name: "usbguard.service", isRunning: false, isProtective: true)), at: place(29, 1)),
            Listed(.firewall(.zone("work")), at: place(30, 1)), Listed(.pam(.skip), at: place(31, 1)),
        ]
        #expect(rules[1] == b)

        var c = Rule(name: "c", location: place(33, 7), condition: .not(network("office", 34, 12)))
        var factor = EdgeAction.SecondFactor(message: "Confirm")
        factor.timeout = 60_000_000
        factor.attempts = 5
        factor.grace = 600_000_000
        var failing = EdgeAction.Command(arguments: ["/bin/false"])
        failing.timeout = 1_000_000
        factor.onFailure = [
            .lockSession, .disconnect, .vpn(.init(connection: .unit("vpn.service"), isUp: true)), .hold(rule: "b"),
            .command(failing),
        ]
        command = EdgeAction.Command(arguments: ["/bin/true"])
        command.timeout = 5_000_000
        c.enter = [
            Listed(.command(command), at: place(35, 1)),
            Listed(.notify(.init(summary: "Away", body: "Careful", urgency: .critical)), at: place(37, 1)),
            Listed(.lock, at: place(38, 1)), Listed(.secondFactor(factor), at: place(39, 1)),
        ]
        c.leave = [Listed(.command(.init(arguments: ["/bin/c"])), at: place(40, 13))]
        #expect(rules[2] == c)

        var d = Rule(name: "d", location: place(42, 7), condition: network("office", 43, 12))
        d.states = [
            Listed(.proxy(.init(mode: .none)), at: place(44, 1)),
            Listed(
                .firewall(.set(family: "inet", table: "filter", name: "trusted", element: "10.0.0.0/8")),
                at: place(45, 1)),
        ]
        #expect(rules[3] == d)
        #expect(rules.map(\.leaning) == [.relaxing, .relaxing, .neutral, .relaxing])
    }

    private func place(_ line: Int, _ column: Int) -> Rules.SourceLocation {
        Rules.SourceLocation(file: "1.toml", line: line, column: column)
    }

    private func network(_ name: String, _ line: Int, _ column: Int) -> Condition {
        .network(Rules.Condition.NetworkReference(name: name, location: place(line, column)))
    }

    private func ssid(_ text: String, _ line: Int, _ column: Int) -> Listed<SSID> {
        ssid(octets: Array(text.utf8), line, column)
    }

    private func ssid(octets: [UInt8], _ line: Int, _ column: Int) -> Listed<SSID> {
        guard let ssid = SSID(octets: octets) else { preconditionFailure("too long") }
        return Listed(ssid, at: place(line, column))
    }

    private func pattern(_ text: String, _ line: Int, _ column: Int) -> Listed<OctetPattern> {
        guard let pattern = OctetPattern(text.utf8) else { preconditionFailure("no pattern") }
        return Listed(pattern, at: place(line, column))
    }

    @Test func readsTheExample() throws {
        let root = #filePath.split(separator: "/").dropLast(3).joined(separator: "/")
        let result = RuleSet.load(RuleFiles(paths: ["/\(root)/Config/examples/office.toml"]))
        #expect(result.diagnostics.isEmpty)
        #expect(result.ruleSet?.networks.map(\.name) == ["office", "home"])
        #expect(result.ruleSet?.rules.map(\.name) == ["office", "away"])
    }

    /// Every address that an HTTP proxy cannot have is none of any other proxy either, nor of a script.
    @Test(arguments: BrokenFile.proxyURLs.filter { $0.text.contains("{ http = ") })
    func refusesTheSameAddressesEverywhere(file: BrokenFile) {
        for (key, scheme) in [("https", "http:"), ("socks", "socks5:"), ("pac", "https:")] {
            let text = file.text.replacing("{ http = ", with: "{ \(key) = ").replacing("http:", with: scheme)
            // A script needs no port and has a path.
            let isRight = key == "pac" && ["port missing", "path"].contains(file.name)
            let isRightScheme = key == "socks" && file.name == "scheme of another kind"
            #expect(load(text).diagnostics.map(\.code) == (isRight || isRightScheme ? [] : [.badValue]), "\(text)")
        }
    }

    @Test func acceptsAnEmptyRuleSet() throws {
        #expect(try #require(load().ruleSet).rules.isEmpty)
        #expect(try #require(load("# nothing yet\n", "").ruleSet).networks.isEmpty)
    }

    @Test func namesBothPlacesOfANameInTwoFiles() {
        let network = "[network.office]\nssid = [\"Corp\"]\n"
        let rule = "\n[rule.a]\non = \"office\"\n"
        let result = load(network + rule, network, rule)
        #expect(
            result.diagnostics.map { "\($0.file):\($0.line):\($0.column) \($0.code.rawValue): \($0.message)" } == [
                "2.toml:1:10 duplicate-name: network \"office\" is already defined at 1.toml:1:10",
                "3.toml:2:7 duplicate-name: rule \"a\" is already defined at 1.toml:4:7",
            ])
        #expect(result.ruleSet == nil)
    }

    @Test func findsNetworksInLaterFiles() {
        #expect(load("[rule.a]\non = \"office\"\n", "[network.office]\nssid = [\"Corp\"]\n").ruleSet != nil)
    }

    @Test func doesNotMissNetworksOfAFileItCannotRead() {
        let result = load("[rule.a]\non = \"office\"\n", "[network.office]\nssid = [\"Corp\"\n")
        #expect(result.diagnostics.map(\.code) == [.syntax])
    }

    /// What editors of other systems write.
    @Test(
        arguments: [
            (Array("a = 1\nb = \"\u{e4}Caf".utf8) + [0xE9, 0x22], "x:2:10: error: this is not UTF-8"),
            ([0xFF, 0xFE, 0x61, 0x00], "x:1:1: error: this is UTF-16"),
        ] as [([UInt8], String)])
    func otherEncodings(contents: [UInt8], expected: String) throws {
        let diagnostics = RuleSet.load([RuleFile(path: "x", contents: contents)]).diagnostics
        #expect(diagnostics.map(\.code) == [.syntax])
        #expect(try #require(diagnostics.first).description.hasPrefix(expected))
    }

    @Test func refusesLargeAndUndecodableFiles() {
        let lines = [UInt8](repeating: UInt8(ascii: "\n"), count: 16 << 20 + 1)
        let large = RuleSet.load([RuleFile(path: "large", contents: lines)])
        #expect(large.diagnostics.map(\.description) == ["large: error: the file is larger than 16777216 octets"])
        #expect(large.diagnostics.map(\.code) == [.tooLarge])
        #expect(large.ruleSet == nil)
        let undecodable = RuleFile(path: "x", contents: Array("a = \"".utf8) + [0xFF, UInt8(ascii: "\"")])
        #expect(RuleSet.load([undecodable]).diagnostics.map(\.code) == [.syntax])
    }

    @Test func rendersLikeACompiler() {
        let text = load("[rule.a]\n\ton = [\"wired\", \"日本\", \"offlne\"]\n").diagnostics.map(\.description)
        #expect(
            text == [
                """
                1.toml:2:17: error: no network is called "日本"
                    2 |  on = ["wired", "日本", "offlne"]
                      |                 ^
                """,
                """
                1.toml:2:23: error: no network is called "offlne"; did you mean "offline"?
                    2 |  on = ["wired", "日本", "offlne"]
                      |                         ^
                """,
            ])
        let hostile = load("[rule.a]\n\"\u{202E}\\u001b]0;x\\u0007\" = 1").diagnostics.map(\.description)
        #expect(
            hostile == [
                """
                1.toml:2:1: error: unknown key "\\xe2\\x80\\xae\\x1b]0;x\\x07" in a rule
                    2 | "\\xe2\\x80\\xae\\u001b]0;x\\u0007" = 1
                      | ^
                """
            ])
    }

    @Test func survivesRandomEdits() {
        let text = Array(
            """
            [network.office]
            ssid = ["Corp-Staff", '''a''', \"\"\"b\"\"\"]
            [rule.a]
            on = { all = ["office"] }
            enter = [ { command = ["/bin/true"], timeout = "3s" } ]
            a.b.c = 1979-05-27
            """.utf8)
        let alphabet = Array(#"[]{}="'.,#\ab1-\#n "#.utf8) + [0, 0x7F, 0x80, 0xC3, 0xFF]
        var generator = SeededGenerator(state: 7)
        for _ in 0..<4_000 {
            var edited = text
            for _ in 0..<Int.random(in: 1...6, using: &generator) {
                let place = Int.random(in: 0..<edited.count, using: &generator)
                let octet = alphabet.randomElement(using: &generator) ?? 0
                switch Int.random(in: 0..<4, using: &generator) {
                case 0: edited[place] = octet
                case 1: edited.insert(octet, at: place)
                case 2: edited.remove(at: place)
                default: edited.removeSubrange(place...)
                }
                if edited.isEmpty { edited = text }
            }
            let result = RuleSet.load([RuleFile(path: "x", contents: edited)])
            #expect(result.ruleSet == nil || result.diagnostics.isEmpty)
            for diagnostic in result.diagnostics { #expect(!diagnostic.description.isEmpty) }
        }
    }
}

/// SplitMix64, so that a failure comes back.
struct SeededGenerator: RandomNumberGenerator {
    var state: UInt64

    mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var value = state
        value = (value ^ value >> 30) &* 0xBF58_476D_1CE4_E5B9
        value = (value ^ value >> 27) &* 0x94D0_49BB_1331_11EB
        return value ^ value >> 31
    }
}
