internal import Environment
internal import JSON
internal import Netlink
public import Platform
internal import WiFi

/// A line of the feed for people: local time, what happened, where. Names from the air are escaped.
///
/// It is made from the JSON text, so that it says the same of a line from the agent as of one from the kernel.
public struct FeedText: Sendable {
    /// Whether to colour, for terminals that can.
    public var isColored: Bool

    public init(isColored: Bool) {
        self.isColored = isColored
    }

    /// Nil for what is no line of the feed.
    public func text(of line: some Collection<UInt8>) -> String? {
        guard let value = try? JSONValue(parsing: line, maximumSize: 2 * FeedLine.maximumLength),
            let type = value["type"]?.string
        else { return nil }
        let clock = value["time"]?.string.flatMap { CivilTime.local(iso8601: $0) }
        let time = clock.map { "\($0.clock).\(padded($0.microsecond / 1_000))" } ?? "--:--:--.---"
        if type == "environment.snapshot" { return ([heading(value, time)] + snapshot(value)).joined(separator: "\n") }
        let interface = (value["interface"]?.string).map { $0.utf8.displayText } ?? ""
        let name = type.padding(to: 25)
        return [paint(time, .faint), paint(name, color(of: type)), interface.padding(to: 8), details(value, type)]
            .joined(separator: "  ").trimmedAtEnd
    }

    // MARK: Parts

    private func details(_ value: JSONValue, _ type: String) -> String {
        var parts: [String] = []
        if let wifi = value["wifi"] {
            parts.append(network(wifi))
            if let previous = wifi["previous_bssid"]?.string { parts.append("from \(previous)") }
        }
        if let cause = value["cause"]?.object { parts.append(cause.members.map(Self.cause).joined(separator: ", ")) }
        if let network = value["network"] {
            let name = network["name"]?.string?.utf8.displayText ?? Self.withheld
            parts.append("\(name) (\(network["assurance"]?.string ?? "unknown"))")
            if let minutes = network["minutes"]?.integer { parts.append("after \(minutes) min") }
        }
        if let rule = value["rule"] {
            let place = rule["file"]?.string.map { " (\($0.utf8.displayText):\(rule["line"]?.integer ?? 0))" }
            parts.append((rule["name"]?.string?.utf8.displayText ?? Self.withheld) + (place ?? ""))
            if let because = rule["because"]?.string { parts.append(because.utf8.displayText) }
        }
        if let action = value["action"] {
            parts.append(
                "\(action["kind"]?.string ?? "?") \(action["index"]?.integer ?? 0) of "
                    + (action["rule"]?.string?.utf8.displayText ?? Self.withheld))
            if let exit = action["exit"]?.integer { parts.append("exit \(exit)") }
            if let duration = action["duration_ms"]?.integer { parts.append("\(duration) ms") }
            if let because = action["because"]?.string { parts.append(because.utf8.displayText) }
            if type == "action.failed", let errors = action["errors"]?.string, let last = Self.lastLine(of: errors) {
                parts.append(last)
            }
        }
        if let address = value["address"] {
            parts += (address["added"]?.array ?? []).compactMap(\.string).map { "+\($0)" }
            parts += (address["removed"]?.array ?? []).compactMap(\.string).map { "-\($0)" }
        }
        if type == "route.changed" { parts.append(route(value["route"])) }
        if let dns = value["dns"] { parts.append(resolver(dns)) }
        if let evidence = value["evidence"] { parts.append(self.evidence(evidence)) }
        if let metered = value["metered"] {
            parts.append(metered.bool.map { $0 ? "metered" : "not metered" } ?? "nobody tells whether it is metered")
        }
        if let connectivity = value["connectivity"]?.string { parts.append(connectivity) }
        if let gap = value["gap"] { parts.append("\(gap["lost"]?.integer.map { "\($0)" } ?? "some") lines lost") }
        if let version = value["agent"]?["version"]?.string { parts.append(version) }
        if let problems = value["agent"]?["problems"]?.integer {
            parts.append(
                problems == 0
                    ? "no problems" : "\(problems) problem\(problems == 1 ? "" : "s"), see `vicinity status`")
        }
        return parts.joined(separator: "  ")
    }

    private static let withheld = "(name withheld)"

    /// Nil where nothing was written. The text is escaped already, so its backslashes stay as they are.
    private static func lastLine(of errors: String) -> String? {
        guard let line = errors.utf8.split(separator: UInt8(ascii: "\n")).last else { return nil }
        var text = String.UnicodeScalarView()
        var isDoubled = false
        for scalar in line.displayText.unicodeScalars {
            isDoubled = scalar == "\\" && text.last == "\\" && !isDoubled
            if !isDoubled { text.append(scalar) }
        }
        return String(text).clipped(to: 200)
    }

