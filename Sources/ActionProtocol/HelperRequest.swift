internal import JSON

/// What the agent asks of a helper: one line of JSON each.
///
/// Nothing in it says what is to be done, only where that stands in the rule files, which the helper reads itself. What
/// shall hold is always said as a whole: a set cannot get out of step when one of the two is killed, as beginnings and
/// ends of single states can.
public enum HelperRequest: Hashable, Sendable {
    /// These states shall hold, in this order, and nothing else that the helper put in place.
    ///
    /// - Parameter pass: a number of the agent's, by which `HelperReport.settled` says what it answers.
    case hold(pass: UInt64, digest: String, [NamedState])
    /// What happens once. Ends with `HelperReport.ended` in any case.
    case run(id: UInt64, digest: String, NamedAction)
    /// The action is obsolete.
    case cancel(id: UInt64)
    /// This state, a VPN, waits until somebody has signed in at the network's captive portal: tell the user. Of helpers
    /// in sessions only.
    case portal(digest: String, NamedState)
    /// An action may be asked for soon.
    case prepare
    /// A daemon was started anew and may have forgotten what shall hold.
    case verify(Daemon)
    /// Take away what rules have set of the proxy, whether or not they hold. Ends with `HelperReport.ended`, whose output
    /// tells what was there.
    case resetProxy(id: UInt64)
    /// Undo what lowers protection unless a `hold` comes within so many milliseconds. Of root only.
    case protect(after: Int64)
    /// Undo everything, as before the helper is taken away. Of root only.
    case release

    /// Octets of a line, its LF included; a longer one ends the connection.
    public static let maximumSize = 1 << 20
    public static let maximumStates = 4_096
    public static let maximumDelay: Int64 = 60_000

    /// Who forgets, when it is started anew, what it was told to hold.
    public enum Daemon: String, Hashable, Sendable, CaseIterable {
        case firewalld
        case networkManager = "networkmanager"
    }
}

/// A state action by its place in the rule files.
public struct NamedState: Hashable, Sendable {
    public var rule: String
    /// Among the rule's state actions.
    public var index: Int
    public var record: EventRecord

    public init(rule: String, index: Int, record: EventRecord) {
        self.rule = rule
        self.index = index
        self.record = record
    }
}

/// An edge action by its place in the rule files.
public struct NamedAction: Hashable, Sendable {
    public enum Edge: String, Hashable, Sendable {
        case enter, leave
    }

    public var rule: String
    public var edge: Edge
    /// Among the rule's actions on that edge.
    public var index: Int
    /// Of a second factor that was asked for: what follows. Nil: the action itself.
    public var consequence: NamedConsequence?
    public var record: EventRecord

    public init(
        rule: String, edge: Edge, index: Int, consequence: NamedConsequence? = nil, record: EventRecord
    ) {
        self.rule = rule
        self.edge = edge
        self.index = index
        self.consequence = consequence
        self.record = record
    }
}

/// What follows a second factor, by its place in the rule files.
public struct NamedConsequence: Hashable, Sendable {
    public enum Outcome: String, Hashable, Sendable {
        case success, failure
    }

    public var outcome: Outcome
    /// Among those of this outcome.
    public var index: Int

    public init(_ outcome: Outcome, index: Int) {
        self.outcome = outcome
        self.index = index
    }
}

extension HelperRequest {
    /// The line, LF included.
    public var line: [UInt8] {
        var writer = JSONWriter()
        writer.object { writer in
            switch self {
            case .hold(let pass, let digest, let states):
                writer.field("do", "hold")
                writer.field("pass", pass)
                writer.field("digest", digest)
                writer.array("states") { writer in
                    for state in states { writer.object { state.write(to: &$0) } }
                }
            case .run(let id, let digest, let action):
                writer.field("do", "run")
                writer.field("id", id)
                writer.field("digest", digest)
                writer.field("rule", action.rule)
                writer.field("edge", action.edge.rawValue)
                writer.field("index", action.index)
                if let consequence = action.consequence {
                    writer.field("outcome", consequence.outcome.rawValue)
                    writer.field("consequence", consequence.index)
                }
                writer.key("record")
                action.record.write(to: &writer)
            case .cancel(let id):
                writer.field("do", "cancel")
                writer.field("id", id)
            case .portal(let digest, let state):
                writer.field("do", "portal")
                writer.field("digest", digest)
                state.write(to: &writer)
            case .prepare: writer.field("do", "prepare")
            case .verify(let daemon):
                writer.field("do", "verify")
                writer.field("daemon", daemon.rawValue)
            case .resetProxy(let id):
                writer.field("do", "reset-proxy")
                writer.field("id", id)
            case .protect(let delay):
                writer.field("do", "protect")
                writer.field("after_ms", delay)
            case .release: writer.field("do", "release")
            }
        }
        writer.endLine()
        return writer.octets
    }

