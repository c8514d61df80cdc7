internal import Feed
internal import JSON
internal import Platform
internal import Rules
internal import WiFi

/// What held at a moment, going by the history up to it.
struct PastPlace {
    /// What was last told of a network or a rule.
    private struct Fact {
        let record: JSONValue
        let isSo: Bool
        /// Since when it is so; a changed assurance is no other beginning.
        let since: String?
    }

    private var networks: [String: Fact] = [:]
    private var rules: [String: Fact] = [:]
    /// What a rule did since it last began or ceased to hold.
    private var actions: [String: [JSONValue]] = [:]
    private var boot: String?
    /// What was told in boots before this one.
    private var former: Set<String> = []
    private var lastTime: String?

    private static let nameLimit = 100_000
    private static let actionLimit = 10

    /// Takes in the next record.
    mutating func take(_ record: JSONValue) {
        if let boot = record["boot"]?.string, boot != self.boot {
            // Whatever held, the machine was off.
            if self.boot != nil { former.formUnion(networks.keys.map { "n\($0)" } + rules.keys.map { "r\($0)" }) }
            (networks, rules, actions) = ([:], [:], [:])
            self.boot = boot
        }
        lastTime = record["time"]?.string
        let time = record["time"]?.string
        let type = record["type"]?.string
        if let name = record["network"]?["name"]?.string, networks.count < Self.nameLimit {
            let isSo = type != "network.left"
            let former = networks[name]
            networks[name] = Fact(record: record, isSo: isSo, since: former?.isSo == isSo ? former?.since : time)
        } else if let name = record["rule"]?["name"]?.string, type != "rule.skipped", rules.count < Self.nameLimit {
            rules[name] = Fact(record: record, isSo: type == "rule.activated", since: time)
            actions[name] = []
        } else if let name = record["action"]?["rule"]?.string, type != "action.started" {
            // What began without an end shows by its absence.
            actions[name, default: []].append(record)
            if actions[name]?.count ?? 0 > Self.actionLimit { actions[name]?.removeFirst() }
        }
    }

    /// Whether anything at all is recorded.
    var isEmpty: Bool { lastTime == nil }

    /// What there was to say of a name, the network first; without one, of all that held.
    func explanations(of name: String) -> [PastExplanation] {
        if name.isEmpty {
            return networks.filter(\.value.isSo).keys.sorted().map(network)
                + rules.filter(\.value.isSo).keys.sorted().map(rule)
        }
        var found: [PastExplanation] = []
        if networks[name] != nil || former.contains("n\(name)") { found.append(network(name)) }
        if rules[name] != nil || former.contains("r\(name)") { found.append(rule(name)) }
        return found
    }

    /// `; did you mean "…"?`, or nothing.
    func hint(for name: String) -> String {
        Spelling.hint(for: name, among: (rules.keys.sorted() + networks.keys.sorted()).prefix(5_000))
    }

    private func network(_ name: String) -> PastExplanation {
        let fact = networks[name]
        let assurance = fact?.record["network"]?["assurance"]?.string ?? "unknown"
        let evidence = (fact?.record["evidence"]?.array ?? []).compactMap(\.string)
        let text =
            switch fact?.isSo {
            case true: evidence.isEmpty ? assurance : "\(assurance), by \(evidence.joined(separator: ", "))"
            case false: "left"
            default: PastPlace.unknown
            }
        return PastExplanation(
            kind: "network", name: name, isSo: fact?.isSo, text: text, since: fact?.since, evidence: evidence,
            digest: fact?.record["rules_digest"]?.string)
    }

    private func rule(_ name: String) -> PastExplanation {
        let fact = rules[name]
        let body = fact?.record["rule"]
        return PastExplanation(
            kind: "rule", name: name, isSo: fact?.isSo, text: body?["because"]?.string ?? PastPlace.unknown,
            since: fact?.since, file: body?["file"]?.string, line: body?["line"]?.integer,
            actions: actions[name] ?? [], digest: fact?.record["rules_digest"]?.string)
    }

    private static let unknown = "nothing is recorded of it since the machine was started"
}

/// Why something was as it was.
struct PastExplanation {
    let kind: String
    let name: String
    /// Nil where nobody knows.
    let isSo: Bool?
    let text: String
    let since: String?
    var file: String?
    var line: Int64?
    var evidence: [String] = []
    var actions: [JSONValue] = []
    let digest: String?

    func lines(at moment: Int64) -> [String] {
        let state =
            switch (kind, isSo) {
            case ("rule", true): "rule \(name) held"
            case ("rule", false): "rule \(name) did not hold"
            case ("network", true): "on network \(name)"
            case ("network", false): "not on network \(name)"
            default: "\(kind) \(name) is not known to have been so"
            }
        let since = since.flatMap { CivilTime.local(iso8601: $0) }.map { ", since \(Self.text($0))" } ?? ""
        var lines = ["\(Self.text(CivilTime(local: moment))): \(state)\(since)"]
        if let file { lines.append("  defined at \(file):\(line ?? 0)") }
        lines.append("  \(text)")
        for action in actions { lines.append("    \(Self.text(ofAction: action))") }
        if let digest, !digest.isEmpty { lines.append("  rule files \(digest.prefix(16))…") }
        return lines.map(\.terminalText)
    }

    private static func text(_ time: CivilTime) -> String { "\(time.iso8601.prefix(10)) \(time.clock)" }

    private static func text(ofAction record: JSONValue) -> String {
        let action = record["action"]
        let word = record["type"]?.string?.split(separator: ".").last ?? "?"
        let clock = record["time"]?.string.flatMap { CivilTime.local(iso8601: $0) }?.clock ?? "?"
        let because = action?["because"]?.string.map { ": \($0)" } ?? ""
        let exit = action?["exit"]?.integer.map { ", exit \($0)" } ?? ""
        return "\(clock) \(action?["kind"]?.string ?? "?") \(action?["index"]?.integer ?? 0) \(word)\(exit)\(because)"
    }

    func json(at moment: Int64) -> [UInt8] {
        var writer = JSONWriter()
        writer.object { writer in
            writer.field("type", "explanation")
            writer.field("at", CivilTime(utc: moment).iso8601)
            writer.object("explanation") { writer in
                writer.field("kind", kind)
                writer.field("name", name)
                writer.field("truth", isSo.map { $0 ? "yes" : "no" } ?? "maybe")
                writer.field("text", text)
                if let file { writer.field("file", file) }
                if let line { writer.field("line", line) }
                if let since { writer.field("since", since) }
                if kind == "network" { writer.array("evidence") { for kind in evidence { $0.string(kind) } } }
                writer.field("rules_digest", digest)
            }
        }
        writer.endLine()
        return writer.octets
    }
}
