public import Netlink

/// Octets in which `*` stands for any number of octets and `?` for one; `\` takes the next octet as it is.
public struct OctetPattern: Hashable, Sendable {
    enum Element: Hashable {
        case octet(UInt8)
        case anyOctet
        case anyOctets
    }

    let elements: [Element]

    /// Nil where it ends in a lone `\`.
    public init?(_ text: some Collection<UInt8>) {
        var elements: [Element] = []
        var isEscaped = false
        for octet in text {
            switch octet {
            case _ where isEscaped:
                elements.append(.octet(octet))
                isEscaped = false
            case UInt8(ascii: "\\"): isEscaped = true
            case UInt8(ascii: "*"): if elements.last != .anyOctets { elements.append(.anyOctets) }
            case UInt8(ascii: "?"): elements.append(.anyOctet)
            default: elements.append(.octet(octet))
            }
        }
        guard !isEscaped else { return nil }
        self.elements = elements
    }

    /// The octets before the first wildcard.
    var literalPrefix: [UInt8] {
        var octets: [UInt8] = []
        for case .octet(let octet) in elements.prefix(while: { if case .octet = $0 { true } else { false } }) {
            octets.append(octet)
        }
        return octets
    }

    var isLiteral: Bool { literalPrefix.count == elements.count }

    /// How many octets there are besides wildcards.
    var literalCount: Int {
        elements.count { if case .octet = $0 { true } else { false } }
    }

    /// The least that it matches, in octets.
    var minimumLength: Int {
        elements.count { $0 != .anyOctets }
    }

    /// Goes back to the last `*` only, so the time is at most the product of both lengths.
    public func matches(_ octets: [UInt8]) -> Bool {
        var place = 0
        var position = 0
        var retry: (place: Int, position: Int)?
        while position < octets.count {
            if place < elements.count, elements[place] == .anyOctets {
                retry = (place, position)
                place += 1
            } else if place < elements.count,
                elements[place] == .anyOctet || elements[place] == .octet(octets[position])
            {
                place += 1
                position += 1
            } else if let last = retry {
                retry = (last.place, last.position + 1)
                place = last.place + 1
                position = last.position + 1
            } else {
                return false
            }
        }
        return elements[place...].allSatisfy { $0 == .anyOctets }
    }
}

/// The first bits of MAC addresses, such as those of a vendor or a building.
public struct MACAddressPrefix: Hashable, Sendable {
    /// Of the 48 bits of an address; those beyond the length are zero.
    let bits: UInt64
    /// Bits, 0–48.
    public let length: Int

    /// Reads an address in any usual spelling, with `/` and a number of bits where not all 48 count.
    public init?(_ text: some StringProtocol) {
        let parts = text.split(separator: "/", maxSplits: 1, omittingEmptySubsequences: false)
        guard let address = parts.first.flatMap({ MACAddress($0) }) else { return nil }
        guard let length = parts.count < 2 ? 48 : prefixLength(parts[1], upTo: 48) else { return nil }
        self.init(address, length: length)
    }

    init(_ address: MACAddress, length: Int) {
        self.length = length
        bits = length == 0 ? 0 : address.rawValue & ~UInt64(0) << UInt64(48 - length)
    }

    public func contains(_ other: MACAddress) -> Bool {
        // Lists have tens of thousands of them.
        length == 0 || (other.rawValue ^ bits) >> UInt64(48 - length) == 0
    }
}

/// A range of IP addresses, RFC 4632.
public struct IPSubnet: Hashable, Sendable {
    public let family: IPAddress.Family
    /// Those beyond the length are zero.
    let octets: [UInt8]
    /// Bits, 0–32 or 0–128.
    public let length: Int

    /// Reads `192.0.2.0/24` or `2001:db8::/32`. Nil also where bits beyond the length are set: a slip.
    public init?(_ text: some StringProtocol) {
        let parts = text.split(separator: "/", maxSplits: 1, omittingEmptySubsequences: false)
        guard parts.count == 2, let address = IPAddress(String(parts[0])),
            let length = prefixLength(parts[1], upTo: address.octets.count * 8)
        else { return nil }
        self.init(address, length: length)
        guard octets == address.octets else { return nil }
    }

    /// The range that an address with a length, such as `192.0.2.1/24`, is in; nil for anything else.
    init?(around text: String) {
        let parts = text.split(separator: "/", maxSplits: 1, omittingEmptySubsequences: false)
        guard parts.count == 2, let address = IPAddress(String(parts[0])),
            let length = prefixLength(parts[1], upTo: address.octets.count * 8)
        else { return nil }
        self.init(address, length: length)
    }

    init(_ address: IPAddress, length: Int) {
        family = address.family
        octets = address.octets.enumerated().map { place, octet in
            let bits = min(max(length - place * 8, 0), 8)
            return octet & UInt8(truncatingIfNeeded: 0xFF00 >> bits)
        }
        self.length = length
    }

    public func contains(_ other: IPAddress) -> Bool {
        guard other.family == family else { return false }
        let whole = length / 8
        guard other.octets[..<whole] == octets[..<whole] else { return false }
        return length % 8 == 0 || (other.octets[whole] ^ octets[whole]) >> UInt8(8 - length % 8) == 0
    }
}

extension IPSubnet: CustomStringConvertible {
    public var description: String { "\(IPAddress(octets: octets)?.description ?? "?")/\(length)" }
}

/// Decimal digits without a leading zero.
private func prefixLength(_ text: some StringProtocol, upTo limit: Int) -> Int? {
    guard (1...3).contains(text.utf8.count), text.utf8.allSatisfy({ (0x30...0x39).contains($0) }),
        text.utf8.count == 1 || text.utf8.first != UInt8(ascii: "0"), let length = Int(text), length <= limit
    else { return nil }
    return length
}

/// DNS domains, compared as RFC 4343 wants it: ASCII letters of either case are the same.
enum Domain {
    /// Lower case, without a dot at either end; nil for what is no domain (RFC 1035, 2.3.4; underscores are in use).
    static func normalized(_ text: String) -> String? {
        var labels = text.utf8.split(separator: UInt8(ascii: "."), omittingEmptySubsequences: false)[...]
        if labels.first?.isEmpty == true { labels.removeFirst() }
        if labels.last?.isEmpty == true { labels.removeLast() }
        guard !labels.isEmpty, text.utf8.count <= 255 else { return nil }
        for label in labels {
            guard (1...63).contains(label.count), label.first != UInt8(ascii: "-"), label.last != UInt8(ascii: "-"),
                label.allSatisfy({ octet in
                    switch octet {
                    case 0x30...0x39, 0x41...0x5A, 0x61...0x7A, UInt8(ascii: "-"), UInt8(ascii: "_"): true
                    default: false
                    }
                })
            else { return nil }
        }
        return labels.map { String(decoding: $0.map { (0x41...0x5A).contains($0) ? $0 | 0x20 : $0 }, as: UTF8.self) }
            .joined(separator: ".")
    }

    /// It and every domain above it, the longest first.
    static func withAncestors(of domain: String) -> [String] {
        var result = [domain]
        var rest = domain[...]
        while let dot = rest.firstIndex(of: ".") {
            rest = rest[rest.index(after: dot)...]
            result.append(String(rest))
        }
        return result
    }
}
