/// A datagram out of a capture of netlink traffic.
public struct CapturedDatagram: Hashable, Sendable {
    /// µs since 1970-01-01T00:00:00Z.
    public var wall: Int64
    /// `NETLINK_*`: 0 is rtnetlink, 16 generic netlink.
    public var bus: UInt16
    public var bytes: ArraySlice<UInt8>

    public init(wall: Int64, bus: UInt16, bytes: ArraySlice<UInt8>) {
        self.wall = wall
        self.bus = bus
        self.bytes = bytes
    }
}

/// Why a file is no capture that can be read.
public enum CaptureError: Error, Hashable, Sendable, CustomStringConvertible {
    case notACapture
    case wrongLinkType(UInt32)
    case cut(atOctet: Int)

    public var description: String {
        switch self {
        case .notACapture: "neither a pcap nor a pcapng file"
        case .wrongLinkType(let type):
            "a capture of link type \(type); expected 253 (netlink), as `tcpdump -i nlmon0 -w FILE` writes it"
        case .cut(let octet): "cut off or damaged at octet \(octet)"
        }
    }
}

/// Captures in the pcap and pcapng formats, link type 253 (`LINKTYPE_NETLINK`).
public enum Capture {
    static let linkType: UInt32 = 253
    /// The header before each datagram: packet type, `ARPHRD_NETLINK`, an unused address, the netlink protocol.
    static let packetHeaderLength = 16

    /// Hands over the datagrams in the order of the file.
    ///
    /// - Throws: `CaptureError`; a file that ends in the middle is read up to there first.
    public static func read(
        _ file: [UInt8], _ body: (CapturedDatagram) -> Void
    ) throws(CaptureError) {
        var scanner = Scanner(file)
        switch scanner.peek() {
        case 0xa1b2_c3d4: try readClassic(&scanner, unitsPerSecond: 1_000_000, body)
        case 0xa1b2_3c4d: try readClassic(&scanner, unitsPerSecond: 1_000_000_000, body)
        case 0x0a0d_0d0a: try readNextGeneration(&scanner, body)
        default:
            scanner.isSwapped = true
            switch scanner.peek() {
            case 0xa1b2_c3d4: try readClassic(&scanner, unitsPerSecond: 1_000_000, body)
            case 0xa1b2_3c4d: try readClassic(&scanner, unitsPerSecond: 1_000_000_000, body)
            default: throw .notACapture
            }
        }
    }

    private static func readClassic(
        _ scanner: inout Scanner, unitsPerSecond: Int64, _ body: (CapturedDatagram) -> Void
    ) throws(CaptureError) {
        try scanner.skip(20)
        let type = try scanner.word() & 0x0fff_ffff
        guard type == linkType else { throw .wrongLinkType(type) }
        while !scanner.isAtEnd {
            let seconds = Int64(try scanner.word())
            let fraction = Int64(try scanner.word())
            let captured = Int(try scanner.word())
            try scanner.skip(4)
            let packet = try scanner.take(captured)
            deliver(packet, at: seconds * 1_000_000 + fraction * 1_000_000 / unitsPerSecond, body)
        }
    }

    /// draft-ietf-opsawg-pcapng: section headers, interface descriptions and enhanced packets; other blocks are skipped.
    private static func readNextGeneration(
        _ scanner: inout Scanner, _ body: (CapturedDatagram) -> Void
    ) throws(CaptureError) {
        // Of each interface of the section: whether it is netlink, and the units of its stamps in a second.
        var interfaces: [(isNetlink: Bool, unitsPerSecond: UInt64)] = []
        var otherType: UInt32?
        var hasNetlink = false
        while !scanner.isAtEnd {
            let start = scanner.position
            let type = try scanner.word()
            if type == 0x0a0d_0d0a {
                // The byte-order magic comes after the length, and each section may have its own order.
                try scanner.skip(4)
                let magic = try scanner.word()
                if magic != 0x1a2b_3c4d { scanner.isSwapped.toggle() }
                guard magic == 0x1a2b_3c4d || magic.byteSwapped == 0x1a2b_3c4d else { throw .cut(atOctet: start) }
                scanner.position = start + 4
                interfaces = []
            }
            let length = Int(try scanner.word())
            guard length >= 12, length % 4 == 0 else { throw .cut(atOctet: start) }
            var block = Scanner(try scanner.take(length - 12), isSwapped: scanner.isSwapped)
            try scanner.skip(4)
            switch type {
            case 1:
                let linkType = UInt32(try block.halfWord())
                if linkType != self.linkType { otherType = linkType } else { hasNetlink = true }
                try block.skip(6)
                interfaces.append((linkType == self.linkType, block.timestampUnits()))
            case 6:
                let interface = Int(try block.word())
                let stamp = UInt64(try block.word()) << 32 | UInt64(try block.word())
                let captured = Int(try block.word())
                try block.skip(4)
                guard interface < interfaces.count, interfaces[interface].isNetlink else { continue }
                let wall = microseconds(stamp, unitsPerSecond: interfaces[interface].unitsPerSecond)
                deliver(try block.take(captured), at: wall, body)
            default: continue
            }
        }
        if !hasNetlink, let otherType { throw .wrongLinkType(otherType) }
    }

