internal import JSON
internal import Rules

/// Second factors that rules demanded and nobody gave. They are kept from one life of the agent to the next: who kills it
/// while somebody is asked is not let off for that.
struct FactorDebts: Hashable {
    /// By the edge of the rule.
    struct Debt: Hashable {
        var rule: String
        var edge: Rule.Edge
    }

    private(set) var all: [Debt]

    init(_ all: [Debt] = []) { self.all = all }

    /// Leaves out what the rules demand no longer.
    func demanded(by ruleSet: RuleSet?) -> FactorDebts {
        FactorDebts(
            all.filter { debt in
                let actions = ruleSet?.rule(named: debt.rule)?.actions(on: debt.edge) ?? []
                return actions.contains { if case .secondFactor = $0.value { true } else { false } }
            })
    }

    /// Notes what is about to be demanded; what was before on the same edge is demanded anew, or does not matter.
    mutating func note(_ decisions: [Decision]) {
        var new: [Debt] = []
        for decision in decisions {
            switch decision {
            case .cancel(let rule, let edge): all.removeAll { $0 == Debt(rule: rule, edge: edge) }
            case .run(let request):
                guard case .secondFactor = request.action else { continue }
                new.append(Debt(rule: request.rule.name, edge: request.edge))
            default: continue
            }
        }
        all = all.filter { !new.contains($0) } + new
    }

    /// One of them has been given.
    mutating func settle(_ rule: String, _ edge: Rule.Edge) {
        if let place = all.firstIndex(of: Debt(rule: rule, edge: edge)) { all.remove(at: place) }
    }
}

extension FactorDebts {
    /// Nil for what `write` did not write: it could be anybody's debt.
    init?(_ value: JSONValue?) {
        guard let entries = value?.array else { return nil }
        let debts = entries.compactMap { entry -> Debt? in
            guard let rule = entry["rule"]?.string,
                let edge = entry["edge"]?.string.flatMap({ Rule.Edge(rawValue: $0) })
            else { return nil }
            return Debt(rule: rule, edge: edge)
        }
        guard debts.count == entries.count else { return nil }
        self.init(debts)
    }

    func write(to writer: inout JSONWriter) {
        writer.array("owed") { writer in
            for debt in all {
                writer.object { writer in
                    writer.field("rule", debt.rule)
                    writer.field("edge", debt.edge.rawValue)
                }
            }
        }
    }
}
