/// One element of a management frame.
public struct InformationElement: Sendable {
    /// The element identifier. 255 stands for those that have an extension identifier, 221 for vendors' own.
    public let id: UInt8
    /// At most 255 octets, not yet looked at.
    public let body: ArraySlice<UInt8>

    /// The first octet of the body under identifier 255; nil for every other identifier and for an empty body.
    public var extensionID: UInt8? { id == ElementID.extended ? body.first : nil }

    /// OUI and type, `oui << 8 | type`, under identifier 221; nil for every other identifier and for a body of fewer
    /// than four octets.
    public var vendor: UInt32? {
        guard id == ElementID.vendor, body.count >= 4 else { return nil }
        return body.selector(at: body.startIndex)
    }

    /// The body without the extension identifier, or without OUI and type.
    public var payload: ArraySlice<UInt8> {
        switch id {
        case ElementID.extended: body.dropFirst(1)
        case ElementID.vendor: body.dropFirst(4)
        default: body
        }
    }
}

/// The information elements of a beacon, a probe response or an association request.
///
/// Strangers write them, so nothing is taken for granted: an element that claims more octets than there are ends the
/// sequence and sets `isTruncated`, and a field that does not hold what it should is nil. Reading never traps.
///
/// An instance shares the storage of the octets it was made from; making one is a single pass that allocates nothing.
/// Where an element occurs twice the first counts, as in the kernel, except in `Security`, which heeds all.
public struct InformationElements: Sequence, Sendable {
    /// The octets as they came.
    public let octets: ArraySlice<UInt8>

    /// Whether the octets end in the middle of an element.
    public let isTruncated: Bool

    /// Whether a FILS session element ends the sequence. What follows it in an association request is encrypted.
    public let endsInFILSSession: Bool

    /// Where the bodies of the elements in use begin.
    let index: Index

    /// Indexes `octets`, of which there may be any number of any value.
    public init(_ octets: ArraySlice<UInt8>) {
        self.octets = octets
        var iterator = Iterator(octets)
        var index = Index()
        while let header = iterator.advance() { index.note(header, in: octets) }
        self.index = index
        isTruncated = iterator.isTruncated
        endsInFILSSession = iterator.hasMetFILSSession
    }

    /// Indexes `octets`, of which there may be any number of any value.
    public init(_ octets: [UInt8]) {
        self.init(octets[...])
    }

    /// Whether there is not a single octet, as where a driver reports no elements.
    public var isEmpty: Bool { octets.isEmpty }

    /// The elements in order, up to the first that is cut off or to the FILS session.
    public func makeIterator() -> Iterator { Iterator(octets) }

    /// Walks the elements in order.
    public struct Iterator: IteratorProtocol, Sendable {
        private let octets: ArraySlice<UInt8>
        private var position: Int
        fileprivate private(set) var isTruncated = false
        fileprivate private(set) var hasMetFILSSession = false

        fileprivate init(_ octets: ArraySlice<UInt8>) {
            self.octets = octets
            position = octets.startIndex
        }

        /// The next element; nil at the end, at an element that is cut off, and after a FILS session.
        public mutating func next() -> InformationElement? {
            guard let header = advance() else { return nil }
            return InformationElement(id: header.id, body: octets[header.body])
        }

        fileprivate mutating func advance() -> Header? {
            let left = octets.endIndex - position
            guard left > 0, !isTruncated, !hasMetFILSSession else { return nil }
            guard left >= 2, left - 2 >= Int(octets[position + 1]) else {
                isTruncated = true
                return nil
            }
            let id = octets[position]
            let body = position + 2..<position + 2 + Int(octets[position + 1])
            position = body.upperBound
            hasMetFILSSession =
                id == ElementID.extended && !body.isEmpty && octets[body.lowerBound] == ExtensionID.filsSession
            return Header(id: id, body: body)
        }
    }

    fileprivate struct Header {
        let id: UInt8
        let body: Range<Int>
    }
}

