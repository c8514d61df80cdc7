internal import Agent
internal import Analytics
internal import CPlatform
internal import Feed
internal import Glibc
internal import Hashing
internal import InstalledRules
internal import JSON
internal import Platform
internal import Rules
internal import SystemBus
internal import WiFi

/// `vicinity analytics`: what is written about where this machine was, with which key names are hashed, and who agrees.
enum AnalyticsCommand: Subcommand {
    static let name = "analytics"
    static let operands = "[status | hash TEXT | rotate-key | purge | consent yes|no]"
    static let summary = "Tell what is written about where this machine was, agree or object, hash a name, purge."
    static let operandKinds: [WordKind] = [
        .words(["status", "hash", "rotate-key", "purge", "consent"]), .usually(["yes", "no"]),
    ]
    static let options: [Arguments.Option] = [
        .format,
        .init("hex", nil, "hash: TEXT is hexadecimal digits"),
        .init("history", nil, "purge: the history as well"),
        .init("config", "DIR", "of another agent than the machine's: its configuration", .directory),
        .init("state-directory", "DIR", "and its state", .directory),
        .init("log-directory", "DIR", "and its logs", .directory),
        .socket,
    ]
    static let notes = """
        hash prints what the log would hold for a Wi-Fi network of that name: sha256: and the SHA-256 of its octets where a
        rule file lists it and it is not private, hmac-sha256:, the key's identifier and the HMAC otherwise, and nomap for
        names with _nomap or _optout in them. It reads the key, which takes root or the agent's own user; where there is
        none yet, it is made. The agent is not asked.

        consent says whether you want it written where this machine is while you are logged in at it; of several people the
        strictest counts, and nobody can say it for you. What was written before stays until it is too old or purged.

        rotate-key destroys the key of this host and makes another; purge deletes the log and, with --history, the history.
        Both take root, or polkit's yes to io.vicinity.manage.

        Exit status: 0, 64 usage, 65 mistakes in the files or no name of a network, 69 the agent or the system bus does not
        answer, 74 it cannot be kept, 77 you may not.
        """
    static let examples = [
        (line: "vicinity analytics consent no", meaning: "nothing is written while you are logged in"),
        (line: "sudo vicinity analytics hash -- 'Seven Oaks'", meaning: "what stands for that name in the log"),
    ]

    static func run(_ arguments: Arguments) throws -> Int32 {
        let format = try arguments.choice("format", OutputFormat.self) ?? .text
        let words = arguments.operands
        switch (words.first ?? "status", words.count) {
        case ("status", ...1): return try status(format)
        case ("hash", 2): return try hash(words[1], arguments)
        case ("hash", 1): throw UsageError(description: "which name? `vicinity analytics hash -- NAME`")
        case ("rotate-key", 1): return try rotateKey(arguments)
        case ("purge", 1): return try purge(arguments)
        case ("consent", 2) where ["yes", "no"].contains(words[1]): return try consent(words[1] == "yes")
        case ("consent", _): throw UsageError(description: "consent is yes or no")
        case ("hash", _), ("rotate-key", _), ("purge", _), ("status", _):
            throw UsageError(description: "\((words.last ?? "").utf8.displayText) is one argument too many")
        case (let word, _):
            let known = ["status", "hash", "rotate-key", "purge", "consent"]
            throw UsageError(
                description: "expected status, hash TEXT, rotate-key, purge or consent, not \(word.utf8.displayText)"
                    + Spelling.hint(for: word, among: known))
        }
    }

    /// Whose files it is about; the machine's unless something else is said.
    private static func paths(_ arguments: Arguments) throws(UsageError) -> AgentPaths {
        var paths = AgentPaths()
        for (option, path) in [
            ("config", \AgentPaths.configuration), ("state-directory", \.state), ("log-directory", \.logs),
        ] as [(String, WritableKeyPath<AgentPaths, String>)] {
            guard let directory = arguments[option] else { continue }
            guard directory.hasPrefix("/") else { throw UsageError(description: "--\(option) needs an absolute path") }
            paths[keyPath: path] = directory
        }
        return paths
    }

