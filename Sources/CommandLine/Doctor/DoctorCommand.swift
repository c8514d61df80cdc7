internal import Agent
internal import JSON
internal import Synchronization

/// `vicinity doctor`: is everything as it must be?
enum DoctorCommand: Subcommand {
    static let name = "doctor"
    static let operands = ""
    static let summary = "Look at each thing that must be right, and tell what to do about what is not."
    static let options: [Arguments.Option] = [.format, .socket]
    static let notes = """
        ok is as it must be; a note is good to know; a warning works, but not all of it or not safely; a failure does not
        work. It changes nothing and starts nothing. As root it sees more.

        The JSON is one object with failures and warnings, two numbers, and checks, a list of objects with subject, status,
        text and remedy, which is null where there is nothing to do.

        Exit status: 0 without a failure, 1 with one, 64 usage.
        """
    static let examples = [
        (line: "sudo vicinity doctor", meaning: "everything that only root can see included")
    ]

    static func run(_ arguments: Arguments) throws -> Int32 {
        try arguments.expectOperands(0...0, "nothing but options")
        let format = try arguments.choice("format", OutputFormat.self) ?? .text
        let facts = DoctorFacts.gather(socket: arguments["socket"] ?? AgentPaths.defaultSocket)
        return report(DoctorChecks.findings(facts), format)
    }

    /// - Returns: the exit status.
    static func report(_ findings: [DoctorFinding], _ format: OutputFormat) -> Int32 {
        let status: Int32 = findings.contains { $0.status == .failure } ? 1 : 0
        Output.abandonedStatus.store(status, ordering: .relaxed)
        switch format {
        case .text:
            for line in text(findings, width: Output.width, isColored: Output.isColored) { Output.line(line) }
        case .json: Output.write(json(findings)[...])
        }
        return status
    }

    static func text(_ findings: [DoctorFinding], width: Int?, isColored: Bool) -> [String] {
        var screen = Screen(width: width, isColored: isColored)
        for finding in findings {
            let paint: Screen.Paint =
                switch finding.status {
                case .ok: .good
                case .note: .plain
                case .warning: .notable
                case .failure: .bad
                }
            // Blanks within: the words after the title wrap, the title does not.
            screen.add(finding.status.rawValue, "\(finding.subject): \(finding.text)".terminalText, paint)
            if let remedy = finding.remedy { screen.add("", "  " + "do: \(remedy)".terminalText) }
        }
        let failures = findings.count { $0.status == .failure }
        let warnings = findings.count { $0.status == .warning }
        let end =
            failures + warnings == 0
            ? "everything is as it must be"
            : "\(failures) failure\(failures == 1 ? "" : "s"), \(warnings) warning\(warnings == 1 ? "" : "s")"
        screen.add("", end, failures > 0 ? .bad : warnings > 0 ? .notable : .good)
        return screen.lines
    }

    static func json(_ findings: [DoctorFinding]) -> [UInt8] {
        var writer = JSONWriter(reserving: 4_096)
        writer.object { writer in
            writer.array("checks") { writer in
                for finding in findings {
                    writer.object { writer in
                        writer.field("subject", finding.subject)
                        writer.field("status", finding.status.rawValue)
                        writer.field("text", finding.text)
                        writer.field("remedy", finding.remedy)
                    }
                }
            }
            writer.field("failures", findings.count { $0.status == .failure })
            writer.field("warnings", findings.count { $0.status == .warning })
        }
        writer.endLine()
        return writer.octets
    }
}
