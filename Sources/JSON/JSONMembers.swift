/// Goes through the members of one JSON object without making anything of them: as fast as the text can be read, and in
/// no memory but for deep nesting.
///
/// It takes what RFC 8259 allows and nothing else, as `JSONValue` does, but for two things that only matter to who makes
/// something of them: escapes of lone surrogates are taken, and so are numbers and nesting of any size.
public struct JSONMembers {
    /// Where a member stands in the text.
    public struct Member {
        /// Between the quotation marks.
        public var key: Range<Int>
        /// Whether the key is what it is only without its escapes.
        public var hasEscapes: Bool
        /// With its quotation marks or brackets.
        public var value: Range<Int>
    }

    public enum Outcome: Hashable, Sendable {
        /// - Parameters:
        ///   - closing: where the bracket stands that ends the object.
        ///   - isEmpty: whether it has no member.
        case object(closing: Int, isEmpty: Bool)
        /// It is no JSON object: from here on, at the latest.
        case malformed(at: Int)
    }

    /// - Parameter body: told every member of the object itself, in their order, before it is known whether the rest is
    ///   well formed.
    public static func scan(_ text: Span<UInt8>, _ body: (Member) -> Void) -> Outcome {
        var scanner = Scanner()
        scanner.skipSpace(text)
        guard scanner.take(UInt8(ascii: "{"), text) else { return .malformed(at: scanner.position) }
        scanner.skipSpace(text)
        var isEmpty = true
        if !scanner.take(UInt8(ascii: "}"), text) {
            isEmpty = false
            while true {
                let start = scanner.position
                scanner.hasEscapes = false
                guard scanner.string(text) else { return .malformed(at: scanner.position) }
                let key = start + 1..<scanner.position - 1
                let hasEscapes = scanner.hasEscapes
                scanner.skipSpace(text)
                guard scanner.take(UInt8(ascii: ":"), text) else { return .malformed(at: scanner.position) }
                scanner.skipSpace(text)
                let first = scanner.position
                guard scanner.value(text) else { return .malformed(at: scanner.position) }
                body(Member(key: key, hasEscapes: hasEscapes, value: first..<scanner.position))
                scanner.skipSpace(text)
                if scanner.take(UInt8(ascii: "}"), text) { break }
                guard scanner.take(UInt8(ascii: ","), text) else { return .malformed(at: scanner.position) }
                scanner.skipSpace(text)
            }
        }
        let closing = scanner.position - 1
        scanner.skipSpace(text)
        guard scanner.position == text.count else { return .malformed(at: scanner.position) }
        return .object(closing: closing, isEmpty: isEmpty)
    }
}

private struct Scanner {
    var position = 0
    /// Whether a string since it was last false has any.
    var hasEscapes = false

    // MARK: Values

    /// One value; nested ones without recursion, so that no text exhausts the stack.
    mutating func value(_ text: Span<UInt8>) -> Bool {
        guard position < text.count else { return false }
        switch text[position] {
        case UInt8(ascii: "\""): return string(text)
        case UInt8(ascii: "{"), UInt8(ascii: "["): return nested(text)
        default: return scalar(text)
        }
    }

    private mutating func scalar(_ text: Span<UInt8>) -> Bool {
        guard position < text.count else { return false }
        switch text[position] {
        case UInt8(ascii: "t"): return word("true", text)
        case UInt8(ascii: "f"): return word("false", text)
        case UInt8(ascii: "n"): return word("null", text)
        default: return number(text)
        }
    }

    private mutating func nested(_ text: Span<UInt8>) -> Bool {
        // Which brackets are open: true for those of objects.
        var open: [Bool] = []
        while true {
            // A value is due.
            guard position < text.count else { return false }
            switch text[position] {
            case UInt8(ascii: "{"):
                position += 1
                skipSpace(text)
                if !take(UInt8(ascii: "}"), text) {
                    open.append(true)
                    guard key(text) else { return false }
                    continue
                }
            case UInt8(ascii: "["):
                position += 1
                skipSpace(text)
                if !take(UInt8(ascii: "]"), text) {
                    open.append(false)
                    continue
                }
            case UInt8(ascii: "\""): guard string(text) else { return false }
            default: guard scalar(text) else { return false }
            }
            // A value has ended.
            while let isObject = open.last {
                skipSpace(text)
                if take(UInt8(ascii: ","), text) {
                    skipSpace(text)
                    if isObject { guard key(text) else { return false } }
                    break
                }
                guard take(isObject ? UInt8(ascii: "}") : UInt8(ascii: "]"), text) else { return false }
                open.removeLast()
            }
            if open.isEmpty { return true }
        }
    }

