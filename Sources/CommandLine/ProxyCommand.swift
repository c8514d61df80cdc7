internal import Actions
internal import Agent
internal import Glibc
internal import JSON
internal import Platform
internal import SystemBus

/// `vicinity proxy status`: what every place for a proxy holds now.
enum ProxyCommand: Subcommand {
    static let name = "proxy"
    static let operands = "status"
    static let summary = "Tell what each place that programs take their proxy from holds now."
    static let options: [Arguments.Option] = [
        .init("format", "FORMAT", "json or text (the default)")
    ]

    static let notes = """
        Reads the machine's places and, as a user in a session, those of the session. "ours" is what the rule in force
        asks for by /run/vicinity/proxy.json; "foreign" somebody else set.

        Exit status: 0, 64 usage, 74 a place cannot be read.
        """

    static func run(_ arguments: Arguments) throws -> Int32 {
        try arguments.expectOperands(1...1, "\"status\"")
        guard arguments.operands.first == "status" else { throw UsageError(description: "expected \"status\"") }
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
