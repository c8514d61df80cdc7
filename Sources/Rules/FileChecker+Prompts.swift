/// What people are shown and asked.
extension FileChecker {
    static let notificationKeys = ["summary", "body", "urgency"]

    mutating func notification(_ value: TOMLValue) -> EdgeAction.Notification? {
        if case .string = value.content {
            return text(value, upTo: 200).map { EdgeAction.Notification(summary: $0) }
        }
        guard case .table(let members) = value.content else {
            wrongType(value, expected: "text, or a table such as { summary = \"At work\" }")
            return nil
        }
        let problems = diagnostics.count
        var summary: String?
        var notification = EdgeAction.Notification(summary: "")
        for entry in members {
            switch entry.key {
            case "summary": summary = text(entry.value, upTo: 200)
            case "body": notification.body = text(entry.value, upTo: 1_000)
            case "urgency": notification.urgency = choice(entry.value) ?? notification.urgency
            default: unknownKey(entry, in: "a notification", known: Self.notificationKeys)
            }
        }
        guard diagnostics.count == problems, need(["summary": summary != nil], of: "notification", value), let summary
        else { return nil }
        notification.summary = summary
        return notification
    }

    static let secondFactorKeys = ["message", "timeout", "attempts", "grace", "on-success", "on-failure"]

    mutating func secondFactor(_ value: TOMLValue) -> EdgeAction.SecondFactor? {
        guard let members = table(value, "{ message = \"Confirm your sign-in\" }") else { return nil }
        let problems = diagnostics.count
        var message: String?
        var factor = EdgeAction.SecondFactor(message: "")
        for entry in members {
            switch entry.key {
            case "message": message = text(entry.value, upTo: 200)
            case "timeout": factor.timeout = duration(entry.value, in: 5_000_000...3_600_000_000) ?? factor.timeout
            case "attempts": factor.attempts = integer(entry.value, in: 1...10) ?? factor.attempts
            case "grace": factor.grace = duration(entry.value, in: 0...86_400_000_000) ?? factor.grace
            case "on-success": factor.onSuccess = consequences(entry.value)
            case "on-failure": factor.onFailure = consequences(entry.value)
            default: unknownKey(entry, in: "a second factor", known: Self.secondFactorKeys)
            }
        }
        guard diagnostics.count == problems, need(["message": message != nil], of: "second factor", value), let message
        else { return nil }
        factor.message = message
        return factor
    }

    static let consequenceKeys = ["vpn", "hold", "command"]
    static let consequenceWords = ["lock-session", "disconnect"]

    mutating func consequences(_ value: TOMLValue) -> [EdgeAction.SecondFactor.Consequence] {
        guard case .array(let elements) = value.content else { return consequence(value).list }
        return elements.compactMap { consequence($0) }
    }

    mutating func consequence(_ value: TOMLValue) -> EdgeAction.SecondFactor.Consequence? {
        switch value.content {
        case .string("lock-session"): return .lockSession
        case .string("disconnect"): return .disconnect
        case .string(let word):
            let hint = Spelling.hint(for: word, among: Self.consequenceWords)
            error(
                .badValue, value.position,
                "expected \"lock-session\", \"disconnect\" or a table with \"vpn\", \"hold\" or \"command\"\(hint)")
            return nil
        case .table(let members):
            guard let entry = members.first(where: { Self.consequenceKeys.contains($0.key) }) else {
                if let other = members.first(where: { !Self.commandKeys.contains($0.key) }) {
                    unknownKey(other, in: "a consequence", known: Self.consequenceKeys)
                } else {
                    error(.missingKey, value.position, "the table needs \"vpn\", \"hold\" or \"command\"")
                }
                return nil
            }
            for other in members where other.key != entry.key {
                if entry.key == "command", Self.commandKeys.contains(other.key) { continue }
                if Self.consequenceKeys.contains(other.key) {
                    error(.badValue, other.position, "a table has one consequence: put several into [{ … }, { … }]")
                } else {
                    unknownKey(other, in: "a consequence", known: Self.consequenceKeys)
                }
                return nil
            }
            switch entry.key {
            case "vpn": return vpn(entry.value).map { .vpn($0) }
            case "hold":
                guard let name = string(entry.value, expected: "the name of a rule") else { return nil }
                ruleReferences.append(Listed(name, at: location(entry.value.position)))
                return .hold(rule: name)
            default: return command(members, entry.value).map { .command($0) }
            }
        default:
            wrongType(value, expected: "\"lock-session\", \"disconnect\" or a table")
            return nil
        }
    }
}
