/// A rule that would lower protection by evidence too weak for that.
struct WeakEvidence {
    /// Where the network is mentioned.
    let location: SourceLocation
    let message: String
}

extension RuleSet {
    /// What is wrong with a rule that lowers protection, by the networks it does so on.
    ///
    /// A rule that could never be sure enough is refused rather than left without effect: its author has to demand
    /// more of the network, or say why less will do.
    func weakEvidence(of rule: Rule) -> [WeakEvidence] {
        let (beginning, end) = (rule.relaxationsAtBeginning, rule.relaxationsAtEnd)
        // Of a rule that relaxes both ways it is said that it does.
        guard rule.acceptedWeakness == nil, beginning.isEmpty != end.isEmpty,
            let effect = (beginning + end).first?.value
        else { return [] }
        return rule.condition.mentions.compactMap { mention in
            // A tightening rule ends, and so relaxes, on the networks that it is off.
            let isOn = mention.isNegated == (rule.leaning == .tightening)
            let name = mention.network.name
            let definition = network(named: name)
            // One that is wrong itself is complained about already.
            guard definition != nil || BuiltInNetwork(rawValue: name) != nil else { return nil }
            if isOn {
                let highest = definition?.highestAssurance ?? .claimed
                guard highest < .mutual else { return nil }
                return WeakEvidence(
                    location: mention.network.location,
                    message: "\"\(effect)\" lowers protection on \"\(name)\", of which at most \"\(highest)\" can be "
                        + "known: \(definition == nil ? "describe a network that demands" : "let the network demand") "
                        + "802.1X or a probe, or say in \"accept-weak-evidence\" why that will do")
            }
            // Off a network is any other place, if only it is sure enough.
            guard !sureNetworks.contains(where: { $0 != name }) else { return nil }
            return WeakEvidence(
                location: mention.network.location,
                message: "\"\(effect)\" lowers protection off \"\(name)\", and no network is described of which "
                    + "\"mutual\" can be known: describe one, or say in \"accept-weak-evidence\" why less will do")
        }
    }
}