extension InformationElements {
    /// Where the bodies of the elements in use begin, the first of each; 0 for those that are missing, since two
    /// octets come before every body.
    struct Index {
        fileprivate(set) var ssid = 0
        fileprivate(set) var dsParameter = 0
        fileprivate(set) var country = 0
        fileprivate(set) var rsn = 0
        fileprivate(set) var htOperation = 0
        fileprivate(set) var extendedCapabilities = 0
        fileprivate(set) var rsnExtension = 0
        fileprivate(set) var heOperation = 0
        fileprivate(set) var multiLink = 0
        fileprivate(set) var wpa = 0
        fileprivate(set) var wps = 0
        fileprivate(set) var hotspot20 = 0
        fileprivate(set) var oweTransition = 0
        fileprivate(set) var rsnOverride = 0
        fileprivate(set) var rsnOverride2 = 0

        fileprivate mutating func note(_ header: Header, in octets: ArraySlice<UInt8>) {
            switch header.id {
            case ElementID.ssid: Index.note(header, &ssid)
            case ElementID.dsParameter: Index.note(header, &dsParameter)
            case ElementID.country: Index.note(header, &country)
            case ElementID.rsn: Index.note(header, &rsn)
            case ElementID.htOperation: Index.note(header, &htOperation)
            case ElementID.extendedCapabilities: Index.note(header, &extendedCapabilities)
            case ElementID.rsnExtension: Index.note(header, &rsnExtension)
            case ElementID.vendor: noteVendor(header, in: octets)
            case ElementID.extended: noteExtended(header, in: octets)
            default: break
            }
        }

        private static func note(_ header: Header, _ start: inout Int) {
            if start == 0 { start = header.body.lowerBound }
        }

        private mutating func noteExtended(_ header: Header, in octets: ArraySlice<UInt8>) {
            guard !header.body.isEmpty else { return }
            switch octets[header.body.lowerBound] {
            case ExtensionID.heOperation: Index.note(header, &heOperation)
            case ExtensionID.multiLink:
                // Of several only the basic one (type 0 in the lower three bits) tells the address.
                if header.body.count > 1, octets[header.body.lowerBound + 1] & 7 == 0 { Index.note(header, &multiLink) }
            default: break
            }
        }

        private mutating func noteVendor(_ header: Header, in octets: ArraySlice<UInt8>) {
            guard header.body.count >= 4 else { return }
            switch octets.selector(at: header.body.lowerBound) {
            case VendorID.wpa: Index.note(header, &wpa)
            case VendorID.wps: Index.note(header, &wps)
            case VendorID.hotspot20: Index.note(header, &hotspot20)
            case VendorID.oweTransition: Index.note(header, &oweTransition)
            case VendorID.rsnOverride: Index.note(header, &rsnOverride)
            case VendorID.rsnOverride2: Index.note(header, &rsnOverride2)
            default: break
            }
        }
    }
}

/// IEEE 802.11-2020, table 9-92.
enum ElementID {
    static let ssid: UInt8 = 0
    static let dsParameter: UInt8 = 3
    static let country: UInt8 = 7
    static let rsn: UInt8 = 48
    static let htOperation: UInt8 = 61
    static let wapi: UInt8 = 68
    static let extendedCapabilities: UInt8 = 127
    static let vendor: UInt8 = 221
    static let rsnExtension: UInt8 = 244
    static let extended: UInt8 = 255
}

/// Under element identifier 255.
enum ExtensionID {
    static let filsSession: UInt8 = 4
    static let heOperation: UInt8 = 36
    static let multiLink: UInt8 = 107
}

/// Under element identifier 221: `oui << 8 | type`.
enum VendorID {
    static let wpa: UInt32 = 0x0050_f201
    static let wps: UInt32 = 0x0050_f204
    static let hotspot20: UInt32 = 0x506f_9a10
    static let osen: UInt32 = 0x506f_9a12
    static let oweTransition: UInt32 = 0x506f_9a1c
    static let rsnOverride: UInt32 = 0x506f_9a29
    static let rsnOverride2: UInt32 = 0x506f_9a2a
}
