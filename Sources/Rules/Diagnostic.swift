internal import WiFi

/// A place in a rule file. Lines and columns count from 1, columns in code points; 0 where unknown.
public struct SourceLocation: Hashable, Sendable, CustomStringConvertible {
    public var file: String
    public var line: Int
    public var column: Int

    public init(file: String, line: Int, column: Int) {
        self.file = file
        self.line = line
        self.column = column
    }

    public var description: String { "\(TerminalText.escaped(file)):\(line):\(column)" }
}

/// Something wrong or doubtful in a rule file.
public struct Diagnostic: Error, Hashable, Sendable {
    public enum Severity: String, Hashable, Sendable {
        case error, warning
    }

    /// What kind of problem it is, for programs.
    public enum Code: String, Hashable, Sendable, CaseIterable {
        case badName = "bad-name"
        case badValue = "bad-value"
        case contradictory
        case duplicateKey = "duplicate-key"
        case duplicateName = "duplicate-name"
        case guessableName = "guessable-name"
        case lookalike
        case missingKey = "missing-key"
        case notPermitted = "not-permitted"
        case oddName = "odd-name"
        case reservedName = "reserved-name"
        case syntax
        case tooLarge = "too-large"
        case tooMany = "too-many"
        case unknownKey = "unknown-key"
        case unknownNetwork = "unknown-network"
        case unknownRule = "unknown-rule"
        case unreachable
        case unreadable
        case unsafeCommand = "unsafe-command"
        case unsafeFile = "unsafe-file"
        case weakEvidence = "weak-evidence"
        case wrongType = "wrong-type"
    }

    public var file: String
    /// 0 where the problem is the file itself.
    public var line: Int
    public var column: Int
    public var severity: Severity
    public var code: Code
    public var message: String
    /// The line concerned, without its end; empty where there is none.
    public var sourceLine: String

    public init(
        file: String, line: Int = 0, column: Int = 0, severity: Severity = .error, code: Code, message: String,
        sourceLine: String = ""
    ) {
        self.file = file
        self.line = line
        self.column = column
        self.severity = severity
        self.code = code
        self.message = message
        self.sourceLine = sourceLine
    }
}

extension Diagnostic: CustomStringConvertible {
    /// As compilers write it: place, severity and message, then the line with a caret under the column.
    public var description: String {
        let place = line > 0 ? "\(file):\(line):\(column)" : file
        let head = "\(TerminalText.escaped(place)): \(severity.rawValue): \(TerminalText.escaped(message))"
        guard line > 0, column > 0 else { return head }
        let scalars = sourceLine.unicodeScalars
        let before = TerminalText.escaped(String(String.UnicodeScalarView(scalars.prefix(column - 1))))
        let number = String(line)
        let margin = String(repeating: " ", count: max(5 - number.utf8.count, 1))
        let indent = String(repeating: " ", count: margin.utf8.count + number.utf8.count)
        let blank = String(repeating: " ", count: before.displayWidth)
        return "\(head)\n\(margin)\(number) | \(TerminalText.escaped(sourceLine))\n\(indent) | \(blank)^"
    }
}
