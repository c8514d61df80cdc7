internal import Feed
internal import JSON
internal import Platform
internal import WiFi

/// A record of the history in the forms that are not JSON.
struct HistoryRow {
    let record: JSONValue

    // MARK: For people

    func text(isColored: Bool) -> String {
        let type = record["type"]?.string ?? "?"
        let time = record["time"]?.string.flatMap { CivilTime.local(iso8601: $0) }
        let moment = time.map { "\($0.iso8601.prefix(10)) \($0.clock)" } ?? "?"
        var columns = [moment.terminalText, type.terminalText.fitted(to: 23)]
        columns += details.map(\.terminalText)
        if isColored, let code = Self.color(of: type) { columns[1] = "\u{1b}[\(code)m\(columns[1])\u{1b}[0m" }
        return columns.joined(separator: "  ")
    }

    private var details: [String] {
        if let network = record["network"] {
            let evidence = (record["evidence"]?.array ?? []).compactMap(\.string).joined(separator: ", ")
            var parts = ["\(network["name"]?.string ?? "?") (\(network["assurance"]?.string ?? "unknown"))"]
            if let minutes = network["minutes"]?.integer { parts.append("after \(minutes) min") }
            return evidence.isEmpty ? parts : parts + ["by \(evidence)"]
        }
        if let rule = record["rule"] {
            return [
                rule["name"]?.string ?? "?", rule["because"]?.string ?? "",
                "(\(rule["file"]?.string ?? "?"):\(rule["line"]?.integer ?? 0))",
            ].filter { !$0.isEmpty }
        }
        if let factor = record["second_factor"] {
            return [
                factor["rule"]?.string, factor["network"]?.string.map { "on \($0)" },
                factor["user"]?.string.map { "of \($0)" }, factor["because"]?.string,
            ].compactMap(\.self)
        }
        if let wifi = record["wifi"] { return details(of: wifi) }
        guard let action = record["action"] else { return [] }
        var parts = [
            action["rule"]?.string ?? "?", "\(action["kind"]?.string ?? "?") \(action["index"]?.integer ?? 0)",
        ]
        if let exit = action["exit"]?.integer { parts.append("exit \(exit)") }
        if let duration = action["duration_ms"]?.integer { parts.append("\(duration) ms") }
        if let user = action["user"]?.string { parts.append("in the session of \(user)") }
        if let because = action["because"]?.string { parts.append(because) }
        return parts
    }

    private func details(of wifi: JSONValue) -> [String] {
        var parts = [wifi["wifi_environment"]?.string ?? "a network without a name", wifi["security"]?.string ?? ""]
        parts += ["status", "reason"].compactMap { key in
            record["cause"]?[key]?.integer.map { "\(key) \($0)" }
        }
        if let circumstance = record["cause"]?["circumstance"]?.string { parts.append(circumstance) }
        if let omitted = record["omitted"]?.integer { parts.append("and \(omitted) more before it") }
        return parts.filter { !$0.isEmpty }
    }

    private static func color(of type: String) -> String? {
        switch type {
        case "network.entered", "rule.activated", "action.succeeded", "second_factor.passed", "wifi.roamed":
            Screen.Paint.good.rawValue
        case "action.failed", "second_factor.failed", "second_factor.expired", "wifi.join_failed":
            Screen.Paint.bad.rawValue
        case "network.left", "rule.deactivated", "action.cancelled", "second_factor.requested":
            Screen.Paint.notable.rawValue
        default: nil
        }
    }

    // MARK: For spreadsheets

    static let heads = [
        "time", "type", "network", "assurance", "minutes", "evidence", "rule", "file", "line", "action", "kind", "exit",
        "duration_ms", "user", "because", "rules_digest", "boot",
    ]

    /// RFC 4180, with LF alone at the end of the line.
    static func csv(_ cells: [String]) -> String { cells.map(cell).joined(separator: ",") }

    var csv: String {
        let (network, rule, action) = (record["network"], record["rule"], record["action"])
        let factor = record["second_factor"]
        let cells: [JSONValue?] = [
            record["time"], record["type"], network?["name"] ?? factor?["network"], network?["assurance"],
            network?["minutes"],
            .string((record["evidence"]?.array ?? []).compactMap(\.string).joined(separator: " ")),
            rule?["name"] ?? action?["rule"] ?? factor?["rule"], rule?["file"], rule?["line"], action?["index"],
            action?["kind"],
            action?["exit"], action?["duration_ms"], action?["user"] ?? factor?["user"],
            rule?["because"] ?? action?["because"] ?? factor?["because"],
            record["rules_digest"], record["boot"],
        ]
        return Self.csv(cells.map { $0?.string ?? $0?.integer.map { "\($0)" } ?? "" })
    }

    /// What a spreadsheet would take for a formula gets an apostrophe before it (OWASP, CSV injection); what is not
    /// printable is escaped.
    private static func cell(_ text: String) -> String {
        var text = text.terminalText
        if let first = text.first(where: { $0 != " " }), "=+-@＝＋－＠".contains(first), Int64(text) == nil {
            text = "'" + text
        }
        // A plain word looks the same quoted, but is easier for what splits at commas.
        guard text.contains(where: { "\",; ".contains($0) }) else { return text }
        return "\"" + text.split(separator: "\"", omittingEmptySubsequences: false).joined(separator: "\"\"") + "\""
    }
}
