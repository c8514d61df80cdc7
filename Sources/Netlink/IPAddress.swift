internal import Glibc

/// An IPv4 or IPv6 address in network order.
public struct IPAddress: Hashable, Sendable {
    public enum Family: UInt8, Hashable, Sendable {
        /// `AF_INET`
        case v4 = 2
        /// `AF_INET6`
        case v6 = 10
    }

    public let family: Family
    /// 4 or 16 octets.
    public let octets: [UInt8]

    public init?(octets: some Collection<UInt8>) {
        switch octets.count {
        case 4: family = .v4
        case 16: family = .v6
        default: return nil
        }
        self.octets = Array(octets)
    }

    /// Reads the forms that `inet_pton(3)` reads.
    public init?(_ text: String) {
        let family: Family = text.utf8.contains(UInt8(ascii: ":")) ? .v6 : .v4
        var octets = [UInt8](repeating: 0, count: family == .v4 ? 4 : 16)
        // C would take a NUL for the end.
        guard !text.utf8.contains(0), unsafe inet_pton(Int32(family.rawValue), text, &octets) == 1 else { return nil }
        self.family = family
        self.octets = octets
    }

    /// `fe80::/10` or `169.254.0.0/16`: says nothing about where one is.
    public var isLinkLocal: Bool {
        switch family {
        case .v4: octets[0] == 169 && octets[1] == 254
        case .v6: octets[0] == 0xfe && octets[1] & 0xc0 == 0x80
        }
    }

    public var isUnspecified: Bool { octets.allSatisfy { $0 == 0 } }
}

extension IPAddress: Comparable {
    /// IPv4 first, then by octets.
    public static func < (left: IPAddress, right: IPAddress) -> Bool {
        guard left.family == right.family else { return left.family == .v4 }
        return left.octets.lexicographicallyPrecedes(right.octets)
    }
}

extension IPAddress: CustomStringConvertible {
    public var description: String {
        var text = [CChar](repeating: 0, count: Int(INET6_ADDRSTRLEN))
        guard unsafe inet_ntop(Int32(family.rawValue), octets, &text, socklen_t(text.count)) != nil else { return "" }
        return String(decoding: text.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
    }
}
