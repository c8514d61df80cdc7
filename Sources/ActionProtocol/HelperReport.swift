internal import JSON

/// What a helper tells the agent: one line of JSON each.
public enum HelperReport: Hashable, Sendable {
    /// The rule files as the helper reads them are others: nothing was done. The agent reads them again.
    case outdated(digest: String, Refused)
    /// The action has begun.
    case started(id: UInt64)
    /// The action is over, or will not be begun.
    case ended(id: UInt64, ActionEnd)
    /// What became of a state.
    case state(rule: String, index: Int, StateOutcome)
    /// Everything that was asked for up to this has been tried, or something else is asked for instead.
    ///
    /// - Parameter pass: the number of the `hold`; nil: of what root asks for. Only who asked is told.
    case settled(pass: UInt64?)
    /// What was asked for later stands in the journal.
    case noted

    /// The question waits for a dialogue in this user's session.
    case dialogue(id: UInt64, user: UInt32)
    /// What became of the question.
    case answered(id: UInt64, FactorAnswer)

    /// Octets of a line, its LF included.
    public static let maximumSize = 64 << 10
}

/// What a helper did not do, since it reads other rule files.
public enum Refused: Hashable, Sendable {
    /// A `hold`, by its number.
    case hold(pass: UInt64)
    /// The action was not begun.
    case action(id: UInt64)
}

/// What became of something that shall hold.
public enum StateOutcome: Hashable, Sendable {
    /// It is there, and was read back.
    case held
    /// What was there before is there again, or what somebody else put there since.
    case reverted
    case failed(because: String)
}

/// How an edge action ended.
public struct ActionEnd: Hashable, Sendable {
    public enum Result: String, Hashable, Sendable {
        case succeeded, failed, cancelled
    }

    public var result: Result
    /// Of a command.
    public var exit: Int32?
    /// Microseconds.
    public var duration: Int64?
    public var because: String?
    public var output: [UInt8] = []
    /// Octets that are not among them.
    public var outputLost = 0
    public var errors: [UInt8] = []
    public var errorsLost = 0

    public init(_ result: Result, because: String? = nil) {
        self.result = result
        self.because = because
    }

    public static let maximumOutput = 8 << 10
    public static let maximumReason = 1 << 10
}

extension HelperReport {
    /// The line, LF included.
    public var line: [UInt8] {
        var writer = JSONWriter()
        writer.object { writer in
            switch self {
            case .outdated(let digest, let refused):
                writer.field("is", "outdated")
                writer.field("digest", digest)
                switch refused {
                case .hold(let pass): writer.field("pass", pass)
                case .action(let id): writer.field("id", id)
                }
            case .started(let id):
                writer.field("is", "started")
                writer.field("id", id)
            case .ended(let id, let end):
                writer.field("is", "ended")
                writer.field("id", id)
                end.write(to: &writer)
            case .state(let rule, let index, let outcome):
                writer.field("is", "state")
                writer.field("rule", rule)
                writer.field("index", index)
                switch outcome {
                case .held: writer.field("outcome", "held")
                case .reverted: writer.field("outcome", "reverted")
                case .failed(let because):
                    writer.field("outcome", "failed")
                    writer.field("because", ActionEnd.cut(because))
                }
            case .settled(let pass):
                writer.field("is", "settled")
                if let pass { writer.field("pass", pass) }
            case .noted: writer.field("is", "noted")
            case .dialogue(let id, let user):
                writer.field("is", "dialogue")
                writer.field("id", id)
                writer.field("user", UInt64(user))
            case .answered(let id, let answer):
                writer.field("is", "answered")
                writer.field("id", id)
                answer.write(to: &writer)
            }
        }
        writer.endLine()
        return writer.octets
    }

    /// Nil for whatever `line` could not have written.
    public init?(line: some Collection<UInt8>) {
        guard let value = JSONValue(message: line, maximumSize: HelperReport.maximumSize),
            let word = value["is"]?.string
        else { return nil }
        switch word {
        case "outdated":
            guard let digest = Name.digest(value["digest"]) else { return nil }
            switch (value["pass"], value["id"]) {
            case (let pass?, nil):
                guard let pass = Name.identifier(pass) else { return nil }
                self = .outdated(digest: digest, .hold(pass: pass))
            case (nil, let id?):
                guard let id = Name.identifier(id) else { return nil }
                self = .outdated(digest: digest, .action(id: id))
            default: return nil
            }
        case "started":
            guard let id = Name.identifier(value["id"]) else { return nil }
            self = .started(id: id)
        case "ended":
            guard let id = Name.identifier(value["id"]), let end = ActionEnd(value) else { return nil }
            self = .ended(id: id, end)
        case "state":
            guard let rule = Name.rule(value["rule"]), let index = Name.index(value["index"]),
                let outcome = StateOutcome(value)
            else { return nil }
            self = .state(rule: rule, index: index, outcome)
        case "settled":
            do throws(Malformed) {
                self = .settled(pass: try value.optional("pass") { Name.identifier($0) })
            } catch {
                return nil
            }
        case "noted": self = .noted
        case "dialogue":
            guard let id = Name.identifier(value["id"]),
                let user = Name.identifier(value["user"]).flatMap({ UInt32(exactly: $0) })
            else { return nil }
            self = .dialogue(id: id, user: user)
        case "answered":
            guard let id = Name.identifier(value["id"]), let answer = FactorAnswer(value) else { return nil }
            self = .answered(id: id, answer)
        default: return nil
        }
    }
}

