/// Why a condition is as it is: a tree along the condition.
public struct Reason: Hashable, Sendable {
    /// What the part comes to where the machine is.
    public var truth: Truth
    public var text: String
    public var parts: [Reason]

    public init(_ truth: Truth, _ text: String, parts: [Reason] = []) {
        self.truth = truth
        self.text = text
        self.parts = parts
    }

    /// One line a part, indented by two spaces a level.
    public var lines: [String] { lines(indent: 0) }

    private func lines(indent: Int) -> [String] {
        let mark =
            switch truth {
            case .yes: "+"
            case .maybe: "?"
            case .no: "-"
            }
        return ["\(String(repeating: "  ", count: indent))\(mark) \(text)"]
            + parts.flatMap { $0.lines(indent: indent + 1) }
    }
}

extension Situation {
    /// Why a rule holds or does not.
    func reason(for rule: Rule) -> Reason {
        reason(rule.condition, rule)
    }

    private func reason(_ condition: Condition, _ rule: Rule) -> Reason {
        switch condition {
        case .network(let network): return reason(network.name, rule)
        case .all(let parts):
            let reasons = parts.map { reason($0, rule) }
            return reasons.count == 1
                ? reasons[0] : Reason(reasons.map(\.truth).min() ?? .yes, "all of", parts: reasons)
        case .any(let parts):
            let reasons = parts.map { reason($0, rule) }
            return reasons.count == 1 ? reasons[0] : Reason(reasons.map(\.truth).max() ?? .no, "any of", parts: reasons)
        case .not(let part):
            let reason = reason(part, rule)
            return Reason(!reason.truth, "not", parts: [reason])
        }
    }

    private func reason(_ name: String, _ rule: Rule) -> Reason {
        var due: Int64?
        let purpose: Purpose = rule.leaning == .neutral ? .neutral : .relaxing
        let truth = value(of: name, for: rule, purpose, due: &due)
        var text = judgement.text(of: name)
        guard truth == .maybe else { return Reason(truth, text) }
        if let due {
            text += "; settles in \(max(due - now, 0) / 1_000) ms"
        } else if judgement.isSuspended {
            text += "; about to sleep"
        } else if let match = judgement[name], purpose == .relaxing {
            let demanded = rule.demandedAssurance
            text +=
                match.assurance < demanded
                ? "; \(demanded) is demanded for less protection"
                : "; a link besides shows \(judgement.assurance) only, \(demanded) is demanded for less protection"
        } else if judgement[name] == nil, judgement.doubt(name) == nil {
            text += "; the place shows \(judgement.assurance) only, \(rule.demandedAssurance) is demanded"
        }
        return Reason(truth, text)
    }

    /// The same in one line, as far as it decides.
    func summary(for rule: Rule) -> String {
        summary(rule.condition, rule, reason(for: rule).truth)
    }

    private func summary(_ condition: Condition, _ rule: Rule, _ truth: Truth) -> String {
        switch condition {
        case .network(let network): return reason(network.name, rule).text
        case .not(let part): return summary(part, rule, !truth)
        case .all(let parts), .any(let parts):
            let values = parts.map { (part: $0, truth: reason($0, rule).truth) }
            let isAll = if case .all = condition { true } else { false }
            // One part that is not so decides for all of them, one that is so for any of them.
            if truth == (isAll ? .no : .yes) || truth == .maybe {
                if let part = values.first(where: { $0.truth == truth }) { return summary(part.part, rule, truth) }
            }
            let plain = parts.compactMap { if case .network(let network) = $0 { network.name } else { nil } }
            if plain.count == parts.count, truth == .no {
                let objections = plain.compactMap { name in
                    judgement.exclusions.first { $0.name == name }.map { "; \(name) excluded: \($0.objection)" }
                }
                return "not on \(plain.joined(separator: " or "))\(objections.joined())"
            }
            return values.map { summary($0.part, rule, $0.truth) }.joined(separator: "; ")
        }
    }
}

extension Judgement {
    /// Whether the machine is on a network, and why.
    func text(of name: String) -> String {
        if let match = self[name] {
            let evidence = match.evidence.map(\.description).joined(separator: ", ")
            return "on \(name), \(match.assurance): \(evidence)"
        }
        if let doubt = doubt(name) { return "not known to be on \(name): \(doubt.objection)" }
        let exclusion = exclusions.first { $0.name == name }.map { "; \(name) excluded: \($0.objection)" }
        return "not on \(name)\(exclusion ?? "")"
    }

    /// The same as a tree: what speaks for the network, and what against it.
    public func reason(_ name: String) -> Reason {
        if let match = self[name] {
            return Reason(
                .yes, "on \(name), \(match.assurance)", parts: match.evidence.map { Reason(.yes, $0.description) })
        }
        if let doubt = doubt(name) {
            return Reason(
                .maybe, "not known to be on \(name)",
                parts: doubt.evidence.map { Reason(.yes, $0.description) } + [
                    Reason(.maybe, doubt.objection.description)
                ])
        }
        let objections = exclusions.filter { $0.name == name }
        return Reason(
            .no, "not on \(name)",
            parts: objections.flatMap { objection in
                objection.evidence.map { Reason(.yes, $0.description) } + [
                    Reason(.no, objection.objection.description)
                ]
            })
    }
}
