internal import Agent
internal import JSON
internal import Platform
internal import Rules
internal import WiFi

/// `vicinity simulate`: what the rules would make of a place.
enum SimulateCommand: Subcommand {
    static let name = "simulate"
    static let operands = ""
    static let summary = "Tell what the rules would do at a place, without being there; needs no agent."
    static let options: [Arguments.Option] =
        SimulatedPlace.options + [
            .init("proven", "NETWORK", "its probe succeeds", .network, isRepeatable: true),
            .init("time", "MOMENT", "local time, such as \"mon 09:30\"; now unless given"),
            RuleSource.option,
            .format,
        ]
    static let notes = """
        The machine is taken to have been at the place long enough for everything to settle. What no option says is not
        known: it speaks for no network, and a network that lists it is undecided. Security is different, since every
        link has some: unless given it is "unknown", which no listed security allows. An address and a way to the
        internet are assumed, so that no rule waits for them, unless the address decides which network it is.

        Exit status: 0, 64 usage, 65 mistakes in the rule files, 66 no such file.
        """
    static let examples = [
        (line: "vicinity simulate --ssid Corp-Staff --security open", meaning: "what the rules make of an evil twin")
    ]

    static func run(_ arguments: Arguments) throws -> Int32 {
        try arguments.expectOperands(0...0, "nothing but options")
        let format = try arguments.choice("format", OutputFormat.self) ?? .text
        var place = try SimulatedPlace(arguments)
        let moment = try arguments.all("time", WeekMoment.form) { WeekMoment($0) }.last
        let ruleSet: RuleSet
        do throws(RuleSource.Failure) { ruleSet = try RuleSource.load(arguments["rules"]) } catch {
            return error.status
        }
        let proven = arguments.all("proven")
        for name in proven where ruleSet.network(named: name)?.probe == nil {
            throw UsageError(description: "--proven \(name.utf8.displayText) is no network with a probe")
        }
        if let note = place.assumeAddresses(for: ruleSet) { Output.error(note) }
        let simulation = Simulation(
            of: ruleSet, in: place.environment, proven: Set(proven), at: moment?.timestamp ?? .now())
        switch format {
        case .json: Output.write(json(simulation)[...])
        case .text:
            for line in text(simulation) { Output.wrapped(line) }
            if AgentAbilities.leavesOut(ruleSet.rules) { Output.line("note: \(AgentAbilities.limits)") }
        }
        return 0
    }

    // MARK: JSON

    private static func json(_ simulation: Simulation) -> [UInt8] {
        var writer = JSONWriter(reserving: 4_096)
        writer.object { writer in
            writer.array("networks") { writer in
                for verdict in simulation.judgement.verdicts { write(verdict, to: &writer) }
            }
            writer.array("rules") { writer in
                for state in simulation.rules {
                    writer.object { writer in
                        writer.field("name", state.rule.name)
                        writer.field("active", state.isActive)
                        writer.field("because", state.because)
                        writer.field("file", state.rule.location.file)
                        writer.field("line", state.rule.location.line)
                    }
                }
            }
            writer.array("actions") { writer in
                for action in simulation.planned {
                    writer.object { writer in
                        writer.field("rule", action.rule.name)
                        writer.field("edge", action.edge.rawValue)
                        writer.field("kind", action.kind)
                        writer.field("summary", action.summary)
                        writer.field("index", action.index)
                        if let skipped = action.skipped { writer.field("skipped", skipped) }
                    }
                }
            }
        }
        writer.endLine()
        return writer.octets
    }

    private static func write(_ verdict: Verdict, to writer: inout JSONWriter) {
        writer.object { writer in
            writer.field("name", verdict.name)
            writer.field("assurance", verdict.assurance.description)
            writer.array("matched_by") { kinds(verdict.agreeing, to: &$0) }
            writer.array("excluded_by") { kinds(verdict.truth == .no ? verdict.objections : [], to: &$0) }
            writer.array("undecided_by") { kinds(verdict.truth == .maybe ? verdict.objections : [], to: &$0) }
            writer.array("evidence") { writer in
                for evidence in verdict.agreeing { write(evidence, .yes, to: &writer) }
                for evidence in verdict.objections { write(evidence, verdict.truth, to: &writer) }
            }
        }
    }

    private static func kinds(_ evidence: [Evidence], to writer: inout JSONWriter) {
        var told: Set<String> = []
        for kind in evidence.map(\.kind) where told.insert(kind).inserted { writer.string(kind) }
    }

    private static func write(_ evidence: Evidence, _ truth: Truth, to writer: inout JSONWriter) {
        writer.object { writer in
            writer.field("kind", evidence.kind)
            writer.field("truth", "\(truth)")
            writer.field("detail", evidence.detail)
            if let location = evidence.location {
                writer.field("file", location.file)
                writer.field("line", location.line)
            }
        }
    }

    // MARK: Text

    private static func text(_ simulation: Simulation) -> [String] {
        var lines = ["networks"]
        for verdict in simulation.judgement.verdicts {
            let head =
                switch verdict.truth {
                case .yes: "+ \(verdict.name), \(verdict.assurance)"
                case .maybe: "? \(verdict.name), not known"
                case .no: "- \(verdict.name), excluded"
                }
            lines.append("  \(head)")
            lines += verdict.agreeing.map { "      + \($0)" }
            lines += verdict.objections.map { "      \(verdict.truth == .maybe ? "?" : "-") \($0)" }
        }
        lines.append("rules")
        let planned = Dictionary(grouping: simulation.planned) { $0.rule.name }
        for state in simulation.rules {
            lines.append("  \(state.isActive ? "+" : "-") \(state.rule.name) (\(state.rule.location))")
            lines.append("      \(state.because)")
            for action in planned[state.rule.name] ?? [] {
                let skipped = action.skipped.map { "; not done: \($0)" } ?? ""
                lines.append("      \(action.edge == .hold ? "holds" : "then"): \(action.summary)\(skipped)")
            }
        }
        if simulation.rules.isEmpty { lines.append("  none") }
        return lines.map(\.terminalText)
    }
}
