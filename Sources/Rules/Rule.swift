/// What shall happen on, or off, certain networks: `[rule.NAME]` of a rule file.
public struct Rule: Hashable, Sendable {
    /// A network by name, defined in any file or built in.
    public struct NetworkReference: Hashable, Sendable {
        public var name: String
        public var location: SourceLocation

        public init(name: String, location: SourceLocation) {
            self.name = name
            self.location = location
        }
    }

    public enum Condition: Hashable, Sendable {
        /// Active on any of the networks.
        case on([NetworkReference])
        /// Active off all of them.
        case off([NetworkReference])

        public var networks: [NetworkReference] {
            switch self {
            case .on(let networks), .off(let networks): networks
            }
        }
    }

    /// A program to run, without a shell.
    public struct Command: Hashable, Sendable {
        /// An absolute path, then the arguments.
        public var arguments: [String]
        /// Microseconds.
        public var timeout: Int64
        public var location: SourceLocation

        public init(arguments: [String], timeout: Int64 = defaultTimeout, location: SourceLocation) {
            self.arguments = arguments
            self.timeout = timeout
            self.location = location
        }

        public static let defaultTimeout: Int64 = 30_000_000
    }

    public enum Edge: String, Hashable, Sendable {
        case enter, leave
    }

    public var name: String
    public var location: SourceLocation
    public var condition: Condition
    /// How long the machine must have been on a network before the rule believes it, in microseconds. That it has
    /// left one is believed at once.
    public var settle: Int64
    public var isEnabled: Bool
    /// Tells what it would do and runs nothing.
    public var isObserving: Bool
    public var enter: [Command]
    public var leave: [Command]

    public init(
        name: String, location: SourceLocation, condition: Condition, settle: Int64 = defaultSettle,
        isEnabled: Bool = true, isObserving: Bool = false, enter: [Command] = [], leave: [Command] = []
    ) {
        self.name = name
        self.location = location
        self.condition = condition
        self.settle = settle
        self.isEnabled = isEnabled
        self.isObserving = isObserving
        self.enter = enter
        self.leave = leave
    }

    public static let defaultSettle: Int64 = 2_000_000

    public func commands(on edge: Edge) -> [Command] {
        switch edge {
        case .enter: enter
        case .leave: leave
        }
    }
}
