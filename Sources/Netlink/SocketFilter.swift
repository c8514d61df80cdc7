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

    /// So many neighbours fit: 16 steps each, and the kernel takes 4,096 (`BPF_MAXINSNS`).
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

    private mutating func append(_ neighbour: Neighbour) {
        let octets = neighbour.address.octets
        var tests: [(step: Step, offset: UInt32, value: UInt32)] = []
        // Loads are big-endian, ndm_ifindex is in host order.
        tests.append((.word, 20, UInt32(bitPattern: neighbour.interfaceIndex).bigEndian))
        for start in stride(from: 0, to: octets.count, by: 4) {
            let word = octets[start..<(start + 4)].reduce(0) { $0 << 8 | UInt32($1) }
            tests.append((.word, 32 + UInt32(start), word))
        }
        let known: [(Step, UInt32, UInt32)] =
            neighbour.hardwareAddress.map { address in
                let offset = 36 + UInt32(octets.count)
                return [
                    (.word, offset, UInt32(truncatingIfNeeded: address.rawValue >> 16)),
                    (.half, offset + 4, UInt32(address.rawValue & 0xffff)),
                ]
            } ?? []
        let end = known.isEmpty ? 1 : 2 * known.count + 2
        for (place, test) in tests.enumerated() {
            append(test.step, test.offset)
            append(.equal, test.value, otherwise: 2 * (tests.count - place - 1) + end)
        }
        for (place, test) in known.enumerated() {
            append(test.0, test.1)
            append(.equal, test.2, otherwise: 2 * (known.count - place - 1) + 1)
        }
        if !known.isEmpty { append(.result, 0) }
        append(.result, .max)
    }

    /// Instructions of linux/bpf_common.h.
    private enum Step: UInt16 {
        case word = 0x20  // BPF_LD|BPF_W|BPF_ABS
        case half = 0x28  // BPF_LD|BPF_H|BPF_ABS
        case equal = 0x15  // BPF_JMP|BPF_JEQ
        case result = 0x06  // BPF_RET: so many octets of it
    }

    /// - Parameter otherwise: steps to leave out where `equal` does not hold.
    private mutating func append(_ step: Step, _ value: UInt32, otherwise: Int = 0) {
        program.append(sock_filter(code: step.rawValue, jt: 0, jf: UInt8(otherwise), k: value))
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
