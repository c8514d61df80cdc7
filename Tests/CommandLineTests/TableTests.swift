import Foundation
import JSON
import Testing

@testable import CommandLine

/// The table of commands, and what is made from it.
@Suite struct TableTests {
    static let root = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        .deletingLastPathComponent()

    private func text(_ path: String) throws -> String {
        try String(contentsOf: Self.root.appendingPathComponent(path), encoding: .utf8)
    }

    @Test func namesAreUniqueAndPlain() {
        let commands = CommandTable.commands
        #expect(Set(commands.map { $0.name }).count == commands.count)
        var hasValue: [String: Bool] = [:]
        for command in commands {
            #expect(Set(command.options.map(\.name)).count == command.options.count, "\(command.name)")
            #expect(command.operandKinds.isEmpty || !command.operands.isEmpty, "\(command.name)")
            for option in command.options {
                // Shells skip the values of options without asking which command they are of.
                #expect(hasValue[option.name, default: option.value != nil] == (option.value != nil), "\(option.name)")
                hasValue[option.name] = option.value != nil
                #expect(!option.help.isEmpty && !["help", "version"].contains(option.name))
            }
        }
        var words: [String] = []
        for command in commands {
            words.append(command.name)
            words += command.options.map(\.name)
            for kind in command.options.map(\.kind) + command.operandKinds { words += self.words(of: kind) }
        }
        let plain = Set("abcdefghijklmnopqrstuvwxyz0123456789-._*".utf8)
        for word in words { #expect(!word.isEmpty && plain.isSuperset(of: word.utf8), "\(word)") }
    }

    private func words(of kind: WordKind) -> [String] {
        switch kind {
        case .words(let words), .usually(let words): words
        default: []
        }
    }

    @Test(arguments: [40, 60, 80]) func theHelpFits(width: Int) {
        let texts = [Help.overview(within: width)] + CommandTable.commands.map { Help.text(of: $0, within: width) }
        for text in texts {
            for line in text.split(separator: "\n") {
                // One word can be longer than what is left beside the options.
                let words = line.split(separator: " ")
                #expect(line.count <= width || words.count == 1, "\(line)")
            }
        }
    }

    @Test func theHelpTellsEveryOptionAndTheStatuses() {
        for command in CommandTable.commands {
            let help = Help.text(of: command, within: 80)
            for option in command.options { #expect(help.contains("\n  --\(option.name)"), "\(option.name)") }
        }
    }

    @Test func typesAreThoseOfTheSchema() throws {
        let schema = try JSONValue(
            parsing: Array(try text("Config/schema/event.schema.json").utf8), maximumSize: 1 << 20)
        let types = schema["properties"]?["type"]?["enum"]?.array?.compactMap(\.string) ?? []
        // No reader of the feed gets these for a filter.
        #expect(Set(types) == Set(FeedTypes.all + ["explanation", "replay.finished"]))
    }

    @Test func theReadMeHasEveryCommand() throws {
        let table = try text("README.md").split(separator: "\n").filter { $0.hasPrefix("| `vicinity ") }.joined()
        for command in CommandTable.commands where !["session", "help", "version"].contains(command.name) {
            #expect(table.contains("`vicinity \(command.name)"), "\(command.name)")
        }
    }

    // MARK: Parsing

    private func parse(_ words: String...) throws(UsageError) -> Arguments {
        try Arguments(words, knowing: WatchCommand.options)
    }

    @Test func optionsAndOperandsMix() throws {
        let arguments = try parse("a", "--type=wifi.*", "--direct", "b", "--", "--format", "-x")
        #expect(arguments.operands == ["a", "b", "--format", "-x"] && arguments.has("direct"))
        #expect(arguments["type"] == "wifi.*" && arguments["format"] == nil && !arguments.wantsHelp)
        #expect(try parse("--type", "--help")["type"] == "--help")
        #expect(try parse("a", "--help", "--nonsense").wantsHelp)
        #expect(try parse("-h").wantsHelp)
        #expect(try parse("--", "--help").operands == ["--help"])
    }

    @Test(
        arguments: [
            (["--frmat", "json"], "unknown option --frmat; did you mean --format?"),
            (["--format", "jsno"], "--format is one of json, text, not jsno; did you mean \"json\"?"),
            (["--format", "\u{1b}[2J"], "--format is one of json, text, not \\x1b[2J"),
            (["--format"], "--format needs FORMAT"), (["--direct=yes"], "--direct takes no value"),
            (["--\u{202e}"], "unknown option --\\xe2\\x80\\xae"), (["-f"], "unknown option -f"),
            (["--help=yes"], "unknown option --help; did you mean --help?"),
        ])
    func whatIsWrongIsNamed(words: [String], complaint: String) {
        #expect(throws: UsageError.self) { try Arguments(words, knowing: WatchCommand.options) }
        do { _ = try Arguments(words, knowing: WatchCommand.options) } catch { #expect(error.description == complaint) }
    }

    @Test func unknownCommandsAreGuessed() {
        for (word, hint) in [("staus", "; did you mean \"status\"?"), ("xyzzy", ""), ("\u{7}", "")] {
            do { _ = try CommandTable.command(named: word) } catch {
                #expect(error.description == "unknown command \(word == "\u{7}" ? "\\x07" : word)\(hint)")
            }
        }
    }
}
