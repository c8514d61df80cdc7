internal import JSON
public import Platform

/// Why a rule or a network is as it is, for one reader who asked.
public struct Explanation: Sendable {
    public enum Kind: String, Sendable {
        case rule, network
    }

    public enum Truth: String, Sendable {
        case yes, no, maybe
    }

    /// Nil where nothing has that name.
    public var kind: Kind?
    public var name: String
    /// Whether the rule holds, or the machine is on the network.
    public var truth: Truth
    public var text: String
    /// Where it is defined; nil for built-in networks and names that nothing has.
    public var file: String?
    public var line: Int?
    /// Since when it is so; nil where nobody knows.
    public var since: Timestamp?
    /// The reasons, indented by two blanks a level.
    public var lines: [String]
    /// The rule files have errors, so that the last good rules are in force.
    public var isOfLastGoodRules = false
    /// How many more there would have been to explain.
    public var omitted = 0

    public init(
        kind: Kind?, name: String, truth: Truth, text: String, file: String? = nil, line: Int? = nil,
        since: Timestamp? = nil, lines: [String] = []
    ) {
        self.kind = kind
        self.name = name
        self.truth = truth
        self.text = text
        self.file = file
        self.line = line
        self.since = since
        self.lines = lines
    }

    /// Whether its name is one that everybody may be told.
    func isDisclosed(_ disclosure: FeedDisclosure) -> Bool {
        switch kind {
        case .rule: disclosure.rules.contains(name)
        case .network: disclosure.networks.contains(name)
        case nil: false
        }
    }

    /// For readers who may not see names: whether and since when, not why.
    func writeDisclosed(to writer: inout JSONWriter) {
        writer.field("kind", kind?.rawValue)
        writer.field("name", name)
        writer.field("truth", truth.rawValue)
        if let since { writer.field("since", CivilTime(utc: since.wall).iso8601) }
        if isOfLastGoodRules { writer.field("last_good", true) }
    }

    /// What reasons take at most, octets of JSON.
    private static let linesLimit = 4_500

    func write(to writer: inout JSONWriter) {
        writer.field("kind", kind?.rawValue)
        writer.field("name", name.clipped(to: 256))
        writer.field("truth", truth.rawValue)
        writer.field("text", text.clipped(to: 1_024))
        writer.field("file", file?.clipped(to: 1_024))
        writer.field("line", line)
        if let since { writer.field("since", CivilTime(utc: since.wall).iso8601) }
        let limit = writer.octets.count + Explanation.linesLimit
        var written = 0
        writer.array("lines") { writer in
            for line in lines where writer.octets.count < limit {
                writer.string(line.clipped(to: 512))
                written += 1
            }
        }
        if written < lines.count { writer.field("lines_omitted", lines.count - written) }
        if isOfLastGoodRules { writer.field("last_good", true) }
        if omitted > 0 { writer.field("omitted", omitted) }
    }
}
