/// What comes of one network, whatever the number of links that were looked at.
public struct Verdict: Hashable, Sendable {
    public var name: String
    public var builtIn: BuiltInNetwork?
    public var truth: Truth
    /// `unknown` unless the machine is on it.
    public var assurance = Assurance.unknown
    /// What agreed.
    public var agreeing: [Evidence] = []
    /// What did not, or is not known, where the machine is not on it by another link.
    public var objections: [Evidence] = []
}

extension Judgement {
    /// Every network that a link is on, may be on, or is kept from by listed evidence: in this order, each once.
    public var verdicts: [Verdict] {
        var verdicts = matches.map {
            Verdict(name: $0.name, builtIn: $0.builtIn, truth: .yes, assurance: $0.assurance, agreeing: $0.evidence)
        }
        var places = Dictionary(
            verdicts.enumerated().map { ($1.name, $0) }, uniquingKeysWith: { first, _ in first })
        for (truth, objections) in [(Truth.maybe, doubts), (.no, exclusions)] {
            for objection in objections {
                guard let place = places[objection.name] else {
                    places[objection.name] = verdicts.count
                    verdicts.append(
                        Verdict(
                            name: objection.name, builtIn: BuiltInNetwork(rawValue: objection.name), truth: truth,
                            agreeing: objection.evidence, objections: [objection.objection]))
                    continue
                }
                guard verdicts[place].truth == truth, !verdicts[place].objections.contains(objection.objection) else {
                    continue
                }
                if truth != .yes { verdicts[place].objections.append(objection.objection) }
            }
        }
        return verdicts
    }
}
