/// Writes JSON text (RFC 8259) octet by octet into memory, in printable ASCII only.
///
/// Names from the air are chosen by strangers and end up on terminals; so everything outside U+0020–U+007E is written
/// as `\u` escapes, characters beyond the basic plane as surrogate pairs. Commas are placed by the writer; that keys
/// stand in objects and that what was begun is ended is the caller's business.
///
///     var line = JSONWriter()
///     line.object {
///         $0.field("type", "wifi.joined")
///         $0.object("wifi") { $0.field("channel", 6) }
///     }
///     line.endLine()
public struct JSONWriter: Sendable {
    /// The text written so far.
    public private(set) var octets: [UInt8]
    private var needsComma = false

    public init(reserving capacity: Int = 512) {
        octets = []
        octets.reserveCapacity(capacity)
    }

    /// Forgets the text and keeps the memory, for the next line.
    public mutating func removeAll() {
        octets.removeAll(keepingCapacity: true)
        needsComma = false
    }

    /// The text as a string.
    public var text: String { String(decoding: octets, as: UTF8.self) }

    /// Ends a line of JSON Lines with LF; the next value begins a new one.
    public mutating func endLine() {
        octets.append(UInt8(ascii: "\n"))
        needsComma = false
    }

    // MARK: Nesting

    public mutating func beginObject() { open(UInt8(ascii: "{")) }
    public mutating func endObject() { close(UInt8(ascii: "}")) }
    public mutating func beginArray() { open(UInt8(ascii: "[")) }
    public mutating func endArray() { close(UInt8(ascii: "]")) }

    /// An object as the next value.
    public mutating func object<Failure>(_ body: (inout JSONWriter) throws(Failure) -> Void) throws(Failure) {
        beginObject()
        try body(&self)
        endObject()
    }

    /// An array as the next value.
    public mutating func array<Failure>(_ body: (inout JSONWriter) throws(Failure) -> Void) throws(Failure) {
        beginArray()
        try body(&self)
        endArray()
    }

    /// The key of the next value, which needs no escapes: printable ASCII without `"` and `\`.
    public mutating func key(_ name: StaticString) {
        separate()
        octets.append(UInt8(ascii: "\""))
        name.withUTF8Buffer { octets.append(contentsOf: $0) }
        octets.append(UInt8(ascii: "\""))
        octets.append(UInt8(ascii: ":"))
        needsComma = false
    }

    /// The key of the next value, escaped like any string.
    public mutating func key(escaping name: String) {
        string(name)
        octets.append(UInt8(ascii: ":"))
        needsComma = false
    }

    // MARK: Values

    public mutating func null() { word("null") }
    public mutating func bool(_ value: Bool) { word(value ? "true" : "false") }

    @inlinable
    public mutating func integer(_ value: some FixedWidthInteger) {
        digits(UInt64(value.magnitude), isNegative: value < 0)
    }

    /// The shortest decimal that reads back as the same number; `null` for infinities and NaN, which JSON lacks.
    public mutating func number(_ value: Double) {
        guard value.isFinite else { return null() }
        separate()
        octets.append(contentsOf: value.description.utf8)
        needsComma = true
    }

    public mutating func string(_ value: String) {
        separate()
        octets.append(UInt8(ascii: "\""))
        var value = value
        value.withUTF8 { appendEscaped($0) }
        octets.append(UInt8(ascii: "\""))
        needsComma = true
    }

    /// A string of two lower-case hexadecimal digits an octet.
    public mutating func hexadecimal(_ value: some Collection<UInt8>) {
        separate()
        octets.append(UInt8(ascii: "\""))
        for octet in value {
            octets.append(hexadecimalDigit(octet >> 4))
            octets.append(hexadecimalDigit(octet & 15))
        }
        octets.append(UInt8(ascii: "\""))
        needsComma = true
    }

    /// One value that already is JSON text in printable ASCII; it is not looked at.
    public mutating func verbatim(_ text: some Collection<UInt8>) {
        separate()
        octets.append(contentsOf: text)
        needsComma = true
    }