    private static func isMachines(_ paths: AgentPaths) -> Bool { paths.state == AgentPaths().state }

    // MARK: hash

    private static func hash(_ text: String, _ arguments: Arguments) throws -> Int32 {
        // The key is about to be in here.
        vicinity_refuse_core_dumps()
        let paths = try paths(arguments)
        let ssid: SSID?
        if arguments.has("hex") {
            guard text.utf8.count.isMultiple(of: 2), text.allSatisfy({ $0.isASCII && $0.isHexDigit }) else {
                throw UsageError(description: "--hex takes an even number of hexadecimal digits")
            }
            ssid = SSID(hexadecimal: text)
        } else {
            ssid = SSID(octets: octets(of: text))
        }
        guard let ssid else {
            Output.error("the name of a Wi-Fi network has at most \(SSID.maximumLength) octets")
            return 65
        }
        guard let (configuration, ruleSet) = load(paths) else { return 65 }
        do {
            let key = try key(paths, configuration)
            Output.line(NameHashing(ruleSet, configuration, key: key).logged(ssid))
            return 0
        } catch let error as SystemError
            where [EACCES, EPERM].contains(error.code) || geteuid() != 0 && error.isMissing
        {
            Output.error("\(error)\nreading the key takes root, or the agent's own user")
            return 77
        } catch let error as HashKeyError {
            Output.error("\(error)".terminalText)
            return 77
        }
    }

    /// The octets of a word of the command line: as text, what is no UTF-8 would not be what it was.
    private static func octets(of word: String) -> [UInt8] {
        let text = Array(word.utf8)
        for index in (0..<Int(CommandLine.argc)).reversed() {
            guard let argument = unsafe CommandLine.unsafeArgv[index] else { continue }
            let octets = unsafe Array(UnsafeBufferPointer(start: argument, count: strlen(argument))).map {
                UInt8(bitPattern: $0)
            }
            if Array(String(decoding: octets, as: UTF8.self).utf8) == text { return octets }
        }
        return text
    }

    /// The files that the agent goes by; nil where they have mistakes, which are told.
    private static func load(_ paths: AgentPaths) -> (AnalyticsConfiguration, RuleSet)? {
        let directories = paths.ruleDirectories
        let (configuration, wrong) = AgentConfiguration.load(
            RuleFiles.configuration(in: directories.configuration, trust: directories.trust))
        let result = RuleSet.load(RuleFiles(directories: directories.rules, trust: directories.trust))
        let errors = (wrong + result.diagnostics).filter { $0.severity == .error }
        for error in errors { Output.diagnostic(error.description) }
        guard let configuration, let ruleSet = result.ruleSet else {
            if errors.isEmpty { Output.error("the files cannot be read") }
            return nil
        }
        return (configuration.analytics, ruleSet)
    }

    private static func key(_ paths: AgentPaths, _ configuration: AnalyticsConfiguration) throws -> HashKey {
        if configuration.scope == .organisation {
            return try HashKey.organisations(file: configuration.keyFile)
        }
        try AgentIdentity.assume(of: paths.state)
        let loaded = try HashKey.kept(paths.hashKey)
        if let problem = loaded.problem { Output.error(problem.terminalText) }
        return loaded.key
    }

    // MARK: rotate-key, purge

    private static func rotateKey(_ arguments: Arguments) throws -> Int32 {
        let paths = try paths(arguments)
        let asked = try ask("RotateHashKey", [], paths) { values in
            Output.line("names are hashed with the new key \((values.first?.text ?? "").utf8.displayText)")
        }
        if let asked { return asked }
        guard let (configuration, _) = load(paths) else { return 65 }
        guard configuration.scope == .host else {
            Output.error("names are hashed with the organisation's key, which whoever hands it out has to renew")
            return 77
        }
        vicinity_refuse_core_dumps()
        try AgentIdentity.assume(of: paths.state)
        let key = try HashKey.rotate(paths.hashKey)
        Output.line("names are hashed with the new key \(key.identifier)")
        signalAgent(at: arguments["socket"] ?? (isMachines(paths) ? AgentPaths.defaultSocket : nil))
        return 0
    }

