extension FileChecker {
    private static let ruleKeys = ["on", "off", "settle", "enabled", "mode", "ready", "enter", "leave"]
    private static let plannedRuleKeys = [
        "proxy", "vpn", "unit", "firewall", "command", "user", "timeout", "relaxing", "notify", "lock", "pam",
        "priority", "time", "user-hold", "second-factor", "accept-weak-evidence", "portal", "max-hold",
    ]
    private static let commandKeys = ["command", "timeout"]
    private static let plannedCommandKeys = [
        "unit", "user", "relaxing", "notify", "lock", "vpn", "proxy", "firewall", "second-factor", "pam",
    ]

    private static let settleRange: ClosedRange<Int64> = 0...3_600_000_000
    private static let timeoutRange: ClosedRange<Int64> = 1_000...86_400_000_000

    /// `[rule.NAME]`; nil where anything is wrong with it.
    mutating func rule(_ member: TOMLMember) -> Rule? {
        guard case .table(let members) = member.value.content else {
            wrongType(member.value, expected: "a table")
            return nil
        }
        let problems = diagnostics.count
        var conditions: [(condition: Rule.Condition, key: TOMLMember)] = []
        var rule = Rule(name: member.key, location: location(member.position), condition: .on([]))
        for entry in members {
            switch entry.key {
            case "on": conditions.append((.on(networkReferences(entry.value)), entry))
            case "off": conditions.append((.off(networkReferences(entry.value)), entry))
            case "settle": rule.settle = duration(entry.value, in: Self.settleRange) ?? 0
            case "enabled": rule.isEnabled = boolean(entry.value) ?? false
            case "mode": rule.isObserving = mode(entry.value)
            case "ready": checkReadiness(entry.value)
            case "enter": rule.enter = commands(entry.value)
            case "leave": rule.leave = commands(entry.value)
            default: refuse(entry, in: "a rule", known: Self.ruleKeys, planned: Self.plannedRuleKeys)
            }
        }
        if conditions.count > 1 {
            unsupported(conditions[1].key.position, "\"on\" and \"off\" in one rule")
        } else if let only = conditions.first {
            rule.condition = only.condition
        } else if diagnostics.count == problems {
            error(.missingKey, member.position, "rule \"\(member.key)\" needs \"on\" or \"off\"")
        }
        return diagnostics.count == problems ? rule : nil
    }

    private mutating func networkReferences(_ value: TOMLValue) -> [Rule.NetworkReference] {
        let names: [(text: String, position: TOMLValue.Position)]
        switch value.content {
        case .string(let name): names = [(name, value.position)]
        case .table:
            unsupported(value.position, "a condition of \"all\", \"any\" and \"not\"")
            return []
        case .array(let elements):
            for element in elements {
                if case .table = element.content {
                    unsupported(element.position, "a condition of \"all\", \"any\" and \"not\"")
                    return []
                }
            }
            names = strings(value, expected: "") ?? []
        default:
            wrongType(value, expected: "the name of a network or a list of names")
            return []
        }
        let found = names.map { Rule.NetworkReference(name: $0.text, location: location($0.position)) }
        references += found
        return found
    }

    private mutating func mode(_ value: TOMLValue) -> Bool {
        guard let mode = string(value, expected: "\"observe\"") else { return true }
        if mode != "observe" { error(.badValue, value.position, "the only mode is \"observe\"") }
        return true
    }

    /// Commands start when the link is up; to wait for an address or the internet comes later.
    private mutating func checkReadiness(_ value: TOMLValue) {
        switch string(value, expected: "\"link\"") {
        case nil, "link": break
        case "address", "internet": unsupported(value.position, "any \"ready\" but \"link\"")
        default: error(.badValue, value.position, "expected \"link\", \"address\" or \"internet\"")
        }
    }

    private mutating func commands(_ value: TOMLValue) -> [Rule.Command] {
        guard case .array(let elements) = value.content else {
            wrongType(value, expected: "a list of actions, such as [ { command = [\"/usr/bin/true\"] } ]")
            return []
        }
        return elements.compactMap { command($0) }
    }

    private mutating func command(_ value: TOMLValue) -> Rule.Command? {
        guard case .table(let members) = value.content else {
            wrongType(value, expected: "a table such as { command = [\"/usr/bin/true\"] }")
            return nil
        }
        let problems = diagnostics.count
        var arguments: [String]?
        var timeout = Rule.Command.defaultTimeout
        for entry in members {
            switch entry.key {
            case "command": arguments = commandLine(entry.value)
            case "timeout": timeout = duration(entry.value, in: Self.timeoutRange) ?? timeout
            default: refuse(entry, in: "an action", known: Self.commandKeys, planned: Self.plannedCommandKeys)
            }
        }
        if arguments == nil, diagnostics.count == problems {
            error(.missingKey, value.position, "the action needs \"command\"")
        }
        guard let arguments, diagnostics.count == problems else { return nil }
        return Rule.Command(arguments: arguments, timeout: timeout, location: location(value.position))
    }

    /// There is no search path and no shell: what is started must be the same file whatever the environment says.
    private mutating func commandLine(_ value: TOMLValue) -> [String]? {
        let expected = "a list of a program and its arguments, such as [\"/usr/bin/logger\", \"hello\"]"
        guard let words = strings(value, expected: expected), let program = words.first else { return nil }
        var isSafe = true
        if !program.text.utf8.starts(with: "/".utf8) {
            error(.unsafeCommand, program.position, "the program must be an absolute path: there is no search path")
            isSafe = false
        } else if program.text.utf8.split(separator: UInt8(ascii: "/")).contains(where: {
            $0.elementsEqual(".".utf8) || $0.elementsEqual("..".utf8)
        }) || program.text.utf8.last == UInt8(ascii: "/") {
            error(
                .unsafeCommand, program.position, "the program's path must not contain \".\" or \"..\" nor end in \"/\""
            )
            isSafe = false
        }
        for word in words where word.text.utf8.contains(0) {
            error(.unsafeCommand, word.position, "an argument cannot hold a NUL")
            isSafe = false
        }
        return isSafe ? words.map(\.text) : nil
    }
}
