import Environment
import Netlink
import Platform
import Testing
import WiFi

@testable import Rules

/// Readiness, targets, times, the oscillation guard and `stable-for`.
@Suite struct EngineBehaviourTests {
    private func withoutAddress(_ name: String) -> NetworkEnvironment {
        var environment = environment(.joined(name))
        environment.interfaces[3]?.addresses = []
        return environment
    }

    // MARK: Readiness

    /// What is told of a target is what PAM stacks are told.
    @Test(arguments: ["require", "skip"], [0, 5]) func whoDemandsTheFactorHasItsWay(first: String, priority: Int) {
        let second = first == "skip" ? "require" : "skip"
        var bench = Bench(
            """
            [rule.first]
            on = "wired"
            settle = "0s"
            ready = "link"
            priority = \(first == "skip" ? priority : -priority)
            accept-weak-evidence = "a test"
            pam = "\(first)"
            [rule.second]
            on = "wired"
            settle = "0s"
            ready = "link"
            accept-weak-evidence = "a test"
            pam = "\(second)"
            """)
        let (winner, loser) = first == "require" ? ("first", "second") : ("second", "first")
        let told = bench.at(0, environment(nil, .ethernet))
        #expect(told.contains { $0.hasPrefix("skipped \(loser): pam is up to rule \(winner)") }, "\(told)")
        #expect(bench.engine.desiredStates.map(\.action) == [.pam(.require)] && !bench.engine.maySkipSecondFactor)
    }

