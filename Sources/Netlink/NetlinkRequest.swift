internal import CNetlink
internal import Glibc
internal import Platform

/// A question to the kernel, as a value.
public struct NetlinkRequest: Sendable {
    /// Names the request in errors, such as `RTM_GETLINK`.
    public let operation: String
    let type: UInt16
    let flags: UInt16
    /// The fixed header of the family, such as `ifinfomsg` or `genlmsghdr`.
    let header: [UInt8]
    var attributes: [Attribute] = []

    var isDump: Bool { flags & NetlinkRequest.dump == NetlinkRequest.dump }

    static let request: UInt16 = 0x1
    static let acknowledge: UInt16 = 0x4
    static let dump: UInt16 = 0x300

    public init(_ operation: String, type: UInt16, isDump: Bool, header: [UInt8]) {
        self.operation = operation
        self.type = type
        self.flags = NetlinkRequest.request | (isDump ? NetlinkRequest.dump : NetlinkRequest.acknowledge)
        self.header = header
    }

    public init(_ operation: String, family: GenericNetlinkFamily, command: UInt8, isDump: Bool) {
        // genlmsghdr: command, version, reserved.
        self.init(operation, type: family.identifier, isDump: isDump, header: [command, 1, 0, 0])
    }

    public mutating func append<Integer: FixedWidthInteger>(_ type: UInt16, _ value: Integer) {
        var payload: [UInt8] = []
        payload.appendHostOrder(value)
        attributes.append(Attribute(type: type, payload: payload[...]))
    }

    public mutating func append(_ type: UInt16, octets: [UInt8]) {
        attributes.append(Attribute(type: type, payload: octets[...]))
    }
}

/// Asks and waits: one request at a time, on a socket that carries no events, so that a long answer never costs one.
public final class NetlinkRequester {
    private let socket: NetlinkSocket
    private var reader: DatagramReader

    public init(_ bus: NetlinkSocket.Bus) throws(NetlinkError) {
        // A dump comes one datagram per read, so the buffer need not hold it.
        socket = try NetlinkSocket(bus)
        reader = DatagramReader(descriptor: socket.descriptor)
    }

    /// The answer to `request`, without its closing acknowledgement.
    ///
    /// A dump during which the kernel's state changed (`NLM_F_DUMP_INTR`) is made again, at most ten times, as
    /// supplicants do.
    ///
    /// - Parameter timeout: µs for the whole request; some drivers ask their firmware.
    public func answer(to request: NetlinkRequest, timeout: Int64 = 2_000_000) throws(NetlinkError) -> [NetlinkMessage]
    {
        let deadline = Timestamp.now().boottime + timeout
        for _ in 0..<10 {
            let sequence = try socket.send(request)
            if let messages = try collect(request, sequence, until: deadline) { return messages }
        }
        throw .interrupted(operation: request.operation)
    }

    /// Nil for a dump that has to be made again.
    private func collect(_ request: NetlinkRequest, _ sequence: UInt32, until deadline: Int64) throws(NetlinkError)
        -> [NetlinkMessage]?
    {
        var collected: [NetlinkMessage] = []
        var isConsistent = true
        while true {
            let outcome: DatagramReader.Outcome
            do { outcome = try reader.next() } catch { throw .system(error) }
            switch outcome {
            case .closed, .nothing:
                guard wait(until: deadline) else { throw .timedOut(operation: request.operation) }
            case .overrun:
                isConsistent = false
            case .datagram(_, isFromKernel: false):
                continue
            case .datagram(let datagram, isFromKernel: true):
                let (messages, malformed) = NetlinkMessage.split(datagram)
                for message in messages where message.sequence == sequence {
                    if message.isInterruptedDump { isConsistent = false }
                    switch message.type {
                    case NetlinkMessage.done:
                        let code = message.payload.hostInteger(at: 0, as: Int32.self) ?? 0
                        guard code >= 0 else {
                            throw .refused(operation: request.operation, code: 0 &- code, explanation: nil)
                        }
                        return isConsistent ? collected : nil
                    case NetlinkMessage.error:
                        guard let report = message.errorReport else { continue }
                        guard report.code == 0 else {
                            throw .refused(operation: request.operation, code: report.code, explanation: report.text)
                        }
                        if !request.isDump { return collected }
                    case NetlinkMessage.firstProtocolType...:
                        collected.append(message)
                    default: continue
                    }
                }
                if let malformed { throw .malformed(operation: request.operation, malformed) }
            }
        }
    }

    private func wait(until deadline: Int64) -> Bool {
        let milliseconds = (deadline - Timestamp.now().boottime + 999) / 1_000
        guard milliseconds > 0 else { return false }
        var entry = pollfd(fd: socket.descriptor, events: Int16(POLLIN), revents: 0)
        return unsafe poll(&entry, 1, Int32(milliseconds)) != 0
    }
}
