internal import Acting

/// `vicinity session`: by hand what the user's service manager runs as `vicinity-session`.
enum SessionCommand: Subcommand {
    static let name = "session"
    static let operands = ""
    static let summary = "Do in this session what rules ask for; its unit is vicinity-session.service."
    static let options: [Arguments.Option] = [
        .init("socket", "PATH", "the agent's socket for sessions", .file),
        .init("config", "DIR", "the directory of the rules; root's, all of it", .directory),
    ]

    static func run(_ arguments: Arguments) throws -> Int32 {
        try arguments.expectOperands(0...0, "nothing but options")
        return SessionProgram.run(
            socket: arguments["socket"] ?? "/run/vicinity/session.sock", configuration: arguments["config"])
    }
}
