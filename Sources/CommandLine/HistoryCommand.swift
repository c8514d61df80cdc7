internal import Agent
internal import Analytics
internal import Feed
internal import Glibc
internal import JSON
internal import Platform

/// `vicinity history`: what was decided and done, exactly when, by which rule.
enum HistoryCommand: Subcommand {
    enum Format: String, CaseIterable {
        case text, json, csv
    }

    static let name = "history"
    static let operands = ""
    static let summary = "Tell what was decided and done, the oldest first: networks, rules, actions."
    static let options: [Arguments.Option] = [
        .init("rule", "RULE", "only this rule and its actions", .rule),
        .init("network", "NETWORK", "only this network", .network),
        .init(
            "type", "TYPES", "only these types, separated by commas; rule.* is allowed",
            .usually(FeedTypes.recordedFamilies + FeedTypes.recorded)),
        .init("since", "TIME", "from then on: 2h (ago), 3d, today, yesterday, 12:30, 2026-11-30, 2026-11-30T12:30:00Z"),
        .init("until", "TIME", "before then"),
        .init("limit", "COUNT", "the last so many of them"),
        .init("format", "FORMAT", "text (the default), json (one object a line) or csv", .one(of: Format.self)),
        file,
    ]
    static let file = Arguments.Option(
        "file", "FILE", "a copy of a history, such as another machine's; FILE.1 is read before it", .file)
    static let notes = """
        It holds the names that rule files give to networks and rules, never those from the air. A line that was cut, as by
        a full disk, is left out, and how many were is said on standard error. Times are local, but in json and csv, where
        they are UTC. In csv, what a spreadsheet would take for a formula has an apostrophe before it.

        Exit status: 0, 64 usage, 66 no such file, 74 it cannot be read, 77 only root and the user vicinity may read it.
        """

    /// A terminal's worth of lines is kept in memory, not a file of them.
    private static let greatestLimit = 100_000
    static let examples = [
        (line: "sudo vicinity history --since yesterday --rule nas", meaning: "what the rule nas did since yesterday"),
        (line: "sudo vicinity history --type action.failed --format csv", meaning: "what failed, for a spreadsheet"),
    ]

    static func run(_ arguments: Arguments) throws -> Int32 {
        try arguments.expectOperands(0...0, "nothing but options")
        let format = try arguments.choice("format", Format.self) ?? .text
        let filter = try HistoryFilter(arguments, now: Timestamp.now().wall)
        let limit = try arguments.all("limit", "a number from 1 to \(greatestLimit)") { text in
            Int(text).flatMap { (1...greatestLimit).contains($0) ? $0 : nil }
        }.last
        var tail = Tail(limit: limit)
        if format == .csv { Output.line(HistoryRow.csv(HistoryRow.heads)) }
        let isColored = Output.isColored
        let status = read(arguments["file"]) { record, line in
            guard filter.admits(record) else { return }
            tail.add {
                switch format {
                case .text: HistoryRow(record: record).text(isColored: isColored)
                case .json: String(decoding: line, as: UTF8.self)
                case .csv: HistoryRow(record: record).csv
                }
            }
        }
        tail.flush()
        return status
    }

    /// Reads a history to its end.
    ///
    /// - Parameters:
    ///   - file: nil for the machine's.
    ///   - command: by which it is read, with what it is given.
    ///   - onSkipped: told how many lines were cut or are no records, where any were.
    /// - Returns: the exit status.
    static func read(
        _ file: String?, for command: String = "history", onSkipped: (Int) -> Void = { _ in },
        _ body: (JSONValue, ArraySlice<UInt8>) -> Void
    ) -> Int32 {
        let path = file ?? "\(AgentPaths().state)/history.jsonl"
        var reader = HistoryReader(path: path)
        do throws(SystemError) {
            try reader.readLines { record, line in
                body(record, line)
                return true
            }
        } catch {
            guard error.code == EACCES else {
                Output.error("\(error)".terminalText)
                return 74  // EX_IOERR
            }
            Output.error(
                "only root and the user vicinity may read the history; try `sudo vicinity \(command)`, or "
                    + "`sudo vicinity why --at TIME`")
            return 77  // EX_NOPERM
        }
        if reader.skipped > 0 {
            onSkipped(reader.skipped)
            let lines = reader.skipped == 1 ? "1 line was" : "\(reader.skipped) lines were"
            Output.error("\(lines) cut or are no records, and left out".terminalText)
        }
        guard reader.files == 0 else { return 0 }
        guard file == nil else {
            Output.error("\(path): there is no such file".terminalText)
            return 66  // EX_NOINPUT
        }
        Output.error("nothing is recorded yet: there is no \(path)")
        return 0
    }

    /// The last lines of many, or all of them as they come.
    private struct Tail {
        let limit: Int?
        private var kept: [String] = []
        private var next = 0

        init(limit: Int?) {
            self.limit = limit
        }

        mutating func add(_ line: () -> String) {
            guard let limit else { return Output.line(line()) }
            if kept.count < limit {
                kept.append(line())
            } else {
                kept[next] = line()
                next = (next + 1) % limit
            }
        }

        func flush() {
            for line in kept[next...] + kept[..<next] { Output.line(line) }
        }
    }
}

extension FeedTypes {
    /// What the history holds.
    static let recorded = all.filter { type in
        ["network.", "rule.", "action.", "second_factor."].contains { type.hasPrefix($0) }
            || [
                "wifi.roamed", "wifi.join_failed", "agent.started", "agent.stopped", "agent.suspended", "agent.resumed",
            ].contains(type)
    }

    static let recordedFamilies = ["network.*", "rule.*", "action.*", "second_factor.*", "wifi.*", "agent.*"]
}
