internal import JSON
public import Platform

/// What came of replaying a recorded feed.
public struct ReplaySummary: Sendable {
    /// Of a rule or network, the first place where rules and recording disagree.
    public struct Difference: Hashable, Sendable {
        public var time: Timestamp
        public var subject: RecordedDecision.Subject
        public var name: String
        public var recorded: String
        public var replayed: String

        public init(
            time: Timestamp, subject: RecordedDecision.Subject, name: String, recorded: String, replayed: String
        ) {
            self.time = time
            self.subject = subject
            self.name = name
            self.recorded = recorded
            self.replayed = replayed
        }
    }

    public var counters = FeedReplay.Counters()
    /// Of rules and networks, without actions.
    public var decisions = 0
    /// Those in the recording.
    public var recorded = 0
    /// Whether the recording is an agent's; what was read from the kernel directly has no decisions.
    public var isComparable = true
    /// In the order of time.
    public var differences: [Difference] = []

    public init() {}

    /// How many differences are told one by one.
    public static let told = 10
}

extension FeedEncoder {
    /// The line that ends a replay.
    public func summaryLine(of summary: ReplaySummary, at time: Timestamp = .now()) -> FeedLine {
        lineForOne("replay.finished", at: time) { writer in
            writer.object("replay") { writer in
                let counters = summary.counters
                writer.field("lines", counters.lines)
                writer.field("unreadable", counters.unreadable)
                writer.field("gaps", counters.gaps)
                writer.field("early", counters.early)
                writer.field("restarts", counters.restarts)
                writer.field("unknown_interfaces", counters.unknownInterfaces)
                writer.field("decisions", summary.decisions)
                writer.field("recorded", summary.recorded)
                writer.field("comparable", summary.isComparable)
                writer.field("differing", summary.differences.count)
                writer.array("differences") { writer in
                    for difference in summary.differences.prefix(ReplaySummary.told) {
                        writer.object { writer in
                            writer.field("time", CivilTime(utc: difference.time.wall).iso8601)
                            writer.field("kind", difference.subject.rawValue)
                            writer.field("name", difference.name.clipped(to: 128))
                            writer.field("recorded", difference.recorded.clipped(to: 128))
                            writer.field("replayed", difference.replayed.clipped(to: 128))
                        }
                    }
                }
            }
        }
    }
}