    /// A stamp of a damaged file can be any number: none is later than the end of the year 9999.
    private static func microseconds(_ stamp: UInt64, unitsPerSecond units: UInt64) -> Int64 {
        Int64(min(stamp / units, 253_402_300_799)) * 1_000_000 + Int64(stamp % units * 1_000_000 / units)
    }

    private static func deliver(_ packet: ArraySlice<UInt8>, at wall: Int64, _ body: (CapturedDatagram) -> Void) {
        guard packet.count > packetHeaderLength else { return }
        // The protocol stands in network order whatever the file's order is.
        let bus = UInt16(packet[packet.startIndex + 14]) << 8 | UInt16(packet[packet.startIndex + 15])
        body(CapturedDatagram(wall: wall, bus: bus, bytes: packet.dropFirst(packetHeaderLength)))
    }

    /// The head of a pcap file with stamps in µs.
    public static var fileHeader: [UInt8] {
        var bytes: [UInt8] = []
        bytes.appendHostOrder(UInt32(0xa1b2_c3d4))
        bytes.appendHostOrder(UInt16(2))
        bytes.appendHostOrder(UInt16(4))
        bytes.appendHostOrder(UInt64(0))
        bytes.appendHostOrder(UInt32(262_144))
        bytes.appendHostOrder(linkType)
        return bytes
    }

    /// One datagram as a record of a pcap file.
    public static func record(_ datagram: CapturedDatagram) -> [UInt8] {
        var bytes: [UInt8] = []
        let length = UInt32(packetHeaderLength + datagram.bytes.count)
        bytes.reserveCapacity(16 + Int(length))
        bytes.appendHostOrder(UInt32(truncatingIfNeeded: datagram.wall / 1_000_000))
        bytes.appendHostOrder(UInt32(truncatingIfNeeded: datagram.wall % 1_000_000))
        bytes.appendHostOrder(length)
        bytes.appendHostOrder(length)
        bytes += [0, 4, 0x03, 0x38, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0]
        bytes += [UInt8(datagram.bus >> 8), UInt8(truncatingIfNeeded: datagram.bus)]
        bytes += datagram.bytes
        return bytes
    }
}

/// Reads a file in its own byte order.
private struct Scanner {
    private let bytes: ArraySlice<UInt8>
    var position: Int
    var isSwapped: Bool

    init(_ bytes: [UInt8]) {
        self.init(bytes[...], isSwapped: false)
    }

    init(_ bytes: ArraySlice<UInt8>, isSwapped: Bool) {
        self.bytes = bytes
        position = bytes.startIndex
        self.isSwapped = isSwapped
    }

    var isAtEnd: Bool { position >= bytes.endIndex }

    func peek() -> UInt32 {
        var copy = self
        return (try? copy.word()) ?? 0
    }

    mutating func take(_ count: Int) throws(CaptureError) -> ArraySlice<UInt8> {
        guard count >= 0, bytes.endIndex - position >= count else { throw .cut(atOctet: position) }
        defer { position += count }
        return bytes[position..<(position + count)]
    }

    mutating func skip(_ count: Int) throws(CaptureError) { _ = try take(count) }

    mutating func word() throws(CaptureError) -> UInt32 {
        let value = try take(4).hostInteger(at: 0, as: UInt32.self) ?? 0
        return isSwapped ? value.byteSwapped : value
    }

    mutating func halfWord() throws(CaptureError) -> UInt16 {
        let value = try take(2).hostInteger(at: 0, as: UInt16.self) ?? 0
        return isSwapped ? value.byteSwapped : value
    }

    /// `if_tsresol` among the options of an interface description: units in a second, 10⁶ where it is not said.
    mutating func timestampUnits() -> UInt64 {
        while let code = try? halfWord(), let length = try? halfWord(), code != 0 {
            guard let value = try? take((Int(length) + 3) & ~3) else { break }
            guard code == 9, let resolution = value.first else { continue }
            let exponent = UInt64(resolution & 0x7f)
            if resolution & 0x80 != 0 { return exponent < 44 ? 1 << exponent : 1_000_000 }
            return exponent <= 12 ? (0..<exponent).reduce(1) { units, _ in units * 10 } : 1_000_000
        }
        return 1_000_000
    }
}
