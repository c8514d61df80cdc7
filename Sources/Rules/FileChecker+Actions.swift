extension FileChecker {
    static let stateKeys = ["proxy", "vpn", "unit", "firewall", "pam"]
    static let edgeKeys = ["command", "unit", "vpn", "notify", "lock", "second-factor"]
    static let commandKeys = ["command", "user", "timeout", "relaxing"]
    private static let timeoutRange: ClosedRange<Int64> = 1_000...86_400_000_000

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

    private mutating func edgeAction(_ value: TOMLValue) -> EdgeAction? {
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

    private mutating func isTrue(_ value: TOMLValue) -> Bool {
        guard let boolean = boolean(value) else { return false }
        if !boolean { error(.badValue, value.position, "only true says anything here") }
        return boolean
    }

    // MARK: Commands

    /// The command in a table, of which the other keys of a command are read as well.
    private mutating func command(_ members: [TOMLMember], _ value: TOMLValue) -> EdgeAction.Command? {
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

    /// What useradd(8) of Debian lets a user be called.
    private mutating func userName(_ value: TOMLValue) -> String? {
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

    // MARK: Units and VPN

    static let unitKeys = ["name", "state", "scope", "protective", "relaxing"]
    private static let unitSuffixes = [
        ".service", ".socket", ".target", ".mount", ".automount", ".timer", ".path", ".swap", ".slice", ".scope",
    ]

    private enum RunState: String, CaseIterable {
        case running, stopped
    }

    private mutating func unit(_ value: TOMLValue) -> StateAction.Unit? {
        guard let members = table(value, "{ name = \"sshd.service\", state = \"stopped\" }") else { return nil }
        let problems = diagnostics.count
        var name: String?
        var state: RunState?
        var unit = StateAction.Unit(name: "", isRunning: false)
        for entry in members {
            switch entry.key {
            case "name": name = unitName(entry.value)
            case "state": state = choice(entry.value)
            case "scope": unit.scope = choice(entry.value) ?? unit.scope
            case "protective": unit.isProtective = boolean(entry.value) ?? true
            case "relaxing": unit.isRelaxing = boolean(entry.value) ?? true
            default: unknownKey(entry, in: "a unit", known: Self.unitKeys)
            }
        }
        guard diagnostics.count == problems, need(["name": name != nil, "state": state != nil], of: "unit", value),
            let name, let state
        else { return nil }
        if unit.isProtective, unit.isRelaxing, state == .running {
            error(.contradictory, value.position, "a unit that protects does not lower protection by running")
            return nil
        }
        unit.name = name
        unit.isRunning = state == .running
        return unit
    }

    /// systemd.unit(5): letters, digits, `:-_.\` and an `@` before an instance, with the suffix of its kind.
    private mutating func unitName(_ value: TOMLValue) -> String? {
        guard let name = string(value, expected: "the name of a unit, such as \"sshd.service\"") else { return nil }
        let suffix = Self.unitSuffixes.first { name.hasSuffix($0) && name.utf8.count > $0.utf8.count }
        let isName =
            name.utf8.count <= 255 && name.utf8.first != UInt8(ascii: "@")
            && name.utf8.allSatisfy { octet in
                switch octet {
                case 0x30...0x39, 0x41...0x5A, 0x61...0x7A: true
                default: ":-_.\\@".utf8.contains(octet)
                }
            }
        guard suffix != nil, isName else {
            error(
                .badValue, value.position,
                suffix == nil
                    ? "expected a unit with its suffix, such as \"sshd.service\""
                        + (isName ? Self.suffixHint(for: name) : "")
                    : "a unit's name has up to 255 letters, digits and :-_.\\@, and does not begin with @")
            return nil
        }
        if let suffix, name.hasSuffix("@\(suffix)") {
            error(
                .badValue, value.position,
                "this is a template: say which instance of it, such as \"\(name.dropLast(suffix.utf8.count))NAME\(suffix)\""
            )
            return nil
        }
        return name
    }

    /// The suffix that is missing or misspelt, or those that there are.
    private static func suffixHint(for name: String) -> String {
        let dot = name.lastIndex(of: ".") ?? name.endIndex
        let (stem, found) = (name[..<dot], String(name[dot...]))
        // Devices come and go by themselves.
        let suffix =
            found.isEmpty
            ? ".service" : found == ".device" ? nil : Spelling.nearest(to: found, among: unitSuffixes)
        guard !stem.isEmpty, let suffix else { return "; known are \(unitSuffixes.joined(separator: ", "))" }
        return "; did you mean \"\(stem)\(suffix)\"?"
    }

    private static let connectionKeys = ["networkmanager", "wg-quick", "unit"]
    static let vpnKeys = connectionKeys + ["state", "portal"]

    private enum VPNState: String, CaseIterable {
        case up, down
    }

    private mutating func vpn(_ value: TOMLValue) -> StateAction.VPN? {
        guard let members = table(value, "{ networkmanager = \"corp-vpn\", state = \"up\" }") else { return nil }
        let problems = diagnostics.count
        var connections: [(connection: StateAction.VPN.Connection, key: TOMLMember)] = []
        var state: VPNState?
        var portal = StateAction.VPN.Portal.wait
        for entry in members {
            switch entry.key {
            case "networkmanager":
                if let name = connectionName(entry.value) { connections.append((.networkManager(name), entry)) }
            case "wg-quick":
                if let name = wireGuardName(entry.value) { connections.append((.wgQuick(name), entry)) }
            case "unit": if let name = unitName(entry.value) { connections.append((.unit(name), entry)) }
            case "state": state = choice(entry.value)
            case "portal": portal = choice(entry.value) ?? portal
            default: unknownKey(entry, in: "a vpn", known: Self.vpnKeys)
            }
        }
        guard diagnostics.count == problems else { return nil }
        if connections.count > 1 {
            error(.badValue, connections[1].key.position, "a vpn has one connection: make two rules of it")
            return nil
        }
        let names = Spelling.list(Self.connectionKeys.map { "\"\($0)\"" }, "or")
        guard let connection = connections.first?.connection else {
            error(.missingKey, value.position, "the vpn needs \(names)")
            return nil
        }
        guard need(["state": state != nil], of: "vpn", value), let state else { return nil }
        return StateAction.VPN(connection: connection, isUp: state == .up, portal: portal)
    }

    /// A connection's name or UUID; it is handed over as one value of D-Bus.
    private mutating func connectionName(_ value: TOMLValue) -> String? {
        guard let name = string(value, expected: "the name of a connection") else { return nil }
        guard (1...255).contains(name.utf8.count), name.utf8.allSatisfy({ $0 >= 0x20 && $0 != 0x7F }) else {
            error(.badValue, value.position, "a connection's name has 1 to 255 octets and no control characters")
            return nil
        }
        return name
    }

    /// wg-quick(8) takes names that match `[a-zA-Z0-9_=+.-]{1,15}`.
    private mutating func wireGuardName(_ value: TOMLValue) -> String? {
        guard let name = string(value, expected: "the name of an interface") else { return nil }
        let isName =
            (1...15).contains(name.utf8.count)
            && name.utf8.allSatisfy { octet in
                switch octet {
                case 0x30...0x39, 0x41...0x5A, 0x61...0x7A: true
                default: "_=+.-".utf8.contains(octet)
                }
            } && name != "." && name != ".."
        if !isName {
            error(.badValue, value.position, "wg-quick takes names of 1 to 15 of A-Z a-z 0-9 _ = + . -")
        }
        return isName ? name : nil
    }

    // MARK: Firewall

    static let firewallKeys = ["zone", "nft-set", "element"]

    private mutating func firewall(_ value: TOMLValue) -> StateAction.Firewall? {
        guard let members = table(value, "{ zone = \"public\" }") else { return nil }
        let problems = diagnostics.count
        var zone: String?
        var set: (family: String, table: String, name: String)?
        var element: (text: String, key: TOMLMember)?
        for entry in members {
            switch entry.key {
            case "zone": zone = zoneName(entry.value)
            case "nft-set": set = setName(entry.value)
            case "element": element = setElement(entry.value).map { ($0, entry) }
            default: unknownKey(entry, in: "a firewall", known: Self.firewallKeys)
            }
        }
        guard diagnostics.count == problems else { return nil }
        switch (zone, set) {
        case (let zone?, nil):
            if let element {
                error(.badValue, element.key.position, "a zone has no elements")
                return nil
            }
            return .zone(zone)
        case (nil, let set?):
            return .set(family: set.family, table: set.table, name: set.name, element: element?.text)
        case (nil, nil):
            error(.missingKey, value.position, "the firewall needs \"zone\" or \"nft-set\"")
        default:
            error(.badValue, value.position, "a firewall has \"zone\" or \"nft-set\", not both")
        }
        return nil
    }

    /// firewalld.zone(5): up to 17 letters, digits, `_` and `-`.
    private mutating func zoneName(_ value: TOMLValue) -> String? {
        guard let name = string(value, expected: "the name of a zone, such as \"public\"") else { return nil }
        guard (1...17).contains(name.utf8.count), Self.isWord(name) else {
            error(.badValue, value.position, "a zone's name has 1 to 17 of A-Z a-z 0-9 _ -")
            return nil
        }
        return name
    }

    private static let setFamilies = ["ip", "ip6", "inet", "bridge", "netdev"]

    /// As nft(8) writes it: family, table and set.
    private mutating func setName(_ value: TOMLValue) -> (family: String, table: String, name: String)? {
        let example = "\"inet filter trusted\""
        guard let text = string(value, expected: "a family, a table and a set, such as \(example)") else { return nil }
        let words = text.split(separator: " ", omittingEmptySubsequences: false).map { String($0) }
        guard words.count == 3, words.dropFirst().allSatisfy({ (1...64).contains($0.utf8.count) && Self.isWord($0) })
        else {
            error(.badValue, value.position, "expected a family, a table and a set, such as \(example)")
            return nil
        }
        guard Self.setFamilies.contains(words[0]) else {
            error(
                .badValue, value.position,
                "no family is called \"\(words[0])\"; known are \(Self.setFamilies.joined(separator: ", "))")
            return nil
        }
        return (words[0], words[1], words[2])
    }

    /// An address, a range or the name of an interface: nothing of nft's syntax.
    private mutating func setElement(_ value: TOMLValue) -> String? {
        guard let text = string(value, expected: "an element of the set") else { return nil }
        let isPlain =
            (1...64).contains(text.utf8.count) && text.utf8.first != UInt8(ascii: "-")
            && text.utf8.allSatisfy { octet in
                switch octet {
                case 0x30...0x39, 0x41...0x5A, 0x61...0x7A: true
                default: ".:/_-".utf8.contains(octet)
                }
            }
        if !isPlain {
            error(.badValue, value.position, "an element is an address, a range or the name of an interface")
        }
        return isPlain ? text : nil
    }

    private static func isWord(_ text: String) -> Bool {
        text.utf8.allSatisfy { octet in
            switch octet {
            case 0x30...0x39, 0x41...0x5A, 0x61...0x7A, UInt8(ascii: "_"), UInt8(ascii: "-"): true
            default: false
            }
        } && text.utf8.first != UInt8(ascii: "-")
    }

    // MARK: Notifications and the second factor

    static let notificationKeys = ["summary", "body", "urgency"]

    private mutating func notification(_ value: TOMLValue) -> EdgeAction.Notification? {
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

    private mutating func secondFactor(_ value: TOMLValue) -> EdgeAction.SecondFactor? {
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
    private static let consequenceWords = ["lock-session", "disconnect"]

    private mutating func consequences(_ value: TOMLValue) -> [EdgeAction.SecondFactor.Consequence] {
        guard case .array(let elements) = value.content else { return consequence(value).list }
        return elements.compactMap { consequence($0) }
    }

    private mutating func consequence(_ value: TOMLValue) -> EdgeAction.SecondFactor.Consequence? {
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
    private mutating func need(_ keys: KeyValuePairs<String, Bool>, of what: String, _ value: TOMLValue) -> Bool {
        for (key, isThere) in keys where !isThere {
            error(.missingKey, value.position, "the \(what) needs \"\(key)\"")
            return false
        }
        return true
    }

    /// Text that a person is shown.
    private mutating func text(_ value: TOMLValue, upTo limit: Int) -> String? {
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
    fileprivate var list: [Wrapped] { map { [$0] } ?? [] }
}
