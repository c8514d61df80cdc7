internal import Platform

/// A message that is not what its family's policy says: cut, padded with something else, or of the wrong size.
public struct MalformedMessage: Error, Hashable, Sendable, CustomStringConvertible {
    public let description: String

    public init(_ description: String) {
        self.description = description
    }
}

/// One netlink message, netlink(7), taken out of its datagram.
public struct NetlinkMessage: Hashable, Sendable {
    /// `NLMSG_*` below 16, else a type of the protocol; a family identifier in generic netlink.
    public var type: UInt16
    /// `NLM_F_*`
    public var flags: UInt16
    /// 0 in multicasts; in answers that of the request.
    public var sequence: UInt32
    /// In answers the port of the socket that asked.
    public var port: UInt32
    /// What follows the header.
    public var payload: ArraySlice<UInt8>

    public static let headerLength = 16

    public init(type: UInt16, flags: UInt16 = 0, sequence: UInt32 = 0, port: UInt32 = 0, payload: ArraySlice<UInt8>) {
        self.type = type
        self.flags = flags
        self.sequence = sequence
        self.port = port
        self.payload = payload
    }

    public static let error: UInt16 = 2
    public static let done: UInt16 = 3
    /// `NLMSG_MIN_TYPE`: everything below is control.
    public static let firstProtocolType: UInt16 = 16

    /// `NLM_F_DUMP_INTR`: the kernel's state changed during the dump.
    public var isInterruptedDump: Bool { flags & 0x10 != 0 }
    /// `NLM_F_REQUEST`
    public var isRequest: Bool { flags & 0x1 != 0 }

    /// The message as the kernel lays it out, in host order.
    public var bytes: [UInt8] {
        var bytes: [UInt8] = []
        bytes.reserveCapacity(NetlinkMessage.headerLength + payload.count)
        bytes.appendHostOrder(UInt32(NetlinkMessage.headerLength + payload.count))
        bytes.appendHostOrder(type)
        bytes.appendHostOrder(flags)
        bytes.appendHostOrder(sequence)
        bytes.appendHostOrder(port)
        bytes.append(contentsOf: payload)
        return bytes
    }

    /// Takes a datagram apart.
    ///
    /// - Returns: the messages before the first that does not fit, and what was wrong with that one.
    public static func split(_ datagram: ArraySlice<UInt8>) -> (
        messages: [NetlinkMessage], malformed: MalformedMessage?
    ) {
        var messages: [NetlinkMessage] = []
        var rest = datagram
        while !rest.isEmpty {
            guard rest.count >= headerLength, let length = rest.hostInteger(at: 0, as: UInt32.self).map(Int.init) else {
                return (messages, MalformedMessage("\(rest.count) octets where a message header takes 16"))
            }
            guard length >= headerLength, length <= rest.count else {
                return (messages, MalformedMessage("message length \(length) in \(rest.count) octets"))
            }
            messages.append(
                NetlinkMessage(
                    type: rest.hostInteger(at: 4, as: UInt16.self) ?? 0,
                    flags: rest.hostInteger(at: 6, as: UInt16.self) ?? 0,
                    sequence: rest.hostInteger(at: 8, as: UInt32.self) ?? 0,
                    port: rest.hostInteger(at: 12, as: UInt32.self) ?? 0,
                    payload: rest[(rest.startIndex + headerLength)..<(rest.startIndex + length)]))
            // NLMSG_ALIGN; the last message of a datagram may leave its padding out.
            rest = rest.dropFirst((length + 3) & ~3)
        }
        return (messages, nil)
    }
}

extension NetlinkMessage {
    /// The error of an `NLMSG_ERROR` (a positive `errno`; 0 is an acknowledgement) and what the kernel says about it
    /// (`NLMSGERR_ATTR_MSG`). Nil for other messages.
    public var errorReport: (code: Int32, text: String?)? {
        guard type == NetlinkMessage.error, let code = payload.hostInteger(at: 0, as: Int32.self) else { return nil }
        // NLM_F_ACK_TLVS; with NLM_F_CAPPED only the header of the request is sent back.
        guard flags & 0x200 != 0, let requestLength = payload.hostInteger(at: 4, as: UInt32.self) else {
            return (0 &- code, nil)
        }
        let echoed = flags & 0x100 != 0 ? NetlinkMessage.headerLength : (Int(requestLength) + 3) & ~3
        var text: String?
        try? Attributes(payload.dropFirst(4 + echoed)).forEach { attribute in
            if attribute.type == 1 { text = attribute.text }
        }
        return (0 &- code, text)
    }
}

extension ArraySlice<UInt8> {
    /// The integer in host order `offset` octets after the start, nil where the slice is too short.
    @inlinable
    public func hostInteger<Integer: FixedWidthInteger>(at offset: Int, as type: Integer.Type) -> Integer? {
        guard offset >= 0, count >= offset + MemoryLayout<Integer>.size else { return nil }
        return unsafe withUnsafeBytes { unsafe $0.loadUnaligned(fromByteOffset: offset, as: type) }
    }
}

extension [UInt8] {
    public mutating func appendHostOrder(_ value: some FixedWidthInteger) {
        unsafe Swift.withUnsafeBytes(of: value) { unsafe append(contentsOf: $0) }
    }
}
