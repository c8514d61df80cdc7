public import Environment
public import Platform

/// Turns environments, as they follow each other, into decisions: each transition is decided exactly once.
///
/// A pure state machine: the caller hands it every new environment, calls `advance(to:)` at `nextDeadline` and carries
/// out what it decides, in order.
///
/// - That a network was left is believed at once; that it was entered, by rules, after their `settle` time.
/// - While a link's state is `unknown`, its last known state is kept in its place: nothing is left because of it, and
///   no rule believes that a network was entered by it.
public struct RuleEngine: Sendable {
    public private(set) var ruleSet: RuleSet

    private var environment: NetworkEnvironment?
    private var links = LinkMemory()
    /// Networks the machine is on, in the order in which it came there.
    private var presences: [Presence] = []
    private var states: [String: RuleState] = [:]
    /// Rules that are about to believe that a network was entered.
    private var settling: [String: Settling] = [:]
    private var signature: Signature?

    private struct Presence {
        var match: NetworkMatch
        let since: Int64
    }

    private struct Settling {
        let since: Int64
        var isHeld: Bool
        var due: Int64
    }

    /// What rules depend on; they are looked at again only when it changes.
    private struct Signature: Equatable {
        var matches: Set<String>
        var unknownLinks: Set<Int32>
    }

    /// - Parameter activeRules: the rules that held before the agent was restarted in the same association: they do
    ///   not enter again.
    public init(ruleSet: RuleSet, resuming activeRules: some Sequence<String> = []) {
        self.ruleSet = ruleSet
        let resumed = Set(activeRules)
        for rule in ruleSet.rules where rule.isEnabled && resumed.contains(rule.name) {
            states[rule.name] = RuleState(believesOn: rule.condition.isOn)
        }
    }

    /// The rules that hold now, in the order of the files.
    public var activeRules: [String] {
        ruleSet.rules.filter { states[$0.name]?.holds($0) ?? false }.map(\.name)
    }

    /// The networks the machine is on, in the order in which it came there; built-in ones included.
    public var networks: [NetworkMatch] { presences.map(\.match) }

    /// When to call `advance(to:)` at the latest, in microseconds of boot time.
    public var nextDeadline: Int64? {
        settling.values.lazy.filter { !$0.isHeld }.map(\.due).min()
    }

    /// Takes in a new environment, which was the case at `time`.
    public mutating func update(_ environment: NetworkEnvironment, at time: Timestamp) -> [Decision] {
        self.environment = environment
        return decide(at: time.boottime)
    }

    /// Lets time pass.
    public mutating func advance(to time: Timestamp) -> [Decision] {
        decide(at: time.boottime)
    }

    /// Puts other rules in place. Those that still exist keep holding without entering again; those that are gone or
    /// disabled stop, and their `leave` commands are not run, since they are the administrator's no longer.
    public mutating func replace(with ruleSet: RuleSet, at time: Timestamp) -> [Decision] {
        var decisions: [Decision] = []
        let successors = Dictionary(ruleSet.rules.map { ($0.name, $0) }, uniquingKeysWith: { first, _ in first })
        for rule in self.ruleSet.rules {
            guard var state = states[rule.name] else { continue }
            let wasActive = state.holds(rule)
            if let successor = successors[rule.name], successor.isEnabled {
                // What was believed was about other networks, perhaps; whether the rule holds is kept.
                if successor.condition.isOn != rule.condition.isOn {
                    state.believesOn = wasActive == successor.condition.isOn
                    states[rule.name] = state
                }
                if let pending = settling[rule.name] { settling[rule.name]?.due = pending.since + successor.settle }
                continue
            }
            states[rule.name] = nil
            settling[rule.name] = nil
            if let edge = state.lastRun { decisions.append(.cancel(rule: rule.name, edge: edge)) }
            if wasActive {
                let because = successors[rule.name] == nil ? "removed from the rule files" : "disabled"
                decisions.append(.ruleDeactivated(rule, because: because))
            }
        }
        self.ruleSet = ruleSet
        signature = nil
        return decisions + decide(at: time.boottime)
    }

    // MARK: Deciding

