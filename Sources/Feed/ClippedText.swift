internal import WiFi

extension String {
    /// The text as far as it takes no more than `limit` octets as a JSON string in ASCII, ended by `…` where it was cut.
    func clipped(to limit: Int) -> String {
        // Enough for any text that is not meant to break something.
        if utf8.count * 6 <= limit { return self }
        var length = 0
        var kept = unicodeScalars.startIndex
        for index in unicodeScalars.indices {
            length += unicodeScalars[index].escapedLength
            if length + "\u{2026}".unicodeScalars.reduce(0, { $0 + $1.escapedLength }) <= limit {
                kept = unicodeScalars.index(after: index)
            }
            if length > limit { return String(unicodeScalars[..<kept]) + "\u{2026}" }
        }
        return self
    }
}

extension String {
    /// Octets it takes as a JSON string in ASCII, quotes left out.
    var escapedLength: Int { unicodeScalars.reduce(0) { $0 + $1.escapedLength } }
}

/// The end of what a command wrote: there it says what went wrong.
struct OutputEnd {
    /// Lines that are safe to show, see `displayText`.
    let text: String
    /// Octets before the text.
    let lost: Int

    static let longest = 1_500

    /// - Parameter limit: octets of a JSON string in ASCII.
    init(of octets: [UInt8], within limit: Int) {
        var kept = octets.suffix(Self.longest)
        while true {
            // Never from within a character; three octets at most follow its first.
            var first = kept
            if kept.count < octets.count {
                for _ in 0..<3 { if let octet = first.first, octet & 0xC0 == 0x80 { first.removeFirst() } }
            }
            let shown = first.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false)
                .map(\.displayText).joined(separator: "\n")
            let length = shown.escapedLength
            if length <= limit {
                (text, lost) = (shown, octets.count - first.count)
                return
            }
            kept = kept.suffix(min(kept.count - 1, kept.count * limit / length))
        }
    }
}

extension Unicode.Scalar {
    fileprivate var escapedLength: Int {
        switch value {
        case 0x22, 0x5c: 2
        case 0x20..<0x7f: 1
        case ..<0x10000: 6
        default: 12
        }
    }
}
