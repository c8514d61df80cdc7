internal import Platform

/// When a rule changes, and when what it does on an edge waits: around sleep, and after a restart.
extension RuleEngine {
    func cancelObsolete(_ rule: Rule, _ state: inout RuleState, _ isActive: Bool, _ decisions: inout [Decision]) {
        guard let obsolete = state.lastRun, obsolete != (isActive ? .enter : .leave) else { return }
        decisions.append(.cancel(rule: rule.name, edge: obsolete))
        state.lastRun = nil
    }

    /// Whether a rule's edge actions wait, since the machine is about to sleep, or woke up a moment ago: protection is
    /// raised for that, and nobody has gone anywhere. Who is where they were has neither left nor come.
    func isDrowsy(
        _ rule: Rule, _ state: inout RuleState, _ isActive: Bool, _ situation: Situation, _ now: Int64,
        _ next: inout Int64?
    ) -> Bool {
        guard isActive != state.isEntered else {
            state.wakesBy = nil
            return false
        }
        if situation.judgement.isSuspended {
            state.wakesBy = .max
            return true
        }
        guard let wakesBy = state.wakesBy else { return false }
        let end = wakesBy == .max ? now + RuleEngine.wakingTime + rule.settle + PlaceTracker.decisionLimit : wakesBy
        let isUndecided =
            switch rule.leaning {
            case .relaxing: !isActive && situation.presence(rule) != .no
            case .tightening: isActive && situation.presence(rule) != .yes
            case .neutral: false
            }
        guard isUndecided, now < end else {
            state.wakesBy = nil
            return false
        }
        state.wakesBy = end
        next = min(next ?? .max, end)
        return true
    }

    /// How long a link may take to come back after sleep (µs).
    private static let wakingTime: Int64 = 30_000_000

    /// Whether a rule's condition wants it to hold.
    func wants(
        _ rule: Rule, _ state: RuleState, isActive: Bool, _ isInTime: Bool, _ situation: Situation, _ next: inout Int64?
    ) -> Bool {
        let holds = state.oscillation.wanted ?? isActive
        let mayHold = isInTime || !situation.mayEndByTime(rule, holds: holds, due: &next)
        return mayHold && situation.shallHold(rule, holds: holds, due: &next)
    }

    /// Whether a rule is, after a restart, still on its way to be what it was before: its edge actions are not to be run
    /// because evidence takes a moment to come again, and what lowers protection is not to be undone because of that. A
    /// rule that raises protection does not wait for anything.
    ///
    /// - Parameter isActive: what it is to be by what is known now.
    mutating func stillResumes(
        _ rule: Rule, _ state: inout RuleState, _ isActive: Bool, _ isInTime: Bool, _ situation: Situation,
        _ now: Int64,
        _ next: inout Int64?
    ) -> Bool {
        guard let before = state.before else { return false }
        let end = (resumedAt ?? now) + rule.settle + PlaceTracker.decisionLimit
        resumedAt = resumedAt ?? now
        if isActive != before, isInTime, now < end, state.hold == nil {
            let isUndecided =
                switch rule.leaning {
                case .relaxing: before && situation.presence(rule) != .no
                case .tightening: !before && situation.presence(rule) != .yes
                case .neutral: false
                }
            if isUndecided {
                next = min(next ?? .max, end)
                return true
            }
        }
        state.before = nil
        state.isEntered = before
        activations += 1
        return false
    }
}