    private func network(_ wifi: JSONValue) -> String {
        let name = wifi["ssid_hex"]?.string.flatMap { SSID(hexadecimal: $0) }?.display
        // The end of a hash tells two networks apart.
        let hash = wifi["wifi_environment"]?.string.map { "(name withheld, \($0.utf8.suffix(8).displayText))" }
        var parts = [name ?? hash ?? "(name unknown)"]
        if let security = wifi["security"]?.string { parts.append(security) }
        if let channel = wifi["channel"]?.integer { parts.append("channel \(channel)") }
        if let signal = wifi["signal_dbm"]?.integer { parts.append("\(signal) dBm") }
        if let bssid = wifi["bssid"]?.string { parts.append(bssid) }
        return parts.joined(separator: "  ")
    }

    private static func cause(_ member: JSONObject.Member) -> String {
        switch (member.key, member.value) {
        case ("by_ap", .bool(true)): "by the access point"
        case ("by_ap", .bool(false)): "by this machine"
        case (let key, .bool(true)): key.replacingUnderscores
        case (let key, let value): "\(key.replacingUnderscores) \(value.integer.map { "\($0)" } ?? value.string ?? "")"
        }
    }

    private func route(_ route: JSONValue?) -> String {
        guard let route, !route.isNull else { return "no way out" }
        // Without names and addresses only the way is told.
        guard route["gateway"] != nil else { return "there is a way out" }
        return [route["gateway"]?.string.map { "via \($0)" } ?? "direct", route["gateway_mac"]?.string ?? ""]
            .joined(separator: "  ").trimmedAtEnd
    }

    private func resolver(_ dns: JSONValue) -> String {
        let servers = (dns["servers"]?.array ?? []).compactMap(\.string)
        let search = (dns["search"]?.array ?? []).compactMap(\.string).map { $0.utf8.displayText }
        return (servers + search.map { "search \($0)" }).joined(separator: "  ")
    }

    private func evidence(_ evidence: JSONValue) -> String {
        let gateways = evidence["gateways"]?.array
        var parts = (gateways ?? []).map { gateway in
            ["via \(gateway["address"]?.string ?? "?")", gateway["mac"]?.string ?? ""].joined(separator: "  ")
                .trimmedAtEnd
        }
        if gateways?.isEmpty == true { parts.append("no gateway") }
        if let search = evidence["search"]?.array {
            let domains = search.compactMap(\.string).map { $0.utf8.displayText }
            parts.append(domains.isEmpty ? "no domain" : "domain \(domains.joined(separator: ", "))")
        }
        if let demands = evidence["authentication"], !demands.isNull {
            let demanded = [("certification_authority", "an authority"), ("server_name", "a name")].compactMap {
                demands[$0]?.bool == true ? $1 : nil
            }
            parts.append("802.1X demands \(demanded.isEmpty ? "nothing" : demanded.joined(separator: " and "))")
        }
        return parts.joined(separator: "  ")
    }

    private func heading(_ value: JSONValue, _ time: String) -> String {
        let moment = paint(time, .faint)
        if let refusal = value["refused"]?.string.flatMap({ FeedRefusal(rawValue: $0) }) {
            return "\(moment)  \(PermissionText.text(for: refusal))"
        }
        let title = "\(moment)  \(paint("here and now", .strong))"
        guard let permission = value["permission"]?.string.flatMap({ FeedPermission(rawValue: $0) }) else {
            return title
        }
        let notice = [PermissionText.meaning(of: permission), PermissionText.advice(for: permission)]
            .compactMap(\.self).joined(separator: "; ")
        switch permission.view {
        case .full: return title
        case .hashed: return "\(title)  \(notice) (permission: \(permission.rawValue))"
        case .nothing: return "\(moment)  \(notice) (permission: \(permission.rawValue))"
        }
    }

