internal import Analytics
internal import Hashing
internal import InstalledRules
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
        key = NameLabels.key(sources)
    }

    /// Never made here: whose it is decides who can compare what it made. Nil also where nobody can say which it is.
    private static func key(_ sources: EnvironmentLabeler.Sources) -> HashKey? {
        let directories =
            sources.configuration.map { ([$0], RuleFiles.Trust.anyone) }
            ?? (InstalledRules.Directories.system.configuration, .root)
        let files = RuleFiles.configuration(in: directories.0, trust: directories.1)
        guard let analytics = AgentConfiguration.load(files).configuration?.analytics else { return nil }
        switch analytics.scope {
        case .organisation: return try? HashKey.organisations(file: analytics.keyFile)
        case .host: return (try? Files.read(sources.hashKey, limit: HashKey.length)).flatMap { HashKey($0) }
        }
    }

    /// Nil where only who has the key can tell: the agent, perhaps.
    func label(of ssid: SSID) -> String? {
        if ssid.isOptedOut { return PlaceHash.optedOut }
        if names?.isOpen(ssid) == true { return PlaceHash.plain(ssid) }
        return key.map { PlaceHash.keyed(ssid, by: $0) }
    }
}
