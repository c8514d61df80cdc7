/// What an RSN element, one of its overrides or a WPA element says: which ciphers and which ways of authenticating.
///
/// In a beacon it is what the access point offers; in an association request it is what was chosen.
public struct RSN: Sendable {
    /// Which of the two elements it was read from.
    public enum Generation: Hashable, Sendable {
        /// The vendor element of 2003 (`00-50-f2:1`).
        case wpa
        /// Element 48 or an override of it: WPA2 and everything since.
        case rsn
    }

    /// Which of the two elements it was read from.
    public let generation: Generation
    /// For frames to many.
    public let group: CipherSuite
    /// For frames to one station. At least one suite.
    public let pairwise: SuiteList<CipherSuite>
    /// At least one suite.
    public let akms: SuiteList<AKM>
    /// The RSN capabilities field (IEEE 802.11-2020, 9.4.2.24.4); 0 where it was left out.
    public let capabilities: UInt16
    /// The number of cached keys that a request names.
    public let pmkidCount: Int
    /// For broadcast management frames; nil where it was left out.
    public let groupManagement: CipherSuite?

    /// Reads the body of element 48, or what follows OUI and type in an override of it.
    ///
    /// Every field after the version may be left out with all that follow it; octets after the last field are ignored.
    /// Nil for another version than 1, for a field that is cut in the middle, and for a list of ciphers or suites that
    /// is empty or longer than the element.
    public init?(body: ArraySlice<UInt8>) {
        self.init(body: body, generation: .rsn)
    }

    /// Reads what follows OUI and type in a WPA element; nil as for an RSN element.
    public init?(wpaBody: ArraySlice<UInt8>) {
        self.init(body: wpaBody, generation: .wpa)
    }

    private init?(body: ArraySlice<UInt8>, generation: Generation) {
        var reader = OctetReader(body)
        guard reader.readUInt16() == 1 else { return nil }
        var group: UInt32?
        var pairwise: ArraySlice<UInt8>?
        var akms: ArraySlice<UInt8>?
        var capabilities: UInt16?
        var pmkids: ArraySlice<UInt8>?
        var groupManagement: UInt32?
        if !reader.isAtEnd {
            group = reader.readSelector()
            guard group != nil else { return nil }
        }
        if !reader.isAtEnd {
            pairwise = reader.readList(of: 4)
            guard let pairwise, !pairwise.isEmpty else { return nil }
        }
        if !reader.isAtEnd {
            akms = reader.readList(of: 4)
            guard let akms, !akms.isEmpty else { return nil }
        }
        if !reader.isAtEnd {
            capabilities = reader.readUInt16()
            guard capabilities != nil else { return nil }
        }
        // A WPA element ends here; octets that follow it are no fields.
        if generation == .rsn, !reader.isAtEnd {
            pmkids = reader.readList(of: 16)
            guard pmkids != nil else { return nil }
        }
        if generation == .rsn, !reader.isAtEnd {
            groupManagement = reader.readSelector()
            guard groupManagement != nil else { return nil }
        }

        let cipher: CipherSuite = generation == .rsn ? .ccmp128 : .wpaTKIP
        self.generation = generation
        self.group = group.map(CipherSuite.init(rawValue:)) ?? cipher
        self.pairwise = SuiteList(pairwise, absent: cipher)
        self.akms = SuiteList(akms, absent: generation == .rsn ? .ieee8021X : .wpaIEEE8021X)
        self.capabilities = capabilities ?? 0
        self.pmkidCount = (pmkids?.count ?? 0) / 16
        self.groupManagement = groupManagement.map(CipherSuite.init(rawValue:))
    }

    /// MFPR: no association without protected management frames.
    public var requiresManagementFrameProtection: Bool { generation == .rsn && capabilities & 1 << 6 != 0 }

    /// MFPC: management frames can be protected.
    public var supportsManagementFrameProtection: Bool { generation == .rsn && capabilities & 1 << 7 != 0 }
}

/// What an RSN extension element (244) says.
public struct RSNExtension: Hashable, Sendable {
    /// The first two octets of the body, little-endian; the lower four bits are a length.
    public let rawValue: UInt16

    init?(body: ArraySlice<UInt8>) {
        guard let first = body.first else { return nil }
        rawValue = UInt16(first) | (body.dropFirst().first.map { UInt16($0) << 8 } ?? 0)
    }

    /// SAE with hash-to-element, which 6 GHz and Wi-Fi 7 demand.
    public var supportsHashToElement: Bool { rawValue & 1 << 5 != 0 }

    /// SAE whose passphrase holds the fingerprint of the access point's key, so that knowing it is not enough to pose
    /// as the access point.
    public var supportsSAEPublicKey: Bool { rawValue & 1 << 6 != 0 }
}

/// Reads little-endian fields from the front; nil where too few octets are left.
struct OctetReader {
    private(set) var rest: ArraySlice<UInt8>

    init(_ octets: ArraySlice<UInt8>) {
        rest = octets
    }

    var isAtEnd: Bool { rest.isEmpty }

    mutating func read(_ count: Int) -> ArraySlice<UInt8>? {
        guard count <= rest.count else { return nil }
        defer { rest = rest.dropFirst(count) }
        return rest.prefix(count)
    }

    mutating func readUInt8() -> UInt8? { rest.popFirst() }

    mutating func readUInt16() -> UInt16? {
        guard rest.count >= 2 else { return nil }
        let first = rest.startIndex
        defer { rest = rest.dropFirst(2) }
        return UInt16(rest[first]) | UInt16(rest[first + 1]) << 8
    }

    /// A suite selector, which alone is big-endian.
    mutating func readSelector() -> UInt32? { read(4).map { $0.selector(at: $0.startIndex) } }

    /// A count of two octets and as many entries of `size` octets.
    mutating func readList(of size: Int) -> ArraySlice<UInt8>? {
        guard let count = readUInt16() else { return nil }
        return read(Int(count) * size)
    }
}
