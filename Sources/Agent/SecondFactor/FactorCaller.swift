internal import Rules
internal import WiFi

/// A program that asks for a second factor of whom it runs for.
///
/// What it says of itself is anybody's word. It is told apart from ours, cannot be long, and cannot be anything but
/// letters: a dialogue of polkit's is what people trust.
package struct FactorCaller: Hashable, Sendable {
    /// Octets that a reason may have.
    package static let reasonLimit = 120

    package var user: UInt32
    /// The user's, fit for showing.
    package var name: String
    /// logind's; nil where the program belongs to none, as what a user's service manager runs.
    package var session: String?
    /// The program's own words; empty where it has none.
    package var reason: String

    package init(user: UInt32, name: String, session: String?, reason: String) {
        self.user = user
        self.name = name
        self.session = session
        self.reason = reason
    }

    /// Printable, and nothing in it that a desktop could take for markup, or people for the end of it.
    private var words: String {
        var words = ""
        for scalar in reason.utf8.displayText.unicodeScalars {
            switch scalar {
            case "\"", "\u{201C}", "\u{201D}", "\u{201E}": words += "'"
            case "<", ">", "&": words += "\\x" + String(scalar.value, radix: 16)
            default: words.unicodeScalars.append(scalar)
            }
        }
        return words
    }

    /// What the person is told. The program's words are last and isolated, UAX #9: what is written from the right to the
    /// left moves none of ours.
    var message: String {
        let beginning =
            "A program of \(name)'s asks you to confirm who you are. If you did not start it, cancel this."
        return reason.isEmpty ? beginning : "\(beginning) It says: \"\u{2068}\(words)\u{2069}\""
    }

    /// Why this session is not the one that the program runs for; nil where it is.
    func problem(with other: Seat.Session) -> String? {
        if let session {
            guard session == other.id else { return "the program's session is not the one at this machine's screen" }
            // Root may ask whoever sits there where it was started from.
            guard user == 0 || user == other.user else { return "the program's session is somebody else's" }
        } else {
            guard user == other.user else { return "who the program runs for does not sit at this machine's screen" }
        }
        return nil
    }
}

extension FactorCaller: CustomStringConvertible {
    package var description: String {
        "a program of \(name)'s (uid \(user))" + (reason.isEmpty ? "" : ", which says \"\(words)\"")
    }
}

extension FactorDemand {
    /// Of all demands of programs; actions have lower numbers.
    private static let firstProgram: UInt64 = 1 << 63

    init(_ number: UInt64, by caller: FactorCaller) {
        self.init(
            identifier: FactorDemand.firstProgram | number, rule: "", edge: .enter, network: nil,
            factor: EdgeAction.SecondFactor(message: caller.message), caller: caller)
    }

    var isProgram: Bool { caller != nil }
}

extension FactorEnd: CustomStringConvertible {
    package var description: String {
        let word =
            switch outcome {
            case .passed: "passed"
            case .failed: "failed"
            case .expired: "nobody answered in time"
            case .cancelled: "cancelled"
            }
        return "\(word)\(because.map { ": \($0)" } ?? "")"
    }
}
