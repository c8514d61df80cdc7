/// What the rule engine decided, in the order in which it is to be carried out.
public enum Decision: Hashable, Sendable {
    case networkEntered(NetworkMatch)
    /// With the links it had last.
    case networkLeft(NetworkMatch, stayed: Stay)
    case assuranceChanged(NetworkMatch, previous: Assurance)
    case ruleActivated(Rule, because: String)
    case ruleDeactivated(Rule, because: String)
    /// The commands of this rule and edge are obsolete: what runs is ended, what waits is dropped.
    case cancel(rule: String, edge: Rule.Edge)
    case run(CommandRequest)
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

/// A command of a rule that is to be run now.
public struct CommandRequest: Hashable, Sendable {
    public var rule: Rule
    public var edge: Rule.Edge
    /// Its place among the rule's commands on that edge.
    public var index: Int
    /// On entering the network that made the rule hold, on leaving the one it held on last; nil where the rule holds
    /// off networks and no place is known, or the agent was restarted in between.
    public var network: NetworkMatch?

    public var command: Rule.Command { rule.commands(on: edge)[index] }
}
