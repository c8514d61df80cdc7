internal import Agent
internal import Feed
internal import Glibc
internal import Platform
internal import Rules
internal import WiFi

/// `vicinity replay`: what the rules decide on a recorded feed.
enum ReplayCommand: Subcommand {
    static let name = "replay"
    static let operands = "FEED"
    static let operandKinds: [WordKind] = [.file]
    static let summary = "Tell what the rules decide on a recorded feed (a file, or -), without acting."
    static let options: [Arguments.Option] = [
        RuleSource.option,
        .init("format", "FORMAT", "json (one object a line) or text (the default)", .one(of: OutputFormat.self)),
        .init("expect-same", nil, "exit with 1 where the recording decides otherwise"),
    ]
    static let notes = """
        The recording is what `vicinity watch --format json` prints. Its own decisions are compared with those of the
        rules. When a link was lost that came back by roaming or after a sleep is not recorded, so what waited for its
        return may come sooner here.

        Exit status: 0, 1 differences with --expect-same, 64 usage, 65 mistakes in the rule files or no line of a feed,
        66 no such file.
        """

    private static let maximumSize = 256 << 20
    static let examples = [
        (
            line: "vicinity replay monday.jsonl --rules new/ --expect-same",
            meaning: "whether new rules would have decided the same"
        )
    ]

    static func run(_ arguments: Arguments) throws -> Int32 {
        try arguments.expectOperands(1...1, "a recorded feed")
        let format = try arguments.choice("format", OutputFormat.self) ?? .text
        let ruleSet: RuleSet
        do throws(RuleSource.Failure) { ruleSet = try RuleSource.load(arguments["rules"]) } catch {
            return error.status
        }
        let path = arguments.operands[0]
        let contents: [UInt8]
        do throws(SystemError) {
            contents =
                path == "-"
                ? try Files.read(STDIN_FILENO, "standard input", limit: maximumSize)
                : try Files.read(path, limit: maximumSize)
        } catch {
            Output.error("\(error)".terminalText)
            return 66
        }
        let printer = LinePrinter(format)
        let encoder = FeedEncoder()
        let summary = DecisionReplay.run(contents, by: ruleSet) { event in
            printer.print(encoder.replayedLine(for: event).octets.dropLast())
        }
        switch format {
        case .json: printer.print(encoder.summaryLine(of: summary).octets.dropLast())
        case .text: for line in text(summary) { Output.line(line.terminalText) }
        }
        if summary.counters.lines == summary.counters.unreadable {
            Output.error("\(path.utf8.displayText): no line of a feed")
            return 65
        }
        return arguments.has("expect-same") && !summary.differences.isEmpty ? 1 : 0
    }

    private static func text(_ summary: ReplaySummary) -> [String] {
        let counters = summary.counters
        var lines: [String] = []
        if !summary.isComparable {
            lines.append("\(counted(summary.decisions, "decision")); the recording is of no agent and has none")
        } else if summary.differences.isEmpty {
            lines.append("\(counted(summary.decisions, "decision")), all as recorded")
        } else {
            let subjects = counted(summary.differences.count, "rules and networks", one: "rule or network")
            lines.append(
                "\(counted(summary.decisions, "decision")), \(summary.recorded) recorded; \(subjects) not as recorded:")
            for difference in summary.differences.prefix(ReplaySummary.told) {
                let time = CivilTime(local: difference.time.wall)
                lines.append(
                    "  \(time.iso8601.prefix(10)) \(time.clock)  \(difference.subject.rawValue) \(difference.name): "
                        + "recorded \(difference.recorded), now \(difference.replayed)")
            }
            let more = summary.differences.count - ReplaySummary.told
            if more > 0 { lines.append("  and \(more) more") }
        }
        let notes = [
            (counters.unreadable, "unreadable lines", "unreadable line"),
            (counters.gaps, "gaps where lines are missing", "gap where lines are missing"),
            (
                counters.early, "lines from before it is told where this was",
                "line from before it is told where this was"
            ),
            (counters.restarts, "restarts of the agent", "restart of the agent"),
            (counters.unknownInterfaces, "interfaces of unknown kind", "interface of unknown kind"),
        ]
        for (count, many, one) in notes where count > 0 { lines.append(counted(count, many, one: one)) }
        return lines
    }

    private static func counted(_ count: Int, _ many: String, one: String? = nil) -> String {
        "\(count) \(count == 1 ? one ?? many : one == nil ? "\(many)s" : many)"
    }
}
