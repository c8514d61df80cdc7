internal import Rules
internal import WiFi

/// Every command, in the order and under the headings of the help.
enum CommandTable {
    static var groups: [(title: String, commands: [any Subcommand.Type])] {
        [
            ("Where this machine is", [StatusCommand.self, WatchCommand.self, HistoryCommand.self, WhyCommand.self]),
            ("Where it was", [ReportCommand.self, EnrichCommand.self]),
            (
                "Rules",
                [InitCommand.self, CheckCommand.self, RulesCommand.self, SimulateCommand.self, ReplayCommand.self]
            ),
            (
                "By hand",
                [HoldCommand.self, ReleaseCommand.self, RunCommand.self, ReloadCommand.self, ProxyCommand.self]
            ),
            (
                "Besides",
                [
                    DoctorCommand.self, PermissionCommand.self, SecondFactorCommand.self, AnalyticsCommand.self,
                    RecordCommand.self, SessionCommand.self, CompletionCommand.self, HelpCommand.self,
                    VersionCommand.self,
                ]
            ),
        ]
    }

    static var commands: [any Subcommand.Type] { groups.flatMap(\.commands) }

    static func command(named name: String) throws(UsageError) -> any Subcommand.Type {
        if let command = commands.first(where: { $0.name == name }) { return command }
        let hint = Spelling.hint(for: name, among: commands.map { $0.name })
        throw UsageError(description: "unknown command \(name.utf8.displayText)\(hint)")
    }
}
