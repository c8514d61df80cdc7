/// What shall hold, and what happens, on or off certain networks: `[rule.NAME]` of a rule file.
public struct Rule: Hashable, Sendable {
    public enum Edge: String, Hashable, Sendable {
        case enter, leave
    }

    /// When what a rule wants may start.
    public enum Readiness: String, Hashable, Sendable, CaseIterable {
        /// The link is up.
        case link
        /// It has an address.
        case address
        case internet
    }

    public var name: String
    public var location: SourceLocation
    public var condition: Condition
    /// Outside of them the rule does not hold; empty for always.
    public var times: [WeeklyTime] = []
    /// How long the machine must have been on a network before the rule believes it, in microseconds. That it has
    /// left one is believed at once.
    public var settle = defaultSettle
    /// When enter actions, and what relaxes, may start; nothing else waits.
    public var readiness = Readiness.address
    /// Of two rules that want something else of one target, the higher one has its way.
    public var priority = 0
    public var isEnabled = true
    /// Tells what it would do and does nothing.
    public var isObserving = false
    /// Whether users may hold it as it is.
    public var mayBeHeldByUser = false
    /// Why relaxing by less than mutual evidence is all right; nil where it is not.
    public var acceptedWeakness: String?
    public var states: [Listed<StateAction>] = []
    public var enter: [Listed<EdgeAction>] = []
    public var leave: [Listed<EdgeAction>] = []

    public init(name: String, location: SourceLocation, condition: Condition = .all([])) {
        self.name = name
        self.location = location
        self.condition = condition
    }

    public static let defaultSettle: Int64 = 2_000_000

    public func actions(on edge: Edge) -> [Listed<EdgeAction>] {
        switch edge {
        case .enter: enter
        case .leave: leave
        }
    }

    /// What a rule does to protection as a whole, which decides how sure one must be for it to begin and to end.
    public enum Leaning: Hashable, Sendable {
        /// Its beginning and its end are harmless.
        case neutral
        /// Its beginning lowers protection.
        case relaxing
        /// Its end does.
        case tightening
    }

    /// A rule whose beginning and end both relax is refused as the files are read.
    public var leaning: Leaning {
        if states.contains(where: { $0.value.effect == .relaxing }) || enter.contains(where: \.value.isRelaxing) {
            return .relaxing
        }
        let isTightening =
            states.contains { $0.value.effect == .tightening } || leave.contains(where: \.value.isRelaxing)
        return isTightening ? .tightening : .neutral
    }

    /// What lowers protection as the rule begins to hold, in a few words each.
    var relaxationsAtBeginning: [Listed<String>] {
        states.filter { $0.value.effect == .relaxing }.map { Listed($0.value.summary, at: $0.location) }
            + enter.filter(\.value.isRelaxing).map { Listed($0.value.summary, at: $0.location) }
    }

    var relaxationsAtEnd: [Listed<String>] {
        states.filter { $0.value.effect == .tightening }.map {
            Listed("the end of \($0.value.summary)", at: $0.location)
        } + leave.filter(\.value.isRelaxing).map { Listed($0.value.summary, at: $0.location) }
    }

    /// How sure one must be of a network before it lowers protection.
    var demandedAssurance: Assurance { acceptedWeakness == nil ? .mutual : .claimed }
}
