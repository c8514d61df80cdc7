internal import JSON
internal import Rules
internal import SystemBus

/// What the agent says of the second factor, for people and for programs.
struct FactorStatusText {
    let isNeeded: Bool
    /// Nil for who may not see where this machine is; so is all that follows.
    private let verdict: FactorStanding.Verdict?
    private let rule: String?
    private let file: String?
    private let line: Int64?
    private let because: String?

    /// Nil where the answer is none. Whatever is no clear leave to skip it is a need.
    init?(_ answer: BusValue?) {
        guard let needed = answer?["needed"]?.flag else { return nil }
        verdict = answer?["state"]?.text.flatMap { FactorStanding.Verdict(rawValue: $0) }
        isNeeded = needed || verdict.map { $0 != .skip } ?? false
        rule = answer?["rule"]?.text
        file = answer?["file"]?.text
        line = answer?["line"]?.number
        because = answer?["because"]?.text
    }

    var lines: [String] {
        var lines = [isNeeded ? "a second factor is needed here" : "the second factor may be skipped here"]
        guard let verdict else {
            return lines + ["  which rule says so you may not see; \(Remedy.permission)"]
        }
        let name = rule ?? "?"
        lines.append("  " + FactorStatusText.sentence(verdict, name).terminalText)
        if let because, !because.isEmpty, FactorStatusText.isExplained(verdict) {
            lines.append("  rule \(name): \(because)".terminalText)
        }
        if let file { lines.append("  \(file):\(line ?? 0)".terminalText) }
        return lines
    }

    private static func sentence(_ verdict: FactorStanding.Verdict, _ rule: String) -> String {
        switch verdict {
        case .skip: "rule \(rule) holds and lets it be skipped"
        case .required: "rule \(rule) holds and says pam = \"require\""
        case .demanded: "rule \(rule) has demanded one, which has not been given"
        case .unsettled: "rule \(rule) would let it be skipped, but it is not sure that this is its place still"
        case .inactive: "rule \(rule) would let it be skipped, but does not hold"
        case .unsaid: "no rule says pam = \"skip\""
        case .unknown: "nobody knows at this moment where this machine is"
        }
    }

    /// Whether why the rule holds, or does not, explains the answer.
    private static func isExplained(_ verdict: FactorStanding.Verdict) -> Bool {
        switch verdict {
        case .skip, .required, .unsettled, .inactive: true
        case .demanded, .unsaid, .unknown: false
        }
    }

    var json: [UInt8] {
        var writer = JSONWriter()
        writer.object { writer in
            writer.field("needed", isNeeded)
            writer.field("state", verdict?.rawValue)
            writer.field("rule", rule)
            writer.field("file", file)
            writer.field("line", line.map { Int($0) })
            writer.field("because", because)
        }
        writer.endLine()
        return writer.octets
    }
}
