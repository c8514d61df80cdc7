public import Netlink

/// Netlink octets as the kernel lays them out, netlink(7): what tests feed to decoders.
public enum Wire {
    /// The identifier that nl80211 has in tests.
    public static let family: UInt16 = 32

    public static func number(_ value: some FixedWidthInteger) -> [UInt8] {
        var bytes: [UInt8] = []
        bytes.appendHostOrder(value)
        return bytes
    }

    public static func attribute(_ type: UInt16, _ payload: [UInt8] = []) -> [UInt8] {
        let length = number(UInt16(4 + payload.count))
        return length + number(type) + payload + padding(payload.count)
    }

    public static func attribute(_ type: UInt16, _ value: some FixedWidthInteger) -> [UInt8] {
        attribute(type, number(value))
    }

    /// With the NUL that the kernel puts behind it.
    public static func attribute(_ type: UInt16, text: String) -> [UInt8] {
        attribute(type, Array(text.utf8) + [0])
    }

    /// With `NLA_F_NESTED`, as newer kernels mark nests.
    public static func nest(_ type: UInt16, _ members: [UInt8]...) -> [UInt8] {
        attribute(type | 0x8000, Array(members.joined()))
    }

    public static func message(
        _ type: UInt16, flags: UInt16 = 0, sequence: UInt32 = 0, port: UInt32 = 0, _ payload: [UInt8]
    ) -> [UInt8] {
        number(UInt32(16 + payload.count)) + number(type) + number(flags) + number(sequence) + number(port) + payload
            + padding(payload.count)
    }

    private static func padding(_ count: Int) -> [UInt8] { [UInt8](repeating: 0, count: -count & 3) }
}

/// One datagram of one of the two buses.
public struct Signal: Hashable, Sendable {
    /// `NETLINK_*`: 0 is rtnetlink, 16 generic netlink.
    public var bus: UInt16
    public var bytes: [UInt8]

    public init(bus: UInt16, _ bytes: [UInt8]) {
        self.bus = bus
        self.bytes = bytes
    }

    /// The first message in it.
    public var message: NetlinkMessage {
        guard let message = NetlinkMessage.split(bytes[...]).messages.first else {
            preconditionFailure("not a message: \(bytes.hexadecimal)")
        }
        return message
    }
}

/// The octets that hexadecimal digits stand for; whatever is no digit is for the reader.
public func octets(_ hexadecimal: String) -> [UInt8] {
    let digits = hexadecimal.compactMap(\.hexDigitValue)
    precondition(digits.count.isMultiple(of: 2))
    return stride(from: 0, to: digits.count, by: 2).map { UInt8(digits[$0] << 4 | digits[$0 + 1]) }
}

/// A generator whose sequence follows from its seed, so that a failure can be had again (SplitMix64).
public struct SeededGenerator: RandomNumberGenerator {
    private var state: UInt64

    public init(_ seed: UInt64) {
        state = seed
    }

    public mutating func next() -> UInt64 {
        state &+= 0x9e37_79b9_7f4a_7c15
        var value = state
        value = (value ^ value >> 30) &* 0xbf58_476d_1ce4_e5b9
        value = (value ^ value >> 27) &* 0x94d0_49bb_1331_11eb
        return value ^ value >> 31
    }

    public mutating func octets(_ counts: ClosedRange<Int>) -> [UInt8] {
        (0..<Int.random(in: counts, using: &self)).map { _ in UInt8(truncatingIfNeeded: next()) }
    }

    /// True once in `count` times.
    public mutating func once(in count: Int) -> Bool { Int.random(in: 0..<count, using: &self) == 0 }
}
