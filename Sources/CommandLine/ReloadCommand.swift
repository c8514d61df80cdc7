internal import Agent
internal import Feed
internal import Glibc
internal import JSON
internal import Platform
internal import WiFi

/// `vicinity reload`: have the agent read its files again, and tell what came of it.
enum ReloadCommand: Subcommand {
    static let name = "reload"
    static let operands = ""
    static let summary = "Have the agent read its rule files again, and tell what is wrong with them."
    static let options: [Arguments.Option] = [
        .init("socket", "PATH", "the agent's socket")
    ]

    /// How long the agent may take, in seconds.
    private static let patience = 30

    static func run(_ arguments: Arguments) throws -> Int32 {
        try arguments.expectOperands(0...0, "none")
        let path = arguments["socket"] ?? AgentPaths.defaultSocket
        var request = FeedRequest()
        request.filter.types = ["agent.reloaded"]
        var client: FeedClient
        do throws(SystemError) {
            client = try FeedClient(connectingTo: path, request: request, patience: patience)
        } catch {
            Output.error("the agent does not run (\(error)); it reads its files when it starts")
            return 69
        }
        // The first line says that the agent listens to this reader from now on.
        guard let first = client.next() else { return gone() }
        guard !LinePrinter(.text).isDenial(first) else {
            Output.error("only root and members of the group vicinity may see what comes of it")
            return 77
        }
        guard let agent = try? client.peer().process, agent > 0, kill(agent, SIGHUP) == 0 else {
            Output.error("signalling the agent takes root, or its own user")
            return 77
        }
        guard let line = client.next(), let value = try? JSONValue(parsing: line, maximumSize: 1 << 16) else {
            return gone()
        }
        let problems = value["agent"]?["problems"]?.integer ?? 0
        guard problems > 0 else {
            Output.line("reloaded")
            return 0
        }
        Output.error("\(problems) errors in the files; the last good rules stay in force. `vicinity check` shows them")
        return 65
    }

    private static func gone() -> Int32 {
        Output.error("the agent does not answer")
        return 69
    }
}
