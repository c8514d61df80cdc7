public import Environment
public import Platform

/// Something that happened, as the feed tells it. The names of the cases are the `type`s of the schema.
public struct FeedEvent: Sendable {
    public var time: Timestamp
    public var body: Body
    /// What the interface is whose link came up.
    public var linkKind: LinkKind?

    public init(_ body: Body, at time: Timestamp) {
        self.time = time
        self.body = body
    }

    /// - Parameter environment: the one after the change.
    public init(_ change: EnvironmentChange, in environment: NetworkEnvironment? = nil) {
        self.init(.environment(change), at: change.time)
        if case .linkUp = change.kind, let interface = change.interface {
            linkKind = environment?.interfaces[interface.index]?.kind
        }
    }

    public enum Body: Sendable {
        case environment(EnvironmentChange)
        case networkEntered(NetworkFact)
        case networkLeft(NetworkFact, minutes: Int)
        case networkAssuranceChanged(NetworkFact)
        case ruleActivated(RuleFact)
        case ruleDeactivated(RuleFact)
        case ruleSkipped(RuleFact)
        case actionStarted(ActionFact)
        case actionSucceeded(ActionFact)
        case actionFailed(ActionFact)
        case actionCancelled(ActionFact)
        /// What a state action had set is as it was before, or as somebody else set it since.
        case actionReverted(ActionFact)
        /// The person at the screen is being asked.
        case secondFactorRequested(SecondFactorFact)
        case secondFactorPassed(SecondFactorFact)
        case secondFactorFailed(SecondFactorFact)
        /// Nobody answered in time.
        case secondFactorExpired(SecondFactorFact)
        case agentStarted(version: String)
        case agentReloaded(problems: Int)
        case agentStopped
    }

    /// A named network, as rules know it.
    public struct NetworkFact: Sendable {
        public var name: String
        /// `unknown`, `claimed`, `keyed`, `mutual` or `proven`.
        public var assurance: String
        /// The assurance before; nil where there was none.
        public var previous: String?

        public init(name: String, assurance: String, previous: String? = nil) {
            self.name = name
            self.assurance = assurance
            self.previous = previous
        }
    }

    public struct RuleFact: Sendable {
        public var name: String
        public var file: String
        public var line: Int
        /// The evidence, in words.
        public var because: String?

        public init(name: String, file: String, line: Int, because: String? = nil) {
            self.name = name
            self.file = file
            self.line = line
            self.because = because
        }
    }

    public struct ActionFact: Sendable {
        /// Of this run, unique within the agent's life.
        public var id: UInt64
        public var rule: String
        /// Position in the rule's list, from 0.
        public var index: Int
        public var kind: String
        /// Exit status of a command; nil while it runs or when a signal ended it.
        public var exit: Int32?
        public var durationMilliseconds: Int64?
        /// Why it failed or was cancelled.
        public var because: String?
        /// In whose session it was done; nil for the machine.
        public var user: String?
        /// What a command wrote, from the beginning; any octets.
        public var output: [UInt8] = []
        /// Octets that are not among them.
        public var outputLost = 0
        /// As `output`, of the standard error.
        public var errors: [UInt8] = []
        public var errorsLost = 0

        public init(
            id: UInt64, rule: String, index: Int, kind: String, exit: Int32? = nil, durationMilliseconds: Int64? = nil,
            because: String? = nil
        ) {
            self.id = id
            self.rule = rule
            self.index = index
            self.kind = kind
            self.exit = exit
            self.durationMilliseconds = durationMilliseconds
            self.because = because
        }
    }

    /// A second factor that a rule demands.
    public struct SecondFactorFact: Hashable, Sendable {
        public var rule: String
        /// In the rule files; nil where the rule is about none.
        public var network: String?
        /// Who sits at the machine; nil where nobody does, or nobody knows.
        public var user: String?
        /// Why it failed, or why nobody was asked.
        public var because: String?

        public init(rule: String, network: String?, user: String? = nil, because: String? = nil) {
            self.rule = rule
            self.network = network
            self.user = user
            self.because = because
        }
    }

    /// The `type` of its line.
    public var type: String {
        switch body {
        case .environment(let change): change.kind.type
        case .networkEntered: "network.entered"
        case .networkLeft: "network.left"
        case .networkAssuranceChanged: "network.assurance_changed"
        case .ruleActivated: "rule.activated"
        case .ruleDeactivated: "rule.deactivated"
        case .ruleSkipped: "rule.skipped"
        case .actionStarted: "action.started"
        case .actionSucceeded: "action.succeeded"
        case .actionFailed: "action.failed"
        case .actionCancelled: "action.cancelled"
        case .actionReverted: "action.reverted"
        case .secondFactorRequested: "second_factor.requested"
        case .secondFactorPassed: "second_factor.passed"
        case .secondFactorFailed: "second_factor.failed"
        case .secondFactorExpired: "second_factor.expired"
        case .agentStarted: "agent.started"
        case .agentReloaded: "agent.reloaded"
        case .agentStopped: "agent.stopped"
        }
    }

    /// The interface concerned, where there is one.
    public var interface: InterfaceReference? {
        if case .environment(let change) = body { change.interface } else { nil }
    }
}

extension EnvironmentChange.Kind {
    var type: String {
        switch self {
        case .associating: "wifi.associating"
        case .joined: "wifi.joined"
        case .joinFailed: "wifi.join_failed"
        case .left: "wifi.left"
        case .roamed: "wifi.roamed"
        case .channelChanged: "wifi.channel_changed"
        case .linkUp: "link.up"
        case .linkDown: "link.down"
        case .addressChanged: "address.changed"
        case .routeChanged: "route.changed"
        case .dnsChanged: "dns.changed"
        case .connectivityChanged: "connectivity.changed"
        case .evidenceChanged, .meteredChanged: "evidence.changed"
        case .resynced: "agent.resynced"
        case .suspended: "agent.suspended"
        case .resumed: "agent.resumed"
        }
    }
}
