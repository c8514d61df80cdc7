import Environment
import Platform
import Testing
import WiFi

@testable import Rules

/// Rules that somebody holds, or runs, by hand: how a hold begins, what it outlives and what ends it.
@Suite struct HoldTests {
    private static let rules = """
        [network.office]
        ssid = ["Corp"]
        security = ["personal"]
        [network.home]
        ssid = ["Home"]
        security = ["personal"]
        [network.lab]
        ssid = ["Lab"]
        security = ["enterprise"]
        [rule.nas]
        on = "home"
        user-hold = true
        enter = [ { command = ["/bin/a"] } ]
        leave = [ { command = ["/bin/b"] } ]
        [rule.relax]
        on = "home"
        accept-weak-evidence = "a test"
        pam = "skip"
        [rule.tighten]
        off = "lab"
        firewall = { zone = "drop" }
        [rule.never]
        on = "home"
        enabled = false
        notify = "x"
        [rule.watched]
        on = "home"
        mode = "observe"
        notify = "x"
        """

    private func request(_ isOn: Bool, minutes: Int64? = nil, untilElsewhere: Bool = false) -> HoldRequest {
        var request = HoldRequest(isOn: isOn, by: "alice")
        request.duration = minutes.map { $0 * 60_000_000 }
        request.endsWithPlace = untilElsewhere
        return request
    }

    /// What is said of the first decision about a rule.
    private func because(_ decisions: [Decision]) -> String? {
        for decision in decisions {
            switch decision {
            case .ruleActivated(_, let because), .ruleDeactivated(_, let because): return because
            default: continue
            }
        }
        return nil
    }

    private func clock(_ milliseconds: Int64) -> String {
        let time = CivilTime(local: Bench.time(milliseconds).wall)
        return [time.hour, time.minute].map { $0 < 10 ? "0\($0)" : "\($0)" }.joined(separator: ":")
    }

    private static let hour: Int64 = 3_600_000

    // MARK: Beginning

    @Test func aHoldBeginsAtOnceAndEndsByItself() throws {
        var bench = Bench(Self.rules)
        _ = bench.at(0, .joined("Cafe", .open))
        let decisions = try bench.engine.hold("nas", request(true, minutes: 5), at: Bench.time(1_000))
        #expect(decisions.map(\.brief) == ["activated nas", "run nas enter 0 for unlisted"])
        #expect(because(decisions) == "held on by alice until \(clock(301_000))")
        #expect(bench.deadline == 301_000)
        #expect(bench.engine.holds.map(\.rule) == ["nas"] && bench.engine.hold(ofRule: "nas")?.isOn == true)
        #expect(bench.at(300_999) == [])
        let end = bench.engine.advance(to: Bench.time(301_000))
        #expect(end.map(\.brief) == ["cancel nas enter", "deactivated nas", "run nas leave 0 for unlisted"])
        #expect(because(end) == "no longer held on by alice: not on home")
        #expect(bench.engine.holds.isEmpty && bench.deadline == nil)
    }

