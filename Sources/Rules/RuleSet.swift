internal import WiFi

/// Checked networks and rules, in the order of the files.
public struct RuleSet: Sendable {
    public let networks: [NetworkDefinition]
    public let rules: [Rule]

    /// Which networks list an SSID, and by which of their SSIDs: judging looks up the one name that the link has, so
    /// it costs the same with ten networks and with a hundred thousand.
    private let listed: [SSID: [Listing]]

    struct Listing: Sendable {
        let network: Int
        let ssid: Int
    }

    /// Names must be unique and what rules refer to must exist, as `load(_:)` makes sure.
    public init(networks: [NetworkDefinition] = [], rules: [Rule] = []) {
        self.networks = networks
        self.rules = rules
        var listed: [SSID: [Listing]] = [:]
        for (position, network) in networks.enumerated() {
            for (place, entry) in network.ssids.enumerated() {
                listed[entry.ssid, default: []].append(Listing(network: position, ssid: place))
            }
        }
        self.listed = listed
    }

    func listings(of ssid: SSID) -> [Listing] { listed[ssid] ?? [] }
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
    public static func load(_ files: [RuleFile]) -> LoadResult {
        var loader = RuleSetLoader()
        for file in files { loader.load(file) }
        return loader.finish()
    }
}
