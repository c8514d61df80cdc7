internal import Rules
internal import WiFi

/// A command line that cannot be followed: what is wrong with it, and how it should be.
struct UsageError: Error, CustomStringConvertible {
    let description: String
}

/// The words after a command, taken apart: `--name value`, `--name=value`, `--flag` and operands; `--` ends options.
struct Arguments {
    /// An option that a command knows.
    struct Option {
        let name: String
        /// What stands for its value in the help; nil for a flag.
        let value: String?
        let help: String
        let kind: WordKind
        let isRepeatable: Bool

        init(
            _ name: String, _ value: String? = nil, _ help: String, _ kind: WordKind = .text,
            isRepeatable: Bool = false
        ) {
            self.name = name
            self.value = value
            self.help = help
            self.kind = kind
            self.isRepeatable = isRepeatable
        }
    }

    private(set) var operands: [String] = []
    private var values: [String: [String]] = [:]
    /// `--help` stands among the options; what comes after it is not read.
    private(set) var wantsHelp = false

    init(_ words: some Sequence<String>, knowing options: [Option]) throws(UsageError) {
        var iterator = words.makeIterator()
        while let word = iterator.next() {
            if word == "--" {
                while let operand = iterator.next() { operands.append(operand) }
                return
            }
            if word == "-h" {
                wantsHelp = true
                return
            }
            guard word.hasPrefix("--") else {
                guard word == "-" || !word.hasPrefix("-") else {
                    throw UsageError(description: "unknown option \(word.utf8.displayText)")
                }
                operands.append(word)
                continue
            }
            let parts = word.dropFirst(2).split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
            let name = String(parts[0])
            guard let option = options.first(where: { $0.name == name }) else {
                if name == "help", parts.count == 1 {
                    wantsHelp = true
                    return
                }
                let hint = Spelling.nearest(to: name, among: options.map(\.name) + ["help"])
                throw UsageError(
                    description: "unknown option --\(name.utf8.displayText)"
                        + (hint.map { "; did you mean --\($0)?" } ?? ""))
            }
            guard let placeholder = option.value else {
                guard parts.count == 1 else { throw UsageError(description: "--\(name) takes no value") }
                values[name, default: []].append("")
                continue
            }
            guard let value = parts.count > 1 ? String(parts[1]) : iterator.next() else {
                throw UsageError(description: "--\(name) needs \(placeholder)")
            }
            if case .words(let known) = option.kind, !known.contains(value) {
                throw UsageError(
                    description: "--\(name) is one of \(known.joined(separator: ", ")), not \(value.utf8.displayText)"
                        + Spelling.hint(for: value, among: known))
            }
            values[name, default: []].append(value)
        }
    }

    func has(_ name: String) -> Bool { values[name] != nil }

    /// The value of an option; the last one where it is given more than once.
    subscript(_ name: String) -> String? { values[name]?.last }

    /// The values of an option that may be given more than once, in the order in which they are given.
    func all(_ name: String) -> [String] { values[name] ?? [] }

    /// The value of an option that takes one of several words.
    func choice<Choice: RawRepresentable<String> & CaseIterable>(_ name: String, _ type: Choice.Type) throws(UsageError)
        -> Choice?
    {
        guard let value = self[name] else { return nil }
        guard let choice = Choice(rawValue: value) else {
            let known = Choice.allCases.map(\.rawValue).joined(separator: ", ")
            throw UsageError(description: "--\(name) is one of \(known), not \(value.utf8.displayText)")
        }
        return choice
    }

    /// Each value of an option as `read` understands it.
    func all<Value>(_ name: String, _ expected: String, _ read: (String) -> Value?) throws(UsageError) -> [Value] {
        var result: [Value] = []
        for text in all(name) {
            guard let value = read(text) else {
                throw UsageError(description: "--\(name) is \(expected), not \(text.utf8.displayText)")
            }
            result.append(value)
        }
        return result
    }

    /// Refuses more operands than a command takes.
    func expectOperands(_ range: ClosedRange<Int>, _ description: String) throws(UsageError) {
        guard range.contains(operands.count) else {
            guard let extra = operands.dropFirst(range.upperBound).first else {
                throw UsageError(description: "\(description) is missing")
            }
            throw UsageError(description: "\(extra.utf8.displayText) is one argument too many")
        }
    }
}
