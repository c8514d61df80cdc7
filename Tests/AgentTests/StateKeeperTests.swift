import ActionProtocol
@testable import Agent
import Feed
import Platform
import Testing

/// One started, then one succeeded, failed or reverted for each state, whatever the helper says how often.
@Suite struct StateKeeperTests {
    private let keeper = StateKeeper(user: "ada")
    private let now = Timestamp(wall: 0, boottime: 5_000)

    private func order(_ rule: String) -> StateKeeper.Order {
        StateKeeper.Order(
            state: NamedState(rule: rule, index: 0, record: EventRecord(event: "rule.activated")), kind: "proxy")
    }

    private func declare(_ rules: String...) -> [String] {
        keeper.declare(rules.map(order), at: now) { FeedEvent.ActionFact(id: 1, rule: $0, index: $1, kind: $2) }
            .map(word)
    }

    private func took(_ outcome: StateOutcome, _ rule: String = "a") -> String? {
        keeper.took(outcome, rule: rule, index: 0, at: Timestamp(wall: 0, boottime: 7_000)).map(word)
    }

    private func word(_ event: FeedEvent) -> String {
        let (word, fact): (String, FeedEvent.ActionFact)
        switch event.body {
        case .actionStarted(let it): (word, fact) = ("started", it)
        case .actionSucceeded(let it): (word, fact) = ("succeeded", it)
        case .actionFailed(let it): (word, fact) = ("failed", it)
        case .actionReverted(let it): (word, fact) = ("reverted", it)
        case .actionCancelled(let it): (word, fact) = ("cancelled", it)
        default: return "another"
        }
        #expect(fact.user == "ada")
        return "\(word) \(fact.rule)" + (fact.because.map { ": \($0)" } ?? "")
    }

    @Test func eachIsToldOnce() {
        #expect(declare("a", "b") == ["started a", "started b"])
        #expect(declare("a", "b") == [])
        #expect(took(.held) == "succeeded a" && took(.held) == nil)
        #expect(took(.held, "other") == nil)
        // Not asked for: it says nothing of what holds.
        #expect(took(.reverted) == nil)
        #expect(declare("b") == [])
        // Said of the time before.
        #expect(took(.held) == nil)
        #expect(took(.reverted) == "reverted a" && took(.reverted) == nil)
        #expect(took(.held, "b") == "succeeded b")
    }

    /// As a link that goes up and down faster than the helper can follow: no beginning stays without an end.
    @Test func whatIsWantedAgainBeforeItHasEndedIsToldAsCancelled() {
        #expect(declare("a") == ["started a"])
        #expect(declare() == [])
        #expect(declare("a") == ["cancelled a: obsolete", "started a"])
        #expect(took(.held) == "succeeded a")
    }

    @Test func aFailureIsToldAgainOnlyWhenItIsAnother() {
        #expect(declare("a") == ["started a"])
        #expect(took(.failed(because: "x")) == "failed a: x" && keeper.hasFailures)
        #expect(took(.failed(because: "x")) == nil)
        #expect(took(.failed(because: "y")) == "failed a: y")
        #expect(took(.held) == "succeeded a" && !keeper.hasFailures)
        #expect(declare() == [])
        #expect(took(.failed(because: "z")) == "failed a: what was there before is not back: z")
        #expect(took(.reverted) == nil)
    }

    @Test func whatIsWantedAgainBeforeItEndedBeginsAnew() {
        #expect(declare("a") == ["started a"])
        #expect(took(.held) == "succeeded a")
        #expect(declare() == [])
        #expect(declare("a") == ["started a"])
        #expect(took(.reverted) == nil)
        #expect(took(.held) == "succeeded a")
    }

    @Test func whatWasSaidIsSaidOnce() {
        _ = declare("a")
        #expect(keeper.isUnsaid("1"))
        _ = keeper.say("1")
        #expect(!keeper.isUnsaid("1") && keeper.isUnsaid("2") && !keeper.isSettled)
        _ = declare("a", "b")
        #expect(keeper.isUnsaid("1"))
        _ = keeper.say("1")
        keeper.forgetSaid()
        #expect(keeper.isUnsaid("1"))
        #expect(keeper.failAll("gone", at: now).map(word) == ["failed a: gone", "failed b: gone"])
        #expect(keeper.isSettled && keeper.failAll("gone", at: now).isEmpty)
    }

    /// The end of an earlier pass is not that of the one that was asked for last.
    @Test func aPassIsSettledByItsOwnNumber() throws {
        func say() throws -> UInt64 {
            guard case .hold(let pass, "1", _) = keeper.say("1") else { throw CancellationError() }
            return pass
        }
        _ = declare("a")
        let first = try say()
        _ = declare("a", "b")
        let second = try say()
        keeper.settled(first)
        #expect(!keeper.isSettled)
        keeper.settled(nil)
        #expect(!keeper.isSettled)
        keeper.settled(second)
        #expect(keeper.isSettled)
    }

    @Test func whatASessionHeldIsToldWhenItEnds() {
        _ = declare("held", "begun", "failed", "ending")
        _ = took(.held, "held")
        _ = took(.held, "ending")
        _ = took(.failed(because: "x"), "failed")
        _ = declare("held", "begun", "failed")
        _ = keeper.say("1")
        // By their numbers, which a test has all alike.
        #expect(
            Set(keeper.end("gone", at: now).map(word)) == [
                "failed held: gone", "failed begun: gone", "failed ending: what was there before is not back: gone",
            ])
        #expect(keeper.isSettled && !keeper.hasFailures && keeper.states.isEmpty && keeper.end("x", at: now).isEmpty)
    }
}
