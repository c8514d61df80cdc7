import Testing

@testable import Rules

/// What lowers protection is found out whatever way it is written, and refused on evidence that is too weak for it.
@Suite struct ProtectionTests {
    private static let networks = """
        [network.home]
        ssid = ["Home"]
        security = ["personal"]
        [network.office]
        ssid = ["Corp"]
        security = ["enterprise"]

        """

    private func problems(_ text: String) -> [String] {
        RuleSet.load([RuleFile(path: "1.toml", contents: Array((Self.networks + text).utf8))]).diagnostics
            .map { "\($0.line):\($0.column) \($0.code.rawValue)" }
    }

    static let relaxing = [
        "vpn = { networkmanager = \"v\", state = \"down\" }",
        "vpn = { wg-quick = \"v\", state = \"down\" }",
        "enter = [{ vpn = { unit = \"v.service\", state = \"down\" } }]",
        "pam = \"skip\"",
        "firewall = { zone = \"home\" }",
        "firewall = { nft-set = \"inet filter trusted\" }",
        "proxy = { mode = \"auto\" }",
        "command = [\"/bin/x\"]\nrelaxing = true",
        "unit = { name = \"x.service\", state = \"running\", relaxing = true }",
        "unit = { name = \"x.service\", state = \"stopped\", protective = true }",
        // A VPN, or what another rule calls protective, whatever this rule calls it.
        "unit = { name = \"wg-quick@x.service\", state = \"stopped\" }",
        "enter = [{ unit = { name = \"openvpn-client@x.service\", state = \"stopped\" } }]",
        "unit = { name = \"guard.service\", state = \"stopped\" }",
        "enter = [{ unit = { name = \"guard.service\", state = \"stopped\" } }]",
        "unit = { name = \"tunnel.service\", state = \"stopped\" }",
        "unit = { name = \"own.service\", state = \"stopped\", scope = \"user\" }",
        // Who somebody is says nothing about where the machine is.
        "second-factor = { message = \"m\", on-success = { vpn = { wg-quick = \"v\", state = \"down\" } } }",
        "second-factor = { message = \"m\", on-failure = [\"lock-session\", { command = [\"/bin/x\"], relaxing = true }] }",
        "second-factor = { message = \"m\", on-success = { hold = \"skipping\" } }",
        "second-factor = { message = \"m\", on-success = { hold = \"holding\" } }",
    ]

    private static let others = """

        [rule.guard]
        on = "office"
        accept-weak-evidence = "a test"
        unit = { name = "guard.service", state = "running", protective = true }
        [rule.tunnel]
        on = "office"
        accept-weak-evidence = "a test"
        vpn = { unit = "tunnel.service", state = "up" }
        [rule.own]
        on = "office"
        accept-weak-evidence = "a test"
        leave = [{ unit = { name = "own.service", state = "stopped", scope = "user", protective = true } }]
        [rule.skipping]
        on = "office"
        priority = 1
        pam = "skip"
        [rule.holding]
        on = "office"
        second-factor = { message = "m", on-success = { hold = "skipping" } }

        """

    @Test(arguments: relaxing)
    func refusesByEffect(action: String) {
        #expect(problems("[rule.a]\non = \"home\"\n\(action)\n" + Self.others) == ["8:6 weak-evidence"])
        #expect(problems("[rule.a]\non = \"office\"\n\(action)\n" + Self.others) == [])
        #expect(problems("[rule.a]\non = \"home\"\naccept-weak-evidence = \"x\"\n\(action)\n" + Self.others) == [])
    }

    static let harmless = [
        "unit = { name = \"mnt-nas.mount\", state = \"stopped\" }",
        // Another unit of that name.
        "unit = { name = \"guard.service\", state = \"stopped\", scope = \"user\" }",
        "unit = { name = \"own.service\", state = \"stopped\" }",
        "second-factor = { message = \"m\", on-failure = [\"lock-session\", \"disconnect\"] }",
        "second-factor = { message = \"m\", on-failure = { vpn = { wg-quick = \"v\", state = \"up\" } } }",
        "second-factor = { message = \"m\", on-failure = { hold = \"guard\" } }",
    ]

    @Test(arguments: harmless)
    func letsTheRestPass(action: String) {
        #expect(problems("[rule.a]\non = \"home\"\n\(action)\n" + Self.others) == [])
    }

    @Test func theEndOfAVPNThatIsCalledAUnitIsRelaxing() {
        let rule = "unit = { name = \"wg-quick@x.service\", state = \"running\" }\n"
        #expect(problems("[rule.a]\noff = \"home\"\n" + rule) == ["8:7 weak-evidence"])
        #expect(problems("[rule.a]\noff = \"office\"\n" + rule) == [])
        // And a rule that does both could be sure enough for neither.
        #expect(problems("[rule.a]\noff = \"office\"\npam = \"skip\"\n" + rule) == ["10:1 contradictory"])
    }

    /// What is wrong two thousand times is told in reasonable time and space.
    @Test func manyProblemsCostNoMoreThanManyRules() {
        func rules(off prefix: String) -> String {
            var text = ""
            for number in 0..<2_000 { text += "[network.n\(number)]\nssid = [\"S\(number)\"]\n" }
            for number in 0..<2_000 {
                text += "[rule.r\(number)]\noff = \"\(prefix)\(number)\"\npam = \"require\"\n"
                let held = "on-success = { hold = \"r\(number + 1)\" }"
                text += "enter = [{ second-factor = { message = \"m\", \(held) } }]\n"
            }
            return text
        }
        func load(_ text: String) -> [Diagnostic] {
            RuleSet.load([RuleFile(path: "1.toml", contents: Array(text.utf8))]).diagnostics
        }
        let start = ContinuousClock.now
        // One rule is missing at the end of the chain; then every network; then all of it on one line.
        #expect(load(rules(off: "n")).map(\.code).prefix(2) == [.weakEvidence, .weakEvidence])
        let unknown = load(rules(off: "m"))
        #expect(unknown.count == 1_001 && unknown.last?.code == .tooMany)
        let line = (0..<2_000).map { "k\($0) = { ssd = 1 }" }.joined(separator: ", ")
        #expect(load("network = { \(line) }").count == 1_001)
        #expect(ContinuousClock.now - start < .seconds(30))
    }
}
