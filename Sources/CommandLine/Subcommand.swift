/// A subcommand of `vicinity`.
///
/// All that is said of it here is said once: the parser, the help, the completions of shells and the check of the manual
/// go by it.
protocol Subcommand {
    static var name: String { get }
    /// As in a usage line; `…` at the end where the last one may be repeated.
    static var operands: String { get }
    /// What the operands stand for, one by one.
    static var operandKinds: [WordKind] { get }
    static var summary: String { get }
    static var options: [Arguments.Option] { get }
    /// What its help says besides.
    static var notes: String { get }
    /// Command lines that can be copied, and what they do.
    static var examples: [(line: String, meaning: String)] { get }
    /// - Returns: the exit status, sysexits(3).
    static func run(_ arguments: Arguments) throws -> Int32
}

extension Subcommand {
    static var operandKinds: [WordKind] { [] }
    static var notes: String { "" }
    static var examples: [(line: String, meaning: String)] { [] }

    /// What its notes say of the exit status, without the words that begin it.
    static var exitStatus: String? {
        paragraphs.last { $0.hasPrefix(statusHead) }.map { String($0.dropFirst(statusHead.count)) }
    }

    /// What they say besides.
    static var explanations: [String] { paragraphs.filter { !$0.hasPrefix(statusHead) } }

    /// Without a search for "\n\n", which would bring the parser of regular expressions into the program.
    private static var paragraphs: [String] {
        notes.split(separator: "\n", omittingEmptySubsequences: false).split(separator: "").map {
            $0.joined(separator: "\n")
        }
    }

    static var usage: String {
        (["vicinity", name] + (options.isEmpty ? [] : ["[OPTION…]"]) + (operands.isEmpty ? [] : [operands]))
            .joined(separator: " ")
    }
}

private let statusHead = "Exit status: "

/// How lines of the feed are printed.
enum OutputFormat: String, CaseIterable {
    case json, text
}

extension Arguments.Option {
    static let format = Arguments.Option(
        "format", "FORMAT", "json or text (the default)", .one(of: OutputFormat.self))
    static let socket = Arguments.Option("socket", "PATH", "the agent's socket", .file)
}
