/// What the rule engine decided, in the order in which it is to be carried out.
public enum Decision: Hashable, Sendable {
    case networkEntered(NetworkMatch)
    /// With the links it had last.
    case networkLeft(NetworkMatch, stayed: Stay)
    case assuranceChanged(NetworkMatch, previous: Assurance)
    case ruleActivated(Rule, because: String)
    case ruleDeactivated(Rule, because: String)
    /// What the rule wants is not done, or not undone, for now.
    case ruleSkipped(Rule, because: String)
    /// The actions of this rule and edge are obsolete: what runs is ended, what waits is dropped.
    case cancel(rule: String, edge: Rule.Edge)
    case run(ActionRequest)
    /// From now on this shall hold of the target; nil: nothing is asked of it any more.
    case stateChanged(StateAction.Target, StateRequest?)
    /// To be answered by `RuleEngine.take(_:for:at:)`, whatever comes of it.
    case probe(ProofRequest)
    /// The answer is not awaited any more.
    case cancelProbe(identifier: UInt64)
}

/// How long something lasted.
public struct Stay: Hashable, Sendable {
    public var microseconds: Int64

    public init(microseconds: Int64) {
        self.microseconds = microseconds
    }

    /// To the nearest minute.
    public var minutes: Int64 { (microseconds + 30_000_000) / 60_000_000 }
}

/// An action of a rule that is to be run now.
public struct ActionRequest: Hashable, Sendable {
    public var rule: Rule
    public var edge: Rule.Edge
    /// Its place among the rule's actions on that edge.
    public var index: Int
    /// On entering the network that made the rule hold, on leaving the one it held on last; nil where the rule holds
    /// off networks and no place is known, or the agent was restarted in between.
    public var network: NetworkMatch?

    public var action: EdgeAction { rule.actions(on: edge)[index].value }
}

/// What a rule wants of a target.
public struct StateRequest: Hashable, Sendable {
    public var rule: Rule
    /// Its place among the rule's state actions.
    public var index: Int
    public var network: NetworkMatch?

    public var action: StateAction { rule.states[index].value }
}
