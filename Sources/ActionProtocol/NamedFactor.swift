internal import JSON

/// A second factor by its place in the rule files, and who is to be asked for it.
public struct NamedFactor: Hashable, Sendable {
    public var rule: String
    public var edge: NamedAction.Edge
    /// Among the rule's actions on that edge.
    public var index: Int
    /// The network's name in the rule files, of which the person is told.
    public var network: String?
    /// logind's identifier of the session that is to be at the screen.
    public var session: String
    /// How long the person may take (ms).
    public var limit: Int64

    /// A day.
    public static let maximumLimit: Int64 = 86_400_000

    public init(
        rule: String, edge: NamedAction.Edge, index: Int, network: String? = nil, session: String, limit: Int64
    ) {
        self.rule = rule
        self.edge = edge
        self.index = index
        self.network = network
        self.session = session
        self.limit = limit
    }
}

/// What became of asking a person once.
public enum FactorAnswer: Hashable, Sendable {
    case right, wrong
    /// Nothing that asking again would help.
    case failed(because: String)
}

extension NamedFactor {
    func write(to writer: inout JSONWriter) {
        writer.field("rule", rule)
        writer.field("edge", edge.rawValue)
        writer.field("index", index)
        if let network { writer.field("network", network) }
        writer.field("session", session)
        writer.field("limit_ms", limit)
    }

    init?(_ value: JSONValue) {
        guard let rule = Name.rule(value["rule"]), let index = Name.index(value["index"]),
            let edge = value["edge"]?.string.flatMap(NamedAction.Edge.init),
            let session = value["session"]?.string, (1...64).contains(session.utf8.count),
            let limit = value["limit_ms"]?.integer, (1...NamedFactor.maximumLimit).contains(limit)
        else { return nil }
        self.init(rule: rule, edge: edge, index: index, session: session, limit: limit)
        guard let member = value["network"] else { return }
        guard let network = Name.rule(member) else { return nil }
        self.network = network
    }
}

extension FactorAnswer {
    func write(to writer: inout JSONWriter) {
        switch self {
        case .right: writer.field("answer", "right")
        case .wrong: writer.field("answer", "wrong")
        case .failed(let because):
            writer.field("answer", "failed")
            writer.field("because", ActionEnd.cut(because))
        }
    }

    init?(_ value: JSONValue) {
        switch value["answer"]?.string {
        case "right": self = .right
        case "wrong": self = .wrong
        case "failed":
            guard let because = ActionEnd.reason(value["because"]) else { return nil }
            self = .failed(because: because)
        default: return nil
        }
    }
}
