internal import Agent
internal import Feed
internal import Glibc
internal import JSON
internal import Platform
internal import WiFi

/// `vicinity status`: where this machine is, and what the agent did.
enum StatusCommand: Subcommand {
    static let name = "status"
    static let operands = ""
    static let summary = "Tell where this machine is, which rules hold and what is wrong."
    static let options: [Arguments.Option] = [
        .init("format", "FORMAT", "json or text (the default)"),
        .init("socket", "PATH", "the agent's socket"),
    ]

    static let notes = """
        Exit status: 0, 64 usage, 69 the agent does not run, 77 you may not see where this machine is.
        """

    static func run(_ arguments: Arguments) throws -> Int32 {
        try arguments.expectOperands(0...0, "nothing but options")
        let format = try arguments.choice("format", OutputFormat.self) ?? .text
        var request = FeedRequest()
        request.follows = false
        let path = arguments["socket"] ?? AgentPaths.defaultSocket
        var client: FeedClient
        do throws(SystemError) {
            client = try FeedClient(connectingTo: path, request: request)
        } catch {
            Output.error("the agent does not run (\(error)); `vicinity watch --direct` reads the kernel without it")
            return 69
        }
        guard let line = client.next() else {
            Output.error("the agent ended the connection")
            return 69
        }
        LinePrinter(format).print(line)
        if format == .text { printCounters(line) }
        return LinePrinter(format).isDenial(line) ? 77 : 0
    }

    private static func printCounters(_ line: ArraySlice<UInt8>) {
        guard let value = try? JSONValue(parsing: line, maximumSize: 65_536) else { return }
        if (value["problems"]?.array ?? []).count >= SnapshotFields.problemLimit {
            Output.line("  \("".padded(to: 14)) there may be more: `vicinity check`")
        }
        guard let counters = value["counters"]?.object else { return }
        let parts = counters.members.compactMap { member in
            member.value.integer.map { "\(member.key.utf8.displayText) \($0)" }
        }
        Output.line("  \("kernel".padded(to: 14)) \(parts.joined(separator: ", "))")
    }
}

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

extension String {
    fileprivate func padded(to width: Int) -> String { self + String(repeating: " ", count: max(width - count, 0)) }
}
