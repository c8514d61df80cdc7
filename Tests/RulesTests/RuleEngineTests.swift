import Environment
import Platform
@testable import Rules
import Testing
import WiFi

@Suite struct RuleEngineTests {
    private let startAway = ["activated away", "run away enter 0 for offline"]
    private let enterWork = ["activated work", "run work enter 0 for office", "run work enter 1 for office"]

    @Test func entersAfterSettlingAndLeavesAtOnce() {
        var bench = Bench()
        #expect(bench.at(0, .idle) == startAway)
        #expect(bench.deadline == nil)
        #expect(bench.at(1_000, .associating(network("Corp"))) == [])
        #expect(bench.at(1_100, .joined("Corp")) == ["entered office keyed"])
        #expect(bench.deadline == 3_100)
        #expect(bench.at(3_099) == [])
        #expect(
            bench.at(3_100) == enterWork + [
                "cancel away enter", "deactivated away", "run away leave 0 for offline",
            ])
        #expect(bench.deadline == nil)
        #expect(bench.engine.activeRules == ["work"])
        #expect(bench.at(3_101) == [])
        #expect(bench.at(9_000, .joined("Corp")) == [])
        #expect(
            bench.at(61_100, .idle) == [
                "left office 60000 ms", "cancel work enter", "deactivated work", "run work leave 0 for office",
                "cancel away leave", "activated away", "run away enter 0 for offline",
            ])
        #expect(bench.at(61_100, .idle) == [])
        #expect(bench.at(61_200, .joined("Corp")) == ["entered office keyed"])
        #expect(bench.at(63_200).prefix(2) == ["cancel work leave", "activated work"])
    }

    @Test func doesNotEnterANetworkThatFlaps() {
        var bench = Bench()
        _ = bench.at(0, .idle)
        for start: Int64 in stride(from: 1_000, to: 60_000, by: 2_000) {
            #expect(bench.at(start, .joined("Corp")) == ["entered office keyed"])
            #expect(bench.deadline == start + 2_000)
            #expect(bench.at(start + 1_999, .idle) == ["left office 1999 ms"])
            #expect(bench.deadline == nil)
        }
    }

    @Test func startsOnANetworkWithoutActivatingAway() {
        var bench = Bench()
        #expect(bench.at(0, .joined("Corp")) == ["entered office keyed"])
        #expect(bench.at(2_000) == enterWork)
    }

    @Test func keepsEverythingThroughARoam() {
        var bench = Bench()
        _ = bench.at(0, .joined("Corp", bssid: 1))
        _ = bench.at(2_000)
        #expect(bench.at(10_000, .unknown) == [])
        #expect(bench.at(10_900) == [])
        #expect(bench.at(11_000, .joined("Corp", bssid: 2)) == [])
        let left = bench.engine.update(environment(.idle), at: Bench.time(20_000))
        guard case .run(let request)? = left.first(where: { $0.brief.hasPrefix("run work") }) else {
            Issue.record("no leave command")
            return
        }
        #expect(request.network?.links.first?.wifi?.bssid == network("Corp", bssid: 2).bssid)
    }

    @Test func leavesWhenARoamDoesNotComeBack() {
        var bench = Bench()
        _ = bench.at(0, .joined("Corp"))
        _ = bench.at(2_000)
        #expect(bench.at(60_000, .unknown) == [])
        // The time of the loss counts, not the moment of certainty.
        #expect(
            bench.at(71_000, .idle) == [
                "left office 60000 ms", "cancel work enter", "deactivated work", "run work leave 0 for office",
                "activated away", "run away enter 0 for offline",
            ])
    }

    @Test func believesNothingNewDuringARoam() {
        var bench = Bench()
        _ = bench.at(0, .joined("Corp"))
        #expect(bench.at(1_000, .unknown) == [])
        #expect(bench.deadline == nil)
        #expect(bench.at(5_000) == [])
        // Another link's change makes the rules be looked at again.
        #expect(bench.at(5_200, environment(.unknown, .ethernet)) == [])
        #expect(bench.at(5_500, .joined("Corp")) == enterWork)
    }

    @Test func waitsForALinkThatWasNeverKnown() {
        var bench = Bench()
        #expect(bench.at(0, .unknown) == [])
        #expect(bench.deadline == nil)
        #expect(bench.at(500, .idle) == startAway)
    }

    @Test func aNewLinkThatWasNeverKnownKeepsNothingFromBeingJudged() {
        var bench = Bench()
        #expect(bench.at(0, .joined("Corp")) == ["entered office keyed"])
        #expect(bench.at(2_000) == enterWork)
        func plugged(_ state: WiFiState) -> NetworkEnvironment {
            var environment = environment(state)
            environment.set(.unknown, on: 4)
            return environment
        }
        #expect(bench.at(3_000, plugged(.joined("Corp"))) == [])
        let left = bench.at(4_000, plugged(.joined("x", .open)))
        #expect(left.prefix(2) == ["left office 4000 ms", "entered unlisted claimed"])
        #expect(left.contains("deactivated work") && left.contains("activated away"))
    }

    @Test func judgesOtherLinksDuringARoam() {
        var bench = Bench(
            """
            [rule.cable]
            on = "wired"
            settle = "1s"
            [rule.air]
            on = "any-wifi"
            """)
        _ = bench.at(0, .joined("Corp"))
        _ = bench.at(2_000)
        #expect(bench.at(3_000, environment(.unknown, .ethernet)) == [])
        #expect(bench.deadline == 4_000)
        #expect(bench.at(4_000) == ["activated cable"])
        #expect(bench.at(4_500, environment(.unknown)) == ["deactivated cable"])
        #expect(bench.at(5_000, environment(nil)) == ["left unlisted 3000 ms", "deactivated air"])
    }

    @Test func switchesNetworksInOneStep() {
        var bench = Bench()
        _ = bench.at(0, .joined("Corp"))
        _ = bench.at(2_000)
        // Another name of the same network changes nothing.
        #expect(bench.at(3_000, .joined("Corp2")) == [])
        #expect(
            bench.at(4_000, .joined("Home")) == [
                "left office 4000 ms", "entered home keyed", "cancel work enter", "deactivated work",
                "run work leave 0 for office",
            ])
        #expect(
            bench.at(5_000, .joined("Cafe", .open)) == [
                "left home 1000 ms", "entered unlisted claimed", "activated away", "run away enter 0 for unlisted",
            ])
        #expect(bench.at(6_000, .joined("Home")) == ["left unlisted 1000 ms", "entered home keyed"])
        #expect(
            bench.at(8_000) == ["cancel away enter", "deactivated away", "run away leave 0 for unlisted"])
    }

    @Test func tellsWeakerAssuranceAtOnce() {
        var bench = Bench()
        _ = bench.at(0, .joined("Corp"))
        _ = bench.at(2_000)
        #expect(bench.at(3_000, .joined("Corp", .open)) == ["office keyed to claimed"])
    }

    @Test func runsNothingWhileObservingOrDisabled() {
        var bench = Bench(
            """
            [rule.a]
            on = "any-wifi"
            mode = "observe"
            settle = "0s"
            enter = [ { command = ["/bin/a"] } ]
            [rule.b]
            on = "any-wifi"
            enabled = false
            enter = [ { command = ["/bin/a"] } ]
            """)
        #expect(bench.at(0, .joined("x")) == ["entered unlisted claimed", "activated a"])
        #expect(bench.at(1_000, .idle) == ["left unlisted 1000 ms", "deactivated a"])
    }

    @Test func doesNotEnterAgainAfterARestart() {
        var bench = Bench(resuming: ["work", "gone"])
        #expect(bench.engine.activeRules == ["work"])
        #expect(bench.at(0, .joined("Corp")) == ["entered office keyed"])
        #expect(bench.at(2_000) == [])
        #expect(bench.at(3_000, .idle).contains("run work leave 0 for office"))
        var elsewhere = Bench(resuming: ["work", "away"])
        #expect(elsewhere.at(0, .idle) == ["deactivated work", "run work leave 0 for nothing"])
    }

    @Test func replacesRulesWithoutEnteringAgain() {
        var bench = Bench()
        _ = bench.at(0, .joined("Corp"))
        _ = bench.at(2_000)
        let changed =
            Bench.office.replacing("/bin/a", with: "/bin/z") + "\n[rule.new]\non = \"office\"\nsettle = \"0s\""
        let decisions = bench.engine.replace(with: ruleSet(changed), at: Bench.time(3_000))
        #expect(decisions.map(\.brief) == ["activated new"])
        #expect(bench.engine.activeRules == ["work", "new"])
    }

    @Test func stopsRulesThatAreRemovedOrDisabled() {
        var bench = Bench()
        _ = bench.at(0, .joined("Corp"))
        _ = bench.at(2_000)
        let disabled = Bench.office.replacing("on = \"office\"", with: "on = \"office\"\nenabled = false")
        var first = bench.engine
        #expect(
            first.replace(with: ruleSet(disabled), at: Bench.time(3_000)).map(\.brief) == [
                "cancel work enter", "deactivated work",
            ])
        #expect(
            bench.engine.replace(with: RuleSet(), at: Bench.time(3_000)).map(\.brief) == [
                "cancel work enter", "deactivated work", "left office 3000 ms", "entered unlisted claimed",
            ])
        #expect(bench.at(9_000, .idle) == ["left unlisted 6000 ms"])
    }

    @Test func rejudgesWhenTheNetworksOfARuleChange() {
        var bench = Bench()
        _ = bench.at(0, .joined("Corp"))
        _ = bench.at(2_000)
        let moved = Bench.office.replacing("\non = \"office\"", with: "\non = \"home\"")
        #expect(
            bench.engine.replace(with: ruleSet(moved), at: Bench.time(3_000)).map(\.brief) == [
                "cancel work enter", "deactivated work", "run work leave 0 for office",
            ])
        let turned = Bench.office.replacing("\non = \"office\"", with: "\noff = \"home\"")
        var other = Bench()
        _ = other.at(0, .joined("Corp"))
        _ = other.at(2_000)
        #expect(other.engine.replace(with: ruleSet(turned), at: Bench.time(3_000)).isEmpty)
        #expect(other.at(4_000, .joined("Home")).first == "left office 4000 ms")
        #expect(other.at(6_000).contains("deactivated work"))
    }

    @Test func roundsStaysToMinutes() {
        #expect(
            [29_999_999, 30_000_000, 89_999_999, 90_000_000].map { Stay(microseconds: $0).minutes } == [0, 1, 1, 2])
    }

    /// Whatever happens: a network is entered and left in turn, and so is a rule; each command runs once a transition.
    @Test func alternatesWhateverHappens() {
        var generator = SeededGenerator(state: 3)
        var bench = Bench()
        var entered: Set<String> = []
        var active: Set<String> = []
        var time: Int64 = 0
        let states: [WiFiState] = [
            .idle, .unknown, .joined("Corp"), .joined("Home"), .joined("Cafe", .open), .associating(network("Corp")),
            .joined("Corp", .open),
        ]
        for _ in 0..<5_000 {
            time += Int64.random(in: 0...1_500, using: &generator)
            let cable: [LinkKind] = Bool.random(using: &generator) ? [.ethernet] : []
            var next = cable.isEmpty ? environment(nil) : environment(nil, .ethernet)
            next.set(states.randomElement(using: &generator), on: 3)
            var runs: [String: Int] = [:]
            for decision in bench.engine.update(next, at: Bench.time(time)) {
                switch decision {
                case .networkEntered(let match): #expect(entered.insert(match.name).inserted)
                case .networkLeft(let match, _): #expect(entered.remove(match.name) != nil)
                case .ruleActivated(let rule, _): #expect(active.insert(rule.name).inserted)
                case .ruleDeactivated(let rule, _): #expect(active.remove(rule.name) != nil)
                case .run(let request): runs["\(request.rule.name) \(request.edge) \(request.index)", default: 0] += 1
                default: break
                }
            }
            #expect(runs.values.allSatisfy { $0 == 1 })
            #expect(Set(bench.engine.activeRules) == active)
        }
    }
}