    @Test func enterActionsWaitUntilTheNetworkIsReady() {
        let text = """
            [network.home]
            ssid = ["Home"]
            [rule.a]
            on = "home"
            notify = "a"
            [rule.b]
            on = "home"
            ready = "link"
            notify = "b"
            [rule.c]
            on = "home"
            ready = "internet"
            notify = "c"
            leave = [{ notify = "d" }]
            """
        var bench = Bench(text)
        _ = bench.at(0, withoutAddress("Home"))
        #expect(bench.at(2_000) == ["activated a", "activated b", "run b enter 0 for home", "activated c"])
        var local = withoutAddress("Home")
        local.interfaces[3]?.addresses = [InterfaceAddress(address: ip("169.254.1.1"), prefixLength: 16)]
        #expect(bench.at(3_000, local) == [])
        #expect(bench.at(4_000, .joined("Home")) == ["run a enter 0 for home"])
        // Once ready it stays so.
        #expect(bench.at(5_000, withoutAddress("Home")) == [])
        var online = environment(.joined("Home"))
        online.connectivity = .internet
        #expect(bench.at(6_000, online) == ["run c enter 0 for home"])
        #expect(bench.at(6_500, .joined("Home")) == [])
        #expect(
            bench.at(7_000, .idle)
                == [
                    "left home 7000 ms", "deactivated a", "deactivated b", "cancel c enter", "deactivated c",
                    "run c leave 0 for home",
                ].withCancels)
    }

    @Test func whatIsObsoleteBeforeItStartedIsDropped() {
        var bench = Bench(
            """
            [network.home]
            ssid = ["Home"]
            [rule.a]
            on = "home"
            enter = [{ notify = "a" }]
            leave = [{ notify = "b" }]
            """)
        _ = bench.at(0, withoutAddress("Home"))
        #expect(bench.at(2_000) == ["activated a"])
        #expect(bench.at(3_000, .idle) == ["left home 3000 ms", "deactivated a", "run a leave 0 for home"])
        #expect(bench.at(4_000, .joined("Other")) == ["entered unlisted claimed"])
    }

    @Test func aRestartForgetsNothingThatWaited() {
        let text = "[network.home]\nssid = [\"Home\"]\n[rule.a]\non = \"home\"\nnotify = \"a\"\n"
        var before = Bench(text)
        _ = before.at(0, withoutAddress("Home"))
        _ = before.at(2_000)
        #expect(before.engine.pendingRules == ["a"])
        let activations = before.engine.activations
        var after = Bench(text)
        after.engine = RuleEngine(
            ruleSet: ruleSet(text), resuming: before.engine.activeRules, pending: before.engine.pendingRules)
        #expect(after.at(3_000, withoutAddress("Home")) == ["entered home claimed"])
        #expect(after.at(4_000, .joined("Home")) == ["run a enter 0 for home"])
        #expect(after.engine.pendingRules == [])
        #expect(before.at(4_000, .joined("Home")) == ["run a enter 0 for home"])
        #expect(before.engine.activations != activations)
    }

    @Test func relaxingStatesWaitAndTighteningOnesDoNot() {
        var bench = Bench(
            """
            [network.home]
            ssid = ["Home"]
            security = ["personal"]
            [rule.relax]
            on = "home"
            accept-weak-evidence = "a test"
            pam = "skip"
            [rule.tighten]
            on = "home"
            accept-weak-evidence = "a test"
            firewall = { zone = "drop" }
            """)
        #expect(
            bench.at(0, withoutAddress("Home")) == [
                "entered home keyed", "activated tighten", "firewall: firewall zone drop",
            ])
        #expect(bench.at(2_000) == ["activated relax"])
        #expect(bench.at(3_000, .joined("Home")) == ["pam: pam skip"])
        #expect(bench.engine.desiredStates.map(\.action.summary) == ["pam skip", "firewall zone drop"])
    }

    @Test func aRuleOffNetworksWaitsForNoLink() {
        var bench = Bench("[network.home]\nssid = [\"Home\"]\n[rule.a]\noff = \"home\"\nnotify = \"a\"")
        #expect(bench.at(0, .idle) == ["activated a", "run a enter 0 for offline"])
    }

    // MARK: Targets

    @Test func theHigherPriorityThenTheLaterRuleHasItsWay() {
        var bench = Bench(
            """
            [rule.high]
            on = "cellular"
            priority = 1
            proxy = { mode = "none" }
            settle = "0s"
            ready = "link"
            [rule.early]
            on = "wired"
            settle = "0s"
            ready = "link"
            proxy = { pac = "https://a.example/a" }
            [rule.late]
            on = "wired"
            settle = "0s"
            ready = "link"
            proxy = { pac = "https://b.example/b" }
            [rule.same]
            on = "wired"
            settle = "0s"
            ready = "link"
            proxy = { pac = "https://b.example/b" }
            """)
        #expect(
            bench.at(0, environment(nil, .ethernet)) == [
                "entered unlisted claimed", "activated early", "activated late", "activated same",
                "skipped early: proxy is up to rule same (test.toml:17:7)", "proxy: proxy pac",
            ])
        #expect(bench.engine.desiredStates.map(\.rule.name) == ["same"])
        #expect(
            bench.at(1_000, environment(nil, .ethernet, .cellular)) == [
                "activated high", "skipped late: proxy is up to rule high (test.toml:1:7)",
                "skipped same: proxy is up to rule high (test.toml:1:7)", "proxy: proxy none",
            ])
        #expect(
            bench.at(2_000, environment(nil, .ethernet)) == ["deactivated high", "proxy: proxy pac"])
        #expect(
            bench.at(3_000, environment(nil)) == [
                "left unlisted 3000 ms", "deactivated early", "deactivated late", "deactivated same", "proxy: free",
            ])
    }

    @Test func nothingIsWantedWhileObserving() {
        var options = RuleEngine.Options()
        options.isObserving = true
        var engine = RuleEngine(
            ruleSet: ruleSet("[rule.a]\non = \"wired\"\nsettle = \"0s\"\nproxy = { mode = \"none\" }\nnotify = \"x\""),
            options: options)
        let decisions = engine.update(environment(nil, .ethernet), at: Bench.time(0)).map(\.brief)
        #expect(decisions == ["entered unlisted claimed", "activated a"])
        #expect(engine.desiredStates.isEmpty)
    }

    @Test func aReloadChangesOnlyWhatIsWantedOtherwise() {
        let text =
            "[rule.a]\non = \"wired\"\nsettle = \"0s\"\nready = \"link\"\nproxy = { pac = \"https://a.example/a\" }\n"
        var bench = Bench(text)
        _ = bench.at(0, environment(nil, .ethernet))
        func replaced(_ text: String) -> [String] {
            bench.engine.replace(with: ruleSet(text), at: Bench.time(1_000)).map(\.brief)
        }
        #expect(replaced("# the same\n" + text) == [])
        #expect(replaced(text.replacing("/a\"", with: "/b\"")) == ["proxy: proxy pac"])
        #expect(
            replaced(text.replacing("rule.a", with: "rule.b")) == ["deactivated a", "activated b", "proxy: proxy pac"])
        #expect(replaced("") == ["deactivated b", "proxy: free"])
    }

    @Test func aReloadThatDemandsMoreIsWaitedFor() {
        let text = """
            [network.home]
            ssid = ["Home"]
            [rule.a]
            on = "home"
            ready = "link"
            accept-weak-evidence = "a test"
            pam = "skip"
            """
        var bench = Bench(text)
        _ = bench.at(0, .joined("Home"))
        #expect(bench.at(2_000) == ["activated a", "pam: pam skip"])
        func replaced(_ readiness: String) -> [String] {
            let changed = text.replacing("\"link\"", with: "\"\(readiness)\"")
            return bench.engine.replace(with: ruleSet(changed), at: Bench.time(3_000)).map(\.brief)
        }
        #expect(replaced("address") == [])
        #expect(replaced("internet") == ["pam: free"])
        var online = environment(.joined("Home"))
        online.connectivity = .internet
        #expect(bench.at(4_000, online) == ["pam: pam skip"])
    }

    @Test func resumedRulesHoldWhatTheyHeld() {
        var bench = Bench("[rule.a]\non = \"wired\"\npam = \"require\"\naccept-weak-evidence = \"x\"", resuming: ["a"])
        #expect(bench.at(0, environment(nil, .ethernet)) == ["entered unlisted claimed", "pam: pam require"])
        #expect(bench.at(5_000) == [])
    }

    // MARK: Time

    /// Local time is UTC here: the tests set no TZ, and machines that do shift both sides alike.
    @Test func holdsInItsTimeOnly() {
        var bench = Bench("[rule.a]\non = \"wired\"\nsettle = \"0s\"\nready = \"link\"\ntime = \"mon-tue\"")
        let day: Int64 = 86_400_000
        let hour: Int64 = 3_600_000
        #expect(bench.at(day / 2, environment(nil, .ethernet)).contains("activated a"))
        var now = day / 2
        var changes: [String] = []
        while now < 10 * day {
            guard let deadline = bench.deadline else { break }
            // It looks at the clock at full hours, since that is when clocks are changed.
            #expect(deadline > now && deadline <= now + hour)
            now = deadline
            changes += bench.at(now).map { "\($0) in hour \(now / hour)" }
        }
        let shift = CivilTime(local: Bench.wall).hour
        let away = shift == 0 ? 0 : 24 - shift
        #expect(
            shift != 0
                || changes == [
                    "deactivated a in hour \(48 + away)", "activated a in hour 168", "deactivated a in hour 216",
                ])
        #expect(changes.count == 3)
    }

    @Test func aClockThatIsSetIsHeeded() {
        var engine = RuleEngine(ruleSet: ruleSet("[rule.a]\non = \"wired\"\nsettle = \"0s\"\ntime = \"mon\"\n"))
        let noon = Bench.wall + 12 * 3_600_000_000
        #expect(engine.update(environment(nil, .ethernet), at: Timestamp(wall: noon, boottime: 0)).count == 2)
        let tuesday = Timestamp(wall: noon + 86_400_000_000, boottime: 5_000_000)
        #expect(engine.advance(to: tuesday).map(\.brief) == ["deactivated a"])
        // A clock that drifts by less than a second is none that was set.
        #expect(engine.advance(to: Timestamp(wall: tuesday.wall + 1_500_000, boottime: 6_000_000)).isEmpty)
        #expect(engine.advance(to: Timestamp(wall: noon, boottime: 7_000_000)).map(\.brief) == ["activated a"])
    }

    /// A network can set the clock, so its word alone lowers no protection.
    @Test func theClockAloneEndsNoProtection() {
        let text = """
            [network.office]
            ssid = ["Corp"]
            security = ["enterprise"]
            [network.lab]
            ssid = ["Lab"]
            security = ["enterprise"]
            [rule.a]
            off = "office"
            time = "mon"
            pam = "require"

            """
        let tuesday: Int64 = 36 * 3_600_000
        let noon: Int64 = 12 * 3_600_000
        var bench = Bench(text)
        #expect(bench.at(noon, .joined("x", .open)).contains("activated a"))
        #expect(!bench.at(tuesday).contains("deactivated a"))
        #expect(!bench.at(tuesday + 1_000, .idle).contains("deactivated a"))
        var lab = environment(.joined("Lab", .wpa2Enterprise))
        lab.interfaces[3]?.evidence.authentication = .mutual
        #expect(!bench.at(tuesday + 2_000, lab).contains("deactivated a"))
        #expect(bench.at(tuesday + 4_000).contains("deactivated a"))
        #expect(!bench.at(tuesday + 5_000, .joined("x", .open)).contains("activated a"))
        var accepting = Bench(text + "accept-weak-evidence = \"a test\"\n")
        #expect(accepting.at(noon, .joined("x", .open)).contains("activated a"))
        #expect(accepting.at(tuesday).contains("deactivated a"))
    }

    // MARK: Oscillation

    @Test func aRuleThatChangesTooOftenIsHeldOnTheProtectedSide() {
        var bench = Bench(
            """
            [network.home]
            ssid = ["Home"]
            security = ["personal"]
            [rule.neutral]
            on = "home"
            settle = "0s"
            ready = "link"
            notify = "x"
            leave = [{ notify = "y" }]
            [rule.tighten]
            off = "home"
            settle = "0s"
            accept-weak-evidence = "a test"
            pam = "require"
            """)
        var all: [String] = []
        for step in 0..<20 as Range<Int64> {
            all += bench.at(step * 1_000, step % 2 == 0 ? .joined("Home") : .idle)
        }
        #expect(all.count { $0 == "activated neutral" } == 3)
        #expect(all.count { $0 == "deactivated neutral" } == 3)
        #expect(all.count { $0.hasPrefix("skipped neutral: changed more than 6 times") } == 1)
        #expect(all.count { $0.hasPrefix("skipped tighten") } == 1)
        #expect(bench.engine.activeRules == ["tighten"])
        #expect(bench.engine.reason(forRule: "neutral")?.lines.last?.contains("held until") == true)
        // The last change was at 19 s; a quiet minute later both are what they should be.
        _ = bench.at(20_000, .joined("Home"))
        #expect(bench.deadline == 80_000)
        #expect(bench.at(79_999) == [])
        #expect(
            bench.at(80_000)
                == ["activated neutral", "run neutral enter 0 for home", "deactivated tighten", "pam: free"]
                .withCancels(of: "neutral"))
        #expect(bench.deadline == nil)
    }

    /// A rule whose command takes the link away and whose other one brings it back, each turn slower than the limit of
    /// a minute: it runs so often, and then less and less.
    @Test func aSlowCircleEnds() {
        var bench = Bench(
            """
            [network.home]
            ssid = ["Home"]
            [rule.circle]
            on = "home"
            settle = "0s"
            ready = "link"
            notify = "x"
            leave = [{ notify = "y" }]
            """)
        var runs = 0
        var isOn = false
        var last: [String] = []
        for second in 0..<3_600 as Range<Int64> {
            // What it runs takes fifteen seconds to have its effect; without that nothing changes.
            let isTurn = second == 0 || second % 15 == 0 && last.contains { $0.hasPrefix("run circle") }
            if isTurn {
                isOn.toggle()
                last = []
            }
            let decisions = bench.at(second * 1_000, isOn ? .joined("Home") : .idle)
            runs += decisions.count { $0.hasPrefix("run circle") }
            last += decisions
            if let skip = decisions.first(where: { $0.hasPrefix("skipped") }) {
                #expect(skip.contains("do its own actions change the network?"))
            }
        }
        #expect((20...40).contains(runs), "\(runs)")
    }

    @Test func whoTravelsFromNetworkToNetworkIsNotInACircle() {
        var bench = Bench("[network.home]\nssid = [\"Home\"]\n[rule.a]\non = \"home\"\nsettle = \"0s\"\nnotify = \"x\"")
        for step in 0..<60 as Range<Int64> {
            let decisions = bench.at(step * 130_000, step % 2 == 0 ? .joined("Home") : .idle)
            #expect(!decisions.contains { $0.hasPrefix("skipped") })
        }
    }

    @Test func aRoamingLaptopIsNoOscillation() {
        var bench = Bench("[network.home]\nssid = [\"Home\"]\n[rule.a]\non = \"home\"\nnotify = \"x\"")
        _ = bench.at(0, .joined("Home"))
        #expect(bench.at(2_000).count == 2)
        for step in 0..<50 as Range<Int64> {
            #expect(bench.at(3_000 + step * 200, step % 2 == 0 ? .unknown : .joined("Home", bssid: UInt8(step))) == [])
        }
    }

    // MARK: Stability

    @Test func aNetworkCountsWhenItHasBeenThereLongEnough() {
        var bench = Bench(
            """
            [network.home]
            ssid = ["Home"]
            stable-for = "10s"
            [rule.a]
            on = "home"
            settle = "0s"
            ready = "link"
            """)
        #expect(bench.at(0, .joined("Home")) == [])
        #expect(bench.deadline == 10_000)
        #expect(bench.engine.judgement.doubt("home")?.objection.description == "stable-for not yet (test.toml:1:10)")
        #expect(bench.at(5_000, .idle) == [])
        #expect(bench.at(6_000, .joined("Home")) == [])
        #expect(bench.at(15_999) == [])
        #expect(bench.at(16_000) == ["entered home claimed", "activated a"])
        #expect(bench.deadline == nil)
        #expect(bench.at(17_000, .unknown) == [])
        #expect(bench.at(18_000, .joined("Home", bssid: 9)) == [])
        #expect(bench.at(19_000, .idle) == ["left home 3000 ms", "deactivated a"])
    }

    @Test func whatAnotherLinkLeavesInDoubtHasNoDeadlineThatIsOver() {
        var bench = Bench(
            """
            [network.home]
            ssid = ["Home"]
            dns-suffix = ["home.example"]
            stable-for = "10s"
            [rule.a]
            on = "home"
            """)
        var two = environment(.joined("Home"))
        two.interfaces[3]?.evidence.searchDomains = ["home.example"]
        two.set(.joined("Home", bssid: 2), on: 4)
        #expect(bench.at(0, two) == [])
        #expect(bench.deadline == 10_000)
        #expect(bench.at(10_000) == ["entered home claimed"])
        #expect(bench.engine.judgement.doubt("home") != nil)
        #expect(bench.deadline == 12_000)
        #expect(bench.at(12_000).first == "activated a")
        #expect(bench.deadline == nil)
    }

    @Test func noNetworkIsEnteredByALinkThatMayBeGone() {
        var bench = Bench("[network.home]\nssid = [\"Home\"]\nstable-for = \"10s\"\n")
        #expect(bench.at(0, .joined("Home")) == [])
        #expect(bench.at(9_500, .unknown) == [])
        #expect(bench.deadline == nil)
        #expect(bench.at(10_500, environment(.unknown, .tunnel)) == [])
        #expect(bench.at(11_000, .joined("Home", bssid: 2)) == ["entered home claimed"])
    }
}

extension [String] {
    /// The row as it is when what ran on entering is ended first.
    fileprivate var withCancels: [String] {
        flatMap { line in
            ["a", "b"].contains { line == "deactivated \($0)" } ? ["cancel \(line.suffix(1)) enter", line] : [line]
        }
    }

    fileprivate func withCancels(of rule: String) -> [String] {
        flatMap { $0 == "activated \(rule)" ? ["cancel \(rule) leave", $0] : [$0] }
    }
}
