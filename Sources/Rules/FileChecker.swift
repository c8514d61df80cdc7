internal import Platform

/// Collects what is wrong in one file.
struct FileChecker {
    let file: RuleFile
    private(set) var diagnostics: [Diagnostic] = []
    /// Problems beyond the limit.
    private var omitted = 0
    private var omittedSeverity = Diagnostic.Severity.warning
    private static let limit = 1_000
    /// Where the lines begin; looked up when the first is shown.
    var lineStarts: [Int] = []
    /// The networks that the file's rules refer to, to be looked up when all files have been read.
    var references: [Condition.NetworkReference] = []
    /// The rules that the file's rules refer to.
    var ruleReferences: [Listed<String>] = []

    init(file: RuleFile) {
        self.file = file
    }

    func location(_ position: TOMLValue.Position) -> SourceLocation {
        SourceLocation(file: file.path, line: position.line, column: position.column)
    }

    // MARK: Problems

    mutating func error(_ code: Diagnostic.Code, _ position: TOMLValue.Position, _ message: String) {
        add(.error, code, position, message)
    }

    mutating func warning(_ code: Diagnostic.Code, _ position: TOMLValue.Position, _ message: String) {
        add(.warning, code, position, message)
    }

    private mutating func add(
        _ severity: Diagnostic.Severity, _ code: Diagnostic.Code, _ position: TOMLValue.Position, _ message: String
    ) {
        guard diagnostics.count < FileChecker.limit else {
            omitted += 1
            // The file is refused even where all that is told are warnings.
            omittedSeverity = severity == .error ? .error : omittedSeverity
            return
        }
        diagnostics.append(
            Diagnostic(
                file: file.path, line: position.line, column: position.column, severity: severity, code: code,
                message: message, sourceLine: line(position.line)))
    }

    /// What there is besides the problems told: nobody reads more, and a line of the file goes with each.
    var remark: [Diagnostic] {
        omitted == 0
            ? []
            : [
                Diagnostic(
                    file: file.path, severity: omittedSeverity, code: .tooMany,
                    message: "there are \(omitted) more problems in this file")
            ]
    }

    mutating func wrongType(_ value: TOMLValue, expected: String) {
        error(.wrongType, value.position, "expected \(expected), found \(value.kind)")
    }

    mutating func unknownKey(_ member: TOMLMember, in place: String, known: [String]) {
        var hint = Spelling.hint(for: member.key, among: known)
        if hint.isEmpty, known.count <= 12 { hint = "; known are \(known.joined(separator: ", "))" }
        error(.unknownKey, member.position, "unknown key \"\(member.key)\" in \(place)\(hint)")
    }

    /// A key of `[network.…]` or `[rule.…]`.
    mutating func unknownKey(_ entry: TOMLMember, of kind: String, _ member: TOMLMember, known: [String]) {
        if case .table = entry.value.content, Spelling.hint(for: entry.key, among: known).isEmpty {
            let name = "\(member.key)-\(entry.key)"
            error(
                .unknownKey, entry.position,
                "unknown key \"\(entry.key)\" in a \(kind); a name has no dots: write [\(kind).\(name)]")
        } else if kind == "network" ? Self.ruleKeys.contains(entry.key) : Self.networkKeys.contains(entry.key) {
            let other = kind == "network" ? "rule" : "network"
            error(.unknownKey, entry.position, "\"\(entry.key)\" belongs to a \(other), this is a \(kind)")
        } else {
            unknownKey(entry, in: "a \(kind)", known: known)
        }
    }

    mutating func syntaxError(_ problem: TOMLError) {
        let tooDeep = "tables, lists or dotted keys are nested too deeply"
        var position = problem.position
        // Of dotted keys the parser tells the line only.
        if position.line > 0 { position.column = max(position.column, 1) }
        switch problem.reason {
        case .tooLarge: error(.tooLarge, position, "the file is larger than \(TOMLValue.maximumSize) octets")
        case .tooDeep: error(.syntax, position, tooDeep)
        case .outOfMemory: error(.unreadable, position, problem.message)
        case .syntax:
            if problem.message.contains("maximum nested value depth") {
                error(.syntax, position, tooDeep)
            } else if problem.message.contains("cannot redefine existing") {
                let duplicate = duplicate(at: position, problem.message)
                error(duplicate.code, duplicate.position, duplicate.message)
            } else if problem.message.contains("utf-8 sequence"), let first = firstInvalidText {
                let isUTF16 = file.contents.starts(with: [0xFF, 0xFE]) || file.contents.starts(with: [0xFE, 0xFF])
                error(
                    .syntax, first,
                    isUTF16
                        ? "this is UTF-16: save the file as UTF-8"
                        : "this is not UTF-8, perhaps Latin-1 or Windows-1252: save the file as UTF-8")
            } else {
                error(.syntax, position, explained(problem.message, at: position))
            }
        }
    }

