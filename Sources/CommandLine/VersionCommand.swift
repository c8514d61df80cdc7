internal import Agent

/// `vicinity version`
enum VersionCommand: Subcommand {
    static let name = "version"
    static let operands = ""
    static let summary = "Tell the version."
    static let options: [Arguments.Option] = []

    static func run(_ arguments: Arguments) throws -> Int32 {
        try arguments.expectOperands(0...0, "nothing but options")
        return printVersion()
    }

    static func printVersion() -> Int32 {
        Output.line("vicinity \(AgentVersion.current)")
        return 0
    }
}
