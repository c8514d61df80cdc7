internal import Agent
internal import JSON
internal import Rules

/// `vicinity check`: are the rule files right?
enum CheckCommand: Subcommand {
    static let name = "check"
    static let operands = "[FILE…]"
    static let summary = "Check rule files; without a file, those that the agent reads."
    static let options: [Arguments.Option] = [
        .init("format", "FORMAT", "json or text (the default)")
    ]

    static func run(_ arguments: Arguments) throws -> Int32 {
        let format = try arguments.choice("format", OutputFormat.self) ?? .text
        let files =
            arguments.operands.isEmpty ? RuleFiles(trust: .root) : RuleFiles(paths: arguments.operands)
        let diagnostics = RuleSet.load(files, reviewing: true).diagnostics
        switch format {
        case .text: for diagnostic in diagnostics { Output.line(diagnostic.description) }
        case .json: Output.write(json(diagnostics)[...])
        }
        // EX_DATAERR
        return diagnostics.contains { $0.severity == .error } ? 65 : 0
    }

    private static func json(_ diagnostics: [Diagnostic]) -> [UInt8] {
        var writer = JSONWriter()
        writer.object { writer in
            writer.array("diagnostics") { writer in
                for diagnostic in diagnostics {
                    writer.object { writer in
                        writer.field("file", diagnostic.file)
                        writer.field("line", diagnostic.line)
                        writer.field("column", diagnostic.column)
                        writer.field("severity", diagnostic.severity.rawValue)
                        writer.field("code", diagnostic.code.rawValue)
                        writer.field("message", diagnostic.message)
                    }
                }
            }
        }
        writer.endLine()
        return writer.octets
    }
}
