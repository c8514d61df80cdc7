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
            case 0x20:  // BPF_LD|BPF_W|BPF_ABS, big-endian; beyond the end nothing passes.
                guard Int(step.k) + 4 <= bytes.count else { return 0 }
                accumulator = bytes[Int(step.k)..<(Int(step.k) + 4)].reduce(0) { $0 << 8 | UInt32($1) }
            case 0x15: counter += Int(accumulator == step.k ? step.jt : step.jf)  // BPF_JMP|BPF_JEQ
            case 0x06: return step.k  // BPF_RET
            default: return 0
            }
        }
        return 0
    }

    @Test func programOctets() throws {
        let filter = SocketFilter.neighbour(try #require(IPAddress("192.0.2.1")), on: 5)
        #expect(filter.program.map(\.code) == [0x20, 0x15, 0x06, 0x20, 0x15, 0x06, 0x06])
        #expect(filter.program.map(\.jt) == [0, 1, 0, 0, 1, 0, 0])
        #expect(filter.program.map(\.jf) == [0, 0, 0, 0, 0, 0, 0])
        #expect(filter.program.map(\.k) == [20, UInt32(5).bigEndian, 0, 32, 0xc000_0201, 0, .max])
        #expect(SocketFilter.nothing.program.map(\.code) == [0x06])
        #expect(SocketFilter.nothing.program.map(\.k) == [0])
    }

    @Test(arguments: ["192.0.2.1", "2001:db8::1"])
    func onlyThisNeighbourOnThisLink(text: String) throws {
        let filter = SocketFilter.neighbour(try #require(IPAddress(text)), on: 5)
        func passes(_ address: String, _ index: Int32) -> Bool {
            run(filter, on: Signal.neighbour(address, .numbered(1), on: index).bytes) > 0
        }
        #expect(passes(text, 5))
        #expect(!passes(text, 6))
        #expect(!passes("192.0.2.2", 5))
        #expect(!passes("2001:db8::2", 5))
        #expect(!passes("2001:db8:0:1::1", 5))
        #expect(run(filter, on: []) == 0)
        #expect(run(.nothing, on: Signal.neighbour(text, .numbered(1), on: 5).bytes) == 0)
    }

    /// The real kernel takes the programs.
    @Test func attaches() throws {
        let socket = try NetlinkSocket(.route)
        try socket.attach(.nothing)
        try socket.attach(.neighbour(try #require(IPAddress("2001:db8::1")), on: 1))
    }
}
