public import Netlink

/// The name of a Wi-Fi network: 0 to 32 arbitrary octets (IEEE 802.11-2020, 9.4.2.2).
///
/// Strangers choose it. It has no character set, so it is compared octet by octet and never as a `String`, whose
/// equality would make one of two different networks. For the same reason there is no string-literal initialiser.
public struct SSID: Hashable, Sendable {
    /// In octets.
    public static let maximumLength = 32

    /// 0 to 32 octets of any value.
    public let octets: [UInt8]

    /// Nil for more than 32 octets.
    public init?(octets: some Collection<UInt8>) {
        guard octets.count <= SSID.maximumLength else { return nil }
        self.octets = Array(octets)
    }

    /// The UTF-8 octets of `text`, nil for more than 32 of them.
    public init?(utf8 text: String) {
        self.init(octets: text.utf8)
    }

    /// An even number of hexadecimal digits, any case; nil otherwise.
    public init?(hexadecimal text: some StringProtocol) {
        var octets: [UInt8] = []
        var high: UInt8?
        for character in text {
            guard character.isASCII, let digit = character.hexDigitValue else { return nil }
            if let upper = high {
                octets.append(upper << 4 | UInt8(digit))
                high = nil
            } else {
                high = UInt8(digit)
            }
        }
        guard high == nil else { return nil }
        self.init(octets: octets)
    }

    /// The name as text where its octets are valid UTF-8, otherwise nil. For showing only: never compare it, and
    /// escape it before it reaches a terminal.
    public var text: String? { String(validating: octets, as: UTF8.self) }

    /// Two lower-case digits an octet; empty for an empty name.
    public var hexadecimal: String { octets.hexadecimal }

    /// Whether it stands for a name that is not told: no octets, or only zeros, as hidden networks beacon it.
    public var isHidden: Bool { octets.allSatisfy { $0 == 0 } }
}

/// The MAC address of an access point's radio; under multi-link operation of one of its links.
public typealias BSSID = MACAddress
