/// What a history comes to: where the machine was, and what happened there. Moments are µs since 1970, spans µs.
public struct HistoryReport: Sendable {
    /// What is told is from here on, and before `until`.
    public var since: Int64
    public var until: Int64
    /// The first record of all, be it before `since`; nil where there is none.
    public var firstRecord: Int64?

    /// Without a break on a network, while the machine was awake and somebody looked.
    public struct Stay: Hashable, Sendable {
        public var network: String
        public var start: Int64
        public var end: Int64
    }

    public struct Network: Sendable {
        public var name: String
        public var time: Int64 = 0
        /// How often it was entered.
        public var visits = 0
        /// As it was told last.
        public var assurance = "unknown"
    }

    public struct Rule: Sendable {
        public var name: String
        /// As the last record of it says.
        public var file = ""
        public var line: Int64 = 0
        /// How often it began to hold.
        public var firings = 0
        public var held: Int64 = 0
        public var actionsSucceeded = 0
        public var actionsFailed = 0
    }

    public struct SecondFactors: Hashable, Sendable {
        public var passed = 0
        public var failed = 0
        public var expired = 0

        public var ended: Int { passed + failed + expired }
    }

    /// Something that went wrong.
    public struct Failure: Sendable {
        public var time: Int64
        /// Of the record.
        public var type: String
        /// The rule, or what stands for the network's name; empty where nobody knows.
        public var subject: String
        public var because: String
    }

    public struct Counts: Hashable, Sendable {
        public var entered = 0
        public var left = 0
        public var roams = 0
        public var joinFailures = 0
        public var firings = 0
        public var actionsSucceeded = 0
        public var actionsFailed = 0
        public var secondFactors = SecondFactors()

        public var transitions: Int { entered + left }
    }

    public var counts = Counts()
    /// The one with the most time first.
    public var networks: [Network] = []
    /// The one that fired most often first.
    public var rules: [Rule] = []
    /// In the order in which they began.
    public var stays: [Stay] = []
    /// The last of them, the oldest first.
    public var failures: [Failure] = []

    /// On any network, each moment counted once.
    public var placedTime: Int64 {
        var (sum, reached) = (Int64(0), Int64.min)
        for stay in stays where stay.end > reached {
            sum += stay.end - max(stay.start, reached)
            reached = stay.end
        }
        return sum
    }
}
