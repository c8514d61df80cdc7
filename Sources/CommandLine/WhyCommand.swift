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
    static let summary =
        "Tell why a rule holds or does not, or whether this is a network; without a name, all that holds."
    static let options: [Arguments.Option] = [
        .init("format", "FORMAT", "json (one object a line) or text (the default)"),
        .init("socket", "PATH", "the agent's socket"),
        .init("rules", "PATH", "judge by this file or directory of rules, without the agent"),
    ]
    static let notes = """
        Where no agent runs, the present place is judged by the rule files, as an agent that has just been started
        would once everything has settled.

        Exit status: 0, 64 usage, 65 mistakes in the rule files, 66 no such file, 68 nothing has that name, 69 the agent
        does not answer, 77 you may not see where this machine is.
        """

    static func run(_ arguments: Arguments) throws -> Int32 {
        try arguments.expectOperands(0...1, "one rule or network")
        let format = try arguments.choice("format", OutputFormat.self) ?? .text
        let name = arguments.operands.first ?? ""
        guard FeedRequest.isName(name) else {
            Output.error("no rule and no network can be called \(name.utf8.prefix(80).displayText)")
            return 68
        }
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
            Output.error("you may not see where this machine is; `vicinity permission` tells why")
            return 77
        }
        guard answer.isAnswered else {
            Output.error("the agent ended the connection without an answer")
            return 69
        }
        if answer.lines.isEmpty { return nothingHolds(format) }
        return print(answer.lines, format)
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
            case .text: Output.line(ExplanationText.lines(of: explanation).joined(separator: "\n"))
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

    /// - Parameter name: empty for everything that holds.
    init(to name: String, at path: String) throws(SystemError) {
        var request = FeedRequest()
        request.why = name
        // Of an agent that does not know the question only the first line is read.
        request.follows = false
        var client = try FeedClient(connectingTo: path, request: request)
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
        lines += (explanation["lines"]?.array ?? []).compactMap(\.string).map { "    \($0)" }
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