    private func snapshot(_ value: JSONValue) -> [String] {
        var lines: [String] = []
        for interface in value["interfaces"]?.array ?? [] where interface["kind"]?.string != "loopback" {
            let name = interface["interface"]?.string?.utf8.displayText ?? "?"
            let kind = interface["kind"]?.string ?? ""
            var state = interface["usable"]?.bool == true ? "up" : "down"
            if let wifi = interface["wifi"] {
                state = wifi["state"]?.string ?? state
                if wifi["ssid_hex"] != nil || wifi["wifi_environment"] != nil { state += "  \(network(wifi))" }
            }
            let addresses = (interface["addresses"]?.array ?? []).compactMap(\.string)
            lines.append(
                ("  \(name.padding(to: 14)) \(kind.padding(to: 9)) \(state)  " + addresses.joined(separator: "  "))
                    .trimmedAtEnd)
        }
        if !(value["networks"]?.array ?? []).isEmpty || value["route"] != nil {
            lines.append("  \("gateway".padding(to: 14)) \(route(value["route"]))")
            let lists = [("networks", "networks"), ("rules", "rules"), ("actions", "running"), ("holds", "held")]
            for (key, title) in lists {
                let names = (value[key]?.array ?? []).compactMap { $0.string?.utf8.displayText }
                if !names.isEmpty { lines.append("  \(title.padding(to: 14)) \(names.joined(separator: ", "))") }
            }
            for problem in (value["problems"]?.array ?? []).compactMap(\.string) { lines += self.problem(problem) }
        }
        return lines
    }

    /// What is wrong, with the line of the file and the caret below it.
    private func problem(_ text: String) -> [String] {
        text.split(separator: "\n").enumerated().map { number, line in
            let title = (number == 0 ? "problem" : "").padding(to: 14)
            let blanks = line.utf8.prefix { $0 == UInt8(ascii: " ") }.count
            return "  \(number == 0 ? paint(title, .bad) : title) " + String(repeating: " ", count: blanks)
                + line.utf8.dropFirst(blanks).displayText
        }
    }

    // MARK: Looks

    private enum Paint: String {
        case faint = "2"
        case strong = "1"
        case good = "32"
        case bad = "31"
        case notable = "33"
        case plain = "0"
    }

    private func color(of type: String) -> Paint {
        switch type {
        case "wifi.joined", "wifi.roamed", "network.entered", "rule.activated", "action.succeeded": .good
        case "wifi.join_failed", "action.failed", "feed.gap": .bad
        case "wifi.left", "wifi.associating", "network.left", "rule.deactivated", "action.cancelled",
            "agent.resynced":
            .notable
        default: .plain
        }
    }

    private func paint(_ text: String, _ paint: Paint) -> String {
        isColored && paint != .plain ? "\u{1b}[\(paint.rawValue)m\(text)\u{1b}[0m" : text
    }

    private func padded(_ milliseconds: Int) -> String {
        let text = String(milliseconds)
        return String(repeating: "0", count: 3 - text.count) + text
    }
}

extension String {
    /// Filled up with blanks to `width` columns of a terminal.
    fileprivate func padding(to width: Int) -> String {
        self + String(repeating: " ", count: max(width - displayWidth, 0))
    }

    fileprivate var trimmedAtEnd: String {
        var copy = self[...]
        while copy.last == " " { copy.removeLast() }
        return String(copy)
    }

    fileprivate var replacingUnderscores: String {
        String(map { $0 == "_" ? " " : $0 })
    }
}

extension CivilTime {
    /// The local time of a moment as the feed writes it, `2026-11-30T12:00:00.123456Z`.
    public static func local(iso8601 text: String) -> CivilTime? {
        Timestamp.wall(iso8601: text).map { CivilTime(local: $0) }
    }
}

extension Timestamp {
    /// The civil time of a moment as the feed writes it; nil for anything else.
    static func wall(iso8601 text: String) -> Int64? {
        let numbers = text.split { !$0.isNumber }.compactMap { Int64($0) }
        guard numbers.count == 7, text.utf8.count == 27, (0...9_999).contains(numbers[0]),
            (1...12).contains(numbers[1]),
            numbers[2...].allSatisfy({ $0 <= 999_999 })
        else { return nil }
        // Hinnant's days_from_civil: the reverse of `CivilTime.init(utc:)`.
        let year = numbers[1] <= 2 ? numbers[0] - 1 : numbers[0]
        let era = (year >= 0 ? year : year - 399) / 400
        let yearOfEra = year - era * 400
        let dayOfYear = (153 * (numbers[1] + (numbers[1] > 2 ? -3 : 9)) + 2) / 5 + numbers[2] - 1
        let days = era * 146_097 + yearOfEra * 365 + yearOfEra / 4 - yearOfEra / 100 + dayOfYear - 719_468
        let seconds = days * 86_400 + numbers[3] * 3_600 + numbers[4] * 60 + numbers[5]
        return seconds * 1_000_000 + numbers[6]
    }
}
