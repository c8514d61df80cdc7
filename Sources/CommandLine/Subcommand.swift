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
    /// - Returns: the exit status, sysexits(3).
    static func run(_ arguments: Arguments) throws -> Int32
}

extension Subcommand {
    static var operandKinds: [WordKind] { [] }
    static var notes: String { "" }

    static var usage: String {
        (["vicinity", name] + (options.isEmpty ? [] : ["[OPTION…]"]) + (operands.isEmpty ? [] : [operands]))
            .joined(separator: " ")
    }
}

/// How lines of the feed are printed.
enum OutputFormat: String, CaseIterable {
    case json, text
}

extension Arguments.Option {
    static let format = Arguments.Option(
        "format", "FORMAT", "json or text (the default)", .one(of: OutputFormat.self))
    static let socket = Arguments.Option("socket", "PATH", "the agent's socket", .file)
}
