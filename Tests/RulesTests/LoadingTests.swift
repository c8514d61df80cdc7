import Rules
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

    @Test func readsEveryKey() throws {
        let result = load(
            """
            # A comment
            [network.office]
            ssid     = ["Corp-Staff", "Caf\\u00e9"]
            ssid-hex = ["00fF", "436f7270"]
            security = ["wpa2-enterprise", "personal"]

            [rule.nas]
            on      = "home"
            enter   = [
              { command = ["/usr/local/bin/mount-nas", "--fast", ""], timeout = "90s" },
              { command = ["/bin/true"] },
            ]
            leave   = []
            settle  = "500ms"
            enabled = false
            ready   = "link"

            [network.home]
            ssid    = ['Seven Oaks ']
            private = true

            [rule.away]
            off  = ["office", "home", "wired"]
            mode = "observe"
            """)
        #expect(result.diagnostics.isEmpty)
        let set = try #require(result.ruleSet)
        let file = "1.toml"
        #expect(
            set.networks == [
                NetworkDefinition(
                    name: "office", location: SourceLocation(file: file, line: 2, column: 10),
                    ssids: [
                        listed("Corp-Staff", 3, 13), listed("Caf\u{E9}", 3, 27), listed(octets: [0, 0xFF], 4, 13),
                        listed("Corp", 4, 21),
                    ],
                    security: [.wpa2Enterprise, .wpaPSK, .wpa2PSK, .wpa3SAE],
                    securityLocation: SourceLocation(file: file, line: 5, column: 1)),
                NetworkDefinition(
                    name: "home", location: SourceLocation(file: file, line: 18, column: 10),
                    ssids: [listed("Seven Oaks ", 19, 12)], isPrivate: true),
            ])
        #expect(
            set.rules == [
                Rule(
                    name: "nas", location: SourceLocation(file: file, line: 7, column: 7),
                    condition: .on([reference("home", 8, 11)]), settle: 500_000, isEnabled: false,
                    enter: [
                        Rule.Command(
                            arguments: ["/usr/local/bin/mount-nas", "--fast", ""], timeout: 90_000_000,
                            location: SourceLocation(file: file, line: 10, column: 3)),
                        Rule.Command(
                            arguments: ["/bin/true"], location: SourceLocation(file: file, line: 11, column: 3)),
                    ]),
                Rule(
                    name: "away", location: SourceLocation(file: file, line: 22, column: 7),
                    condition: .off([
                        reference("office", 23, 9), reference("home", 23, 19), reference("wired", 23, 27),
                    ]), isObserving: true),
            ])
    }

    private func listed(_ text: String, _ line: Int, _ column: Int) -> NetworkDefinition.ListedSSID {
        listed(octets: Array(text.utf8), line, column)
    }

    private func listed(octets: [UInt8], _ line: Int, _ column: Int) -> NetworkDefinition.ListedSSID {
        guard let ssid = SSID(octets: octets) else { preconditionFailure("too long") }
        return NetworkDefinition.ListedSSID(
            ssid: ssid, location: SourceLocation(file: "1.toml", line: line, column: column))
    }

    private func reference(_ name: String, _ line: Int, _ column: Int) -> Rule.NetworkReference {
        Rule.NetworkReference(name: name, location: SourceLocation(file: "1.toml", line: line, column: column))
    }

    @Test func readsTheExample() throws {
        let root = #filePath.split(separator: "/").dropLast(3).joined(separator: "/")
        let result = RuleSet.load(RuleFiles(paths: ["/\(root)/Config/examples/office.toml"]))
        #expect(result.diagnostics.isEmpty)
        #expect(result.ruleSet?.networks.map(\.name) == ["office", "home"])
        #expect(result.ruleSet?.rules.map(\.name) == ["office", "away"])
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

    @Test func refusesLargeAndUndecodableFiles() {
        let large = RuleFile(path: "large", contents: [UInt8](repeating: UInt8(ascii: "\n"), count: 16 << 20 + 1))
        #expect(RuleSet.load([large]).diagnostics.map(\.code) == [.tooLarge])
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
        let hostile = load("[network.a]\n\"\u{202E}\\u001b]0;x\\u0007\" = 1").diagnostics.map(\.description)
        #expect(
            hostile == [
                """
                1.toml:2:1: error: unknown key "\\xe2\\x80\\xae\\x1b]0;x\\x07" in a network
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
