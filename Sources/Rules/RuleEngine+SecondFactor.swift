/// What PAM stacks are to do.
extension RuleEngine {
    /// Whether the second factor may be skipped where the machine is now: a rule that holds says so, and none demands it.
    ///
    /// Stricter than what holds: a rule that holds only because it did before a restart, or because a link may be
    /// roaming, allows nothing.
    public var maySkipSecondFactor: Bool { !factorStanding.isNeeded }

    /// How it stands with the second factor by what the rules say; demands that are being asked for are known elsewhere.
    public var factorStanding: FactorStanding {
        guard knowsWhatShallHold, let situation, !situation.judgement.isSuspended else {
            return FactorStanding(.unknown)
        }
        // What is about to be demanded has not been met.
        if let index = awaiting.first(where: { states[$0].isEntering && demandsFactor(ruleSet.rules[$0]) }) {
            return demand(of: ruleSet.rules[index].name, on: .enter)
        }
        var allowing: FactorStanding?
        for index in active {
            let rule = ruleSet.rules[index]
            guard !isObserving(rule) else { continue }
            for demand in RuleEngine.demands(of: rule) {
                guard demand.value == .skip else {
                    return FactorStanding(.required, rule: rule.name, at: demand.location)
                }
                guard allowing?.isNeeded ?? true else { continue }
                var due: Int64?
                let isSure =
                    situation.trustFrozenAt == nil
                    && (states[index].hold != nil || situation.shallHold(rule, holds: true, due: &due))
                allowing = FactorStanding(isSure ? .skip : .unsettled, rule: rule.name, at: demand.location)
            }
        }
        return allowing ?? couldBeSkipped
    }

    /// What has been demanded on an edge of a rule and was not given.
    public func demand(of name: String, on edge: Rule.Edge) -> FactorStanding {
        let actions = ruleSet.rule(named: name)?.actions(on: edge) ?? []
        let action = actions.first { if case .secondFactor = $0.value { true } else { false } }
        return FactorStanding(.demanded, rule: name, at: action?.location)
    }

    /// The first rule that would let it be skipped.
    private var couldBeSkipped: FactorStanding {
        for rule in ruleSet.rules where rule.isEnabled && !isObserving(rule) {
            guard let demand = RuleEngine.demands(of: rule).first(where: { $0.value == .skip }) else { continue }
            return FactorStanding(.inactive, rule: rule.name, at: demand.location)
        }
        return FactorStanding(.unsaid)
    }

    private static func demands(of rule: Rule) -> [Listed<StateAction.SecondFactorDemand>] {
        rule.states.compactMap { state in
            if case .pam(let demand) = state.value { Listed(demand, at: state.location) } else { nil }
        }
    }

    private func demandsFactor(_ rule: Rule) -> Bool {
        !isObserving(rule) && rule.enter.contains { if case .secondFactor = $0.value { true } else { false } }
    }
}
