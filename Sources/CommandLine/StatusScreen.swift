internal import Agent
internal import Feed
internal import JSON
internal import Platform
internal import WiFi

/// What `vicinity status` shows a person: made from lines of the feed alone, so that it is the same of an agent and of
/// the kernel.
struct StatusScreen {
    /// `environment.snapshot`
    let snapshot: JSONValue
    /// What there is to say of the networks the machine is on and of the rules that hold.
    var explanations: [JSONValue] = []
    /// `action.*`, the oldest first.
    var actions: [JSONValue] = []

    private static let networkLimit = 6
    private static let ruleLimit = 10
    private static let actionLimit = 5
    private static let holdLimit = 6

    /// - Parameter now: µs since 1970; what happened today is told without its date.
    func lines(width: Int?, isColored: Bool, now: Int64) -> [String] {
        var screen = Screen(width: width, isColored: isColored)
        let day = String(CivilTime(local: now).iso8601.prefix(10))
        if let word = shown(snapshot["permission"]), word != "full" {
            screen.add("permission", "\(word): names are withheld", .notable, Remedy.permission)
        }
        addNetworks(to: &screen, day)
        addLinks(to: &screen)
        screen.add("internet", internet)
        addRules(to: &screen, day)
        addActions(to: &screen, day)
        addHolds(to: &screen, day)
        addProblems(to: &screen)
        return screen.lines
    }

    // MARK: Where

    private func addNetworks(to screen: inout Screen, _ day: String) {
        let networks = explained("network", besides: "networks")
        for (index, network) in networks.prefix(Self.networkLimit).enumerated() {
            let name = shown(network["name"]) ?? "?"
            var text = shown(network["text"]) ?? ""
            if text.hasPrefix("on \(name), ") { text.removeFirst("on \(name), ".count) }
            let isWeak = text.hasPrefix("claimed") || text.hasPrefix("unknown")
            // Evidence that agrees; where it is listed is for `why`.
            let evidence = (network["lines"]?.array ?? []).compactMap { shown($0) }.map(Self.withoutPlace)
                .filter { $0.hasPrefix("+ ") && !$0.hasPrefix("+ on ") }.map { String($0.dropFirst(2)) }
            if !evidence.isEmpty, !text.contains(": ") { text += ", by \(evidence.joined(separator: ", "))" }
            let since = moment(network["since"], day).map { "since \($0)" } ?? ""
            screen.add(
                index == 0 ? "here" : "", name, isWeak || text.isEmpty ? .notable : .good,
                [text, since].filter { !$0.isEmpty }.joined(separator: "; "))
        }
        if networks.isEmpty {
            screen.add("here", isWithheld ? "on no network that you may see" : "on no network that has a name", .faint)
        }
        addMore(networks.count - Self.networkLimit, to: &screen)
    }

    private func addLinks(to screen: inout Screen) {
        var title = "links"
        var others = snapshot["interfaces_omitted"]?.integer ?? 0
        for interface in snapshot["interfaces"]?.array ?? [] {
            let kind = shown(interface["kind"]) ?? "unknown"
            let isUsable = interface["usable"]?.bool == true
            guard ["wifi", "ethernet", "cellular", "bluetooth"].contains(kind) || kind == "tunnel" && isUsable else {
                others += kind == "loopback" ? 0 : 1
                continue
            }
            let wifi = interface["wifi"]
            let state = shown(wifi?["state"]) ?? (isUsable ? "up" : "down")
            let paint: Screen.Paint =
                switch state {
                case "joined", "up": .good
                case "associating", "unknown": .notable
                default: .faint
                }
            var parts = wifi.map(network) ?? []
            parts += (interface["addresses"]?.array ?? []).compactMap { shown($0) }
            let name = shown(interface["interface"]) ?? "?"
            screen.add(title, "\(name)  \(kind)  \(state)", paint, parts.joined(separator: "  "))
            title = ""
        }
        if others > 0 {
            screen.add(title, "\(others) \(title.isEmpty ? "more that place" : "that place") nothing", .faint)
        } else if !title.isEmpty {
            screen.add(title, "none", .faint)
        }
    }

