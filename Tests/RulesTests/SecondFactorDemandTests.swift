import Environment
import Rules
import Testing
import WiFi

/// When PAM stacks may skip the second factor.
@Suite struct SecondFactorDemandTests {
    private static let rules = """
        [network.home]
        ssid = ["Home"]
        security = ["personal"]
        [network.cafe]
        ssid = ["Cafe"]
        [rule.skip]
        on = "home"
        accept-weak-evidence = "a test"
        pam = "skip"

        """

    private func bench(_ more: String = "", resuming: [String] = []) -> Bench {
        Bench(SecondFactorDemandTests.rules + more, resuming: resuming)
    }

    @Test func aRuleThatHoldsAllowsIt() {
        var bench = bench()
        #expect(!bench.engine.maySkipSecondFactor)
        _ = bench.at(0, .joined("Home"))
        #expect(!bench.engine.maySkipSecondFactor, "settles")
        _ = bench.at(2_000)
        #expect(bench.engine.maySkipSecondFactor)
        _ = bench.at(3_000, .joined("Cafe", .open))
        #expect(!bench.engine.maySkipSecondFactor)
    }

    @Test func withoutARuleNothingIsAllowed() {
        var bench = Bench("[rule.a]\non = \"any-wifi\"\nsettle = \"0s\"\nnotify = \"x\"")
        _ = bench.at(0, .joined("Home"))
        _ = bench.at(9_000)
        #expect(bench.engine.activeRules == ["a"])
        #expect(!bench.engine.maySkipSecondFactor)
    }

    @Test func whatDecidesIsNamed() {
        var bench = bench("[rule.b]\non = \"cafe\"\npam = \"require\"\naccept-weak-evidence = \"a test\"\n")
        func standing() -> String {
            let standing = bench.engine.factorStanding
            return "\(standing.verdict) \(standing.rule ?? "-"):\(standing.location?.line ?? 0)"
        }
        #expect(standing() == "unknown -:0")
        _ = bench.at(0, .joined("Home"))
        #expect(standing() == "inactive skip:9")
        _ = bench.at(2_000)
        #expect(standing() == "skip skip:9")
        _ = bench.at(3_000, .unknown)
        #expect(standing() == "unsettled skip:9")
        _ = bench.at(3_050, .joined("Cafe", .open))
        _ = bench.at(9_000)
        #expect(standing() == "required b:12")
        var other = Bench("[rule.a]\non = \"any-wifi\"\nnotify = \"x\"")
        _ = other.at(0, .joined("Home"))
        _ = other.at(9_000)
        #expect(other.engine.factorStanding == FactorStanding(.unsaid))
        #expect(FactorStanding.Verdict.allCases.filter { !FactorStanding($0).isNeeded } == [.skip])
    }

    /// Whatever its priority.
    @Test func oneThatDemandsItPrevails() {
        var bench = bench(
            """
            [rule.always]
            on = "any-wifi"
            priority = -100
            accept-weak-evidence = "a test"
            pam = "require"
            """)
        _ = bench.at(0, .joined("Home"))
        _ = bench.at(9_000)
        #expect(Set(bench.engine.activeRules) == ["skip", "always"])
        #expect(!bench.engine.maySkipSecondFactor)
    }

    @Test func whereALinkMayBeRoamingNobodyKnows() {
        var bench = bench()
        _ = bench.at(0, .joined("Home"))
        _ = bench.at(2_000)
        _ = bench.at(3_000, .unknown)
        #expect(!bench.engine.maySkipSecondFactor)
        _ = bench.at(3_050, .joined("Home"))
        _ = bench.at(9_000)
        #expect(bench.engine.maySkipSecondFactor)
    }

    @Test func aMachineThatIsAboutToSleepAllowsNothing() {
        var bench = bench()
        _ = bench.at(0, .joined("Home"))
        _ = bench.at(2_000)
        var asleep = environment(.joined("Home"))
        asleep.isSuspended = true
        _ = bench.at(3_000, asleep)
        #expect(!bench.engine.maySkipSecondFactor)
    }

    /// What an agent before this one found is no evidence.
    @Test func aRestartAllowsNothingBeforeEvidenceIsThere() {
        var bench = bench(resuming: ["skip"])
        #expect(!bench.engine.maySkipSecondFactor)
        _ = bench.at(0, .joined("Home"))
        #expect(!bench.engine.maySkipSecondFactor)
        _ = bench.at(9_000)
        #expect(bench.engine.maySkipSecondFactor)
    }

    @Test func whatOnlyObservesAllowsNothingAndDemandsNothing() {
        var bench = Bench(
            SecondFactorDemandTests.rules.replacing("pam = \"skip\"", with: "pam = \"skip\"\nmode = \"observe\""))
        _ = bench.at(0, .joined("Home"))
        _ = bench.at(9_000)
        #expect(bench.engine.activeRules == ["skip"])
        #expect(!bench.engine.maySkipSecondFactor)
        var other = self.bench(
            "[rule.always]\non = \"any-wifi\"\nmode = \"observe\"\naccept-weak-evidence = \"a test\"\npam = \"require\""
        )
        _ = other.at(0, .joined("Home"))
        _ = other.at(9_000)
        #expect(other.engine.maySkipSecondFactor)
    }

    /// Somebody's word, which takes an administrator.
    @Test func aHoldCounts() throws {
        var bench = bench()
        _ = bench.at(0, .joined("Cafe", .open))
        _ = bench.at(9_000)
        _ = try bench.engine.hold("skip", HoldRequest(isOn: true, by: "root"), at: Bench.time(9_000))
        #expect(bench.engine.maySkipSecondFactor)
        _ = bench.at(10_000, .unknown)
        #expect(!bench.engine.maySkipSecondFactor)
    }
}
