internal import Agent
internal import Environment
internal import Feed
internal import Glibc
internal import JSON
internal import Platform
internal import Rules
internal import WiFi

/// `vicinity why`: which evidence, which rule, which line of which file, since when.
enum WhyCommand: Subcommand {
    static let name = "why"
    static let operands = "[RULE | NETWORK]"
    static let operandKinds: [WordKind] = [.ruleOrNetwork]
    static let summary =
        "Tell why a rule holds or does not, or whether this is a network; without a name, all that holds."
    static let options: [Arguments.Option] = [
        .init("format", "FORMAT", "json (one object a line) or text (the default)", .one(of: OutputFormat.self)),
        .socket,
        .init("rules", "PATH", "judge by this file or directory of rules, without the agent", .file),
        .init("at", "TIME", "as it was then, by the history: 2h (ago), yesterday, 12:30, 2026-11-30T12:30:00Z"),
        HistoryCommand.file,
    ]
    static let notes = """
        Where no agent runs, the present place is judged by the rule files, as an agent that has just been started
        would once everything has settled.

        With --at, the history answers, which root and the user vicinity may read: what was last told of it in the boot that
        TIME falls into, and what the rule did from then on.

        Exit status: 0, 64 usage, 65 mistakes in the rule files, 66 no such file, 68 nothing has that name, 69 the agent
        does not answer, 74 the history cannot be read, 77 you may not see it.
        """
    static let examples = [
        (line: "vicinity why away", meaning: "why the rule away holds, or does not"),
        (line: "sudo vicinity why away --at '2026-11-24 09:00'", meaning: "the same, of last Tuesday"),
    ]

    static func run(_ arguments: Arguments) throws -> Int32 {
        try arguments.expectOperands(0...1, "one rule or network")
        let format = try arguments.choice("format", OutputFormat.self) ?? .text
        let name = arguments.operands.first ?? ""
        guard FeedRequest.isName(name) else {
            Output.error("no rule and no network can be called \(name.utf8.prefix(80).displayText)")
            return 68
        }
        let now = Timestamp.now().wall
        let moments = try arguments.all("at", MomentText.form) { MomentText.microseconds(of: $0, now: now) }
        if let moment = moments.last { return past(name, moment, arguments["file"], format) }
        guard !arguments.has("file") else { throw UsageError(description: "--file is a history: it needs --at") }
        if let path = arguments["rules"] { return try direct(name, path, format) }
        let path = arguments["socket"] ?? AgentPaths.defaultSocket
        let answer: AgentAnswer
        do throws(SystemError) {
            answer = try AgentAnswer(to: name, at: path)
        } catch {
            guard [ENOENT, ECONNREFUSED].contains(error.code), arguments["socket"] == nil else {
                Output.error("the agent does not answer (\(error))")
                return 69
            }
            Output.error("no agent runs: this is what one would decide that is started now")
            return try direct(name, nil, format)
        }
        if answer.isDenied {
            Output.error("you may not see where this machine is; \(Remedy.permission)")
            return 77
        }
        guard answer.isAnswered else {
            Output.error("the agent ended the connection without an answer")
            return 69
        }
        if answer.lines.isEmpty { return nothingHolds(format) }
        return print(answer.lines, format)
    }

    /// Says what held, by the history.
    private static func past(_ name: String, _ moment: Int64, _ file: String?, _ format: OutputFormat) -> Int32 {
        let filter = HistoryFilter(through: moment)
        var place = PastPlace()
        let status = HistoryCommand.read(file) { record, _ in
            if filter.admits(record) { place.take(record) }
        }
        guard status == 0 else { return status }
        let explanations = place.explanations(of: name)
        for explanation in explanations {
            switch format {
            case .json: Output.write(explanation.json(at: moment)[...])
            case .text: for line in explanation.lines(at: moment) { Output.wrapped(line) }
            }
        }
        guard explanations.isEmpty else { return 0 }
        if name.isEmpty, !place.isEmpty {
            if format == .text { Output.line("no rule held, and this was no network that has a name") }
            return 0
        }
        Output.error(
            place.isEmpty
                ? "nothing is recorded up to then"
                : "nothing is recorded of a rule or network called \(name) up to then\(place.hint(for: name))")
        return 68
    }

