public import Platform

/// A program to run once, and what it is told about the event that made it run.
public struct Command: Sendable {
    /// An absolute path, then the arguments; no shell sees them.
    public var arguments: [String]
    /// Microseconds.
    public var timeout: Int64
    public var context: Context
    /// The JSON event it can read from its standard input.
    public var input: [UInt8]
    /// Commands of one lane run one after the other, in the order in which they were handed over; lanes do not wait
    /// for each other. One lane a rule.
    public var lane: String

    public init(arguments: [String], timeout: Int64, context: Context = Context(), input: [UInt8] = [], lane: String) {
        self.arguments = arguments
        self.timeout = timeout
        self.context = context
        self.input = input
        self.lane = lane
    }

    /// What stands in the environment of a command: never the name a stranger gave a network, only its octets in
    /// hexadecimal. A variable without value is not set.
    public struct Context: Hashable, Sendable {
        /// Such as `network.entered`: `VICINITY_EVENT`.
        public var event: String?
        /// The network's name in the rule files: `VICINITY_NETWORK`.
        public var network: String?
        /// Two digits an octet: `VICINITY_SSID_HEX`.
        public var ssidHexadecimal: String?
        /// `VICINITY_BSSID`.
        public var bssid: String?
        /// `VICINITY_INTERFACE`.
        public var interface: String?
        /// `VICINITY_RULE`.
        public var rule: String?

        public init(
            event: String? = nil, network: String? = nil, ssidHexadecimal: String? = nil, bssid: String? = nil,
            interface: String? = nil, rule: String? = nil
        ) {
            self.event = event
            self.network = network
            self.ssidHexadecimal = ssidHexadecimal
            self.bssid = bssid
            self.interface = interface
            self.rule = rule
        }

        /// `NAME=value`, and nothing of the agent's own environment.
        var variables: [String] {
            let named: [(String, String?)] = [
                ("VICINITY_EVENT", event), ("VICINITY_NETWORK", network), ("VICINITY_SSID_HEX", ssidHexadecimal),
                ("VICINITY_BSSID", bssid), ("VICINITY_INTERFACE", interface), ("VICINITY_RULE", rule),
            ]
            return ["PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin", "LANG=C.UTF-8"]
                + named.compactMap { name, value in value.map { "\(name)=\($0)" } }
        }
    }
}

/// How a command ended and what it said.
public struct CommandResult: Sendable {
    public enum End: Hashable, Sendable {
        case exited(code: Int32)
        case killed(signal: Int32)
        /// It took longer than its time-out and was ended with everything it had started.
        case timedOut
        /// It became obsolete and was ended with everything it had started.
        case cancelled
        /// It became obsolete before it was started.
        case dropped
        case failedToStart(StartFailure)
        /// Nobody knows how it ended, or whether it did.
        case lost(because: String)
    }

    public var end: End
    /// From start to end, in microseconds.
    public var duration: Int64 = 0
    public var output = CapturedOutput()
    public var errors = CapturedOutput()

    public init(end: End) {
        self.end = end
    }

    public var isSuccess: Bool { end == .exited(code: 0) }
}

/// Why a command was never there.
public enum StartFailure: Error, Hashable, Sendable, CustomStringConvertible {
    /// A call of this process's own.
    case system(SystemError)
    /// The program is none, or may not be run: missing, without the x bit, or for another machine.
    case program(String)
    /// There is no such user.
    case user(String)
    /// The service manager did not want it, in words.
    case manager(String)

    public var description: String {
        switch self {
        case .system(let error): error.description
        case .program(let path): "\(path) cannot be run: is it there, and may it be executed?"
        case .user(let name): "there is no user \(name)"
        case .manager(let reason): reason
        }
    }
}

/// The beginning of what a command wrote. It may be anything: escape it before it reaches a terminal.
public struct CapturedOutput: Hashable, Sendable {
    public static let maximumLength = 64 << 10

    public var octets: [UInt8] = []
    /// Octets that came after those and were not kept.
    public var lost = 0

    mutating func append(_ more: ArraySlice<UInt8>, limit: Int = maximumLength) {
        let kept = more.prefix(max(limit - octets.count, 0))
        octets += kept
        lost += more.count - kept.count
    }
}
