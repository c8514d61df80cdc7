public import Platform

/// Rules that somebody holds, or runs, by hand.
///
/// A hold begins at once and lasts until its time is over, the machine is on other networks (where that was asked for),
/// or somebody releases the rule. Then its condition decides anew, by the evidence that its effects demand.
extension RuleEngine {
    /// A rule that is held, and how.
    public struct HeldRule: Hashable, Sendable {
        public var rule: String
        public var hold: Hold
    }

    /// In the order of the files.
    public var holds: [HeldRule] {
        held.sorted().compactMap { index in
            states[index].hold.map { HeldRule(rule: ruleSet.rules[index].name, hold: $0) }
        }
    }

    /// How a rule is held; nil where it is not.
    public func hold(ofRule name: String) -> Hold? { ruleSet.position(ofRule: name).flatMap { states[$0].hold } }

    /// Holds a rule on or off from now on, in place of any former hold.
    public mutating func hold(
        _ name: String, _ request: HoldRequest, at time: Timestamp
    ) throws(OverrideError) -> [Decision] {
        let index = try position(ofEnabled: name)
        if let duration = request.duration, duration > options.maximumHold {
            throw .tooLong(limit: options.maximumHold)
        }
        states[index].hold = Hold(
            isOn: request.isOn, by: request.holder, isUsers: request.isUsers, since: time.boottime,
            until: time.boottime + (request.duration ?? options.maximumHold), endsWithPlace: request.endsWithPlace)
        states[index].confirmsHoldBy = nil
        held.insert(index)
        overridden.insert(index)
        return decide(at: time)
    }

    /// Ends a hold.
    public mutating func release(_ name: String, at time: Timestamp) throws(OverrideError) -> [Decision] {
        let index = try position(ofEnabled: name)
        guard states[index].hold != nil else { throw .notHeld(rule: name) }
        endHold(of: index)
        return decide(at: time)
    }

    /// What runs a rule's enter actions once, now, whether it holds or not.
    public mutating func run(_ name: String) throws(OverrideError) -> [Decision] {
        let index = try position(ofEnabled: name)
        let rule = ruleSet.rules[index]
        guard !rule.enter.isEmpty else { throw .nothingToRun(rule: name, rule.location) }
        guard !isObserving(rule) else { throw .observing(rule: name) }
        // What is still to be done of a leave stays obsolete as soon as the rule holds.
        states[index].lastRun = states[index].lastRun ?? .enter
        let network = active.contains(index) ? states[index].subject : situation.flatMap { rule.subject(in: $0) }
        var decisions: [Decision] = []
        run(rule, .enter, network, &decisions)
        return decisions
    }

    private func position(ofEnabled name: String) throws(OverrideError) -> Int {
        guard let index = ruleSet.position(ofRule: name) else {
            throw .unknownRule(name: name, hint: ruleSet.hint(forRule: name))
        }
        let rule = ruleSet.rules[index]
        guard rule.isEnabled else { throw .disabled(rule: name, rule.location) }
        return index
    }

    private mutating func endHold(of index: Int) {
        states[index].formerHold = states[index].hold
        states[index].hold = nil
        states[index].confirmsHoldBy = nil
        held.remove(index)
        overridden.insert(index)
    }

    // MARK: Deciding

    /// Ends the holds that time or another place ends, and answers every rule whose hold began or ended.
    mutating func settleHolds(_ situation: Situation) -> Set<Int> {
        defer {
            overridden = []
            hasOtherRules = false
        }
        guard !held.isEmpty else { return overridden }
        let here = Set(situation.standings.values.lazy.filter { $0.match.builtIn == nil }.map(\.match.name))
        for index in held {
            guard let hold = states[index].hold else { continue }
            if hold.until <= situation.now {
                endHold(of: index)
            } else if hold.endsWithPlace {
                compare(hold, of: index, with: here, situation)
            }
        }
        return overridden
    }

    private mutating func compare(_ hold: Hold, of index: Int, with here: Set<String>, _ situation: Situation) {
        let end = states[index].confirmsHoldBy.map { end in
            end < .max ? end : situation.now + confirmationLimit(of: hold.networks ?? [])
        }
        states[index].confirmsHoldBy = end
        let former = hold.networks ?? here
        let missing = former.subtracting(here)
        let isAwaited = !missing.isEmpty && end.map { situation.now < $0 } ?? false
        // After a restart what a network shows of itself takes a moment to come again.
        let expected = isAwaited ? here.union(missing.intersection(situation.doubtful)) : here
        if !isAwaited { states[index].confirmsHoldBy = nil }
        if hold.networks == nil || hasOtherRules {
            // What is described in other words is no other place.
            states[index].hold?.networks = expected
            activations += 1
        } else if former != expected {
            endHold(of: index)
        }
    }

    private func confirmationLimit(of networks: Set<String>) -> Int64 {
        PlaceTracker.decisionLimit + (networks.compactMap { ruleSet.network(named: $0)?.stableFor }.max() ?? 0)
    }

    /// A hold of an earlier life, as far as what is in force now allows it.
    func allowed(_ hold: Hold?, of rule: Rule) -> Hold? {
        guard var hold, rule.isEnabled, !hold.isUsers || rule.mayBeHeldByUser else { return nil }
        hold.until = min(hold.until, hold.since + options.maximumHold)
        return hold
    }
}
