/// What PAM stacks are to do.
extension RuleEngine {
    /// Whether the second factor may be skipped where the machine is now: a rule that holds says so, and none demands it.
    ///
    /// Stricter than what holds: a rule that holds only because it did before a restart, or because a link may be
    /// roaming, allows nothing.
    public var maySkipSecondFactor: Bool {
        guard knowsWhatShallHold, let situation, situation.trustFrozenAt == nil, !situation.judgement.isSuspended else {
            return false
        }
        var isAllowed = false
        for index in active {
            let rule = ruleSet.rules[index]
            guard !isObserving(rule) else { continue }
            for case .pam(let demand) in rule.states.map(\.value) {
                guard demand == .skip else { return false }
                var due: Int64?
                isAllowed = isAllowed || states[index].hold != nil || situation.shallHold(rule, holds: true, due: &due)
            }
        }
        return isAllowed
    }
}
