internal import Platform

/// Why rules are as they are.
extension RuleEngine {
    /// Why a rule holds or does not hold now; nil where there is no such rule.
    public func reason(forRule name: String) -> Reason? {
        guard let index = ruleSet.position(ofRule: name), let situation else { return nil }
        let rule = ruleSet.rules[index]
        guard rule.isEnabled else { return Reason(.no, "disabled") }
        var parts = [situation.reason(for: rule)]
        if let hold = states[index].hold, let now {
            parts.insert(Reason(hold.isOn ? .yes : .no, hold.text(at: now)), at: 0)
        }
        if let now, !rule.isInTime(WeekTime(CivilTime(local: now.wall))) {
            parts.append(Reason(.no, RuleEngine.outsideOfTime))
        }
        let oscillation = states[index].oscillation
        if oscillation.isHeld { parts.append(Reason(.maybe, text(of: oscillation))) }
        if awaiting.contains(index) { parts.append(Reason(.maybe, "waits until \(rule.readiness.rawValue) is there")) }
        let isActive = active.contains(index)
        return Reason(isActive ? .yes : .no, isActive ? "holds" : "does not hold", parts: parts)
    }

    /// Since when a rule has held, or has not held any more (µs, boot time); nil where it has been so from the beginning
    /// or since before the agent was restarted.
    public func changeTime(ofRule name: String) -> Int64? {
        ruleSet.position(ofRule: name).flatMap { states[$0].changedAt }
    }

    /// Since when the machine has been on a network (µs, boot time); nil where it is not.
    public func arrivalTime(onNetwork name: String) -> Int64? { place.standings[name]?.since }

    /// The same in one line.
    public func because(of rule: Rule) -> String {
        guard rule.isEnabled else { return "disabled" }
        guard let now, let situation else { return "nothing is known yet" }
        if let hold = hold(ofRule: rule.name) { return hold.text(at: now) }
        return rule.isInTime(WeekTime(CivilTime(local: now.wall)))
            ? situation.summary(for: rule) : RuleEngine.outsideOfTime
    }
}
