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
