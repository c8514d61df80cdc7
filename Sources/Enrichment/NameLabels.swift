internal import Analytics
internal import Hashing
internal import Platform
internal import Rules
internal import WiFi

/// What stands for names of Wi-Fi networks, as far as this process can tell without the agent.
struct NameLabels {
    enum Label: Equatable {
        case told(String)
        /// The owner of the network does not want to be found by it.
        case withheld
        /// Only who has the key can tell: the agent, perhaps.
        case unknown
    }

    /// Nil where the rule files cannot be read or are wrong: then no name is known to be everybody's.
    private let openNames: OpenNames?
    private let key: HashKey?

    init(_ sources: EnvironmentLabeler.Sources) {
        let files =
            sources.rules.map { RuleFiles(directories: $0, trust: .anyone) } ?? RuleFiles(trust: .root)
        openNames = RuleSet.load(files).ruleSet.map { OpenNames($0) }
        // Never made here: whose it is decides who can compare what it made.
        key = (try? Files.read(sources.hashKey, limit: HashKey.length)).flatMap { HashKey($0) }
    }

    func label(of ssid: SSID) -> Label {
        if ssid.isOptedOut { return .withheld }
        if openNames?.contains(ssid) == true { return .told(PlaceHash.plain(ssid)) }
        return key.map { .told(PlaceHash.keyed(ssid, by: $0)) } ?? .unknown
    }
}

extension SSID {
    /// By the two words with which owners opt out of being located by their networks.
    fileprivate var isOptedOut: Bool {
        octets.suffix(6).elementsEqual("_nomap".utf8)
            || octets.indices.contains { octets[$0...].starts(with: "_optout".utf8) }
    }
}
