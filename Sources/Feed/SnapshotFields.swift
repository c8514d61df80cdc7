internal import JSON
internal import Platform

/// Lets the agent add what only it knows to a snapshot.
public struct SnapshotFields {
    var writer: JSONWriter
    /// For readers who may not see names; nil for the others.
    let disclosure: FeedDisclosure?

    /// Those that every agent has: their names say nothing.
    private static let plainCounters: Set = ["messages", "ignored", "malformed", "foreign", "overruns"]

    public mutating func counters(_ counters: [(name: String, value: UInt64)]) {
        writer.object("counters") { writer in
            for counter in counters where disclosure == nil || Self.plainCounters.contains(counter.name) {
                writer.key(escaping: counter.name)
                writer.integer(counter.value)
            }
        }
    }

    /// Names of what holds, such as `networks` or `rules`.
    public mutating func names(_ key: StaticString, _ names: [String]) {
        let shown: [String]
        if let disclosure {
            // What else holds is free text, or somebody's.
            let allowed = "\(key)" == "networks" ? disclosure.networks : "\(key)" == "rules" ? disclosure.rules : nil
            guard let allowed else { return }
            shown = names.filter(allowed.contains)
        } else {
            shown = names
        }
        // The line has its limit; whoever has more asks the agent.
        let limit = writer.octets.count + 1_024
        writer.array(key) { writer in
            for name in shown where writer.octets.count < limit { writer.string(name.clipped(to: 512)) }
        }
    }

    /// A rule that somebody holds.
    public struct HeldRule {
        let rule: String
        let isOn: Bool
        let holder: String
        let end: Int64
        let endsWithPlace: Bool

        /// - Parameter end: when the hold ends at the latest, µs since 1970.
        public init(rule: String, isOn: Bool, holder: String, end: Int64, endsWithPlace: Bool) {
            self.rule = rule
            self.isOn = isOn
            self.holder = holder
            self.end = end
            self.endsWithPlace = endsWithPlace
        }
    }

    /// For programs what `holds` is for people.
    public mutating func held(_ rules: [HeldRule]) {
        guard disclosure == nil else { return }
        let limit = writer.octets.count + 1_024
        writer.array("held") { writer in
            for held in rules where writer.octets.count < limit {
                writer.object { writer in
                    writer.field("rule", held.rule.clipped(to: 128))
                    writer.field("state", held.isOn ? "on" : "off")
                    writer.field("by", held.holder.clipped(to: 256))
                    writer.field("until", CivilTime(utc: held.end).iso8601)
                    writer.field("until_network_change", held.endsWithPlace)
                }
            }
        }
    }

    /// So many problems are told, each cut to 256 octets.
    public static let problemLimit = 4

    public mutating func problems(_ problems: [String]) {
        guard disclosure == nil else { return writer.field("problem_count", problems.count) }
        writer.array("problems") { writer in
            for problem in problems.prefix(Self.problemLimit) { writer.string(problem.clipped(to: 256)) }
        }
    }
}
