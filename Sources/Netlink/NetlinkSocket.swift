internal import CNetlink
internal import CPlatform
internal import Glibc
public import Platform

/// A netlink socket of libnl's, closed with its owner.
///
/// libnl opens, binds, subscribes and sends. Reading is ours: libnl allocates for every datagram and peeks before each,
/// and its reader takes no replayed descriptor.
@safe
public final class NetlinkSocket {
    public enum Bus: Int32, Sendable {
        /// `NETLINK_ROUTE`, rtnetlink(7)
        case route = 0
        /// `NETLINK_GENERIC`
        case generic = 16
    }

    private let handle: OpaquePointer

    /// - Parameter receiveBuffer: octets the kernel may queue for us before events are lost. 256 KiB is what
    ///   supplicants found enough; the kernel's limit `net.core.rmem_max` caps it silently.
    public init(_ bus: Bus, receiveBuffer: Int = 262_144) throws(NetlinkError) {
        guard let handle = unsafe nl_socket_alloc() else {
            throw .library(operation: "nl_socket_alloc", explanation: "out of memory")
        }
        unsafe self.handle = handle
        do {
            try unsafe check("nl_connect", nl_connect(handle, bus.rawValue))
            try unsafe check(
                "nl_socket_set_buffer_size", nl_socket_set_buffer_size(handle, Int32(receiveBuffer), 32_768))
            try unsafe check("nl_socket_set_nonblocking", nl_socket_set_nonblocking(handle))
        } catch {
            unsafe nl_socket_free(handle)
            throw error
        }
        // Both only make errors better, and old kernels lack them.
        setOption(NETLINK_EXT_ACK)
        setOption(NETLINK_GET_STRICT_CHK)
    }

    deinit {
        unsafe nl_socket_free(handle)
    }

    public var descriptor: Int32 { unsafe nl_socket_get_fd(handle) }
    /// The address by which the kernel answers this socket.
    public var port: UInt32 { unsafe nl_socket_get_local_port(handle) }

    public func join(_ group: UInt32) throws(NetlinkError) {
        try unsafe check("nl_socket_add_membership", nl_socket_add_membership(handle, Int32(group)))
    }

    public func leave(_ group: UInt32) {
        unsafe nl_socket_drop_membership(handle, Int32(group))
    }

    /// Sends a request and returns its sequence number.
    func send(_ request: NetlinkRequest) throws(NetlinkError) -> UInt32 {
        guard let message = unsafe nlmsg_alloc_simple(Int32(request.type), Int32(request.flags)) else {
            throw .library(operation: request.operation, explanation: "out of memory")
        }
        defer { unsafe nlmsg_free(message) }
        if !request.header.isEmpty {
            try unsafe check(
                request.operation,
                request.header.withUnsafeBytes {
                    unsafe nlmsg_append(message, UnsafeMutableRawPointer(mutating: $0.baseAddress), $0.count, 4)
                })
        }
        for attribute in request.attributes {
            try unsafe check(
                request.operation,
                attribute.payload.withUnsafeBytes {
                    unsafe nla_put(message, Int32(attribute.type), Int32($0.count), $0.baseAddress)
                })
        }
        let sent = unsafe nl_send_auto(handle, message)
        try check(request.operation, min(sent, 0))
        return unsafe nlmsg_hdr(message).pointee.nlmsg_seq
    }

    private func setOption(_ option: Int32) {
        var on: Int32 = 1
        unsafe setsockopt(descriptor, SOL_NETLINK, option, &on, socklen_t(MemoryLayout<Int32>.size))
    }

    private func check(_ operation: String, _ code: Int32) throws(NetlinkError) {
        guard code >= 0 else {
            throw unsafe .library(operation: operation, explanation: String(cString: nl_geterror(code)))
        }
    }
}

/// Reads datagrams from a netlink socket, or from anything that delivers datagrams, until nothing is left.
@safe public struct DatagramReader: ~Copyable {
    public enum Outcome: Sendable {
        /// One datagram; `isFromKernel` is false when another process sent it.
        case datagram(ArraySlice<UInt8>, isFromKernel: Bool)
        case nothing
        /// The kernel dropped messages (`ENOBUFS`), or one did not fit (`MSG_TRUNC`): state has to be read again.
        case overrun
        case closed
    }

    private let descriptor: Int32
    /// Not filled before it is read into: memory that no datagram was long enough to touch is never there.
    private let buffer: UnsafeMutableRawBufferPointer

    /// - Parameter capacity: octets; the kernel's multicasts stay below 32 KiB.
    public init(descriptor: Int32, capacity: Int = 65_536) {
        self.descriptor = descriptor
        unsafe buffer = .allocate(byteCount: capacity, alignment: 8)
    }

    deinit { unsafe buffer.deallocate() }

    public mutating func next() throws(SystemError) -> Outcome {
        var port: UInt32 = 0
        var groups: UInt32 = 0
        let length = unsafe vicinity_receive(descriptor, buffer.baseAddress, buffer.count, &port, &groups)
        guard length >= 0 else {
            switch errno {
            case EAGAIN: return .nothing
            case ENOBUFS: return .overrun
            default: throw SystemError("recvmsg", "netlink socket")
            }
        }
        if length == 0 { return .closed }
        if unsafe length > buffer.count { return .overrun }
        // A copy of the right size: the values made from it may live longer than the next read.
        return unsafe .datagram(ArraySlice(buffer[..<length]), isFromKernel: port == 0)
    }
}
