package import Feed
package import Platform
package import Rules

/// Answers why rules and networks are as they are.
package enum Explanations {
    /// As many as one answer has: whoever has more asks for them one by one.
    private static let limit = 200

    /// What there is to say of a name: of the network that has it, then of the rule.
    ///
    /// - Parameters:
    ///   - name: empty for every network that the machine is on and every rule that holds.
    ///   - hasBrokenFiles: the rule files cannot be used as they are now.
    package static func of(
        _ name: String, by engine: RuleEngine, hasBrokenFiles: Bool, at now: Timestamp
    ) -> [Explanation] {
        var explanations: [Explanation] = []
        if name.isEmpty {
            let networks = engine.networks.map(\.name)
            let rules = engine.activeRules
            explanations = networks.prefix(limit).map { network($0, engine, at: now) }
            explanations += rules.prefix(limit - explanations.count).compactMap { name in
                engine.ruleSet.rule(named: name).map { rule($0, engine, at: now) }
            }
            let omitted = networks.count + rules.count - explanations.count
            if let last = explanations.indices.last { explanations[last].omitted = omitted }
        } else {
            if engine.ruleSet.network(named: name) != nil || BuiltInNetwork(rawValue: name) != nil {
                explanations.append(network(name, engine, at: now))
            }
            if let rule = engine.ruleSet.rule(named: name) { explanations.append(self.rule(rule, engine, at: now)) }
            if explanations.isEmpty {
                let text = "no rule and no network is called \"\(name)\"\(engine.ruleSet.hint(for: name))"
                explanations = [Explanation(kind: nil, name: name, truth: .no, text: text)]
            }
        }
        for index in explanations.indices { explanations[index].isOfLastGoodRules = hasBrokenFiles }
        return explanations
    }

    private static func rule(_ rule: Rule, _ engine: RuleEngine, at now: Timestamp) -> Explanation {
        let reason = engine.reason(forRule: rule.name)
        return Explanation(
            kind: .rule, name: rule.name, truth: Explanation.Truth(reason?.truth ?? .maybe),
            text: engine.because(of: rule), file: rule.location.file, line: rule.location.line,
            since: engine.changeTime(ofRule: rule.name).map { now.at(boottime: $0) },
            lines: reason?.parts.flatMap(\.lines) ?? [])
    }

    private static func network(_ name: String, _ engine: RuleEngine, at now: Timestamp) -> Explanation {
        let location = engine.ruleSet.network(named: name)?.location
        // While nothing is known of a link, what it was last is still the best that can be said.
        let reason = engine.judgement.reason(name)
        return Explanation(
            kind: .network, name: name, truth: Explanation.Truth(reason.truth), text: reason.text,
            file: location?.file, line: location?.line,
            since: engine.arrivalTime(onNetwork: name).map { now.at(boottime: $0) },
            lines: reason.parts.flatMap(\.lines))
    }
}

extension Explanation.Truth {
    fileprivate init(_ truth: Truth) {
        self =
            switch truth {
            case .yes: .yes
            case .maybe: .maybe
            case .no: .no
            }
    }
}

extension Timestamp {
    /// An earlier moment, by the civil time as it runs now.
    fileprivate func at(boottime: Int64) -> Timestamp {
        Timestamp(wall: wall - (self.boottime - boottime), boottime: boottime)
    }
}
