/// The SHA-256 of a public key, as the SubjectPublicKeyInfo (DER) of RFC 5280: what a certificate's renewal leaves as
/// it is while the key stays.
public struct SPKIPin: Hashable, Sendable {
    /// 32 octets.
    public let octets: [UInt8]

    public init?(octets: some Collection<UInt8>) {
        guard octets.count == 32 else { return nil }
        self.octets = Array(octets)
    }

    /// Reads 64 hexadecimal digits, or base64 (RFC 4648, section 4) with or without its padding.
    public init?(_ text: String) {
        let text = Array(text.utf8)
        switch text.count {
        case 64: self.init(octets: Self.hexadecimal(text))
        case 44 where text.last == UInt8(ascii: "="): self.init(octets: Self.base64(text.dropLast()))
        case 43: self.init(octets: Self.base64(text[...]))
        default: return nil
        }
    }

    /// Empty where a character is no digit.
    private static func hexadecimal(_ text: [UInt8]) -> [UInt8] {
        let digits = text.compactMap(digit)
        guard digits.count == text.count else { return [] }
        return stride(from: 0, to: digits.count, by: 2).map { digits[$0] << 4 | digits[$0 + 1] }
    }

    private static func digit(_ character: UInt8) -> UInt8? {
        switch character {
        case UInt8(ascii: "0")...UInt8(ascii: "9"): character - UInt8(ascii: "0")
        case UInt8(ascii: "a")...UInt8(ascii: "f"): character - UInt8(ascii: "a") + 10
        case UInt8(ascii: "A")...UInt8(ascii: "F"): character - UInt8(ascii: "A") + 10
        default: nil
        }
    }

    /// Empty where a character is none of the alphabet, or the bits left over are not 0.
    private static func base64(_ text: ArraySlice<UInt8>) -> [UInt8] {
        var octets: [UInt8] = []
        var bits: UInt32 = 0
        var count = 0
        for character in text {
            guard let value = sextet(character) else { return [] }
            bits = bits << 6 | value
            count += 6
            if count >= 8 {
                count -= 8
                octets.append(UInt8(truncatingIfNeeded: bits >> UInt32(count)))
                bits &= 1 << UInt32(count) - 1
            }
        }
        return bits == 0 ? octets : []
    }

    private static func sextet(_ character: UInt8) -> UInt32? {
        switch character {
        case UInt8(ascii: "A")...UInt8(ascii: "Z"): UInt32(character - UInt8(ascii: "A"))
        case UInt8(ascii: "a")...UInt8(ascii: "z"): UInt32(character - UInt8(ascii: "a")) + 26
        case UInt8(ascii: "0")...UInt8(ascii: "9"): UInt32(character - UInt8(ascii: "0")) + 52
        case UInt8(ascii: "+"): 62
        case UInt8(ascii: "/"): 63
        default: nil
        }
    }
}

extension SPKIPin: CustomStringConvertible {
    /// 64 lower-case hexadecimal digits.
    public var description: String {
        octets.map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
    }
}