    private mutating func key(_ text: Span<UInt8>) -> Bool {
        guard string(text) else { return false }
        skipSpace(text)
        guard take(UInt8(ascii: ":"), text) else { return false }
        skipSpace(text)
        return true
    }

    private mutating func word(_ word: StaticString, _ text: Span<UInt8>) -> Bool {
        let length = word.utf8CodeUnitCount
        guard position + length <= text.count else { return false }
        for offset in 0..<length where text[position + offset] != word.utf8Start[offset] { return false }
        position += length
        return true
    }

    private mutating func number(_ text: Span<UInt8>) -> Bool {
        _ = take(UInt8(ascii: "-"), text)
        let start = position
        guard digits(text) else { return false }
        if text[start] == UInt8(ascii: "0"), position > start + 1 { return false }
        if take(UInt8(ascii: "."), text) { guard digits(text) else { return false } }
        if take(UInt8(ascii: "e"), text) || take(UInt8(ascii: "E"), text) {
            _ = take(UInt8(ascii: "+"), text) || take(UInt8(ascii: "-"), text)
            guard digits(text) else { return false }
        }
        return true
    }

    private mutating func digits(_ text: Span<UInt8>) -> Bool {
        let start = position
        while position < text.count, text[position] &- UInt8(ascii: "0") < 10 { position += 1 }
        return position > start
    }

    // MARK: Strings

    /// With both its quotation marks.
    mutating func string(_ text: Span<UInt8>) -> Bool {
        guard take(UInt8(ascii: "\""), text) else { return false }
        while position < text.count {
            let octet = text[position]
            if octet == UInt8(ascii: "\"") {
                position += 1
                return true
            }
            if octet == UInt8(ascii: "\\") {
                guard escape(text) else { return false }
            } else if octet >= 0x80 {
                guard scalarOfSeveralOctets(text) else { return false }
            } else if octet >= 0x20 {
                position += 1
            } else {
                return false
            }
        }
        return false
    }

    private mutating func escape(_ text: Span<UInt8>) -> Bool {
        hasEscapes = true
        guard position + 1 < text.count else { return false }
        switch text[position + 1] {
        case UInt8(ascii: "\""), UInt8(ascii: "\\"), UInt8(ascii: "/"), UInt8(ascii: "b"), UInt8(ascii: "f"),
            UInt8(ascii: "n"), UInt8(ascii: "r"), UInt8(ascii: "t"):
            position += 2
            return true
        case UInt8(ascii: "u"):
            guard position + 6 <= text.count else { return false }
            for offset in 2..<6 where !isHexadecimal(text[position + offset]) { return false }
            position += 6
            return true
        default: return false
        }
    }

    private func isHexadecimal(_ octet: UInt8) -> Bool {
        octet &- UInt8(ascii: "0") < 10 || (octet | 0x20) &- UInt8(ascii: "a") < 6
    }

    /// UTF-8, Unicode 16.0 table 3-7.
    private mutating func scalarOfSeveralOctets(_ text: Span<UInt8>) -> Bool {
        let first = text[position]
        let (length, second): (Int, ClosedRange<UInt8>) =
            switch first {
            case 0xC2...0xDF: (2, 0x80...0xBF)
            case 0xE0: (3, 0xA0...0xBF)
            case 0xED: (3, 0x80...0x9F)
            case 0xE1...0xEF: (3, 0x80...0xBF)
            case 0xF0: (4, 0x90...0xBF)
            case 0xF1...0xF3: (4, 0x80...0xBF)
            case 0xF4: (4, 0x80...0x8F)
            default: (0, 0...0)
            }
        guard length > 0, position + length <= text.count, second.contains(text[position + 1]) else { return false }
        for offset in 2..<max(length, 2) where text[position + offset] & 0xC0 != 0x80 { return false }
        position += length
        return true
    }

    // MARK: Octets

    @inline(__always)
    mutating func skipSpace(_ text: Span<UInt8>) {
        while position < text.count {
            switch text[position] {
            case 0x20, 0x09, 0x0A, 0x0D: position += 1
            default: return
            }
        }
    }

    @inline(__always)
    mutating func take(_ octet: UInt8, _ text: Span<UInt8>) -> Bool {
        guard position < text.count, text[position] == octet else { return false }
        position += 1
        return true
    }
}
