/// Whether a rule holds in a judgement, and why.
public struct RuleJudgement: Hashable, Sendable {
    public var rule: Rule
    public var isActive: Bool
    public var because: String
}

extension RuleSet {
    /// Every rule as a judgement alone decides it, without settling: what `check` and `simulate` show.
    public func states(in judgement: Judgement) -> [RuleJudgement] {
        rules.map { rule in
            guard rule.isEnabled else { return RuleJudgement(rule: rule, isActive: false, because: "disabled") }
            return RuleJudgement(
                rule: rule, isActive: rule.holds(in: judgement), because: rule.reason(in: judgement))
        }
    }
}

extension Rule {
    /// The first of the rule's networks that the machine is on.
    func match(in judgement: Judgement) -> NetworkMatch? {
        for network in condition.networks {
            if let match = judgement[network.name] { return match }
        }
        return nil
    }

    func holds(in judgement: Judgement) -> Bool {
        switch condition {
        case .on: match(in: judgement) != nil
        case .off: match(in: judgement) == nil
        }
    }

    func reason(in judgement: Judgement) -> String {
        if let match = match(in: judgement) {
            let evidence = match.evidence.map(\.description).joined(separator: ", ")
            return "on \(match.name), \(match.assurance): \(evidence)"
        }
        var reason = "not on " + condition.networks.map(\.name).joined(separator: " or ")
        for exclusion in judgement.exclusions where condition.networks.contains(where: { $0.name == exclusion.name }) {
            reason += "; \(exclusion.name) excluded: \(exclusion.evidence)"
        }
        return reason
    }
}