    private func network(_ wifi: JSONValue) -> [String] {
        guard wifi["security"] != nil || wifi["ssid_hex"] != nil || wifi["wifi_environment"] != nil else { return [] }
        var parts: [String] = []
        if let ssid = wifi["ssid_hex"]?.string.flatMap({ SSID(hexadecimal: $0) }) {
            parts.append(ssid.display)
        } else {
            // The end of a hash tells one network from the next.
            let hash = shown(wifi["wifi_environment"]).map { ", \($0.suffix(8))" } ?? ""
            parts.append(isWithheld ? "(name withheld\(hash))" : "(name unknown)")
        }
        if let security = shown(wifi["security"]) { parts.append(security) }
        if let channel = wifi["channel"]?.integer { parts.append("channel \(channel)") }
        if let signal = wifi["signal_dbm"]?.integer { parts.append("\(signal) dBm") }
        if let bssid = shown(wifi["bssid"]) { parts.append(bssid) }
        return parts
    }

    private var internet: String {
        var parts: [String] =
            switch snapshot["connectivity"]?.string {
            case "internet": ["reached"]
            case "portal": ["a captive portal is in the way"]
            case "local": ["the local network only, or nobody looks farther"]
            case "none": ["not reached"]
            default: ["not known"]
            }
        if let route = snapshot["route"], !route.isNull {
            if let gateway = shown(route["gateway"]) { parts.append("via \(gateway)") }
            if route["gateway"]?.isNull == true { parts.append("without a gateway") }
        }
        if snapshot["metered"]?.bool == true { parts.append("metered") }
        return parts.joined(separator: ", ")
    }

    // MARK: What holds

    private func addRules(to screen: inout Screen, _ day: String) {
        let rules = explained("rule", besides: "rules")
        for (index, rule) in rules.prefix(Self.ruleLimit).enumerated() {
            let since = moment(rule["since"], day).map { "since \($0)" }
            // On which evidence it is there has been told of the network.
            let because = shown(rule["text"]).map(Self.beforeEvidence)
            let text = [since, because].compactMap { $0 }.joined(separator: ": ")
            screen.add(index == 0 ? "rules" : "", shown(rule["name"]) ?? "?", .good, text)
        }
        if rules.isEmpty { screen.add("rules", isWithheld ? "none that you may see" : "none holds", .faint) }
        // More than the agent explains at once, and those are rules: of networks there are never as many.
        let omitted = Int(clamping: explanations.last?["explanation"]?["omitted"]?.integer ?? 0)
        addMore(max(rules.count - Self.ruleLimit, 0) + omitted, to: &screen)
    }

    private func addActions(to screen: inout Screen, _ day: String) {
        var order: [Int64] = []
        var ends: [Int64: JSONValue] = [:]
        for line in actions {
            guard let identifier = line["action"]?["id"]?.integer else { continue }
            order.removeAll { $0 == identifier }
            order.append(identifier)
            ends[identifier] = line
        }
        var title = "done"
        for line in order.suffix(Self.actionLimit).compactMap({ ends[$0] }) {
            let action = line["action"]
            let (word, paint): (String, Screen.Paint) =
                switch line["type"]?.string {
                case "action.started": ("runs", .notable)
                case "action.succeeded": ("succeeded", .good)
                case "action.reverted": ("undone", .plain)
                case "action.cancelled": ("cancelled", .notable)
                default: ("failed", .bad)
                }
            var parts: [String] = []
            if let exit = action?["exit"]?.integer, exit != 0 { parts.append("exit \(exit)") }
            if let duration = action?["duration_ms"]?.integer { parts.append("\(duration) ms") }
            if let user = shown(action?["user"]) { parts.append("in the session of \(user)") }
            if let because = shown(action?["because"]) { parts.append(because) }
            if word == "failed", let last = action?["errors"]?.string?.split(separator: "\n").last {
                parts.append(String(last).terminalText)
            }
            let name = "\(shown(action?["kind"]) ?? "?") \(action?["index"]?.integer ?? 0)"
            let head = "\(moment(line["time"], day) ?? "")  \(shown(action?["rule"]) ?? missing), \(name): \(word)"
            screen.add(title, head, paint, parts.joined(separator: ", "))
            title = ""
        }
        let running = (snapshot["actions"]?.array ?? []).compactMap { shown($0) }
        if !running.isEmpty { screen.add("running", running.joined(separator: ", "), .notable) }
    }