    /// Judges where the machine is now.
    private static func direct(_ name: String, _ path: String?, _ format: OutputFormat) throws -> Int32 {
        let ruleSet: RuleSet
        do throws(RuleSource.Failure) { ruleSet = try RuleSource.load(path) } catch { return error.status }
        let now = Timestamp.now()
        let engine = Simulation(of: ruleSet, in: try EnvironmentWatcher.read(), at: now).engine
        let encoder = FeedEncoder()
        let lines = Explanations.of(name, by: engine, hasBrokenFiles: false, at: now).map { explanation in
            var explanation = explanation
            explanation.since = nil
            return encoder.explanationLine(of: explanation, at: now).octets.dropLast()
        }
        return lines.isEmpty ? nothingHolds(format) : print(lines, format)
    }

    private static func nothingHolds(_ format: OutputFormat) -> Int32 {
        if format == .text { Output.line("no rule holds, and this is no network that has a name") }
        return 0
    }

    private static func print(_ lines: [ArraySlice<UInt8>], _ format: OutputFormat) -> Int32 {
        var isUnknown = false
        for line in lines {
            guard let value = try? JSONValue(parsing: line, maximumSize: 2 * FeedLine.maximumLength),
                let explanation = value["explanation"]
            else { continue }
            isUnknown = isUnknown || explanation["kind"]?.string == nil
            switch format {
            case .json: Output.write(line + [UInt8(ascii: "\n")])
            case .text: for line in ExplanationText.lines(of: explanation) { Output.wrapped(line) }
            }
        }
        return isUnknown ? 68 : 0
    }
}

/// What the agent answers to `why`.
struct AgentAnswer {
    private(set) var lines: [ArraySlice<UInt8>] = []
    private(set) var isDenied = false
    /// Whether the agent said anything at all.
    private(set) var isAnswered = false

    /// Seconds; an agent that takes longer does not answer.
    private static let patience = 30

    /// - Parameter name: empty for everything that holds.
    init(to name: String, at path: String) throws(SystemError) {
        var request = FeedRequest()
        request.why = name
        // Of an agent that does not know the question only the first line is read.
        request.follows = false
        var client = try FeedClient(connectingTo: path, request: request, patience: Self.patience)
        while let line = client.next(), lines.count <= 1_024 {
            if !isAnswered {
                isAnswered = true
                let first = try? JSONValue(parsing: line, maximumSize: 2 * FeedLine.maximumLength)
                isDenied = first?["permission"]?.string.flatMap { FeedPermission(rawValue: $0) }?.view == .nothing
                continue
            }
            lines.append(line)
        }
    }
}

/// An explanation for people.
enum ExplanationText {
    static func lines(of explanation: JSONValue) -> [String] {
        let name = explanation["name"]?.string ?? "?"
        let text = explanation["text"]?.string ?? ""
        let truth = explanation["truth"]?.string
        let state: String
        switch explanation["kind"]?.string {
        case "rule":
            state = "rule \(name) \(truth == "yes" ? "holds" : truth == "no" ? "does not hold" : "is not known")"
        case "network":
            // Without permission there is no text.
            let word = truth == "yes" ? "this machine is on it" : truth == "no" ? "not here" : "not known"
            state = "network \(name): \(text.isEmpty ? word : text)"
        default: return [text.terminalText] + notes(explanation)
        }
        var lines = [state]
        if let since = explanation["since"]?.string { lines[0] += ", since \(localTime(since) ?? since)" }
        if let file = explanation["file"]?.string {
            lines.append("  defined at \(file):\(explanation["line"]?.integer ?? 0)")
        }
        if explanation["kind"]?.string == "rule", !text.isEmpty { lines.append("  \(text)") }
        let reasons = (explanation["lines"]?.array ?? []).compactMap(\.string)
        // A single one that says no more than the text does.
        if reasons.map({ $0.dropFirst(2) }) != [text[...]] { lines += reasons.map { "    \($0)" } }
        if let omitted = explanation["lines_omitted"]?.integer { lines.append("    and \(omitted) more") }
        return lines.map(\.terminalText) + notes(explanation)
    }

    private static func notes(_ explanation: JSONValue) -> [String] {
        var notes: [String] = []
        if explanation["last_good"]?.bool == true {
            notes.append("  the rule files have mistakes: the last good rules are in force, see `vicinity check`")
        }
        if let omitted = explanation["omitted"]?.integer {
            notes.append("and \(omitted) more, to be asked for by name")
        }
        return notes
    }

    private static func localTime(_ text: String) -> String? {
        CivilTime.local(iso8601: text).map { time in
            let date = time.iso8601
            return "\(date.prefix(10)) \(time.clock)"
        }
    }
}
