/// Six octets that name a station on an 802 network (EUI-48).
public struct MACAddress: Hashable, Sendable, Comparable {
    /// The octets, first on the wire first, in the lower 48 bits.
    public let rawValue: UInt64

    public init?(octets: some Collection<UInt8>) {
        guard octets.count == 6 else { return nil }
        rawValue = octets.reduce(0) { $0 << 8 | UInt64($1) }
    }

    /// Reads `02:00:5e:10:00:00`, also with `-`, with `.` between groups of four, or without separators.
    public init?(_ text: some StringProtocol) {
        let separator = text.first { $0 == ":" || $0 == "-" || $0 == "." }
        let groups = separator.map { text.split(separator: $0, omittingEmptySubsequences: false) } ?? [text[...]]
        let length = separator == nil ? 12 : separator == "." ? 4 : 2
        guard groups.count == 12 / length else { return nil }
        var value: UInt64 = 0
        for group in groups {
            guard group.count == length else { return nil }
            for character in group {
                guard character.isASCII, let digit = character.hexDigitValue else { return nil }
                value = value << 4 | UInt64(digit)
            }
        }
        rawValue = value
    }

    public var octets: [UInt8] {
        (0..<6).map { UInt8(truncatingIfNeeded: rawValue >> (40 - 8 * UInt64($0))) }
    }

    public static func < (left: MACAddress, right: MACAddress) -> Bool { left.rawValue < right.rawValue }
}

extension MACAddress: CustomStringConvertible {
    /// Lower case, colons: `02:00:5e:10:00:00`.
    public var description: String {
        unsafe String(unsafeUninitializedCapacity: 17) { buffer in
            for index in 0..<6 {
                let octet = UInt8(truncatingIfNeeded: rawValue >> (40 - 8 * UInt64(index)))
                unsafe buffer[index * 3] = hexadecimalDigit(octet >> 4)
                unsafe buffer[index * 3 + 1] = hexadecimalDigit(octet & 15)
                if index < 5 { unsafe buffer[index * 3 + 2] = UInt8(ascii: ":") }
            }
            return 17
        }
    }
}

/// The lower-case digit of a nibble, ASCII.
@inlinable
public func hexadecimalDigit(_ nibble: UInt8) -> UInt8 {
    nibble < 10 ? UInt8(ascii: "0") + nibble : UInt8(ascii: "a") + nibble - 10
}

extension Collection<UInt8> {
    /// Two lower-case digits an octet.
    public var hexadecimal: String {
        String(decoding: flatMap { [hexadecimalDigit($0 >> 4), hexadecimalDigit($0 & 15)] }, as: UTF8.self)
    }
}
