internal import Analytics
internal import Hashing
internal import Platform
internal import Rules
internal import WiFi

/// What stands for names of Wi-Fi networks, as far as this process can tell without the agent.
struct NameLabels {
    /// Nil where the rule files cannot be read or are wrong: then no name is known to be everybody's.
    private let names: ListedNames?
    private let key: HashKey?

    init(_ sources: EnvironmentLabeler.Sources) {
        let files =
            sources.rules.map { path in
                Files.isDirectory(path) ? RuleFiles(directories: [path], trust: .anyone) : RuleFiles(paths: [path])
            } ?? RuleFiles(trust: .root)
        names = RuleSet.load(files).ruleSet.map { ListedNames($0) }
        // Never made here: whose it is decides who can compare what it made.
        key = (try? Files.read(sources.hashKey, limit: HashKey.length)).flatMap { HashKey($0) }
    }

    /// Nil where only who has the key can tell: the agent, perhaps.
    func label(of ssid: SSID) -> String? {
        if ssid.isOptedOut { return PlaceHash.optedOut }
        if names?.isOpen(ssid) == true { return PlaceHash.plain(ssid) }
        return key.map { PlaceHash.keyed(ssid, by: $0) }
    }
}
