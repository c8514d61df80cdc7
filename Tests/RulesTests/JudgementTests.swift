import Environment
@testable import Rules
import Testing
import WiFi

@Suite struct JudgementTests {
    private let set = ruleSet(
        """
        [network.office]
        ssid = ["Corp", "Corp2"]
        security = ["wpa3-sae", "enterprise"]
        [network.home]
        ssid = ["Caf\\u00e9"]
        ssid-hex = ["436166c3a9"]
        security = ["personal"]
        private = true
        [network.corp-guest]
        ssid = ["Corp"]
        security = ["open", "owe", "wep", "unknown"]
        [rule.work]
        on = ["home", "office"]
        [rule.away]
        off = "office"
        [rule.never]
        on = "any-wifi"
        enabled = false
        """)

    private func names(_ environment: NetworkEnvironment) -> [String] {
        set.judge(environment).matches.map { "\($0.name) \($0.assurance)" }
    }

    @Test(
        arguments: [
            (.open, ["corp-guest claimed", "any-wifi claimed", "open-wifi claimed"]),
            (.owe, ["corp-guest claimed", "any-wifi claimed"]),
            (.wep, ["corp-guest claimed", "any-wifi claimed"]),
            (.unknown, ["corp-guest claimed", "any-wifi claimed"]),
            (.wpaPSK, ["any-wifi claimed", "unlisted claimed"]),
            (.wpa2PSK, ["any-wifi claimed", "unlisted claimed"]),
            (.wpa3SAE, ["office keyed", "any-wifi claimed"]),
            (.wpa2Enterprise, ["office claimed", "any-wifi claimed"]),
            (.wpa3Enterprise, ["office claimed", "any-wifi claimed"]),
            (.wpa3Enterprise192, ["office claimed", "any-wifi claimed"]),
        ] as [(Security, [String])])
    func judgesBySecurity(security: Security, expected: [String]) {
        #expect(names(environment(.joined("Corp", security))) == expected)
    }

    @Test func matchesExactOctetsOnly() {
        #expect(names(environment(.joined("Caf\u{E9}"))) == ["home keyed", "any-wifi claimed"])
        for name in ["Cafe\u{301}", "caf\u{E9}", "Caf\u{E9} ", "Caf", ""] {
            #expect(names(environment(.joined(name))) == ["any-wifi claimed", "unlisted claimed"])
        }
        let nameless = WiFiNetwork(ssid: nil, bssid: nil, security: .wpa3SAE)
        #expect(names(environment(.joined(nameless))) == ["any-wifi claimed", "unlisted claimed"])
    }

    @Test func needsAnAuthorisedLink() {
        for state in [WiFiState.idle, .unknown, .associating(network("Corp", .wpa3SAE))] {
            #expect(names(environment(state)) == ["offline claimed"])
        }
    }

    @Test func knowsBuiltInNetworks() {
        #expect(names(environment(nil)) == ["offline claimed"])
        #expect(names(environment(nil, .ethernet)) == ["wired claimed", "unlisted claimed"])
        #expect(names(environment(nil, .cellular)) == ["cellular claimed", "unlisted claimed"])
        #expect(names(environment(nil, .bluetooth)) == ["unlisted claimed"])
        #expect(names(environment(nil, .virtual, .loopback, .unknown, .wifi)) == ["offline claimed"])
        #expect(names(environment(nil, .tunnel)) == ["vpn claimed", "offline claimed"])
        #expect(names(environment(nil, .tunnel, .ethernet)) == ["wired claimed", "vpn claimed", "unlisted claimed"])
        var down = environment(nil, .ethernet)
        down.interfaces[10]?.operationalState = .lowerLayerDown
        #expect(names(down) == ["offline claimed"])
    }

    @Test func takesTheLeastOfAllLinks() {
        var two = environment(.joined("Corp", .wpa3SAE))
        #expect(set.judge(two).assurance == .keyed)
        two.set(.joined("Corp2", .wpa2Enterprise), on: 4)
        let judgement = set.judge(two)
        #expect(judgement["office"]?.assurance == .claimed)
        #expect(judgement["office"]?.links.map(\.interfaceName) == ["wlan0", "wlan1"])
        #expect(judgement.assurance == .claimed)
        #expect(set.judge(environment(.joined("Corp", .wpa3SAE), .ethernet)).assurance == .unknown)
    }

    @Test func givesEvidenceWithPlaces() {
        let judgement = set.judge(environment(.joined("Corp", .wpa3SAE)))
        #expect(
            judgement["office"]?.evidence.map(\.description) == [
                "ssid listed (test.toml:2:9)", "security wpa3-sae allowed (test.toml:3:1)",
            ])
        #expect(
            judgement.exclusions.map { "\($0.name): \($0.objection)" } == [
                "corp-guest: security wpa3-sae not allowed (test.toml:11:1)"
            ])
        #expect(set.judge(environment(.joined("Caf\u{E9}")))["home"]?.isPrivate == true)
    }

    private func states(_ environment: NetworkEnvironment) -> [(Bool, String)] {
        Simulation(of: set, in: environment).rules.map { ($0.isActive, $0.because) }
    }

    @Test func saysWhyRulesHold() {
        let office = states(environment(.joined("Corp", .wpa3SAE)))
        #expect(office.map(\.0) == [true, false, false])
        let because = "on office, keyed: ssid listed (test.toml:2:9), security wpa3-sae allowed (test.toml:3:1)"
        #expect(office.map(\.1) == [because, because, "disabled"])
        let twin = states(environment(.joined("Corp", .open)))
        #expect(twin.map(\.0) == [false, true, false])
        #expect(
            twin.map(\.1) == [
                "not on home or office; office excluded: security open not allowed (test.toml:3:1)",
                "not on office; office excluded: security open not allowed (test.toml:3:1)",
                "disabled",
            ])
    }

    @Test func neverTellsAName() {
        for security in Security.allCases {
            let judgement = set.judge(environment(.joined("Corp", security)))
            let texts =
                judgement.matches.flatMap(\.evidence).map(\.description)
                + judgement.exclusions.map(\.objection.description)
                + states(environment(.joined("Corp", security))).map(\.1)
            #expect(texts.allSatisfy { !$0.contains("Corp") })
        }
    }
}
