import CPlatform
import TestSupport
import Testing

@testable import Netlink

/// The program that decides in the kernel which neighbours wake us.
@Suite struct SocketFilterTests {
    /// What the kernel would do: the octets it lets pass.
    private func run(_ filter: SocketFilter, on bytes: [UInt8]) -> UInt32 {
        var accumulator: UInt32 = 0
        var counter = 0
        while counter < filter.program.count {
            let step = filter.program[counter]
            counter += 1
            switch step.code {
            case 0x20, 0x28:  // BPF_LD|BPF_W|BPF_ABS or BPF_H, big-endian; beyond the end nothing passes.
                let end = Int(step.k) + (step.code == 0x20 ? 4 : 2)
                guard end <= bytes.count else { return 0 }
                accumulator = bytes[Int(step.k)..<end].reduce(0) { $0 << 8 | UInt32($1) }
            case 0x15: counter += Int(accumulator == step.k ? step.jt : step.jf)  // BPF_JMP|BPF_JEQ
            case 0x06: return step.k  // BPF_RET
            default: return 0
            }
        }
        return 0
    }

    private func neighbour(_ text: String, on index: Int32, _ hardware: MACAddress? = nil) throws
        -> SocketFilter.Neighbour
    {
        SocketFilter.Neighbour(
            address: try #require(IPAddress(text)), interfaceIndex: index, hardwareAddress: hardware)
    }

    @Test func programOctets() throws {
        let filter = SocketFilter.neighbours([try neighbour("192.0.2.1", on: 5)])
        #expect(filter.program.map(\.code) == [0x20, 0x15, 0x20, 0x15, 0x06, 0x06])
        #expect(filter.program.map(\.jt) == [0, 0, 0, 0, 0, 0])
        #expect(filter.program.map(\.jf) == [0, 3, 0, 1, 0, 0])
        #expect(filter.program.map(\.k) == [20, UInt32(5).bigEndian, 32, 0xc000_0201, .max, 0])
        #expect(SocketFilter.nothing.program.map(\.code) == [0x06])
        #expect(SocketFilter.nothing.program.map(\.k) == [0])
        #expect(SocketFilter.neighbours([]).program.map(\.k) == [0])
    }

    @Test(arguments: ["192.0.2.1", "2001:db8::1"])
    func onlyTheseNeighboursOnTheirLinks(text: String) throws {
        let filter = SocketFilter.neighbours([
            try neighbour("198.51.100.1", on: 7, .numbered(7)), try neighbour(text, on: 5),
            try neighbour("fe80::1", on: 7),
        ])
        func passes(_ address: String, _ index: Int32) -> Bool {
            run(filter, on: Signal.neighbour(address, .numbered(1), on: index).bytes) > 0
        }
        #expect(passes(text, 5))
        #expect(passes("198.51.100.1", 7))
        #expect(passes("fe80::1", 7))
        #expect(!passes(text, 6))
        #expect(!passes(text, 7))
        #expect(!passes("fe80::1", 5))
        #expect(!passes("192.0.2.2", 5))
        #expect(!passes("2001:db8::2", 5))
        #expect(!passes("2001:db8:0:1::1", 5))
        #expect(run(filter, on: []) == 0)
        #expect(run(.nothing, on: Signal.neighbour(text, .numbered(1), on: 5).bytes) == 0)
    }

    /// The kernel tells of each probe; only another address is news.
    @Test(arguments: ["192.0.2.1", "2001:db8::1"])
    func whatIsKnownIsNotToldAgain(text: String) throws {
        let known = try #require(MACAddress("02:11:22:33:44:55"))
        let filter = SocketFilter.neighbours([try neighbour(text, on: 5, known), try neighbour(text, on: 6)])
        func passes(_ hardware: String, _ index: Int32 = 5) -> Bool {
            run(filter, on: Signal.neighbour(text, MACAddress(hardware), on: index).bytes) > 0
        }
        #expect(!passes("02:11:22:33:44:55"))
        #expect(passes("02:11:22:33:44:56"))
        #expect(passes("03:11:22:33:44:55"))
        #expect(passes("02:11:22:33:44:55", 6))
        // Somebody else does not know it yet.
        let two = SocketFilter.neighbours([try neighbour(text, on: 5, known), try neighbour(text, on: 5)])
        #expect(run(two, on: Signal.neighbour(text, known, on: 5).bytes) > 0)
        // Not resolved: no address, and nothing after where it would be.
        #expect(run(filter, on: Signal.neighbour(text, nil, on: 5).bytes) == 0)
    }

    @Test func moreNeighboursThanFit() throws {
        let one = try neighbour("2001:db8::1", on: 1, .numbered(1))
        let filter = SocketFilter.neighbours([SocketFilter.Neighbour](repeating: one, count: 500))
        #expect(filter.program.count < 4_096)
    }

    /// The real kernel takes the programs.
    @Test func attaches() throws {
        let socket = try NetlinkSocket(.route)
        try socket.attach(.nothing)
        let one = try neighbour("2001:db8::1", on: 1, .numbered(1))
        try socket.attach(.neighbours([SocketFilter.Neighbour](repeating: one, count: 500)))
    }
}