    /// Has one that runs, and is not on the bus, read the key again.
    private static func signalAgent(at path: String?) {
        var request = FeedRequest()
        request.follows = false
        guard let path, var client = try? FeedClient(connectingTo: path, request: request, patience: 5),
            // One that has answered takes signals.
            client.next() != nil, let agent = try? client.peer().process, agent > 1
        else { return }
        if kill(agent, SIGHUP) != 0 {
            Output.error("the agent that runs cannot be told: `vicinity reload` has it read the key again")
        }
    }

    private static func purge(_ arguments: Arguments) throws -> Int32 {
        let paths = try paths(arguments)
        func tell(_ count: Int) { Output.line(count == 1 ? "1 file deleted" : "\(count) files deleted") }
        let flag = BusArgument.flag(arguments.has("history"))
        let asked = try ask("PurgeAnalytics", [flag], paths) { tell(Int($0.first?.number ?? 0)) }
        if let asked { return asked }
        try AgentIdentity.assume(of: paths.state)
        var count = try AnalyticsLog(path: paths.analytics).purge()
        if arguments.has("history") { count += try HistoryLog(path: paths.history).purge() }
        tell(count)
        return 0
    }

    /// Has the agent do it.
    ///
    /// - Returns: the exit status; nil where there is no agent to ask and this process may do it itself.
    private static func ask(
        _ method: String, _ arguments: [BusArgument], _ paths: AgentPaths, _ told: ([BusValue]) -> Void
    ) throws -> Int32? {
        guard isMachines(paths) else { return nil }
        let outcome = try ManagerCall(method, arguments).outcome()
        switch outcome {
        case .answered(let values):
            told(values)
            return 0
        case .noBus where geteuid() == 0, .noAgent where geteuid() == 0: return nil
        default: return ManagerCall.report(outcome)
        }
    }

    // MARK: consent, status

    private static func consent(_ isGiven: Bool) throws -> Int32 {
        let outcome = try ManagerCall("SetAnalyticsConsent", [.flag(isGiven)]).outcome()
        if case .answered = outcome {
            Output.line(
                isGiven
                    ? "you agree: `vicinity analytics status` shows what is written"
                    : "you object: nothing is written while you are logged in at this machine")
        }
        return ManagerCall.report(outcome)
    }

    private static func status(_ format: OutputFormat) throws -> Int32 {
        let outcome = try ManagerCall("AnalyticsStatus").outcome()
        guard case .answered(let values) = outcome else { return ManagerCall.report(outcome) }
        let octets = Array((values.first?.text ?? "").utf8)
        guard let status = try? JSONValue(parsing: octets, maximumSize: 1 << 16) else {
            Output.error("the agent's answer cannot be understood")
            return 69
        }
        switch format {
        case .json: Output.write((octets + [UInt8(ascii: "\n")])[...])
        case .text: for line in text(status, width: Output.width, isColored: Output.isColored) { Output.line(line) }
        }
        return 0
    }

    static func text(_ status: JSONValue, width: Int?, isColored: Bool) -> [String] {
        var screen = Screen(width: width, isColored: isColored)
        func word(_ key: String) -> String? { status[key]?.string?.terminalText }
        let isWriting = status["writing"]?.bool == true
        screen.add(
            "written", isWriting ? "yes, to \(word("file") ?? "?")" : "no: \(word("because") ?? "nobody says why")",
            isWriting ? .plain : .notable)
        let answer = word("your_consent")
        screen.add(
            "you",
            answer == nil ? "have not said anything; `vicinity analytics consent yes|no`" : "said \(answer ?? "")")
        if let consent = word("consent") { screen.add("consent", consent) }
        if let hash = word("hash"), let scope = word("scope"), let key = word("key") {
            let until = word("key_until").map { ", until \($0)" } ?? ""
            screen.add("names", "\(hash), key \(key) of the \(scope)\(until)")
        }
        if let minutes = status["granularity_minutes"]?.integer, let days = status["retention_days"]?.integer {
            screen.add("times", "to \(minutes) min, kept for \(days) days")
        }
        return screen.lines
    }
}
