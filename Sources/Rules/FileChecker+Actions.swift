extension FileChecker {
    static let stateKeys = ["proxy", "vpn", "unit", "firewall", "pam"]
    static let edgeKeys = ["command", "unit", "vpn", "notify", "lock", "second-factor"]
    static let commandKeys = ["command", "user", "timeout", "relaxing"]
    static let timeoutRange: ClosedRange<Int64> = 1_000...86_400_000_000

    /// A key of a rule that is an action, or unknown. Beside `command` stand the keys that belong to it.
    mutating func action(
        _ entry: TOMLMember, of member: TOMLMember, _ members: [TOMLMember], for rule: inout Rule
    ) {
        let place = location(entry.position)
        switch entry.key {
        case "proxy": rule.states += proxy(entry.value).map { Listed(.proxy($0), at: place) }.list
        case "vpn": rule.states += vpn(entry.value).map { Listed(.vpn($0), at: place) }.list
        case "unit": rule.states += unit(entry.value).map { Listed(.unit($0), at: place) }.list
        case "firewall": rule.states += firewall(entry.value).map { Listed(.firewall($0), at: place) }.list
        case "pam": rule.states += choice(entry.value).map { Listed(.pam($0), at: place) }.list
        case "command": rule.enter += command(members, entry.value).map { Listed(.command($0), at: place) }.list
        case "notify": rule.enter += notification(entry.value).map { Listed(.notify($0), at: place) }.list
        case "lock": if isTrue(entry.value) { rule.enter.append(Listed(.lock, at: place)) }
        case "second-factor":
            rule.enter += secondFactor(entry.value).map { Listed(.secondFactor($0), at: place) }.list
        case "user", "timeout", "relaxing":
            if !members.contains(where: { $0.key == "command" }) {
                error(.missingKey, entry.position, "\"\(entry.key)\" belongs to a \"command\", which is missing")
            }
        default:
            let known = Self.ruleKeys + Self.stateKeys + Self.edgeKeys + Self.commandKeys
            unknownKey(entry, of: "rule", member, known: known)
        }
    }

    // MARK: Edge actions

    /// `enter` and `leave`: a list of tables with one action each.
    mutating func edgeActions(_ value: TOMLValue) -> [Listed<EdgeAction>] {
        guard case .array(let elements) = value.content else {
            wrongType(value, expected: "a list of actions, such as [{ command = [\"/usr/bin/true\"] }]")
            return []
        }
        return elements.compactMap { element in
            edgeAction(element).map { Listed($0, at: location(element.position)) }
        }
    }

    mutating func edgeAction(_ value: TOMLValue) -> EdgeAction? {
        guard case .table(let members) = value.content else {
            wrongType(value, expected: "a table such as { command = [\"/usr/bin/true\"] }")
            return nil
        }
        let actions = members.filter { Self.edgeKeys.contains($0.key) }
        if actions.count > 1 {
            error(
                .badValue, actions[1].position,
                "a table has one action: put several into [{ … }, { … }], in the order in which they are done")
            return nil
        }
        for member in members where Self.stateKeys.contains(member.key) && !Self.edgeKeys.contains(member.key) {
            error(
                .badValue, member.position,
                "\"\(member.key)\" holds as long as the rule does, so it stands in the rule itself")
            return nil
        }
        let isCommand = actions.first.map { $0.key == "command" } ?? true
        let known = Self.edgeKeys + Self.commandKeys.dropFirst()
        for member in members where !Self.edgeKeys.contains(member.key) {
            if isCommand && Self.commandKeys.contains(member.key) { continue }
            if Self.commandKeys.contains(member.key) {
                error(.unknownKey, member.position, "\"\(member.key)\" belongs to a \"command\"")
            } else {
                unknownKey(member, in: "an action", known: known)
            }
            return nil
        }
        guard let action = actions.first else {
            error(
                .missingKey, value.position,
                "the action needs \(Spelling.list(Self.edgeKeys.map { "\"\($0)\"" }, "or"))")
            return nil
        }
        switch action.key {
        case "command": return command(members, action.value).map { .command($0) }
        case "unit": return unit(action.value).map { .unit($0) }
        case "vpn": return vpn(action.value).map { .vpn($0) }
        case "notify": return notification(action.value).map { .notify($0) }
        case "lock": return isTrue(action.value) ? .lock : nil
        default: return secondFactor(action.value).map { .secondFactor($0) }
        }
    }

    mutating func isTrue(_ value: TOMLValue) -> Bool {
        guard let boolean = boolean(value) else { return false }
        if !boolean { error(.badValue, value.position, "only true says anything here") }
        return boolean
    }

    // MARK: Commands

    /// The command in a table, of which the other keys of a command are read as well.
    mutating func command(_ members: [TOMLMember], _ value: TOMLValue) -> EdgeAction.Command? {
        let problems = diagnostics.count
        let arguments = commandLine(value)
        var command = EdgeAction.Command(arguments: arguments ?? [])
        for entry in members {
            switch entry.key {
            case "timeout": command.timeout = duration(entry.value, in: Self.timeoutRange) ?? command.timeout
            case "user": command.user = userName(entry.value)
            case "relaxing": command.isRelaxing = boolean(entry.value) ?? true
            default: break
            }
        }
        return diagnostics.count == problems ? command : nil
    }

    /// There is no search path and no shell: what is started must be the same file whatever the environment says.
    mutating func commandLine(_ value: TOMLValue) -> [String]? {
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

    /// What useradd(8) of Debian lets a user be called.
    mutating func userName(_ value: TOMLValue) -> String? {
        guard let name = string(value, expected: "the name of a user") else { return nil }
        let isName =
            (1...32).contains(name.utf8.count) && name.utf8.first != UInt8(ascii: "-")
            && name.utf8.allSatisfy { octet in
                switch octet {
                case 0x30...0x39, 0x41...0x5A, 0x61...0x7A: true
                default: "_-.".utf8.contains(octet)
                }
            } && !name.utf8.allSatisfy { (0x30...0x39).contains($0) }
        if !isName { error(.badValue, value.position, "expected the name of a user, such as \"alice\"; no number") }
        return isName ? name : nil
    }

    // MARK: Parts

    /// The members of a table; `example` shows one.
    mutating func table(_ value: TOMLValue, _ example: String) -> [TOMLMember]? {
        guard case .table(let members) = value.content else {
            wrongType(value, expected: "a table such as \(example)")
            return nil
        }
        return members
    }

    /// Says which of the keys that have to be there is missing.
    mutating func need(_ keys: KeyValuePairs<String, Bool>, of what: String, _ value: TOMLValue) -> Bool {
        for (key, isThere) in keys where !isThere {
            error(.missingKey, value.position, "the \(what) needs \"\(key)\"")
            return false
        }
        return true
    }

    /// Text that a person is shown.
    mutating func text(_ value: TOMLValue, upTo limit: Int) -> String? {
        guard let text = string(value) else { return nil }
        guard text.utf8.contains(where: { $0 > 0x20 }), text.utf8.count <= limit,
            text.utf8.allSatisfy({ $0 >= 0x20 && $0 != 0x7F || $0 == UInt8(ascii: "\n") })
        else {
            error(.badValue, value.position, "expected text of 1 to \(limit) octets without control characters")
            return nil
        }
        return text
    }
}

extension Optional {
    /// As a list of none or one.
    var list: [Wrapped] { map { [$0] } ?? [] }
}
