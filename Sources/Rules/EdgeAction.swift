/// What happens once as a rule begins or ceases to hold.
public enum EdgeAction: Hashable, Sendable {
    case command(Command)
    case unit(StateAction.Unit)
    case vpn(StateAction.VPN)
    case notify(Notification)
    /// Locks the session.
    case lock
    case secondFactor(SecondFactor)
    /// Takes down the links that led here. Of second factors that failed, or passed, only.
    case disconnect

    /// A program to run, without a shell.
    public struct Command: Hashable, Sendable {
        /// An absolute path, then the arguments.
        public var arguments: [String]
        /// Microseconds.
        public var timeout = defaultTimeout
        /// Whose process it is; nil for the agent's choice.
        public var user: String?
        public var isRelaxing = false

        public init(arguments: [String]) {
            self.arguments = arguments
        }

        public static let defaultTimeout: Int64 = 30_000_000
    }

    public struct Notification: Hashable, Sendable {
        /// As the Desktop Notifications Specification has them.
        public enum Urgency: String, Hashable, Sendable, CaseIterable {
            case low, normal, critical
        }

        public var summary: String
        public var body: String?
        public var urgency = Urgency.normal

        public init(summary: String, body: String? = nil, urgency: Urgency = .normal) {
            self.summary = summary
            self.body = body
            self.urgency = urgency
        }
    }

    /// A second factor that the person at the screen is asked for.
    public struct SecondFactor: Hashable, Sendable {
        public enum Consequence: Hashable, Sendable {
            case lockSession
            /// The link that led here is taken down.
            case disconnect
            case vpn(StateAction.VPN)
            /// Another rule is held.
            case hold(rule: String)
            case command(Command)
        }

        public var message: String
        /// Microseconds.
        public var timeout: Int64 = 120_000_000
        public var attempts = 3
        /// Microseconds in which coming back to the same network asks nothing anew.
        public var grace: Int64 = 0
        public var onSuccess: [Consequence] = []
        public var onFailure: [Consequence] = []
        /// Whether a rule that success holds lowers protection, which shows when all files have been read.
        public internal(set) var isHoldRelaxing = false

        public init(message: String) {
            self.message = message
        }

        /// What the person is told: words of the rule files alone, never a name from the air.
        ///
        /// - Parameter place: the network's name in the rule files.
        public func words(at place: String?) -> String { place.map { "\(message) (network \($0))" } ?? message }
    }
}

extension EdgeAction {
    /// The name of its key.
    public var kind: String {
        switch self {
        case .command: "command"
        case .unit: "unit"
        case .vpn: "vpn"
        case .notify: "notify"
        case .lock: "lock"
        case .secondFactor: "second-factor"
        case .disconnect: "disconnect"
        }
    }

    public var isRelaxing: Bool {
        switch self {
        case .command(let command): command.isRelaxing
        case .unit(let unit): StateAction.unit(unit).effect == .relaxing
        case .vpn(let vpn): !vpn.isUp
        case .notify, .lock, .disconnect: false
        case .secondFactor(let factor): factor.isRelaxing
        }
    }

    /// In a few words, for people.
    public var summary: String {
        switch self {
        case .command(let command): "run \(command.arguments.first ?? "")"
        case .unit(let unit): StateAction.unit(unit).summary
        case .vpn(let vpn): StateAction.vpn(vpn).summary
        case .notify, .lock, .disconnect: kind
        case .secondFactor(let factor):
            factor.isRelaxing
                ? "what follows a second factor: \(Spelling.list(factor.relaxations, "and"))"
                : "ask for a second factor"
        }
    }
}

extension EdgeAction.SecondFactor.Consequence {
    /// The same as an action; nil for a hold, which is the agent's own.
    public var action: EdgeAction? {
        switch self {
        case .lockSession: .lock
        case .disconnect: .disconnect
        case .vpn(let vpn): .vpn(vpn)
        case .command(let command): .command(command)
        case .hold: nil
        }
    }

    /// As `EdgeAction.kind`.
    public var kind: String { action?.kind ?? "hold" }
}

extension EdgeAction.SecondFactor {
    /// Whoever passes it has shown who they are, not where the machine is: what follows lowers protection just the same.
    var isRelaxing: Bool { !relaxations.isEmpty }

    fileprivate var relaxations: [String] {
        var relaxations = (onSuccess + onFailure).compactMap { consequence -> String? in
            switch consequence {
            case .vpn(let vpn): vpn.isUp ? nil : StateAction.vpn(vpn).summary
            case .command(let command): command.isRelaxing ? EdgeAction.command(command).summary : nil
            case .hold, .lockSession, .disconnect: nil
            }
        }
        if isHoldRelaxing { relaxations.append("hold \(Spelling.list(heldRules, "and"))") }
        return relaxations
    }

    /// The rules that success holds; failure holds none but on the protected side.
    var heldRules: [String] {
        onSuccess.compactMap { if case .hold(let rule) = $0 { rule } else { nil } }
    }

    var vpns: [StateAction.VPN] {
        (onSuccess + onFailure).compactMap { if case .vpn(let vpn) = $0 { vpn } else { nil } }
    }
}