    /// What word processors and web pages make of plain ones.
    private static let typographicQuotes = "\u{201C}\u{201D}\u{201E}\u{2018}\u{2019}\u{201A}\u{AB}\u{BB}".unicodeScalars

    /// What the TOML parser says, with the remedy of the most frequent slips.
    private mutating func explained(_ message: String, at position: TOMLValue.Position) -> String {
        let preamble = "Error while parsing "
        let text = message.hasPrefix(preamble) ? "in \(message.dropFirst(preamble.count))" : message
        if text.contains("could not determine value type") {
            let found = line(position.line).unicodeScalars.dropFirst(position.column - 1).first
            if let found, Self.typographicQuotes.contains(found) {
                return "in value: \(found) is a typographic quotation mark, and text stands in plain ones: \" or '"
            }
            return "in value: expected text in quotes (\" or '), a number, true, false, a list or a table"
        }
        let isAtEnd = isAtEnd(position)
        if text.contains("string: "), text.contains("control characters"), isAtEnd {
            return "in string: the closing quote is missing"
        }
        guard text.hasPrefix("in inline table"), isAtEnd else { return text }
        return "\(text); a table in braces ends on the line it begins on"
    }

    // MARK: Values

    /// A table or rule name: what can stand in an environment variable, a log and a command line as it is.
    mutating func checkName(_ member: TOMLMember, of kind: String) -> Bool {
        guard RuleSet.isName(member.key) else {
            error(
                .badName, member.position,
                "the name of a \(kind) is 1 to \(RuleSetLoader.maximumNameLength) of A-Z a-z 0-9 _ - and does not "
                    + "begin with -")
            return false
        }
        return true
    }

    mutating func boolean(_ value: TOMLValue) -> Bool? {
        guard case .boolean(let boolean) = value.content else {
            wrongType(value, expected: "true or false")
            return nil
        }
        return boolean
    }

    mutating func integer(_ value: TOMLValue, in range: ClosedRange<Int>) -> Int? {
        guard case .integer(let integer) = value.content else {
            wrongType(value, expected: "a whole number")
            return nil
        }
        guard let number = Int(exactly: integer), range.contains(number) else {
            error(.badValue, value.position, "expected a number from \(range.lowerBound) to \(range.upperBound)")
            return nil
        }
        return number
    }

    /// One of the words that a type knows.
    mutating func choice<Choice: RawRepresentable<String> & CaseIterable>(_ value: TOMLValue) -> Choice? {
        let words = Choice.allCases.map(\.rawValue)
        let expected = Spelling.list(words.map { "\"\($0)\"" }, "or")
        guard let word = string(value, expected: expected) else { return nil }
        guard let choice = Choice(rawValue: word) else {
            error(.badValue, value.position, "expected \(expected)\(Spelling.hint(for: word, among: words))")
            return nil
        }
        return choice
    }

    mutating func string(_ value: TOMLValue, expected: String = "a string") -> String? {
        guard case .string(let string) = value.content else {
            wrongType(value, expected: expected)
            return nil
        }
        return string
    }

    /// A list of at least one string, with their places; nil where anything is wrong.
    mutating func strings(_ value: TOMLValue, expected: String) -> [(text: String, position: TOMLValue.Position)]? {
        guard case .array(let elements) = value.content else {
            wrongType(value, expected: expected)
            return nil
        }
        guard !elements.isEmpty else {
            error(.badValue, value.position, "the list is empty")
            return nil
        }
        var strings: [(String, TOMLValue.Position)] = []
        for element in elements {
            if let text = string(element) { strings.append((text, element.position)) }
        }
        return strings.count == elements.count ? strings : nil
    }

    /// A duration such as `500ms`, `3s`, `2m` or `1h`, in microseconds.
    mutating func duration(_ value: TOMLValue, in range: ClosedRange<Int64>) -> Int64? {
        guard let text = string(value, expected: "a duration such as \"3s\"") else { return nil }
        guard let duration = DurationText.microseconds(of: text) else {
            error(.badValue, value.position, "expected a duration such as \"500ms\", \"3s\", \"2m\" or \"1h\"")
            return nil
        }
        guard range.contains(duration) else {
            let bounds = "\(Self.text(range.lowerBound)) to \(Self.text(range.upperBound))"
            error(.badValue, value.position, "expected a duration from \(bounds)")
            return nil
        }
        return duration
    }

    private static func text(_ duration: Int64) -> String {
        duration % 3_600_000_000 == 0 && duration > 0
            ? "\(duration / 3_600_000_000)h"
            : duration % 1_000_000 == 0 ? "\(duration / 1_000_000)s" : "\(duration / 1_000)ms"
    }
}
