internal import Feed
internal import Rules

extension FeedDisclosure {
    /// What rule files tell everybody: networks that are not private, rules that have to do with no private network, and
    /// the bare hash of names that only such networks list.
    ///
    /// A rule that a private network makes hold would tell by its name that the machine is there.
    init(_ ruleSet: RuleSet, _ hashing: NameHashing) {
        let hiddenNames = Set(ruleSet.networks.filter(\.isPrivate).map(\.name))
        let openNames = ruleSet.networks.filter { !$0.isPrivate }.map(\.name)
        let parts = NameParts(hiddenNames)
        let rules = ruleSet.rules.filter { rule in
            hiddenNames.isDisjoint(with: rule.condition.networks.map(\.name)) && !parts.isAny(within: rule.name)
        }
        self.init(
            networks: Set(openNames + BuiltInNetwork.allCases.map(\.rawValue)).subtracting(hiddenNames),
            rules: Set(rules.map(\.name)),
            environment: { hashing.told($0) })
    }
}

/// Looks for many names within others, in upper and lower case alike.
private struct NameParts {
    private let names: Set<[UInt8]>
    private let lengths: Set<Int>
    /// What is shorter occurs in too many words to tell anything.
    private static let shortest = 3

    init(_ names: Set<String>) {
        self.names = Set(names.map { Array($0.lowercased().utf8) }.filter { $0.count >= NameParts.shortest })
        lengths = Set(self.names.map(\.count))
    }

    func isAny(within text: String) -> Bool {
        guard !names.isEmpty else { return false }
        let octets = Array(text.lowercased().utf8)
        return lengths.contains { length in
            guard length <= octets.count else { return false }
            return (0...octets.count - length).contains { names.contains(Array(octets[$0..<$0 + length])) }
        }
    }
}
