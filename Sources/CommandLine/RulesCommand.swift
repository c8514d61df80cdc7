internal import Agent
internal import JSON
internal import Feed
internal import Platform
internal import Rules
internal import WiFi

/// `vicinity rules`: what the rule files say, and what of it holds now.
enum RulesCommand: Subcommand {
    static let name = "rules"
    static let operands = ""
    static let summary = "List the rules and networks of the rule files, and which of them hold now."
    static let options: [Arguments.Option] = [
        RuleSource.option,
        .format,
        .socket,
    ]
    static let notes = """
        What holds now is asked of the agent, where it answers; not of other files than its own, unless --socket is
        given as well.

        Exit status: 0, 64 usage, 65 mistakes in the rule files, 66 no such file.
        """

    static func run(_ arguments: Arguments) throws -> Int32 {
        try arguments.expectOperands(0...0, "nothing but options")
        let format = try arguments.choice("format", OutputFormat.self) ?? .text
        let ruleSet: RuleSet
        do throws(RuleSource.Failure) { ruleSet = try RuleSource.load(arguments["rules"]) } catch {
            return error.status
        }
        let isAsked = !arguments.has("rules") || arguments.has("socket")
        let present = isAsked ? Present(at: arguments["socket"] ?? AgentPaths.defaultSocket) : nil
        switch format {
        case .json: Output.write(json(ruleSet, present)[...])
        case .text:
            for line in text(ruleSet, present) { Output.line(line) }
            if AgentAbilities.leavesOut(ruleSet.rules) { Output.line("\nnote: \(AgentAbilities.limits)") }
        }
        return 0
    }

    /// What holds now, by the agent's word.
    private struct Present {
        private var rules: Set<String> = []
        private var networks: Set<String> = []
        /// Whether there is more than was told.
        private var isCut = false

        /// Nil where no agent answers, or we may not know.
        init?(at path: String) {
            guard let answer = try? AgentAnswer(to: "", at: path), answer.isAnswered, !answer.isDenied else {
                return nil
            }
            for line in answer.lines {
                guard let value = try? JSONValue(parsing: line, maximumSize: 2 * FeedLine.maximumLength),
                    let explanation = value["explanation"], let name = explanation["name"]?.string
                else { continue }
                switch explanation["kind"]?.string {
                case "rule": rules.insert(name)
                case "network": networks.insert(name)
                default: break
                }
                isCut = isCut || explanation["omitted"] != nil
            }
        }

        func holds(_ rule: Rule) -> Bool? { rules.contains(rule.name) ? true : isCut ? nil : false }

        func isOn(_ network: NetworkDefinition) -> Bool? {
            networks.contains(network.name) ? true : isCut ? nil : false
        }
    }

    // MARK: JSON

    private static func json(_ ruleSet: RuleSet, _ present: Present?) -> [UInt8] {
        var writer = JSONWriter(reserving: 4_096)
        writer.object { writer in
            writer.array("rules") { writer in
                for rule in ruleSet.rules {
                    writer.object { writer in
                        writer.field("name", rule.name)
                        write(present?.holds(rule), "holds", to: &writer)
                        writer.field("when", rule.condition.description)
                        writer.field("enabled", rule.isEnabled)
                        writer.field("observe", rule.isObserving)
                        writer.field("priority", rule.priority)
                        writer.field("settle_ms", rule.settle / 1_000)
                        writer.field("ready", rule.readiness.rawValue)
                        writer.field("timed", !rule.times.isEmpty)
                        writer.field("accepts_weak_evidence", rule.acceptedWeakness != nil)
                        write(rule.states.map { ($0.value.kind, $0.value.summary) }, "hold", to: &writer)
                        write(rule.enter.map { ($0.value.kind, $0.value.summary) }, "enter", to: &writer)
                        write(rule.leave.map { ($0.value.kind, $0.value.summary) }, "leave", to: &writer)
                        writer.field("file", rule.location.file)
                        writer.field("line", rule.location.line)
                    }
                }
            }
            writer.array("networks") { writer in
                for network in ruleSet.networks {
                    writer.object { writer in
                        writer.field("name", network.name)
                        write(present?.isOn(network), "on", to: &writer)
                        writer.array("evidence") { for kind in network.evidenceKinds { $0.string(kind) } }
                        writer.field("highest_assurance", network.highestAssurance.description)
                        writer.field("private", network.isPrivate)
                        writer.field("file", network.location.file)
                        writer.field("line", network.location.line)
                    }
                }
            }
        }
        writer.endLine()
        return writer.octets
    }

    private static func write(_ value: Bool?, _ key: StaticString, to writer: inout JSONWriter) {
        writer.key(key)
        if let value { writer.bool(value) } else { writer.null() }
    }

    private static func write(
        _ actions: [(kind: String, summary: String)], _ key: StaticString, to writer: inout JSONWriter
    ) {
        writer.array(key) { writer in
            for action in actions {
                writer.object { writer in
                    writer.field("kind", action.kind)
                    writer.field("summary", action.summary)
                }
            }
        }
    }

    // MARK: Text

    private static func text(_ ruleSet: RuleSet, _ present: Present?) -> [String] {
        var rules = Table(["RULE", "NOW", "WHEN", "DOES", "BESIDES", "FILE"])
        for rule in ruleSet.rules {
            rules.add([
                rule.name, word(present?.holds(rule), "holds", "-", isAsked: present != nil),
                rule.condition.description, effects(of: rule), particulars(of: rule), place(rule.location),
            ])
        }
        var networks = Table(["NETWORK", "NOW", "BY", "AT MOST", "BESIDES", "FILE"])
        for network in ruleSet.networks {
            networks.add([
                network.name, word(present?.isOn(network), "here", "-", isAsked: present != nil),
                network.evidenceKinds.joined(separator: ", "), network.highestAssurance.description,
                network.isPrivate ? "private" : "", place(network.location),
            ])
        }
        var lines = rules.isEmpty ? ["no rules"] : rules.lines(within: Output.width)
        if !networks.isEmpty { lines += [""] + networks.lines(within: Output.width) }
        return lines
    }

    private static func word(_ value: Bool?, _ yes: String, _ no: String, isAsked: Bool) -> String {
        isAsked ? value.map { $0 ? yes : no } ?? "?" : ""
    }

    private static func place(_ location: SourceLocation) -> String {
        "\(location.file.split(separator: "/").last ?? "?"):\(location.line)"
    }

    private static func effects(of rule: Rule) -> String {
        let parts =
            rule.states.map(\.value.summary) + rule.enter.map { "then \($0.value.summary)" }
            + rule.leave.map { "at the end \($0.value.summary)" }
        return parts.isEmpty ? "only tells" : parts.joined(separator: "; ")
    }

    /// What is not as it is by default.
    private static func particulars(of rule: Rule) -> String {
        var parts: [String] = []
        if !rule.isEnabled { parts.append("disabled") }
        if rule.isObserving { parts.append("observes") }
        if rule.priority != 0 { parts.append("priority \(rule.priority)") }
        if rule.settle != Rule.defaultSettle { parts.append("settles in \(DurationText.text(of: rule.settle))") }
        if rule.readiness != .address { parts.append("ready at \(rule.readiness.rawValue)") }
        if !rule.times.isEmpty { parts.append("at times") }
        if rule.acceptedWeakness != nil { parts.append("accepts weak evidence") }
        return parts.joined(separator: ", ")
    }
}
