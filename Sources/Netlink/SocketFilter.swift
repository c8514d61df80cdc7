internal import CPlatform
internal import Platform

/// A classic BPF program that decides in the kernel which datagrams wake us, bpf(4) in the form of SO_ATTACH_FILTER.
public struct SocketFilter: Sendable {
    private(set) var program: [sock_filter] = []

    /// A neighbour to hear of: an address on a link, and its hardware address as far as it is known.
    public struct Neighbour: Hashable, Sendable {
        public var address: IPAddress
        public var interfaceIndex: Int32
        public var hardwareAddress: MACAddress?

        public init(address: IPAddress, interfaceIndex: Int32, hardwareAddress: MACAddress? = nil) {
            self.address = address
            self.interfaceIndex = interfaceIndex
            self.hardwareAddress = hardwareAddress
        }
    }

    /// So many neighbours fit: 15 steps each, and the kernel takes 4,096 (`BPF_MAXINSNS`).
    public static let neighbourLimit = 64

    /// Lets `RTM_NEWNEIGH` and `RTM_DELNEIGH` of these neighbours pass and nothing else; of one whose hardware address is
    /// known, only what says another one: the kernel tells each time it finds that nothing has changed.
    ///
    /// Offsets: `nlmsghdr` 16 octets, `ndmsg` 12, then `NDA_DST` and, where there is one, `NDA_LLADDR`; the kernel puts
    /// them in this order (`neigh_fill_info`). What is read beyond the end ends the program, and nothing passes.
    public static func neighbours(_ neighbours: some Collection<Neighbour>) -> SocketFilter {
        var filter = SocketFilter()
        for neighbour in neighbours.prefix(neighbourLimit) { filter.append(neighbour) }
        filter.append(.result, 0)
        return filter
    }

    /// Lets nothing pass.
    public static var nothing: SocketFilter {
        var filter = SocketFilter()
        filter.append(.result, 0)
        return filter
    }

    /// What is not this neighbour, or no news of it, goes on to the next.
    private mutating func append(_ neighbour: Neighbour) {
        let octets = neighbour.address.octets
        // Loads are big-endian, ndm_ifindex is in host order.
        var tests: [(offset: UInt32, value: UInt32)] = [(20, UInt32(bitPattern: neighbour.interfaceIndex).bigEndian)]
        for start in stride(from: 0, to: octets.count, by: 4) {
            let word = octets[start..<(start + 4)].reduce(0) { $0 << 8 | UInt32($1) }
            tests.append((32 + UInt32(start), word))
        }
        let known = neighbour.hardwareAddress
        for (place, test) in tests.enumerated() {
            append(.word, test.offset)
            let rest = 2 * (tests.count - place - 1) + (known == nil ? 1 : 5)
            append(.equal, test.value, otherwise: rest)
        }
        if let known {
            let offset = 36 + UInt32(octets.count)
            append(.word, offset)
            append(.equal, UInt32(truncatingIfNeeded: known.rawValue >> 16), otherwise: 2)
            append(.half, offset + 4)
            append(.equal, UInt32(known.rawValue & 0xffff), then: 1)
        }
        append(.result, .max)
    }

    /// Instructions of linux/bpf_common.h.
    private enum Step: UInt16 {
        case word = 0x20  // BPF_LD|BPF_W|BPF_ABS
        case half = 0x28  // BPF_LD|BPF_H|BPF_ABS
        case equal = 0x15  // BPF_JMP|BPF_JEQ
        case result = 0x06  // BPF_RET: so many octets of it
    }

    /// - Parameters:
    ///   - then: steps to leave out where `equal` holds.
    ///   - otherwise: steps to leave out where it does not.
    private mutating func append(_ step: Step, _ value: UInt32, then: UInt8 = 0, otherwise: Int = 0) {
        program.append(sock_filter(code: step.rawValue, jt: then, jf: UInt8(otherwise), k: value))
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