    private func addHolds(to screen: inout Screen, _ day: String) {
        let held = snapshot["held"]?.array ?? []
        for (index, hold) in held.prefix(Self.holdLimit).enumerated() {
            let end = moment(hold["until"], day) ?? "?"
            let until = hold["until_network_change"]?.bool == true ? "the network changes, at the latest \(end)" : end
            let (rule, state) = (shown(hold["rule"]) ?? "?", shown(hold["state"]) ?? "?")
            let text = "\(rule) \(state) by \(shown(hold["by"]) ?? "?") until \(until)"
            screen.add(index == 0 ? "held" : "", text, .notable)
        }
        addMore(held.count - Self.holdLimit, to: &screen)
    }

    // MARK: What is wrong

    private func addProblems(to screen: inout Screen) {
        let problems = (snapshot["problems"]?.array ?? []).compactMap(\.string)
        for (index, problem) in problems.enumerated() {
            // What is wrong, and of a file its line with a caret below it.
            for (number, line) in problem.split(separator: "\n").enumerated() {
                screen.add(
                    index == 0 && number == 0 ? "problems" : "", String(line).terminalText, number == 0 ? .bad : .plain)
            }
            screen.add("", Remedy.ofProblem(problem), .faint)
        }
        if problems.count >= SnapshotFields.problemLimit {
            screen.add("", "there may be more: `vicinity check` tells of files, `vicinity doctor` of the rest", .faint)
        }
        if snapshot["problems"] == nil, let count = snapshot["problem_count"]?.integer, count > 0 {
            screen.add("problems", "\(count), which you may not see", .bad)
        }
        if problems.isEmpty, snapshot["problems"] != nil || snapshot["problem_count"]?.integer == 0 {
            screen.add("problems", "none", .faint)
        }
    }

    // MARK: Parts

    private var isWithheld: Bool { snapshot["permission"]?.string != "full" }
    private var missing: String { isWithheld ? "(name withheld)" : "?" }

    /// Fit for a terminal.
    private func shown(_ value: JSONValue?) -> String? { value?.string?.terminalText }

    /// What is explained, or else the names of the snapshot.
    private func explained(_ kind: String, besides key: String) -> [JSONValue] {
        let told = explanations.compactMap { $0["explanation"] }.filter { $0["kind"]?.string == kind }
        guard told.isEmpty else { return told }
        return (snapshot[key]?.array ?? []).compactMap { name in
            name.string.map { .object(JSONObject([("name", .string($0))])) }
        }
    }

    /// What stands before a colon and a blank, if there are any.
    private static func beforeEvidence(_ text: String) -> String {
        let end = text.utf8.indices.first { text.utf8[$0...].starts(with: ": ".utf8) }
        return String(text[..<(end ?? text.endIndex)])
    }

    /// Without the ` (FILE:LINE:COLUMN)` at the end.
    private static func withoutPlace(_ line: String) -> String {
        guard line.hasSuffix(")"), let start = line.lastIndex(of: "(") else { return line }
        return String(line[..<start].last == " " ? line[..<start].dropLast() : line[..<start])
    }

    private func addMore(_ count: Int, to screen: inout Screen) {
        if count > 0 { screen.add("", "and \(count) more: `vicinity why`", .faint) }
    }

    /// Local time; with the date unless it is today.
    private func moment(_ value: JSONValue?, _ day: String) -> String? {
        guard let time = value?.string.flatMap({ CivilTime.local(iso8601: $0) }) else { return nil }
        let date = String(time.iso8601.prefix(10))
        return date == day ? time.clock : "\(date) \(time.clock)"
    }
}

/// What to do about it.
enum Remedy {
    static var permission: String {
        let group = "members of the group vicinity may: `sudo adduser $USER vicinity`, then log in anew"
        guard CommandTable.commands.contains(where: { $0.name == "permission" }) else { return group }
        return "`vicinity permission request` asks for more; \(group)"
    }

    static var absentAgent: String {
        AgentPaths.isAgentInstalled
            ? "start it with `sudo systemctl start vicinityd`; `vicinity doctor` looks for what keeps it from running"
            : "none is installed here; `vicinity watch --direct` reads the kernel without one"
    }

    static func ofProblem(_ problem: String) -> String {
        problem.contains(": error: ")
            ? "correct the file; it is read again by itself, and `vicinity check` tells whether it is right"
            : "`vicinity doctor` looks for the cause, `journalctl -u vicinityd` has the rest"
    }
}
