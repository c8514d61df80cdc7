internal import CPlatform
internal import Platform

/// A classic BPF program that decides in the kernel which datagrams wake us, bpf(4) in the form of SO_ATTACH_FILTER.
public struct SocketFilter: Sendable {
    private(set) var program: [sock_filter] = []

    /// Lets `RTM_NEWNEIGH` and `RTM_DELNEIGH` of one address on one interface pass and nothing else.
    ///
    /// Offsets: `nlmsghdr` 16 octets, `ndmsg` 12, then `NDA_DST`, which the kernel puts first (`neigh_fill_info`).
    public static func neighbour(_ address: IPAddress, on interfaceIndex: Int32) -> SocketFilter {
        var filter = SocketFilter()
        // Loads are big-endian, ndm_ifindex is in host order.
        filter.require(word: 20, equals: UInt32(bitPattern: interfaceIndex).bigEndian)
        for (position, start) in stride(from: 0, to: address.octets.count, by: 4).enumerated() {
            let word = address.octets[start..<(start + 4)].reduce(0) { $0 << 8 | UInt32($1) }
            filter.require(word: 32 + UInt32(position) * 4, equals: word)
        }
        filter.program.append(sock_filter(code: 0x06, jt: 0, jf: 0, k: .max))  // BPF_RET: all of it
        return filter
    }

    /// Lets nothing pass.
    public static var nothing: SocketFilter {
        var filter = SocketFilter()
        filter.program.append(sock_filter(code: 0x06, jt: 0, jf: 0, k: 0))
        return filter
    }

    /// BPF_LD|BPF_W|BPF_ABS, BPF_JMP|BPF_JEQ, and BPF_RET 0 where it differs.
    private mutating func require(word offset: UInt32, equals value: UInt32) {
        program.append(sock_filter(code: 0x20, jt: 0, jf: 0, k: offset))
        program.append(sock_filter(code: 0x15, jt: 1, jf: 0, k: value))
        program.append(sock_filter(code: 0x06, jt: 0, jf: 0, k: 0))
    }

    fileprivate func attach(to descriptor: Int32) throws(SystemError) {
        try SystemError.check("setsockopt SO_ATTACH_FILTER") {
            unsafe program.withUnsafeBufferPointer {
                unsafe vicinity_attach_filter(descriptor, $0.baseAddress, UInt16($0.count))
            }
        }
    }
}

extension NetlinkSocket {
    /// Replaces the socket's filter at once.
    public func attach(_ filter: SocketFilter) throws(NetlinkError) {
        do { try filter.attach(to: descriptor) } catch { throw .system(error) }
    }
}
