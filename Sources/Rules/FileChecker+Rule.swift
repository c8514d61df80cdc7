extension FileChecker {
    static let ruleKeys = [
        "on", "off", "time", "settle", "ready", "priority", "enabled", "mode", "user-hold", "accept-weak-evidence",
        "enter", "leave",
    ]
    private static let settleRange: ClosedRange<Int64> = 0...3_600_000_000
    private static let priorityRange = -1_000...1_000

    /// `[rule.NAME]`; nil where anything is wrong with it.
    mutating func rule(_ member: TOMLMember) -> Rule? {
        guard case .table(let members) = member.value.content else {
            wrongType(member.value, expected: "one table, begun with [rule.\(member.key)]")
            return nil
        }
        let problems = diagnostics.count
        var conditions: [Condition] = []
        var rule = Rule(name: member.key, location: location(member.position))
        for entry in members {
            switch entry.key {
            case "on": if let condition = condition(entry.value) { conditions.append(condition) }
            case "off": if let condition = condition(entry.value) { conditions.append(.not(condition)) }
            case "time": rule.times = times(entry.value)
            case "settle": rule.settle = duration(entry.value, in: Self.settleRange) ?? 0
            case "ready": rule.readiness = choice(entry.value) ?? rule.readiness
            case "priority": rule.priority = integer(entry.value, in: Self.priorityRange) ?? 0
            case "enabled": rule.isEnabled = boolean(entry.value) ?? false
            case "mode": rule.isObserving = isObserving(entry.value)
            case "user-hold": rule.mayBeHeldByUser = boolean(entry.value) ?? false
            case "accept-weak-evidence": rule.acceptedWeakness = reason(entry.value)
            case "enter": rule.enter += edgeActions(entry.value)
            case "leave": rule.leave += edgeActions(entry.value)
            default: action(entry, of: member, members, for: &rule)
            }
        }
        if conditions.isEmpty, diagnostics.count == problems {
            error(.missingKey, member.position, "rule \"\(member.key)\" needs \"on\" or \"off\"")
        }
        rule.condition = conditions.count == 1 ? conditions[0] : .all(conditions)
        guard diagnostics.count == problems else { return nil }
        check(rule)
        return diagnostics.count == problems ? rule : nil
    }

    /// What is right by itself and wrong together.
    private mutating func check(_ rule: Rule) {
        var first: [StateAction.Target: Listed<StateAction>] = [:]
        for action in rule.states {
            if let other = first[action.value.target] {
                error(
                    .contradictory, TOMLValue.Position(action.location),
                    "\"\(action.value.summary)\" and \"\(other.value.summary)\" of one rule are about the same")
            } else {
                first[action.value.target] = action
            }
        }
    }

    /// Of a rule as it is when all files have been read.
    mutating func checkLeaning(of rule: Rule) {
        guard let beginning = rule.relaxationsAtBeginning.first, let end = rule.relaxationsAtEnd.first else { return }
        error(
            .contradictory, TOMLValue.Position(end.location),
            "\"\(beginning.value)\" lowers protection as the rule begins, \"\(end.value)\" as it ends, so it could "
                + "be certain enough for neither: make two rules of it")
    }

    // MARK: Conditions

    static let operators = ["all", "any", "not"]

    /// The name of a network, a list of conditions (any of them), or `{ all = […] }`, `{ any = […] }`, `{ not = … }`.
    private mutating func condition(_ value: TOMLValue) -> Condition? {
        switch value.content {
        case .string(let name):
            let reference = Condition.NetworkReference(name: name, location: location(value.position))
            references.append(reference)
            return .network(reference)
        case .array(let elements): return conditions(elements, value).map { .any($0) }
        case .table(let members):
            guard let entry = members.first else {
                error(.badValue, value.position, "expected \"all\", \"any\" or \"not\"")
                return nil
            }
            if members.count > 1 {
                error(
                    .badValue, members[1].position,
                    "a table has one of \"all\", \"any\" and \"not\": put several into { all = [{ … }, { … }] }")
                return nil
            }
            switch entry.key {
            case "all": return list(entry.value).map { .all($0) }
            case "any": return list(entry.value).map { .any($0) }
            case "not": return condition(entry.value).map { .not($0) }
            default:
                unknownKey(entry, in: "a condition", known: Self.operators)
                return nil
            }
        default:
            wrongType(
                value, expected: "the name of a network, a list of names or a table such as { all = [\"a\", \"b\"] }")
            return nil
        }
    }

    private mutating func list(_ value: TOMLValue) -> [Condition]? {
        guard case .array(let elements) = value.content else {
            wrongType(value, expected: "a list of conditions, such as [\"a\", { not = \"b\" }]")
            return nil
        }
        return conditions(elements, value)
    }

    private mutating func conditions(_ elements: [TOMLValue], _ value: TOMLValue) -> [Condition]? {
        guard !elements.isEmpty else {
            error(.badValue, value.position, "the list is empty")
            return nil
        }
        let conditions = elements.compactMap { condition($0) }
        return conditions.count == elements.count ? conditions : nil
    }

    // MARK: Values

    private mutating func times(_ value: TOMLValue) -> [WeeklyTime] {
        let texts: [(text: String, position: TOMLValue.Position)]
        if case .string(let text) = value.content {
            texts = [(text, value.position)]
        } else {
            texts = strings(value, expected: "a time such as \"mon-fri 08:00-18:00\", or a list of such times") ?? []
        }
        var times: [WeeklyTime] = []
        for (text, position) in texts {
            if let time = WeeklyTime(text) {
                times.append(time)
            } else {
                error(
                    .badValue, position,
                    "expected days, hours or both, such as \"mon-fri 08:00-18:00\", \"sat,sun\" or \"22:00-06:00\"")
            }
        }
        return times
    }

    mutating func isObserving(_ value: TOMLValue) -> Bool {
        guard let mode = string(value, expected: "\"observe\"") else { return true }
        if mode != "observe" {
            error(.badValue, value.position, "the only mode is \"observe\"; a rule that is to act has none")
        }
        return true
    }

    private mutating func reason(_ value: TOMLValue) -> String? {
        guard let text = string(value, expected: "text that says why weak evidence is enough") else { return nil }
        if !text.utf8.contains(where: { $0 > 0x20 }) {
            error(.badValue, value.position, "say why weak evidence is enough: whoever reads the log will ask")
        }
        return text
    }
}
