/// When a rule holds, in terms of the networks the machine is on.
public indirect enum Condition: Hashable, Sendable {
    /// On this network.
    case network(NetworkReference)
    /// Of no parts: always.
    case all([Condition])
    /// Of no parts: never.
    case any([Condition])
    case not(Condition)

    /// A network by name, defined in any file or built in.
    public struct NetworkReference: Hashable, Sendable {
        public var name: String
        public var location: SourceLocation

        public init(name: String, location: SourceLocation) {
            self.name = name
            self.location = location
        }
    }

    /// Every mention of a network, in the order of the text.
    public var networks: [NetworkReference] {
        mentions.map(\.network)
    }

    /// A mention of a network: negated where being on it speaks against the condition.
    struct Mention {
        let network: NetworkReference
        let isNegated: Bool
    }

    var mentions: [Mention] {
        var mentions: [Mention] = []
        collect(isNegated: false, into: &mentions)
        return mentions
    }

    private func collect(isNegated: Bool, into mentions: inout [Mention]) {
        switch self {
        case .network(let network): mentions.append(Mention(network: network, isNegated: isNegated))
        case .all(let parts), .any(let parts):
            for part in parts { part.collect(isNegated: isNegated, into: &mentions) }
        case .not(let part): part.collect(isNegated: !isNegated, into: &mentions)
        }
    }

    /// Its value, given that of each network.
    func evaluate(_ value: (NetworkReference) -> Truth) -> Truth {
        switch self {
        case .network(let network): value(network)
        case .all(let parts): parts.reduce(.yes) { min($0, $1.evaluate(value)) }
        case .any(let parts): parts.reduce(.no) { max($0, $1.evaluate(value)) }
        case .not(let part): !part.evaluate(value)
        }
    }
}
