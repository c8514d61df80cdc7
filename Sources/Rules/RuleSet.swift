/// Checked networks and rules, in the order of the files.
public struct RuleSet: Sendable {
    public let networks: [NetworkDefinition]
    public let rules: [Rule]

    let index: NetworkIndex
    /// The rules that mention a network, by its name.
    let rulesByNetwork: [String: [Int]]
    /// The rules that lower protection off networks: how sure the place is matters to them.
    let relaxingOffNetworks: [Int]
    /// The rules that hold at certain times only.
    let timedRules: [Int]
    /// Two of the networks that can be known well enough for less protection, or as many as there are.
    let sureNetworks: [String]
    private let positions: [String: Int]
    private let rulePositions: [String: Int]

    /// Names must be unique and what rules refer to must exist, as `load(_:)` makes sure.
    public init(networks: [NetworkDefinition] = [], rules: [Rule] = []) {
        self.networks = networks
        self.rules = rules
        index = NetworkIndex(networks)
        sureNetworks = networks.lazy.filter { $0.highestAssurance >= .mutual }.prefix(2).map(\.name)
        positions = Dictionary(
            networks.enumerated().map { ($1.name, $0) }, uniquingKeysWith: { first, _ in first })
        rulePositions = Dictionary(
            rules.enumerated().map { ($1.name, $0) }, uniquingKeysWith: { first, _ in first })
        var rulesByNetwork: [String: [Int]] = [:]
        for (position, rule) in rules.enumerated() {
            for network in rule.condition.networks where rulesByNetwork[network.name]?.last != position {
                rulesByNetwork[network.name, default: []].append(position)
            }
        }
        self.rulesByNetwork = rulesByNetwork
        timedRules = rules.indices.filter { !rules[$0].times.isEmpty }
        relaxingOffNetworks = rules.indices.filter { index in
            rules[index].leaning == .relaxing && rules[index].condition.mentions.contains(where: \.isNegated)
        }
    }

    /// A described network by its name.
    public func network(named name: String) -> NetworkDefinition? {
        positions[name].map { networks[$0] }
    }

    /// A rule by its name.
    public func rule(named name: String) -> Rule? {
        rulePositions[name].map { rules[$0] }
    }

    /// Whether a rule or a network can have that name.
    public static func isName(_ text: String) -> Bool {
        let name = text.utf8
        let isPlain = name.allSatisfy { octet in
            switch octet {
            case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
                UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "_"):
                true
            default: false
            }
        }
        return isPlain && !name.isEmpty && name.first != UInt8(ascii: "-")
            && name.count <= RuleSetLoader.maximumNameLength
    }

    private static let hintLimit = 5_000

    func position(ofRule name: String) -> Int? { rulePositions[name] }

    /// `; did you mean "…"?` where a rule or a network has a name like that, otherwise nothing.
    public func hint(for name: String) -> String {
        // Whoever asks the agent is not to keep it from its work.
        let names =
            BuiltInNetwork.allCases.map(\.rawValue) + rules.prefix(RuleSet.hintLimit).map(\.name)
            + networks.prefix(RuleSet.hintLimit).map(\.name)
        return Spelling.hint(for: name, among: names)
    }

    /// The same where only a rule can have been meant.
    func hint(forRule name: String) -> String {
        Spelling.hint(for: name, among: rules.prefix(RuleSet.hintLimit).map(\.name))
    }
}

/// A rule file that was read; its path is for messages only.
public struct RuleFile: Hashable, Sendable {
    public var path: String
    public var contents: [UInt8]

    public init(path: String, contents: [UInt8]) {
        self.path = path
        self.contents = contents
    }
}

extension RuleSet {
    /// What came of a load: a rule set only where nothing is wrong in any file.
    public struct LoadResult: Sendable {
        public let ruleSet: RuleSet?
        /// By file, then by place.
        public let diagnostics: [Diagnostic]
    }

    /// Reads and checks files as one rule set.
    ///
    /// - Parameters:
    ///   - areAll: false where there are more that could not be read: nobody knows what those would have defined.
    ///   - reviewing: also warns of what is doubtful, where nothing is wrong.
    public static func load(_ files: [RuleFile], areAll: Bool = true, reviewing: Bool = false) -> LoadResult {
        var loader = RuleSetLoader()
        loader.isComplete = areAll
        for file in files { loader.load(file) }
        return loader.finish(reviewing: reviewing)
    }
}