    /// Nil for whatever `line` could not have written for something valid.
    public init?(line: some Collection<UInt8>) {
        guard let value = JSONValue(message: line, maximumSize: HelperRequest.maximumSize),
            let word = value["do"]?.string
        else { return nil }
        switch word {
        case "hold":
            guard let pass = Name.identifier(value["pass"]), let digest = Name.digest(value["digest"]),
                let list = value["states"]?.array, list.count <= HelperRequest.maximumStates
            else { return nil }
            let states = list.compactMap(NamedState.init)
            guard states.count == list.count else { return nil }
            self = .hold(pass: pass, digest: digest, states)
        case "run":
            guard let id = Name.identifier(value["id"]), let digest = Name.digest(value["digest"]),
                let action = NamedAction(value)
            else { return nil }
            self = .run(id: id, digest: digest, action)
        case "cancel":
            guard let id = Name.identifier(value["id"]) else { return nil }
            self = .cancel(id: id)
        case "portal":
            guard let digest = Name.digest(value["digest"]), let state = NamedState(value) else { return nil }
            self = .portal(digest: digest, state)
        case "prepare": self = .prepare
        case "verify":
            guard let daemon = value["daemon"]?.string.flatMap(Daemon.init) else { return nil }
            self = .verify(daemon)
        case "reset-proxy":
            guard let id = Name.identifier(value["id"]) else { return nil }
            self = .resetProxy(id: id)
        case "protect":
            guard let delay = value["after_ms"]?.integer, (0...HelperRequest.maximumDelay).contains(delay) else {
                return nil
            }
            self = .protect(after: delay)
        case "release": self = .release
        default: return nil
        }
    }

    /// Whether only root may ask for it.
    public var takesRoot: Bool {
        switch self {
        case .hold, .run, .cancel, .portal, .prepare, .verify, .resetProxy: false
        case .protect, .release: true
        }
    }
}

extension NamedState {
    fileprivate func write(to writer: inout JSONWriter) {
        writer.field("rule", rule)
        writer.field("index", index)
        writer.key("record")
        record.write(to: &writer)
    }

    init?(_ value: JSONValue) {
        guard let rule = Name.rule(value["rule"]), let index = Name.index(value["index"]),
            let record = EventRecord(value["record"])
        else { return nil }
        self.init(rule: rule, index: index, record: record)
    }
}

extension NamedAction {
    init?(_ value: JSONValue) {
        guard let rule = Name.rule(value["rule"]), let index = Name.index(value["index"]),
            let edge = value["edge"]?.string.flatMap(Edge.init), let record = EventRecord(value["record"])
        else { return nil }
        self.init(rule: rule, edge: edge, index: index, record: record)
        guard value["outcome"] != nil || value["consequence"] != nil else { return }
        // One without the other would be taken for the action itself.
        guard let consequence = NamedConsequence(value) else { return nil }
        self.consequence = consequence
    }
}

extension NamedConsequence {
    init?(_ value: JSONValue) {
        guard let outcome = value["outcome"]?.string.flatMap(Outcome.init), let index = Name.index(value["consequence"])
        else { return nil }
        self.init(outcome, index: index)
    }
}

/// What both sides call things by.
enum Name {
    /// As rule files have it.
    static func rule(_ value: JSONValue?) -> String? {
        guard let name = value?.string, (1...64).contains(name.utf8.count), name.utf8.first != UInt8(ascii: "-"),
            name.utf8.allSatisfy({ octet in
                switch octet {
                case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
                    UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "_"):
                    true
                default: false
                }
            })
        else { return nil }
        return name
    }

    static func index(_ value: JSONValue?) -> Int? {
        guard case .integer(let number)? = value, (0...65_535).contains(number) else { return nil }
        return Int(number)
    }

    static func identifier(_ value: JSONValue?) -> UInt64? {
        guard case .integer(let number)? = value else { return nil }
        return UInt64(exactly: number)
    }

    /// SHA-256 in lower-case hexadecimal digits.
    static func digest(_ value: JSONValue?) -> String? {
        guard let text = value?.string, text.utf8.count == 64,
            text.utf8.allSatisfy({
                (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0)
                    || (UInt8(ascii: "a")...UInt8(ascii: "f")).contains($0)
            })
        else { return nil }
        return text
    }
}
