import Environment
import Platform
@testable import Rules
import Testing
import WiFi

@Suite struct ExplainingTests {
    @Test(
        arguments: [
            ("on = \"wired\"", "on wired"), ("off = \"wired\"", "off wired"),
            ("on = [\"wired\", \"vpn\", \"offline\"]", "on wired, vpn or offline"),
            ("off = [\"wired\", \"vpn\"]", "off wired and vpn"),
            ("on = { all = [\"wired\", { not = \"vpn\" }] }", "on wired, and off vpn"),
            ("on = { not = { all = [\"wired\", \"vpn\"] } }", "off wired or vpn"),
            (
                "on = { any = [\"wired\", { all = [\"vpn\", { not = \"metered\" }] }] }",
                "on wired, or (on vpn, and off metered)"
            ),
        ])
    func saysInWordsWhenARuleHolds(condition: String, expected: String) {
        #expect(ruleSet("[rule.r]\n\(condition)").rules[0].condition.description == expected)
    }

    @Test func aConditionWithoutPartsIsAlwaysOrNever() {
        #expect(Condition.all([]).description == "always")
        #expect(Condition.any([]).description == "never")
        #expect(Condition.not(.all([])).description == "never")
    }

    @Test func knowsSinceWhen() {
        var engine = RuleEngine(ruleSet: ruleSet("[rule.air]\non = \"any-wifi\"\n[rule.none]\non = \"wired\""))
        func time(_ seconds: Int64) -> Timestamp { Timestamp(wall: 0, boottime: seconds * 1_000_000) }
        #expect(engine.changeTime(ofRule: "air") == nil)
        _ = engine.update(environment(.joined("Corp")), at: time(10))
        #expect(engine.arrivalTime(onNetwork: "any-wifi") == 10_000_000)
        _ = engine.advance(to: time(12))
        #expect(engine.changeTime(ofRule: "air") == 12_000_000)
        _ = engine.update(environment(.joined("Corp", bssid: 2)), at: time(20))
        #expect(engine.changeTime(ofRule: "air") == 12_000_000)
        _ = engine.update(environment(.idle), at: time(30))
        #expect(engine.changeTime(ofRule: "air") == 30_000_000)
        #expect(engine.arrivalTime(onNetwork: "any-wifi") == nil)
        #expect(engine.changeTime(ofRule: "none") == nil && engine.changeTime(ofRule: "no such rule") == nil)
        // A reload with the same rule in it changes nothing.
        _ = engine.replace(with: ruleSet("[rule.x]\non = \"vpn\"\n[rule.air]\non = \"any-wifi\""), at: time(40))
        #expect(engine.changeTime(ofRule: "air") == 30_000_000)
    }

    @Test func aVerdictOfEveryNetworkOnce() {
        let set = ruleSet(
            """
            [network.a]
            ssid = ["Corp"]
            security = ["personal"]
            [network.b]
            ssid = ["Corp"]
            bssid = ["02:00:00:00:00:07"]
            [network.c]
            ssid = ["Corp"]
            dns-suffix = ["corp.example"]
            """)
        var two = environment(.joined("Corp"))
        two.set(.joined("Corp", .open, bssid: 7), on: 4)
        let verdicts = set.judge(two).verdicts.map { "\($0.name) \($0.truth) \($0.assurance)" }
        #expect(
            verdicts == [
                "a yes keyed", "b yes claimed", "any-wifi yes claimed", "open-wifi yes claimed", "c maybe unknown",
            ])
    }

    @Test func plannedActionsSayWhyTheyAreNotDone() {
        let set = ruleSet(
            """
            [rule.low]
            on = "any-wifi"
            vpn = { networkmanager = "a", state = "up" }
            priority = -1
            accept-weak-evidence = "a test"
            [rule.high]
            on = "any-wifi"
            vpn = { networkmanager = "a", state = "down" }
            accept-weak-evidence = "a test"
            [rule.internet]
            on = "any-wifi"
            ready = "internet"
            enter = [ { command = ["/bin/a"] } ]
            [rule.observing]
            on = "any-wifi"
            mode = "observe"
            enter = [ { command = ["/bin/b"] } ]
            [rule.off]
            off = "any-wifi"
            enter = [ { command = ["/bin/c"] } ]
            """)
        let planned = Simulation(of: set, in: environment(.joined("Corp"))).planned
        #expect(
            planned.map { "\($0.rule.name) \($0.edge.rawValue) \($0.index): \($0.skipped ?? "done")" } == [
                "low hold 0: networkmanager a is up to rule high (test.toml:6:7)", "high hold 0: done",
                "internet enter 0: waits for the internet", "observing enter 0: the rule only observes",
            ])
    }
}
