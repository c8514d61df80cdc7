internal import JSON

/// What the helper answers: one line of JSON.
public enum ProbeAnswer: Hashable, Sendable {
    /// The server holds the key of this pin, which is one of those asked for.
    case proven(SPKIPin)
    /// It holds another key.
    case pinMismatch(seen: SPKIPin)
    /// The page is the server's own.
    case online
    /// Somebody else answered for it, as a captive portal does.
    case captured
    /// What came was no HTTP, or said that the server is in trouble (5xx).
    case unexpected
    /// Nobody listens there.
    case refused
    /// No way leads there from this interface.
    case unreachable
    case timedOut
    /// No handshake came about; OpenSSL's word for it, printable ASCII.
    case tlsFailed(reason: String)
    /// The interface is not there, or is another by now.
    case interfaceGone
    case badRequest
}

extension ProbeAnswer {
    /// Octets of a line, its LF included; a longer one is no answer.
    public static let maximumSize = 512
    /// Octets of a reason.
    public static let maximumReason = 128

    private var word: String {
        switch self {
        case .proven: "proven"
        case .pinMismatch: "pin_mismatch"
        case .online: "online"
        case .captured: "captured"
        case .unexpected: "unexpected"
        case .refused: "refused"
        case .unreachable: "unreachable"
        case .timedOut: "timed_out"
        case .tlsFailed: "tls_failed"
        case .interfaceGone: "interface_gone"
        case .badRequest: "bad_request"
        }
    }

    /// The line, LF included.
    public var line: [UInt8] {
        var writer = JSONWriter()
        writer.object { writer in
            writer.field("outcome", word)
            switch self {
            case .proven(let pin): writer.field("pin", hexadecimal: pin.octets)
            case .pinMismatch(let seen): writer.field("seen", hexadecimal: seen.octets)
            case .tlsFailed(let reason): writer.field("reason", Self.printable(reason))
            default: break
            }
        }
        writer.endLine()
        return writer.octets
    }

    /// Reads a line with or without its LF; nil unless it is exactly an answer.
    public init?(line: some Collection<UInt8>) {
        guard let object = ProbeLine.members(of: line, limit: Self.maximumSize), let word = object["outcome"]?.string
        else { return nil }
        let others = object.members.filter { $0.key != "outcome" }
        if let other = others.first {
            guard others.count == 1, let text = other.value.string else { return nil }
            switch (word, other.key) {
            case ("proven", "pin"):
                guard let pin = SPKIPin(text) else { return nil }
                self = .proven(pin)
            case ("pin_mismatch", "seen"):
                guard let seen = SPKIPin(text) else { return nil }
                self = .pinMismatch(seen: seen)
            case ("tls_failed", "reason"):
                guard Self.printable(text).utf8.elementsEqual(text.utf8) else { return nil }
                self = .tlsFailed(reason: text)
            default: return nil
            }
        } else {
            let plain: [ProbeAnswer] = [
                .online, .captured, .unexpected, .refused, .unreachable, .timedOut, .interfaceGone, .badRequest,
            ]
            guard let answer = plain.first(where: { $0.word == word }) else { return nil }
            self = answer
        }
    }

    /// Cut to `maximumReason`; whatever is not printable ASCII becomes `?`.
    private static func printable(_ text: String) -> String {
        String(
            decoding: text.utf8.prefix(maximumReason).map { (0x20...0x7E).contains($0) ? $0 : UInt8(ascii: "?") },
            as: UTF8.self)
    }
}
