internal import Glibc
internal import WiFi

/// A subcommand of `vicinity`.
protocol Subcommand {
    static var name: String { get }
    static var operands: String { get }
    static var summary: String { get }
    static var options: [Arguments.Option] { get }
    /// What its help says besides.
    static var notes: String { get }
    /// - Returns: the exit status, sysexits(3).
    static func run(_ arguments: Arguments) throws -> Int32
}

extension Subcommand {
    static var notes: String { "" }
}

/// `vicinity`: everything a person or a script asks of Vicinity.
public enum VicinityCommand {
    private static var subcommands: [any Subcommand.Type] {
        [
            WatchCommand.self, StatusCommand.self, WhyCommand.self, RulesCommand.self, CheckCommand.self,
            SimulateCommand.self, HoldCommand.self, ReleaseCommand.self, RunCommand.self, ProxyCommand.self,
            PermissionCommand.self,
            RecordCommand.self, ReplayCommand.self, ReloadCommand.self, SessionCommand.self, VersionCommand.self,
        ]
    }

    /// - Parameter arguments: with the program's name as the first.
    /// - Returns: the exit status: 0, 64 for usage (`EX_USAGE`), or what the command documents.
    public static func run(_ arguments: [String]) -> Int32 {
        // Writing to a reader that went away is answered by an error, not by a signal.
        signal(SIGPIPE, SIG_IGN)
        let words = arguments.dropFirst()
        guard let name = words.first, name != "help", name != "--help", name != "-h" else {
            guard let topic = words.dropFirst().first else {
                Output.line(help)
                return words.isEmpty ? 64 : 0
            }
            guard let command = subcommands.first(where: { $0.name == topic }) else { return unknown(topic) }
            Output.line(help(for: command))
            return 0
        }
        if name == "--version" { return VersionCommand.printVersion() }
        guard let command = subcommands.first(where: { $0.name == name }) else { return unknown(name) }
        if words.contains("--help") || words.contains("-h") {
            Output.line(help(for: command))
            return 0
        }
        do {
            return try command.run(try Arguments(words.dropFirst(), knowing: command.options))
        } catch let error as UsageError {
            Output.error("\(error.description)\nusage: \(usage(of: command))")
            return 64
        } catch {
            Output.error("\(error)")
            return 1
        }
    }

    private static func unknown(_ name: String) -> Int32 {
        Output.error("unknown command \(name.utf8.displayText); `vicinity help` lists them")
        return 64
    }

    private static func usage(of command: any Subcommand.Type) -> String {
        "vicinity \(command.name)\(command.options.isEmpty ? "" : " [OPTION…]")\(command.operands.isEmpty ? "" : " ")"
            + command.operands
    }

    private static func help(for command: any Subcommand.Type) -> String {
        var lines = filled(command.summary, after: "", at: 0) + ["", "usage: \(usage(of: command))"]
        if !command.options.isEmpty { lines.append("") }
        for option in command.options {
            lines += filled(option.help, after: "  --\(option.name)\(option.value.map { " \($0)" } ?? "")", at: 28)
        }
        for paragraph in command.notes.split(separator: "\n\n") { lines += [""] + filled(paragraph, after: "", at: 0) }
        return lines.joined(separator: "\n")
    }

    /// Text in lines of 80 columns, of which the first begins with `head` and all others with so many blanks.
    private static func filled(_ text: some StringProtocol, after head: String, at indent: Int) -> [String] {
        func blanks(_ count: Int) -> String { String(repeating: " ", count: count) }
        var lines = [head + blanks(max(indent - head.count, head.isEmpty ? 0 : 1))]
        var isEmpty = true
        for word in text.split(whereSeparator: { $0 == " " || $0 == "\n" }) {
            if !isEmpty, lines[lines.count - 1].count + 1 + word.count > 80 {
                lines.append(blanks(indent))
                isEmpty = true
            }
            lines[lines.count - 1] += (isEmpty ? "" : " ") + word
            isEmpty = false
        }
        return lines
    }

    private static var help: String {
        var lines = [
            "Vicinity knows where this machine is, and what shall hold there.", "", "usage: vicinity COMMAND [OPTION…]",
            "",
        ]
        for command in subcommands {
            lines += filled(command.summary, after: "  \(command.name)", at: 12)
        }
        lines += ["", "`vicinity help COMMAND` tells more."]
        return lines.joined(separator: "\n")
    }
}

/// How lines of the feed are printed.
enum OutputFormat: String, CaseIterable {
    case json, text
}
