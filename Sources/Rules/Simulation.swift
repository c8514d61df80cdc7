public import Environment
public import Platform

/// What a rule set makes of an environment once everything has settled, as if the machine had just come there.
public struct Simulation: Sendable {
    public struct RuleState: Hashable, Sendable {
        public var rule: Rule
        public var isActive: Bool
        public var because: String
    }

    public private(set) var judgement = Judgement()
    /// As it stands in the end, to be asked for reasons.
    public private(set) var engine: RuleEngine
    /// In the order of the files.
    public private(set) var rules: [RuleState] = []
    /// What shall hold.
    public private(set) var states: [StateRequest] = []
    /// What would have been run on the way.
    public private(set) var actions: [ActionRequest] = []
    /// Rules that had to give way to others, and why.
    public private(set) var skipped: [(rule: Rule, because: String)] = []

    /// Settling and `stable-for` are at most an hour each.
    private static let limit: Int64 = 3 * 3_600_000_000

    /// - Parameter proven: the networks whose probe is to have succeeded.
    public init(
        of ruleSet: RuleSet, in environment: NetworkEnvironment, proven: Set<String> = [],
        at time: Timestamp = Timestamp(wall: 0, boottime: 0)
    ) {
        var engine = RuleEngine(ruleSet: ruleSet)
        self.engine = engine
        var now = time
        // A rule whose hour is near asks to be called when the minute ends, and the clock stands still here: from its
        // beginning on that is once a minute.
        now.wall -= now.wall % 60_000_000
        var pending = engine.update(environment, at: now)
        while true {
            var answers: [ProofRequest] = []
            for decision in pending {
                switch decision {
                case .run(let request): actions.append(request)
                case .cancel(let rule, let edge): actions.removeAll { $0.rule.name == rule && $0.edge == edge }
                case .ruleSkipped(let rule, let because): skipped.append((rule, because))
                case .probe(let request): if proven.contains(request.network) { answers.append(request) }
                default: break
                }
            }
            pending = answers.flatMap { engine.take(true, for: $0.identifier, at: now) }
            if !pending.isEmpty { continue }
            guard let due = engine.nextDeadline, due <= time.boottime + Simulation.limit else { break }
            // Hours pass here in no time, and are not to change what a clock would say.
            now.boottime = max(due, now.boottime)
            pending = engine.advance(to: now)
        }
        self.engine = engine
        judgement = engine.judgement
        states = engine.desiredStates
        let active = Set(engine.activeRules)
        rules = ruleSet.rules.map { rule in
            RuleState(rule: rule, isActive: active.contains(rule.name), because: engine.because(of: rule))
        }
    }
}
