internal import Netlink

/// The four octets by which 802.11 names a cipher or a way of authenticating: an OUI and a type
/// (IEEE 802.11-2020, 9.4.2.24).
public protocol SuiteSelector: RawRepresentable, Hashable, Sendable, CustomStringConvertible where RawValue == UInt32 {
    /// Any four octets, first on the wire first: `oui << 8 | type`.
    init(rawValue: UInt32)
}

extension SuiteSelector {
    /// The suite `type` of the organisation `oui`, of which the lower 24 bits count.
    public init(oui: UInt32, type: UInt8) {
        self.init(rawValue: oui << 8 | UInt32(type))
    }

    /// Reads the form that `description` writes, `00-0f-ac:8`: hexadecimal digits of any case, the type in decimal
    /// from 0 to 255 without leading zeros. Nil for anything else.
    public init?(parsing text: some StringProtocol) {
        var oui: UInt32 = 0
        var type: UInt32 = 0
        var position = 0
        for octet in text.utf8 {
            switch position {
            case 2, 5:
                guard octet == UInt8(ascii: "-") else { return nil }
            case 8:
                guard octet == UInt8(ascii: ":") else { return nil }
            case 0..<8:
                guard let digit = Unicode.Scalar(octet).hexadecimalValue else { return nil }
                oui = oui << 4 | digit
            default:
                guard position < 12, let digit = Unicode.Scalar(octet).hexadecimalValue, digit < 10 else { return nil }
                guard position == 9 || type > 0 else { return nil }
                type = type * 10 + digit
            }
            position += 1
        }
        guard position > 9, type <= 255 else { return nil }
        self.init(rawValue: oui << 8 | type)
    }

    /// The organisation that assigned the type: 24 bits.
    public var oui: UInt32 { rawValue >> 8 }

    /// The number within the organisation's list.
    public var type: UInt8 { UInt8(truncatingIfNeeded: rawValue) }

    /// The OUI in lower-case hexadecimal, the type in decimal: `00-0f-ac:8`.
    public var description: String {
        let octets = [24, 16, 8].map { CollectionOfOne(UInt8(truncatingIfNeeded: rawValue >> $0)).hexadecimal }
        return "\(octets[0])-\(octets[1])-\(octets[2]):\(type)"
    }
}

extension Unicode.Scalar {
    fileprivate var hexadecimalValue: UInt32? {
        switch self {
        case "0"..."9": value - 0x30
        case "a"..."f": value - 0x61 + 10
        case "A"..."F": value - 0x41 + 10
        default: nil
        }
    }
}

/// A list of suites as it stands in an element, read where it stands: nothing is copied.
public struct SuiteList<Suite: SuiteSelector>: RandomAccessCollection, Sendable {
    private let octets: ArraySlice<UInt8>
    private let absent: Suite

    /// The list in `octets`, four an entry; where the element was cut before it, the one suite `absent`.
    init(_ octets: ArraySlice<UInt8>?, absent: Suite) {
        self.octets = octets ?? []
        self.absent = absent
    }

    /// 0.
    public var startIndex: Int { 0 }

    /// The number of suites, at least 1.
    public var endIndex: Int { octets.isEmpty ? 1 : octets.count / 4 }

    /// The suite at `position`, in the order on the wire.
    public subscript(position: Int) -> Suite {
        precondition(position >= 0 && position < endIndex, "position outside the list")
        guard !octets.isEmpty else { return absent }
        return Suite(rawValue: octets.selector(at: octets.startIndex + position * 4))
    }
}

extension ArraySlice<UInt8> {
    /// The four octets from `first` on, of which there must be as many, first on the wire first.
    func selector(at first: Int) -> UInt32 {
        UInt32(self[first]) << 24 | UInt32(self[first + 1]) << 16 | UInt32(self[first + 2]) << 8
            | UInt32(self[first + 3])
    }
}
