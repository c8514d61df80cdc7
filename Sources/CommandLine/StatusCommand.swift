internal import Agent
internal import Environment
internal import Feed
internal import Glibc
internal import JSON
internal import Platform
internal import Rules
internal import WiFi

/// `vicinity status`: where this machine is, how sure that is, what holds, what was done and what is wrong.
enum StatusCommand: Subcommand {
    static let name = "status"
    static let operands = ""
    static let summary = "Tell where this machine is, what holds there, what was done and what is wrong."
    static let options: [Arguments.Option] = [.format, .socket]

    static let notes = """
        For people it fits the terminal, and is in colour on one unless NO_COLOR is set or TERM is dumb. The JSON is the
        agent's environment.snapshot: permission, interfaces, networks, rules, actions, holds, counters, problems and more.

        Where no agent runs it shows the place as the kernel tells it and the rule files judge it, and exits with 69.

        Exit status: 0, also where something is wrong; 64 usage, 69 the agent does not run or does not answer, 77 you may
        not see where this machine is.
        """

    /// Seconds.
    private static let patience = 10
    static let examples = [
        (
            line: "vicinity status --format json | jq -r '.networks[]'",
            meaning: "the names of the networks this machine is on"
        )
    ]

    static func run(_ arguments: Arguments) throws -> Int32 {
        try arguments.expectOperands(0...0, "nothing but options")
        let format = try arguments.choice("format", OutputFormat.self) ?? .text
        let path = arguments["socket"] ?? AgentPaths.defaultSocket
        var request = FeedRequest()
        request.follows = false
        if format == .text {
            // Of a line of another life: everything that is held.
            request.since = ("0000000000000000", 0)
            request.filter.types = ["action.*"]
        }
        var client: FeedClient
        do throws(SystemError) {
            client = try FeedClient(connectingTo: path, request: request, patience: patience)
        } catch {
            Output.error("the agent does not run (\(error)): \(Remedy.absentAgent)")
            if format == .text, arguments["socket"] == nil { showKernel() }
            return 69
        }
        guard let line = client.next() else {
            Output.error("the agent does not answer; `vicinity doctor` looks for the cause")
            return 69
        }
        let isDenied = LinePrinter(format).isDenial(line)
        if isDenied { Output.error("you may not see where this machine is; \(Remedy.permission)") }
        guard format == .text else {
            Output.write(line + [UInt8(ascii: "\n")])
            return isDenied ? 77 : 0
        }
        guard !isDenied else { return 77 }
        guard let snapshot = value(line) else {
            Output.error("what answered is no agent of this version's")
            return 69
        }
        var screen = StatusScreen(snapshot: snapshot)
        while let line = client.next() {
            if let action = value(line) { screen.actions.append(action) }
        }
        screen.explanations = (try? AgentAnswer(to: "", at: path))?.lines.compactMap(value) ?? []
        show(screen)
        return 0
    }

    private static func value(_ line: ArraySlice<UInt8>) -> JSONValue? {
        try? JSONValue(parsing: line, maximumSize: 2 * FeedLine.maximumLength)
    }

    private static func show(_ screen: StatusScreen) {
        let lines = screen.lines(width: Output.width, isColored: Output.isColored, now: Timestamp.now().wall)
        for line in lines { Output.line(line) }
    }

    /// The place without an agent: what one that is started now would make of it.
    private static func showKernel() {
        guard let environment = try? EnvironmentWatcher.read() else { return }
        let now = Timestamp.now()
        let encoder = FeedEncoder()
        let line = encoder.snapshotLine(of: environment, permission: .full, at: now).octets.dropLast()
        guard let snapshot = value(line) else { return }
        var screen = StatusScreen(snapshot: snapshot)
        if let ruleSet = RuleSet.load(RuleFiles(trust: .root)).ruleSet {
            let engine = Simulation(of: ruleSet, in: environment, at: now).engine
            let explanations = Explanations.of("", by: engine, hasBrokenFiles: false, at: now)
            // Rules hold where somebody sees to it.
            screen.explanations = explanations.filter { $0.kind == .network }.compactMap { explanation in
                var explanation = explanation
                explanation.since = nil
                return value(encoder.explanationLine(of: explanation, at: now).octets.dropLast())
            }
        }
        show(screen)
    }
}
