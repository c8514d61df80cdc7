internal import Agent
internal import Glibc
internal import InstalledRules
internal import JSON
internal import Platform
internal import Rules
internal import Synchronization

/// `vicinity check`: are the rule files right?
enum CheckCommand: Subcommand {
    static let name = "check"
    static let operands = "[FILE | DIRECTORY]…"
    static let operandKinds: [WordKind] = [.file]
    static let summary = "Check rule files; without a file, those that the agent reads."
    static let options: [Arguments.Option] = [
        .format,
        .init("user", nil, "those of your own, in $XDG_CONFIG_HOME/vicinity/rules.d"),
    ]

    static let notes = """
        Where nothing is wrong it warns of what is doubtful.

        Exit status: 0, 64 usage, 65 mistakes in the files; warnings do not count.
        """
    static let examples = [
        (line: "vicinity check new/", meaning: "whether the rule files in new/ are right")
    ]

    static func run(_ arguments: Arguments) throws -> Int32 {
        let format = try arguments.choice("format", OutputFormat.self) ?? .text
        let diagnostics = try diagnostics(arguments)
        // EX_DATAERR, also for whoever reads the beginning only.
        let status: Int32 = diagnostics.contains { $0.severity == .error } ? 65 : 0
        Output.abandonedStatus.store(status, ordering: .relaxed)
        switch format {
        case .text: for diagnostic in diagnostics { Output.line(diagnostic.description) }
        case .json: Output.write(json(diagnostics)[...])
        }
        return status
    }

    private static func diagnostics(_ arguments: Arguments) throws(UsageError) -> [Diagnostic] {
        let paths = AgentPaths()
        if arguments.has("user") {
            guard let directory = RuleFiles.userDirectory else {
                throw UsageError(description: "--user needs HOME or XDG_CONFIG_HOME to be an absolute path")
            }
            return RuleSet.loadOfUser(RuleFiles(directories: [directory], trust: .user(getuid())), reviewing: true)
                .diagnostics
        }
        guard arguments.operands.isEmpty else {
            // What a file is for shows in its name, as everywhere.
            var (own, rules) = (RuleFiles(paths: []), RuleFiles(paths: []))
            for path in arguments.operands {
                // The agent's whole directory has rule files one below.
                if Files.isDirectory("\(path)/rules.d") {
                    own = own + RuleFiles.configuration(in: [path], trust: .anyone)
                    rules = rules + RuleFiles(directories: ["\(path)/rules.d"], trust: .anyone)
                    continue
                }
                let files =
                    Files.isDirectory(path)
                    ? RuleFiles(directories: [path], trust: .anyone) : RuleFiles(paths: [path])
                if Files.isDirectory(path) { RuleSource.noteAbsence(of: files, in: [path]) }
                if isConfiguration(path) { own = own + files } else { rules = rules + files }
            }
            return AgentConfiguration.load(own).diagnostics + RuleSet.load(rules, reviewing: true).diagnostics
        }
        let own = RuleFiles.configuration(in: paths.ruleDirectories.configuration, trust: .root)
        let rules = RuleFiles(directories: paths.ruleDirectories.rules, trust: .root)
        RuleSource.noteAbsence(of: rules, in: paths.ruleDirectories.rules)
        return AgentConfiguration.load(own).diagnostics + RuleSet.load(rules, reviewing: true).diagnostics
    }

    private static func isConfiguration(_ path: String) -> Bool {
        let parts = path.split(separator: "/")
        return ["vicinity.toml", "vicinity.toml.d"].contains(parts.last) || parts.dropLast().last == "vicinity.toml.d"
    }

    private static func json(_ diagnostics: [Diagnostic]) -> [UInt8] {
        var writer = JSONWriter()
        writer.object { writer in
            writer.array("diagnostics") { writer in
                for diagnostic in diagnostics {
                    writer.object { writer in
                        writer.field("file", diagnostic.file)
                        writer.field("line", diagnostic.line)
                        writer.field("column", diagnostic.column)
                        writer.field("severity", diagnostic.severity.rawValue)
                        writer.field("code", diagnostic.code.rawValue)
                        writer.field("message", diagnostic.message)
                    }
                }
            }
        }
        writer.endLine()
        return writer.octets
    }
}