    private mutating func decide(at now: Int64) -> [Decision] {
        guard let environment else { return [] }
        guard let known = links.resolve(environment, at: now) else {
            // A link whose state has never been known: nothing can be said about the place yet.
            for name in settling.keys { settling[name]?.isHeld = true }
            signature = nil
            return []
        }
        let judgement = ruleSet.judge(known)
        let earlier = presences
        var decisions = moveNetworks(to: judgement, at: now)

        let current = Signature(matches: Set(judgement.matches.map(\.name)), unknownLinks: links.unknown)
        let isDue = nextDeadline.map { $0 <= now } ?? false
        guard current != signature || isDue else { return decisions }
        signature = current
        for rule in ruleSet.rules where rule.isEnabled {
            decisions += decide(rule, in: judgement, earlier: earlier, at: now)
        }
        return decisions
    }

    /// Networks left, then networks entered or known better or worse.
    private mutating func moveNetworks(to judgement: Judgement, at now: Int64) -> [Decision] {
        var decisions: [Decision] = []
        let names = Set(judgement.matches.map(\.name))
        for presence in presences where presence.match.isPlace && !names.contains(presence.match.name) {
            // Where the loss was held back, it was when the link was lost, not when that became certain.
            let end = links.lossTime(of: presence.match) ?? now
            let stay = Stay(microseconds: max(end - presence.since, 0))
            decisions.append(.networkLeft(presence.match, stayed: stay))
        }
        presences.removeAll { !names.contains($0.match.name) }
        for match in judgement.matches {
            if let place = presences.firstIndex(where: { $0.match.name == match.name }) {
                let previous = presences[place].match.assurance
                presences[place].match = match
                if match.isPlace, previous != match.assurance {
                    decisions.append(.assuranceChanged(match, previous: previous))
                }
            } else {
                presences.append(Presence(match: match, since: now))
                if match.isPlace { decisions.append(.networkEntered(match)) }
            }
        }
        return decisions
    }

    private mutating func decide(
        _ rule: Rule, in judgement: Judgement, earlier: [Presence], at now: Int64
    ) -> [Decision] {
        var state = states[rule.name] ?? RuleState()
        let wasActive = state.holds(rule)
        let match = rule.match(in: judgement)
        if match == nil {
            settling[rule.name] = nil
            state.believesOn = false
        } else if state.believesOn != true {
            var pending = settling[rule.name] ?? Settling(since: now, isHeld: false, due: now + rule.settle)
            pending.isHeld = rule.condition.networks.allSatisfy { network in
                judgement[network.name].map { links.holds($0) } ?? true
            }
            if !pending.isHeld, pending.due <= now {
                settling[rule.name] = nil
                state.believesOn = true
            } else {
                settling[rule.name] = pending
            }
        }
        let isActive = state.holds(rule)
        let subject = state.subject
        // The place on which the rule holds, as long as it does so undisputed.
        if isActive, rule.condition.isOn == (match != nil) { state.subject = match ?? judgement.place }
        defer { states[rule.name] = state }
        guard isActive != wasActive else { return [] }

        let because = rule.reason(in: judgement)
        var decisions: [Decision] = []
        let edge: Rule.Edge = isActive ? .enter : .leave
        if let obsolete = state.lastRun, obsolete != edge { decisions.append(.cancel(rule: rule.name, edge: obsolete)) }
        decisions.append(isActive ? .ruleActivated(rule, because: because) : .ruleDeactivated(rule, because: because))
        guard !rule.isObserving else { return decisions }
        // The access point may be another one than when the rule began to hold.
        let last = earlier.first { $0.match.name == subject?.name }?.match ?? subject
        let commands = rule.commands(on: edge)
        if !commands.isEmpty { state.lastRun = edge }
        return decisions
            + commands.indices.map { index in
                .run(
                    CommandRequest(rule: rule, edge: edge, index: index, network: isActive ? state.subject : last))
            }
    }
}

/// What the engine remembers of a rule.
private struct RuleState {
    /// Whether the machine is on one of the rule's networks, settled; nil before that was ever known.
    var believesOn: Bool?
    var subject: NetworkMatch?
    /// The edge whose commands were run last, and may still run.
    var lastRun: Rule.Edge?

    func holds(_ rule: Rule) -> Bool {
        believesOn == rule.condition.isOn
    }
}

extension Rule.Condition {
    fileprivate var isOn: Bool {
        if case .on = self { true } else { false }
    }
}

extension Judgement {
    /// Where the machine is: a described network or `unlisted`, otherwise `offline`.
    fileprivate var place: NetworkMatch? {
        matches.first { $0.isPlace } ?? self[BuiltInNetwork.offline.rawValue]
    }
}