extension StateOutcome {
    init?(_ value: JSONValue) {
        switch value["outcome"]?.string {
        case "held": self = .held
        case "reverted": self = .reverted
        case "failed":
            guard let because = ActionEnd.reason(value["because"]) else { return nil }
            self = .failed(because: because)
        default: return nil
        }
    }
}

extension ActionEnd {
    func write(to writer: inout JSONWriter) {
        writer.field("result", result.rawValue)
        if let exit { writer.field("exit", exit) }
        if let duration { writer.field("duration_us", duration) }
        if let because { writer.field("because", ActionEnd.cut(because)) }
        writer.field("output", hexadecimal: output.prefix(ActionEnd.maximumOutput))
        writer.field("output_lost", outputLost + max(0, output.count - ActionEnd.maximumOutput))
        writer.field("errors", hexadecimal: errors.prefix(ActionEnd.maximumOutput))
        writer.field("errors_lost", errorsLost + max(0, errors.count - ActionEnd.maximumOutput))
    }

    init?(_ value: JSONValue) {
        guard let result = value["result"]?.string.flatMap(Result.init),
            let output = ActionEnd.octets(value["output"]), let errors = ActionEnd.octets(value["errors"]),
            let outputLost = ActionEnd.count(value["output_lost"]),
            let errorsLost = ActionEnd.count(value["errors_lost"])
        else { return nil }
        self.init(result)
        do throws(Malformed) {
            because = try value.optional("because") { ActionEnd.reason($0) }
            exit = try value.optional("exit") { $0.integer.flatMap { Int32(exactly: $0) } }
            duration = try value.optional("duration_us", \.integer)
        } catch {
            return nil
        }
        (self.output, self.errors) = (output, errors)
        (self.outputLost, self.errorsLost) = (outputLost, errorsLost)
    }

    private static func octets(_ value: JSONValue?) -> [UInt8]? {
        guard let digits = value?.string, digits.utf8.count <= 2 * maximumOutput else { return nil }
        return Hexadecimal.octets(digits)
    }

    private static func count(_ value: JSONValue?) -> Int? {
        guard let number = value?.integer, number >= 0 else { return nil }
        return Int(exactly: number)
    }

    static func reason(_ value: JSONValue?) -> String? {
        guard let text = value?.string, text.utf8.count <= maximumReason else { return nil }
        return text
    }

    /// Between two scalars, so that what is left is text.
    static func cut(_ text: String) -> String {
        guard text.utf8.count > maximumReason else { return text }
        let mark = "…"
        var (end, size) = (text.startIndex, 0)
        for index in text.unicodeScalars.indices {
            size += text.unicodeScalars[index].utf8.count
            guard size <= maximumReason - mark.utf8.count else { break }
            end = text.unicodeScalars.index(after: index)
        }
        return String(text.unicodeScalars[..<end]) + mark
    }
}

enum Hexadecimal {
    static func isDigit(_ octet: UInt8) -> Bool {
        switch octet {
        case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "a")...UInt8(ascii: "f"),
            UInt8(ascii: "A")...UInt8(ascii: "F"):
            true
        default: false
        }
    }

    /// Of pairs of digits; nil for anything else.
    static func octets(_ text: String) -> [UInt8]? {
        var octets: [UInt8] = []
        var high: UInt8?
        for character in text.utf8 {
            let digit: UInt8
            switch character {
            case UInt8(ascii: "0")...UInt8(ascii: "9"): digit = character - UInt8(ascii: "0")
            case UInt8(ascii: "a")...UInt8(ascii: "f"): digit = character - UInt8(ascii: "a") + 10
            default: return nil
            }
            if let first = high {
                octets.append(first << 4 | digit)
                high = nil
            } else {
                high = digit
            }
        }
        return high == nil ? octets : nil
    }
}
