import ActionProtocol
import Environment
import Feed
import Platform
import Rules
import Testing

@testable import Agent

/// What a second factor comes to as an action, and what follows it.
@Suite(.timeLimit(.minutes(5))) struct SecondFactorActionsTests {
    /// Whoever asks, as the test says.
    private final class FakeAsking: FactorAsking {
        var demands: [FactorDemand] = []
        var cancelled: [UInt64] = []
        var forgotten: [String] = []
        private var done: [UInt64: (FactorEnd) -> Void] = [:]
        var onDemand: (FactorDemand) -> Void = { _ in }

        func demand(_ demand: FactorDemand, _ done: @escaping (FactorEnd) -> Void) {
            demands.append(demand)
            self.done[demand.identifier] = done
            onDemand(demand)
        }

        func cancel(_ identifier: UInt64) {
            cancelled.append(identifier)
            end(identifier, FactorEnd(outcome: .cancelled))
        }

        func forget(_ rule: String, _ edge: Rule.Edge) { forgotten.append("\(rule) \(edge.rawValue)") }

        func end(_ identifier: UInt64, _ end: FactorEnd) { done.removeValue(forKey: identifier)?(end) }
    }

    private final class Stage {
        static let digest = String(repeating: "1", count: 64)
        private static let rules = """
            [network.office]
            ssid = ["Corp-Staff"]
            [rule.guard]
            on = "office"
            [rule.away]
            off = "office"
            settle = "0s"
            [[rule.away.enter]]
            [rule.away.enter.second-factor]
            message = "Confirm"
            on-success = [{ command = ["/bin/echo", "passed"] }, { hold = "guard" }]
            on-failure = ["disconnect", "lock-session", { hold = "guard" }, { command = ["/bin/echo", "failed"] }]
            [[rule.away.enter]]
            command = ["/bin/echo", "next"]
            """

        let loop: EventLoop
        let helper: FakeHelper
        let dispatcher: ActionDispatcher
        let asking = FakeAsking()
        let runs: [ActionRequest]
        /// `kind end`
        var events: [String] = []
        var holds: [String] = []
        var problems: [String: String] = [:]
        private var until: () -> Bool = { false }
        private var isLate = false

        init() throws {
            loop = try EventLoop()
            helper = try FakeHelper(on: loop)
            dispatcher = ActionDispatcher(helper: helper.path, on: loop)
            let file = RuleFile(path: "a.toml", contents: Array(Stage.rules.utf8))
            let loaded = RuleSet.load([file])
            let ruleSet = try #require(loaded.ruleSet, "\(loaded.diagnostics)")
            var engine = RuleEngine(ruleSet: ruleSet)
            runs = engine.update(NetworkEnvironment(), at: .now()).compactMap {
                if case .run(let run) = $0 { run } else { nil }
            }
            dispatcher.use(ruleSet, digest: Stage.digest)
            dispatcher.factors = asking
            dispatcher.holdRule = { [unowned self] rule, request in
                holds.append("\(rule) by \(request.holder)\(request.endsWithPlace ? " here" : "")")
                return nil
            }
            dispatcher.report = { [unowned self] in problems[$0] = $1 }
            dispatcher.publish = { [unowned self] event in
                let fact: FeedEvent.ActionFact? =
                    switch event.body {
                    case .actionStarted(let fact), .actionSucceeded(let fact), .actionFailed(let fact),
                        .actionCancelled(let fact):
                        fact
                    default: nil
                    }
                events.append("\(fact?.kind ?? "?") \(event.type.dropFirst("action.".count))")
                if until() { loop.stop() }
            }
            helper.answer = { request in
                guard case .run(let id, _, _) = request else { return [] }
                return [.started(id: id), .ended(id: id, ActionEnd(.succeeded))]
            }
        }

        func start() throws {
            #expect(runs.count == 2)
            for run in runs { dispatcher.run(run) }
        }

        /// Once for a stage.
        func play(_ until: @escaping () -> Bool) throws {
            self.until = until
            loop.schedule(at: Timestamp.now().boottime + 20_000_000) { [unowned self] in
                isLate = true
                loop.stop()
            }
            loop.run()
            try #require(!isLate, "\(events)")
        }

        /// `failure 0`, or nothing for the action itself.
        var asked: [String] {
            helper.requests.compactMap { request in
                guard case .run(_, _, let action) = request else { return nil }
                return action.consequence.map { "\($0.outcome.rawValue) \($0.index) of \(action.index)" }
                    ?? "\(action.index)"
            }
        }
    }

    private static let passed = [
        "second-factor started", "second-factor succeeded", "command started", "command succeeded", "hold started",
        "hold succeeded", "command started", "command succeeded",
    ]

    @Test func whoPassesIsFollowedByThatBeforeTheNextAction() throws {
        let stage = try Stage()
        stage.asking.onDemand = { demand in
            #expect(stage.dispatcher.isFactorDue)
            #expect(
                demand.rule == "away" && demand.network == "offline" && !demand.isPlace
                    && demand.factor.message == "Confirm")
            stage.dispatcher.schedule { stage.asking.end(demand.identifier, FactorEnd(outcome: .passed)) }
        }
        try stage.start()
        try stage.play { stage.events.count == Self.passed.count }
        #expect(stage.events == Self.passed && stage.asked == ["success 0 of 0", "1"])
        #expect(stage.holds == ["guard by second factor of rule away here"] && stage.problems.isEmpty)
        #expect(!stage.dispatcher.isFactorDue)
    }

    private static let failed = [
        "second-factor started", "second-factor failed", "disconnect started", "disconnect succeeded", "lock started",
        "lock succeeded", "hold started", "hold succeeded", "command started", "command succeeded",
    ]

    /// As when the link that led here is what is taken down.
    @Test(arguments: [FactorEnd.Outcome.failed, .expired])
    func whoFailsIsFollowedByAllOfThatThoughTheRuleCeasesToHold(outcome: FactorEnd.Outcome) throws {
        let stage = try Stage()
        stage.asking.onDemand = { demand in
            stage.dispatcher.schedule {
                stage.asking.end(demand.identifier, FactorEnd(outcome: outcome))
                stage.dispatcher.cancel(rule: "away", edge: .enter)
            }
        }
        try stage.start()
        // The next action is obsolete.
        let expected = Self.failed.sorted() + ["command cancelled"]
        try stage.play { stage.events.count == expected.count }
        #expect(stage.events.sorted() == expected.sorted())
        #expect(stage.asked == ["failure 0 of 0", "failure 1 of 0", "failure 3 of 0"])
        #expect(stage.holds == ["guard by second factor of rule away"] && stage.asking.forgotten == ["away enter"])
    }

    @Test func whatASuccessLeadsToIsObsoleteWithTheRule() throws {
        let stage = try Stage()
        stage.asking.onDemand = { demand in
            stage.dispatcher.schedule { stage.asking.end(demand.identifier, FactorEnd(outcome: .passed)) }
        }
        // The first of it runs, and is told to end.
        stage.helper.answer = { request in
            switch request {
            case .run(let id, _, _):
                stage.dispatcher.schedule { stage.dispatcher.cancel(rule: "away", edge: .enter) }
                return [.started(id: id)]
            case .cancel(let id): return [.ended(id: id, ActionEnd(.cancelled))]
            default: return []
            }
        }
        try stage.start()
        try stage.play { stage.events.filter { $0.hasSuffix("cancelled") }.count == 3 }
        #expect(stage.asked == ["success 0 of 0"] && stage.holds.isEmpty)
    }

    @Test func aFailureThatLeadsToNothingIsComplainedOf() throws {
        let stage = try Stage()
        stage.asking.onDemand = { demand in
            stage.dispatcher.schedule { stage.asking.end(demand.identifier, FactorEnd(outcome: .failed)) }
        }
        stage.helper.answer = { request in
            guard case .run(let id, _, let action) = request else { return [] }
            let isWorking = action.consequence?.index != 1
            return [.ended(id: id, isWorking ? ActionEnd(.succeeded) : ActionEnd(.failed, because: "no locker"))]
        }
        try stage.start()
        try stage.play { stage.events.last == "command succeeded" && stage.asked.last == "1" }
        #expect(
            stage.problems == [
                "second factor of away enter 0 1":
                    "rule away: its second factor failed, and what follows (lock) could not be carried out: no locker"
            ])
    }

    @Test func aRuleThatCeasesToHoldTakesTheQuestionBack() throws {
        let stage = try Stage()
        stage.asking.onDemand = { _ in
            stage.dispatcher.schedule { stage.dispatcher.cancel(rule: "away", edge: .enter) }
        }
        try stage.start()
        try stage.play { stage.events.count == 3 }
        #expect(stage.events == ["second-factor started", "command cancelled", "second-factor cancelled"])
        #expect(stage.asking.cancelled.count == 1 && stage.asked.isEmpty && !stage.dispatcher.isFactorDue)
    }

    /// What has not come to its turn counts as demanded already.
    @Test func whatWaitsIsDue() throws {
        let stage = try Stage()
        stage.dispatcher.run(try #require(stage.runs.last))
        #expect(!stage.dispatcher.isFactorDue)
        stage.dispatcher.run(try #require(stage.runs.first))
        #expect(stage.asking.demands.isEmpty && stage.dispatcher.isFactorDue)
    }

    @Test func whereNobodyAsksItFails() throws {
        let stage = try Stage()
        stage.dispatcher.factors = nil
        try stage.start()
        try stage.play { stage.events.count == 3 }
        #expect(stage.events == ["second-factor failed", "command started", "command succeeded"])
    }
}