    @Test func whatIsHeldIsTheSameWhateverTheConditionSays() throws {
        var bench = Bench(Self.rules)
        _ = bench.at(0, .joined("Home"))
        #expect(bench.at(2_000).contains("activated nas"))
        #expect(
            try bench.engine.hold("nas", request(false), at: Bench.time(3_000)).map(\.brief) == [
                "cancel nas enter", "deactivated nas", "run nas leave 0 for home",
            ])
        #expect(bench.at(4_000, .idle).allSatisfy { !$0.contains("nas") })
        #expect(bench.at(5_000, .joined("Home")).allSatisfy { !$0.contains("nas") })
        #expect(bench.at(7_000).allSatisfy { !$0.contains("nas") })
        // Held the other way, in place of the former hold.
        #expect(
            try bench.engine.hold("nas", request(true), at: Bench.time(8_000)).map(\.brief) == [
                "cancel nas leave", "activated nas", "run nas enter 0 for home",
            ])
        // Nothing changes where the condition wants the same.
        #expect(try bench.engine.release("nas", at: Bench.time(9_000)).isEmpty)
        #expect(bench.at(9_500, .idle).contains("deactivated nas"))
    }

    @Test func statesAreClaimedAndFreed() throws {
        var bench = Bench(Self.rules)
        _ = bench.at(0, .joined("Cafe", .open))
        #expect(bench.engine.desiredStates.map(\.action.summary) == ["firewall zone drop"])
        #expect(
            try bench.engine.hold("relax", request(true), at: Bench.time(1_000)).map(\.brief) == [
                "activated relax", "pam: pam skip",
            ])
        #expect(
            try bench.engine.hold("tighten", request(false), at: Bench.time(2_000)).map(\.brief) == [
                "deactivated tighten", "firewall: free",
            ])
        #expect(
            try bench.engine.release("relax", at: Bench.time(3_000)).map(\.brief) == ["deactivated relax", "pam: free"])
        // What raises protection is back at the slightest evidence.
        #expect(
            try bench.engine.release("tighten", at: Bench.time(4_000)).map(\.brief) == [
                "activated tighten", "firewall: firewall zone drop",
            ])
    }

    /// A hold is somebody's word, its end is not: what lowers protection then takes evidence again.
    @Test func theEndOfAHoldLowersNoProtectionByWeakEvidence() throws {
        var bench = Bench(Self.rules)
        _ = bench.at(0, .joined("Lab", .wpa2Enterprise))
        #expect(bench.engine.activeRules == ["tighten"])
        _ = try bench.engine.hold("tighten", request(false, minutes: 1), at: Bench.time(3_000))
        #expect(bench.engine.activeRules == [])
        #expect(bench.at(63_000) == ["activated tighten", "firewall: firewall zone drop"])
        _ = try bench.engine.hold("tighten", request(true, minutes: 1), at: Bench.time(64_000))
        #expect(bench.at(124_000) == [])
        #expect(bench.engine.activeRules == ["tighten"])
    }

    @Test func enterActionsStillWaitForTheNetwork() throws {
        var bench = Bench(Self.rules)
        var home = environment(.joined("Home"))
        home.interfaces[3]?.addresses = []
        _ = bench.at(0, home)
        #expect(try bench.engine.hold("nas", request(true), at: Bench.time(100)).map(\.brief) == ["activated nas"])
        #expect(bench.engine.pendingRules == ["nas"])
        #expect(bench.at(200, .joined("Home")) == ["run nas enter 0 for home"])
    }

    @Test func whereNothingIsKnownAHoldWaitsForThat() throws {
        var bench = Bench(Self.rules)
        #expect(try bench.engine.hold("nas", request(true), at: Bench.time(0)).isEmpty)
        _ = bench.at(10, .unknown)
        #expect(try bench.engine.hold("relax", request(true, untilElsewhere: true), at: Bench.time(20)).isEmpty)
        let begun = bench.at(30, .joined("Corp"))
        #expect(begun.contains("activated nas") && begun.contains("activated relax"))
        #expect(bench.engine.hold(ofRule: "relax")?.networks == ["office"])
    }

    @Test func whatObservesKeepsObserving() throws {
        var bench = Bench(Self.rules)
        _ = bench.at(0, .idle)
        #expect(
            try bench.engine.hold("watched", request(true), at: Bench.time(1)).map(\.brief) == ["activated watched"])
    }

    // MARK: Other networks

    @Test func aHoldUntilTheNetworkChangesEndsOnAnother() throws {
        var bench = Bench(Self.rules)
        _ = bench.at(0, .joined("Corp"))
        let decisions = try bench.engine.hold("nas", request(true, untilElsewhere: true), at: Bench.time(3_000))
        let end = clock(3_000 + 8 * Self.hour)
        #expect(because(decisions) == "held on by alice until the network changes or \(end)")
        // A roam, a lost moment, another link that places nothing, a tunnel: the machine is where it was.
        #expect(bench.at(4_000, .unknown) == [])
        #expect(bench.at(5_000, .joined("Corp", bssid: 2)) == [])
        #expect(bench.at(6_000, environment(.joined("Corp"), .ethernet, .tunnel)) == [])
        #expect(bench.engine.holds.count == 1)
        let left = bench.at(7_000, .joined("Cafe", .open))
        #expect(left.contains("deactivated nas") && bench.engine.holds.isEmpty)
    }

    @Test func fromNowhereToANamedNetworkIsAChangeAsWell() throws {
        var bench = Bench(Self.rules)
        _ = bench.at(0, .joined("Cafe", .open))
        _ = try bench.engine.hold("relax", request(true, untilElsewhere: true), at: Bench.time(1_000))
        #expect(bench.at(2_000, .joined("Hotel", .open)).allSatisfy { !$0.contains("relax") })
        #expect(bench.at(3_000, .idle).allSatisfy { !$0.contains("relax") })
        #expect(bench.at(4_000, .joined("Corp")).contains("deactivated relax"))
    }

    @Test func maxHoldEndsEvenAHoldUntilTheNetworkChanges() throws {
        var bench = Bench(Self.rules)
        _ = bench.at(0, .joined("Corp"))
        _ = try bench.engine.hold("nas", request(true, untilElsewhere: true), at: Bench.time(1_000))
        #expect(bench.deadline == 2_000 || bench.deadline == 1_000 + 8 * Self.hour)
        _ = bench.at(2_000)
        #expect(bench.deadline == 1_000 + 8 * Self.hour)
        #expect(bench.at(1_000 + 8 * Self.hour).contains("deactivated nas"))
    }

    @Test func timeEndsAHoldWhileALinkIsUnknown() throws {
        var bench = Bench(Self.rules)
        _ = bench.at(0, .joined("Corp"))
        _ = bench.at(2_000)
        _ = try bench.engine.hold("nas", request(true, minutes: 1), at: Bench.time(3_000))
        #expect(bench.at(62_999, .unknown) == [])
        #expect(bench.deadline == 63_000)
        #expect(bench.at(63_000).contains("deactivated nas"))
    }

    // MARK: Refusals

    @Test func whatCannotBeHeldIsRefusedWithTheRemedy() throws {
        var bench = Bench(Self.rules)
        _ = bench.at(0, .idle)
        func refusal(_ name: String, _ request: HoldRequest) -> String? {
            var engine = bench.engine
            do throws(OverrideError) { _ = try engine.hold(name, request, at: Bench.time(1)) } catch {
                #expect(engine.holds.isEmpty)
                return error.description
            }
            return nil
        }
        #expect(refusal("nsa", request(true)) == "no rule is called \"nsa\"; did you mean \"nas\"?")
        #expect(refusal("home", request(true)) == "no rule is called \"home\"")
        #expect(refusal("\u{1b}[2J", request(true)) == "no rule is called \"\\x1b[2J\"")
        #expect(refusal("never", request(true)) == "rule never is disabled (test.toml:22:7)")
        #expect(
            refusal("nas", request(true, minutes: 481))
                == "a rule can be held for 8h at most, by max-hold in vicinity.toml")
        #expect(refusal("nas", request(true, minutes: 480)) == nil)
        #expect(throws: OverrideError.notHeld(rule: "nas")) { try bench.engine.release("nas", at: Bench.time(2)) }
    }

    // MARK: Running

    @Test func runRunsTheEnterActionsOnceWhetherItHoldsOrNot() throws {
        var bench = Bench(Self.rules)
        _ = bench.at(0, .joined("Cafe", .open))
        #expect(try bench.engine.run("nas").map(\.brief) == ["run nas enter 0 for unlisted"])
        #expect(bench.engine.activeRules == ["tighten"])
        _ = bench.at(1_000, .joined("Home"))
        #expect(bench.at(3_000).contains("run nas enter 0 for home"))
        #expect(try bench.engine.run("nas").map(\.brief) == ["run nas enter 0 for home"])
        // All of it is obsolete with the rule.
        #expect(bench.at(4_000, .idle).filter { $0.contains("cancel nas") } == ["cancel nas enter"])
        #expect(throws: OverrideError.self) { try bench.engine.run("relax") }
        #expect(throws: OverrideError.observing(rule: "watched")) { try bench.engine.run("watched") }
        #expect(throws: OverrideError.self) { try bench.engine.run("never") }
    }

    // MARK: Reload and restart

    @Test func aHoldOutlivesAReloadAsLongAsItsRuleExists() throws {
        var bench = Bench(Self.rules)
        _ = bench.at(0, .joined("Corp"))
        _ = bench.at(2_000)
        _ = try bench.engine.hold("nas", request(true, minutes: 400), at: Bench.time(3_000))
        _ = try bench.engine.hold("relax", request(true, untilElsewhere: true), at: Bench.time(3_000))
        #expect(bench.engine.replace(with: ruleSet(Self.rules), at: Bench.time(4_000)).isEmpty)
        // The place has another name now, and is the same.
        let renamed = Self.rules.replacing("office", with: "work")
        _ = bench.engine.replace(with: ruleSet(renamed), at: Bench.time(5_000))
        #expect(bench.engine.holds.map(\.rule) == ["nas", "relax"])
        var options = RuleEngine.Options()
        options.maximumHold = 60_000_000
        _ = bench.engine.replace(with: ruleSet(renamed), options: options, at: Bench.time(6_000))
        #expect(bench.engine.holds.map(\.hold.until) == [63_000_000, 63_000_000])
        let without = renamed.replacing("[rule.nas]", with: "[rule.other]")
        let gone = bench.engine.replace(with: ruleSet(without), at: Bench.time(7_000))
        #expect(gone.map(\.brief).contains("deactivated nas"))
        #expect(bench.engine.holds.map(\.rule) == ["relax"])
        #expect(bench.at(8_000, .joined("Home")).contains("deactivated relax"))
        #expect(bench.engine.holds.isEmpty)
    }

    @Test func whatUsersHoldEndsWithTheirRightTo() throws {
        for isUsers in [true, false] {
            var bench = Bench(Self.rules)
            _ = bench.at(0, .idle)
            var request = request(true)
            request.isUsers = isUsers
            _ = try bench.engine.hold("nas", request, at: Bench.time(1_000))
            let decisions = bench.engine.replace(
                with: ruleSet(Self.rules.replacing("user-hold = true", with: "")), at: Bench.time(2_000))
            #expect(decisions.map(\.brief).contains("deactivated nas") == isUsers)
            #expect(bench.engine.holds.isEmpty == isUsers)
        }
    }

    private func restarted(_ engine: RuleEngine, isElsewhere: Bool = false) -> RuleEngine {
        RuleEngine(
            ruleSet: engine.ruleSet, resuming: engine.resumableRules, pending: engine.pendingRules, isResuming: true,
            holds: Dictionary(uniqueKeysWithValues: engine.holds.map { ($0.rule, $0.hold) }), isElsewhere: isElsewhere)
    }

    @Test(arguments: [false, true]) func aHoldOutlivesARestart(isElsewhere: Bool) throws {
        var bench = Bench(Self.rules)
        _ = bench.at(0, .joined("Corp"))
        _ = try bench.engine.hold("nas", request(true, minutes: 1), at: Bench.time(3_000))
        bench.engine = restarted(bench.engine, isElsewhere: isElsewhere)
        let begun = bench.at(10_000, .joined("Corp", bssid: 2))
        #expect(begun.allSatisfy { !$0.contains("nas") })
        #expect(bench.engine.activeRules.contains("nas"))
        #expect(bench.at(63_000).contains("run nas leave 0 for nothing"))
    }

    @Test func afterARestartEvidenceHasAMomentToComeAgain() throws {
        let text = """
            [network.hotel]
            ssid = ["Hotel"]
            dns-suffix = ["hotel.example"]
            [rule.a]
            on = "offline"
            notify = "x"
            """
        func hotel(_ domains: [String]?) -> NetworkEnvironment {
            var environment = environment(.joined("Hotel", .open))
            environment.interfaces[3]?.evidence.searchDomains = domains
            return environment
        }
        for comesAgain in [true, false] {
            var bench = Bench(text)
            _ = bench.at(0, hotel(["hotel.example"]))
            _ = try bench.engine.hold("a", request(true, untilElsewhere: true), at: Bench.time(1_000))
            bench.engine = restarted(bench.engine)
            _ = bench.at(10_000, hotel(nil))
            #expect(bench.engine.holds.count == 1)
            #expect(bench.deadline == 20_000)
            if comesAgain {
                _ = bench.at(19_999, hotel(["hotel.example"]))
                _ = bench.at(20_000)
                #expect(bench.engine.holds.count == 1)
                // From then on what is not known any more is left.
                _ = bench.at(21_000, hotel(nil))
            } else {
                _ = bench.at(20_000)
            }
            #expect(bench.engine.holds.isEmpty)
        }
        var bench = Bench(text)
        _ = bench.at(0, hotel(["hotel.example"]))
        _ = try bench.engine.hold("a", request(true, untilElsewhere: true), at: Bench.time(1_000))
        bench.engine = restarted(bench.engine)
        _ = bench.at(10_000, .joined("Cafe", .open))
        #expect(bench.engine.holds.isEmpty)
    }

    // MARK: Oscillation

    @Test func aHoldEndsWhatHoldsAFlappingRuleBackForAsLongAsItLasts() throws {
        var bench = Bench("[rule.a]\non = \"any-wifi\"\nsettle = \"0s\"\nuser-hold = true")
        for time: Int64 in 0..<7 { _ = bench.at(time * 1_000, time % 2 == 0 ? .joined("x", .open) : .idle) }
        #expect(bench.engine.activeRules == [])
        #expect(
            try bench.engine.hold("a", request(true, minutes: 1), at: Bench.time(7_000)).map(\.brief) == ["activated a"]
        )
        for time: Int64 in 8..<20 {
            #expect(
                bench.at(time * 1_000, time % 2 == 0 ? .joined("x", .open) : .idle).allSatisfy { !$0.contains(" a") })
        }
        // That it flapped a moment ago is not forgotten.
        let released = try bench.engine.release("a", at: Bench.time(20_000)).map(\.brief)
        #expect(released.first?.hasPrefix("skipped a") == true && released.last == "deactivated a")
        _ = try bench.engine.hold("a", request(true, minutes: 1), at: Bench.time(21_000))
        // Holding and releasing it is no flapping.
        for time: Int64 in 0..<20 {
            _ = try bench.engine.hold("a", request(time % 2 == 0), at: Bench.time(90_000 + time * 100))
            let decisions = try bench.engine.release("a", at: Bench.time(90_050 + time * 100)).map(\.brief)
            #expect(decisions.allSatisfy { !$0.hasPrefix("skipped") })
        }
    }

    // MARK: Explaining

    @Test func theExplanationTellsWhoHoldsItAndUntilWhen() throws {
        var bench = Bench(Self.rules)
        _ = bench.at(0, .joined("Home"))
        _ = try bench.engine.hold("nas", request(false, minutes: 2), at: Bench.time(2_000))
        let reason = try #require(bench.engine.reason(forRule: "nas"))
        #expect(reason.truth == .no)
        #expect(reason.parts.first?.lines == ["- held off by alice until \(clock(122_000))"])
        let rule = try #require(bench.engine.ruleSet.rule(named: "nas"))
        #expect(bench.engine.because(of: rule) == "held off by alice until \(clock(122_000))")
        #expect(bench.at(122_000).first == "activated nas")
    }

    @Test func theDayIsToldWhereItIsAnother() {
        let now = Bench.time(0)
        let hold = Hold(
            isOn: true, by: "root", isUsers: false, since: 0, until: 100 * 3_600_000_000, endsWithPlace: false)
        let end = CivilTime(local: Bench.time(100 * Self.hour).wall)
        #expect(hold.text(at: now) == "held on by root until 2024-01-0\(end.day) \(clock(100 * Self.hour))")
    }
}
