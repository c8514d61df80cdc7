internal import Acting
internal import Actions
internal import Agent
internal import Glibc
internal import JSON
internal import Platform
internal import SystemBus

/// `vicinity proxy`: what every place for a proxy holds now, and how a user gets rid of it.
enum ProxyCommand: Subcommand {
    static let name = "proxy"
    static let operands = "status | reset"
    static let operandKinds: [WordKind] = [.words(["status", "reset"])]
    static let summary = "Tell what each place that programs take their proxy from holds now, or take ours away."
    static let options: [Arguments.Option] = [
        Arguments.Option("machine", nil, "reset: the machine's places, not the session's"),
        .format,
    ]

    static let notes = """
        status reads the machine's places and, as a user in a session, those of the session. "ours" is what the rule in force
        asks for by /run/vicinity/proxy.json; "foreign" somebody else set.

        reset takes away from the session's places what rules have set there and nobody has changed since, going by the
        session's journal. With --machine, or as root, it has the agent take away what rules have set in the machine's
        places (APT, variables, /run/vicinity/proxy.*); whoever is not root authenticates as an administrator
        (io.vicinity.manage). A rule that holds sets it anew when it is next entered, or when the network changes:
        `vicinity hold RULE off` keeps it away.

        Exit status: 0, 64 usage, 69 the agent does not run, 74 a place cannot be read or written, 77 there is no session
        of this user's, or you may not.
        """

    static func run(_ arguments: Arguments) throws -> Int32 {
        try arguments.expectOperands(1...1, "\"status\" or \"reset\"")
        switch arguments.operands.first {
        case "status": return try status(arguments)
        case "reset": return arguments.has("machine") || geteuid() == 0 ? try resetMachine() : resetSession()
        default: throw UsageError(description: "expected \"status\" or \"reset\"")
        }
    }

    private static func resetMachine() throws -> Int32 {
        let outcome = try ManagerCall("ResetProxy").outcome()
        guard case .answered(let values) = outcome else { return ManagerCall.report(outcome) }
        let lines = (values.first?.text ?? "").split(separator: "\n")
        for line in lines { Output.line(String(line).terminalText) }
        if lines.isEmpty { Output.line("nothing of ours in the machine's places") }
        return 0
    }

    private static func resetSession() -> Int32 {
        guard let state = SessionProgram.stateDirectory else {
            Output.error("there is no session of this user's; --machine resets the machine's places")
            return 77
        }
        let loop = ActionActor.shared.loop
        let end = Lock<Int32>(0)
        let variables = environment
        Task { @ActionActor in
            let bus = Bus(.user)
            let session = SessionProxyPlaces(
                variables: variables, bus: bus, manager: ServiceManager(bus, isOfUser: true))
            do throws(JournalError) {
                let rows = try await ProxyReset.run(in: session, journal: "\(state)/journal.json")
                for row in rows {
                    if let line = row.line { Output.line(line) }
                    if let problem = row.problem {
                        Output.error(problem)
                        end.withLock { $0 = 74 }
                    }
                }
                if rows.allSatisfy({ $0.removed.isEmpty && $0.problem == nil }) {
                    Output.line("nothing of ours in this session")
                }
            } catch {
                Output.error("\(error); what is ours is not known")
                end.withLock { $0 = 74 }
            }
            loop.stop()
        }
        loop.run()
        return end.withLock { $0 }
    }

    private static func status(_ arguments: Arguments) throws -> Int32 {
        let format = try arguments.choice("format", OutputFormat.self) ?? .text
        let loop = ActionActor.shared.loop
        let end = Lock<Int32>(0)
        let variables = environment
        let isRoot = geteuid() == 0
        Task { @ActionActor in
            let bus = Bus(.user)
            let session = SessionProxyPlaces(
                variables: variables, bus: bus, manager: ServiceManager(bus, isOfUser: true))
            let names = ProxySurvey.machine + (isRoot ? [] : ProxySurvey.session)
            let survey = await ProxySurvey(names, in: session, machine: MachineProxyPlaces())
            print(survey, format)
            if survey.rows.contains(where: { $0.state == .unreadable }) { end.withLock { $0 = 74 } }
            loop.stop()
        }
        loop.run()
        return end.withLock { $0 }
    }

    @ActionActor private static func print(_ survey: ProxySurvey, _ format: OutputFormat) {
        if format == .json {
            var writer = JSONWriter()
            survey.write(to: &writer)
            return Output.write(writer.octets[...])
        }
        var table = Table(["PLACE", "STATE", "HOLDS", "NOT SEEN BY"])
        for row in survey.rows {
            let held = row.values.sorted { $0.key < $1.key }.map { "\($0.key)=\($0.value)" }
            let isSet = row.state == .ours || row.state == .foreign
            let lines = row.problem.map { [$0] } ?? (held.isEmpty ? [""] : held)
            for (index, line) in lines.enumerated() {
                let isFirst = index == 0
                table.add([
                    isFirst ? row.place.description : "", isFirst ? row.state.rawValue : "", line,
                    isFirst && isSet ? row.blind : "",
                ])
            }
        }
        for line in table.lines(within: Output.width) { Output.line(line) }
    }

    /// Those that say where the session keeps its things.
    private static var environment: [String: String] {
        var found: [String: String] = [:]
        for name in SessionProxyPlaces.passed + ["XDG_CONFIG_DIRS", "XDG_CURRENT_DESKTOP"] {
            if let value = unsafe getenv(name) { found[name] = unsafe String(cString: value) }
        }
        return found
    }
}
