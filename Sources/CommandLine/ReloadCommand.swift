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
        .socket
    ]

    static let notes = """
        Root and the agent's own user signal it; others are asked by polkit (io.vicinity.manage) to authenticate as an
        administrator.

        Exit status: 0, 64 usage, 65 mistakes in the files, 69 the agent does not run or does not answer, 77 you may
        not reload it.
        """

    /// How long the agent may take, in seconds.
    private static let patience = 30

    static func run(_ arguments: Arguments) throws -> Int32 {
        try arguments.expectOperands(0...0, "nothing but options")
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
            Output.error("you may not see what comes of it; `vicinity permission` tells why")
            return 77
        }
        guard let agent = try? client.peer().process, agent > 1 else { return gone() }
        if kill(agent, SIGHUP) != 0, let refusal = try ask(isSystem: arguments["socket"] == nil) { return refusal }
        guard let line = client.next(), let value = try? JSONValue(parsing: line, maximumSize: 1 << 16) else {
            return gone()
        }
        let problems = value["agent"]?["problems"]?.integer ?? 0
        guard problems > 0 else {
            Output.line("reloaded")
            return 0
        }
        let count = problems == 1 ? "1 error" : "\(problems) errors"
        Output.error("\(count) in the files; the last good rules stay in force")
        let told = tell(from: path)
        if problems > told { Output.error("`vicinity check` shows \(told == 0 ? "them" : "the others")") }
        return 65
    }

    /// Asks over the bus, where polkit decides.
    ///
    /// - Parameter isSystem: whether it is the machine's agent, which alone is there.
    /// - Returns: the exit status where that was refused.
    private static func ask(isSystem: Bool) throws -> Int32? {
        let outcome = isSystem ? try ManagerCall("Reload").outcome() : .noAgent
        switch outcome {
        case .answered: return nil
        case .refused: return ManagerCall.report(outcome)
        case .noBus, .noAgent, .silent:
            Output.error("signalling the agent takes root, or its own user")
            return 77
        }
    }

    /// Prints what is wrong, as far as it fits into the agent's snapshot.
    ///
    /// - Returns: how many of the problems.
    private static func tell(from path: String) -> Int {
        var request = FeedRequest()
        request.follows = false
        guard var client = try? FeedClient(connectingTo: path, request: request, patience: patience),
            let line = client.next(),
            let value = try? JSONValue(parsing: line, maximumSize: 2 * FeedLine.maximumLength)
        else { return 0 }
        let problems = (value["problems"]?.array ?? []).compactMap(\.string)
        for line in problems.flatMap({ $0.split(separator: "\n") }) {
            Output.diagnostic(String(line).terminalText)
        }
        return problems.count
    }

    private static func gone() -> Int32 {
        Output.error("the agent does not answer")
        return 69
    }
}
