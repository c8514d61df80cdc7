/// What a rule that holds does, or why it does not do it.
public struct PlannedAction: Hashable, Sendable {
    public enum Edge: String, Hashable, Sendable {
        /// Once, as the rule begins to hold.
        case enter
        /// As long as it holds.
        case hold
    }

    public var rule: Rule
    public var edge: Edge
    /// Its place among the rule's actions of that edge.
    public var index: Int
    public var kind: String
    public var summary: String
    /// Why it is not done; nil where it is.
    public var skipped: String?
}

extension Simulation {
    /// The actions of all rules that hold, in the order of the files. What a rule that does not hold any more would
    /// have undone on the way is not among them.
    public var planned: [PlannedAction] {
        rules.filter(\.isActive).flatMap { state in
            let rule = state.rule
            let states = rule.states.enumerated().map { index, action in
                PlannedAction(
                    rule: rule, edge: .hold, index: index, kind: action.value.kind, summary: action.value.summary,
                    skipped: objection(to: index, of: rule))
            }
            let enter = rule.enter.enumerated().map { index, action in
                let isRun = actions.contains { $0.edge == .enter && $0.index == index && $0.rule.name == rule.name }
                return PlannedAction(
                    rule: rule, edge: .enter, index: index, kind: action.value.kind, summary: action.value.summary,
                    skipped: isRun ? nil : rule.isObserving ? Simulation.observed : rule.waitingText)
            }
            return states + enter
        }
    }

    private static let observed = "the rule only observes"

    private func objection(to index: Int, of rule: Rule) -> String? {
        if states.contains(where: { $0.index == index && $0.rule.name == rule.name }) { return nil }
        if rule.isObserving { return Simulation.observed }
        let action = rule.states[index].value
        guard let winner = states.first(where: { $0.action.target == action.target }) else { return rule.waitingText }
        return winner.action == action
            ? "rule \(winner.rule.name) asks for the same (\(winner.rule.location))"
            : "\(action.target) is up to rule \(winner.rule.name) (\(winner.rule.location))"
    }
}

extension Rule {
    /// What waits for the network to be ready, waits for this.
    fileprivate var waitingText: String {
        switch readiness {
        case .link: "waits"
        case .address: "waits for an address"
        case .internet: "waits for the internet"
        }
    }
}
