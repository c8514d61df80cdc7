import Testing
import WiFi

@testable import Rules

@Suite struct AnalyticsConfigurationTests {
    private func load(_ text: String) -> (AnalyticsConfiguration?, [Diagnostic]) {
        let file = RuleFile(path: "vicinity.toml", contents: Array("[analytics]\n\(text)\n".utf8))
        let (configuration, diagnostics) = AgentConfiguration.load([file])
        return (configuration?.analytics, diagnostics)
    }

    @Test func everythingHasADefault() throws {
        let (configuration, diagnostics) = load("")
        let analytics = try #require(configuration)
        #expect(diagnostics.isEmpty && analytics == AnalyticsConfiguration())
        #expect(analytics.isEnabled && analytics.consent == .presumed && analytics.hash == .hmac)
        #expect(analytics.scope == .host && analytics.rotation == 90 * 86_400_000_000)
        #expect(analytics.granularity == 900_000_000 && analytics.retention == 90 * 86_400_000_000)
    }

    @Test func isReadWhole() throws {
        let (configuration, diagnostics) = load(
            """
            enabled = false
            consent = "required"
            rotate = "36h"
            granularity = "1h"
            retention = "7d"
            """)
        let analytics = try #require(configuration)
        #expect(diagnostics.isEmpty)
        #expect(!analytics.isEnabled && analytics.consent == .required)
        #expect(analytics.rotation == 129_600_000_000 && analytics.granularity == 3_600_000_000)
        #expect(analytics.retention == 604_800_000_000)
        let (shared, problems) = load("scope = \"organisation\"\nkey-file = \"/etc/vicinity/hash.key\"")
        #expect(problems.isEmpty && shared?.scope == .organisation && shared?.keyFile == "/etc/vicinity/hash.key")
    }

    /// It is a choice, and one has to know what it is worth.
    @Test func bareHashesAreWarnedOf() {
        let (configuration, diagnostics) = load("hash = \"sha256\"")
        #expect(configuration?.hash == .sha256)
        #expect(diagnostics.map(\.severity) == [.warning] && diagnostics.map(\.code) == [.guessableName])
        #expect(diagnostics.first?.line == 2)
    }

    @Test(
        arguments: [
            ("enabled = \"no\"", Diagnostic.Code.wrongType), ("consent = \"yes\"", .badValue),
            ("hash = \"sha1\"", .badValue), ("hash = \"none\"", .badValue), ("scope = \"user\"", .badValue),
            ("rotate = \"12h\"", .badValue), ("rotate = \"4000d\"", .badValue), ("rotate = \"d\"", .badValue),
            ("rotate = \"-1d\"", .badValue), ("rotate = \"99999999999999999999d\"", .badValue),
            ("rotate = 90", .wrongType), ("granularity = \"1s\"", .badValue), ("granularity = \"2d\"", .badValue),
            ("retention = \"0d\"", .badValue), ("retention = \"1.5d\"", .badValue), ("salt = \"x\"", .unknownKey),
            ("key-file = \"/k\"", .contradictory), ("scope = \"organisation\"\nkey-file = \"k\"", .badValue),
            ("scope = \"organisation\"\nrotate = \"90d\"", .contradictory),
        ] as [(String, Diagnostic.Code)])
    func mistakesAreNamed(text: String, code: Diagnostic.Code) {
        let (configuration, diagnostics) = load(text)
        #expect(configuration == nil)
        #expect(diagnostics.map(\.code) == [code])
        #expect(diagnostics.allSatisfy { $0.severity == .error && $0.line > 1 })
    }

    // MARK: Names

    @Test func onlyNamesThatFilesListForEverybodyAreOpen() throws {
        let names = ListedNames(
            ruleSet(
                """
                [network.listed]
                ssid = ["Corp", "Both", "Globbed"]
                ssid-glob = ["Corp-*"]
                [network.private]
                ssid = ["Home", "Both"]
                ssid-glob = ["Glob*"]
                private = true
                """))
        func isOpen(_ name: String) throws -> Bool { names.isOpen(try #require(SSID(utf8: name))) }
        #expect(try isOpen("Corp"))
        for name in ["Corp-Guest of John", "Home", "Both", "Globbed", "Globe", "x", "", "corp", "Corp\0"] {
            #expect(try !isOpen(name), "\(name)")
        }
        #expect(names.isPrivate(try #require(SSID(utf8: "Globe"))))
        #expect(!names.isPrivate(try #require(SSID(utf8: "Corp"))))
    }

    /// What only takes a passphrase and is not private.
    @Test(
        arguments: [
            ("security = [\"wpa2-psk\"]", true), ("security = [\"personal\"]", true),
            ("security = [\"akm:00-0f-ac:8\"]", true), ("security = [\"wpa2-psk\"]\nprivate = true", false),
            ("security = [\"wpa2-psk\", \"enterprise\"]", false), ("security = [\"open\"]", false), ("", false),
        ])
    func somebodysOwnIsWarnedOf(keys: String, isWarned: Bool) {
        let text = "[network.n]\nssid = [\"Seven Oaks\"]\n\(keys)\n"
        let result = RuleSet.load([RuleFile(path: "a.toml", contents: Array(text.utf8))], reviewing: true)
        #expect(result.ruleSet != nil)
        #expect(result.diagnostics.map(\.code) == (isWarned ? [.guessableName] : []))
        #expect(result.diagnostics.allSatisfy { $0.severity == .warning && $0.line == 2 })
    }
}
