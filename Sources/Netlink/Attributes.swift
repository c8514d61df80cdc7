/// The attributes of a message or of a nest, `nlattr` of netlink(7), each checked before it is handed out.
public struct Attributes: Sendable {
    private let bytes: ArraySlice<UInt8>

    public init(_ bytes: ArraySlice<UInt8>) {
        self.bytes = bytes
    }

    /// Visits the attributes in the order of the message.
    ///
    /// The kernel never repeats an attribute within one nest, other than in lists, so a repetition means that the
    /// message is not what it seems.
    ///
    /// - Parameter isList: types are positions or repeat on purpose.
    /// - Throws: `MalformedMessage` for a length that does not fit, left-over octets, or a repetition below type 384
    ///   (`NL80211_ATTR_MAX` is 325 in Linux 6.1).
    public func forEach(
        isList: Bool = false, _ body: (Attribute) throws(MalformedMessage) -> Void
    ) throws(MalformedMessage) {
        var seen: InlineArray<6, UInt64> = .init(repeating: 0)
        var position = bytes.startIndex
        let end = bytes.endIndex
        while position < end {
            let rest = bytes[position..<end]
            guard let length = rest.hostInteger(at: 0, as: UInt16.self).map(Int.init),
                let rawType = rest.hostInteger(at: 2, as: UInt16.self)
            else {
                throw MalformedMessage("\(rest.count) octets left over where an attribute takes 4")
            }
            let type = rawType & Attribute.typeMask
            guard length >= 4, length <= rest.count else {
                throw MalformedMessage("attribute \(type): length \(length) in \(rest.count) octets")
            }
            if !isList, type < 384 {
                let bit: UInt64 = 1 << UInt64(type & 63)
                guard seen[Int(type >> 6)] & bit == 0 else { throw MalformedMessage("attribute \(type) twice") }
                seen[Int(type >> 6)] |= bit
            }
            try body(Attribute(type: type, payload: bytes[(position + 4)..<(position + length)]))
            position += (length + 3) & ~3
        }
    }
}

/// One attribute. Readers throw unless the payload has exactly the size of what is read.
public struct Attribute: Sendable {
    /// `NLA_TYPE_MASK`: without the nested and byte-order flags.
    static let typeMask: UInt16 = 0x3fff

    public let type: UInt16
    public let payload: ArraySlice<UInt8>

    public init(type: UInt16, payload: ArraySlice<UInt8>) {
        self.type = type
        self.payload = payload
    }

    /// The payload as a nest of attributes.
    public var nested: Attributes { Attributes(payload) }

    @inlinable
    public func integer<Integer: FixedWidthInteger>(_ integer: Integer.Type = Integer.self) throws(MalformedMessage)
        -> Integer
    {
        guard payload.count == MemoryLayout<Integer>.size, let value = payload.hostInteger(at: 0, as: integer) else {
            throw MalformedMessage("attribute \(type): \(payload.count) octets, expected \(MemoryLayout<Integer>.size)")
        }
        return value
    }

    public func macAddress() throws(MalformedMessage) -> MACAddress {
        guard let address = MACAddress(octets: payload) else {
            throw MalformedMessage("attribute \(type): \(payload.count) octets, expected 6")
        }
        return address
    }

    public func ipAddress() throws(MalformedMessage) -> IPAddress {
        guard let address = IPAddress(octets: payload) else {
            throw MalformedMessage("attribute \(type): \(payload.count) octets, expected 4 or 16")
        }
        return address
    }

    /// Octets up to the first NUL or the end; those that are no UTF-8 appear as `\xNN`.
    public var text: String {
        let octets = payload.prefix { $0 != 0 }
        if let text = String(validating: octets, as: UTF8.self) { return text }
        return octets.reduce(into: "") { text, octet in
            if octet >= 0x20, octet < 0x7f {
                text.unicodeScalars.append(Unicode.Scalar(octet))
            } else {
                text += "\\x" + CollectionOfOne(octet).hexadecimal
            }
        }
    }
}