    public mutating func value(_ value: JSONValue) {
        switch value {
        case .null: null()
        case .bool(let value): bool(value)
        case .integer(let value): integer(value)
        case .number(let value): number(value)
        case .string(let value): string(value)
        case .array(let elements): array { for element in elements { $0.value(element) } }
        case .object(let object):
            self.object {
                for member in object.members {
                    $0.key(escaping: member.key)
                    $0.value(member.value)
                }
            }
        }
    }

    // MARK: Text

    private mutating func open(_ bracket: UInt8) {
        separate()
        octets.append(bracket)
        needsComma = false
    }

    private mutating func close(_ bracket: UInt8) {
        octets.append(bracket)
        needsComma = true
    }

    private mutating func separate() {
        if needsComma { octets.append(UInt8(ascii: ",")) }
    }

    private mutating func word(_ text: StaticString) {
        separate()
        text.withUTF8Buffer { octets.append(contentsOf: $0) }
        needsComma = true
    }

    @usableFromInline
    mutating func digits(_ magnitude: UInt64, isNegative: Bool) {
        separate()
        if isNegative { octets.append(UInt8(ascii: "-")) }
        let start = octets.count
        var rest = magnitude
        repeat {
            octets.append(UInt8(ascii: "0") + UInt8(truncatingIfNeeded: rest % 10))
            rest /= 10
        } while rest > 0
        octets[start...].reverse()
        needsComma = true
    }

    private mutating func appendEscaped(_ text: UnsafeBufferPointer<UInt8>) {
        var position = 0
        while position < text.count {
            let plain = position
            while position < text.count, isPlain(text[position]) { position += 1 }
            octets.append(contentsOf: text[plain..<position])
            guard position < text.count else { return }
            let octet = text[position]
            if octet < 0x80 {
                escape(octet)
                position += 1
            } else {
                // A String holds well-formed UTF-8 only, so the continuation octets are there.
                let length = octet >= 0xF0 ? 4 : octet >= 0xE0 ? 3 : 2
                var scalar = UInt32(octet & (0x7F >> UInt8(length)))
                for offset in 1..<length { scalar = scalar << 6 | UInt32(text[position + offset] & 0x3F) }
                position += length
                if scalar >= 0x10000 {
                    unit(UInt16(0xD800 + (scalar - 0x10000) >> 10))
                    unit(UInt16(0xDC00 + (scalar - 0x10000) & 0x3FF))
                } else {
                    unit(UInt16(scalar))
                }
            }
        }
    }

    private func isPlain(_ octet: UInt8) -> Bool {
        octet >= 0x20 && octet < 0x7F && octet != UInt8(ascii: "\"") && octet != UInt8(ascii: "\\")
    }

    private mutating func escape(_ octet: UInt8) {
        let short: UInt8
        switch octet {
        case UInt8(ascii: "\""), UInt8(ascii: "\\"): short = octet
        case 0x08: short = UInt8(ascii: "b")
        case 0x09: short = UInt8(ascii: "t")
        case 0x0A: short = UInt8(ascii: "n")
        case 0x0C: short = UInt8(ascii: "f")
        case 0x0D: short = UInt8(ascii: "r")
        default: return unit(UInt16(octet))
        }
        octets.append(UInt8(ascii: "\\"))
        octets.append(short)
    }

    /// `\uXXXX`.
    private mutating func unit(_ unit: UInt16) {
        octets.append(UInt8(ascii: "\\"))
        octets.append(UInt8(ascii: "u"))
        for shift: UInt16 in [12, 8, 4, 0] {
            octets.append(hexadecimalDigit(UInt8(truncatingIfNeeded: unit >> shift) & 15))
        }
    }
}

private func hexadecimalDigit(_ nibble: UInt8) -> UInt8 {
    nibble < 10 ? UInt8(ascii: "0") + nibble : UInt8(ascii: "a") + nibble - 10
}
