internal import JSON
internal import Platform
internal import Rules

/// The files of the rules in force, kept for a start at which those in place are wrong: a mistake in one file must not
/// end all protection at the next boot.
struct LastGoodRules {
    let path: String

    /// What thousands of rules come to, twice over.
    private static let limit = 64 << 20

    func save(_ configuration: [RuleFile], _ rules: [RuleFile]) throws(SystemError) {
        var writer = JSONWriter()
        writer.object { writer in
            writer.array("configuration") { LastGoodRules.write(configuration, to: &$0) }
            writer.array("rules") { LastGoodRules.write(rules, to: &$0) }
        }
        writer.endLine()
        // Most starts find what the last one left, and waiting for a disk is what takes time.
        if let kept = try? Files.read(path, limit: LastGoodRules.limit), kept == writer.octets { return }
        try Files.replace(path, with: writer.octets, mode: 0o600)
    }

    /// Nil where there are none, or they are not what this version takes for right.
    func load() -> (ruleSet: RuleSet, configuration: AgentConfiguration, digest: String)? {
        guard let contents = try? Files.read(path, limit: LastGoodRules.limit),
            let value = try? JSONValue(parsing: contents, maximumSize: LastGoodRules.limit),
            case let (configurationFiles, ruleFiles) = (files(value["configuration"]), files(value["rules"])),
            let configuration = AgentConfiguration.load(configurationFiles).configuration,
            let ruleSet = RuleSet.load(ruleFiles).ruleSet
        else { return nil }
        return (ruleSet, configuration, RuleFile.digest(configurationFiles, ruleFiles))
    }

    private static func write(_ files: [RuleFile], to writer: inout JSONWriter) {
        for file in files {
            writer.object { writer in
                writer.field("path", file.path)
                // TOML is UTF-8, or it would not be good.
                writer.field("contents", String(decoding: file.contents, as: UTF8.self))
            }
        }
    }

    private func files(_ value: JSONValue?) -> [RuleFile] {
        (value?.array ?? []).compactMap { file in
            guard let path = file["path"]?.string, let contents = file["contents"]?.string else { return nil }
            return RuleFile(path: path, contents: Array(contents.utf8))
        }
    }
}
