import TestSupport
import Testing

@testable import Netlink

/// pcap and pcapng, as tcpdump and others write them.
@Suite struct CaptureTests {
    private let datagram = Signal.rule().bytes

    private func read(_ file: [UInt8]) throws -> [CapturedDatagram] {
        var found: [CapturedDatagram] = []
        try Capture.read(file) { found.append($0) }
        return found
    }

    /// The same numbers in this machine's order or the other one.
    private struct Writer {
        var isSwapped = false

        func number<Integer: FixedWidthInteger>(_ value: Integer) -> [UInt8] {
            Wire.number(isSwapped ? value.byteSwapped : value)
        }

        /// The cooked header: its protocol is in network order, whatever the file's order.
        func packet(_ bytes: [UInt8], bus: UInt16 = 16) -> [UInt8] {
            octets("0004 0338 0000 0000000000000000") + [UInt8(bus >> 8), UInt8(bus & 0xff)] + bytes
        }

        // MARK: pcap

        func head(magic: UInt32 = 0xa1b2_c3d4, linkType: UInt32 = 253) -> [UInt8] {
            number(magic) + number(UInt16(2)) + number(UInt16(4)) + number(UInt64(0)) + number(UInt32(262_144))
                + number(linkType)
        }

        func record(_ packet: [UInt8], seconds: UInt32, fraction: UInt32) -> [UInt8] {
            number(seconds) + number(fraction) + number(UInt32(packet.count)) + number(UInt32(packet.count)) + packet
        }

        // MARK: pcapng

        func block(_ type: UInt32, _ body: [UInt8]) -> [UInt8] {
            let padded = body + [UInt8](repeating: 0, count: -body.count & 3)
            let length = number(UInt32(padded.count + 12))
            return number(type) + length + padded + length
        }

        func section() -> [UInt8] {
            block(0x0a0d_0d0a, number(UInt32(0x1a2b_3c4d)) + number(UInt16(1)) + number(UInt16(0)) + number(Int64(-1)))
        }

        func interface(linkType: UInt16 = 253, resolution: UInt8? = nil) -> [UInt8] {
            let name = number(UInt16(2)) + number(UInt16(5)) + Array("nlmon".utf8) + [0, 0, 0]
            let units = resolution.map { number(UInt16(9)) + number(UInt16(1)) + [$0, 0, 0, 0] } ?? []
            return block(
                1, number(linkType) + [0, 0] + number(UInt32(0)) + name + units + number(UInt16(0)) + number(UInt16(0)))
        }

        func enhanced(_ packet: [UInt8], stamp: UInt64, interface: UInt32 = 0) -> [UInt8] {
            block(
                6,
                number(interface) + number(UInt32(stamp >> 32)) + number(UInt32(truncatingIfNeeded: stamp))
                    + number(UInt32(packet.count)) + number(UInt32(packet.count)) + packet)
        }
    }

    @Test(arguments: [true, false], [true, false])
    func classic(isSwapped: Bool, isFine: Bool) throws {
        let writer = Writer(isSwapped: isSwapped)
        let file =
            writer.head(magic: isFine ? 0xa1b2_3c4d : 0xa1b2_c3d4)
            + writer.record(writer.packet(datagram), seconds: 1_796_000_000, fraction: isFine ? 123_456_789 : 123_456)
            + writer.record(writer.packet([1, 2, 3, 4], bus: 0), seconds: 1_796_000_001, fraction: 0)
        #expect(
            try read(file) == [
                CapturedDatagram(wall: 1_796_000_000_123_456, bus: 16, bytes: datagram[...]),
                CapturedDatagram(wall: 1_796_000_001_000_000, bus: 0, bytes: [1, 2, 3, 4]),
            ])
    }

    @Test func whatIsWrittenIsRead() throws {
        let first = CapturedDatagram(wall: 1_796_000_000_123_456, bus: 16, bytes: datagram[...])
        let second = CapturedDatagram(wall: 1_796_000_000_999_999, bus: 0, bytes: [7])
        #expect(try read(Capture.fileHeader + Capture.record(first) + Capture.record(second)) == [first, second])
    }

    @Test(arguments: [true, false])
    func nextGeneration(isSwapped: Bool) throws {
        let writer = Writer(isSwapped: isSwapped)
        let file =
            writer.section() + writer.interface() + writer.block(0xbad, [1, 2, 3, 4, 5])
            + writer.enhanced(writer.packet(datagram), stamp: 1_796_000_000_123_456)
        #expect(try read(file) == [CapturedDatagram(wall: 1_796_000_000_123_456, bus: 16, bytes: datagram[...])])
    }

    @Test(
        arguments: zip(
            [9, 6, 3, 0, 0x80 | 20] as [UInt8],
            [
                1_796_000_000_123_456_789, 1_796_000_000_123_456, 1_796_000_000_123, 1_796_000_000,
                1_796_000_000 << 20 | 129_454,
            ] as [UInt64]))
    func resolutions(resolution: UInt8, stamp: UInt64) throws {
        let writer = Writer()
        let file =
            writer.section() + writer.interface(resolution: resolution)
            + writer.enhanced(writer.packet(datagram), stamp: stamp)
        let wall = try #require(try read(file).first?.wall)
        #expect(wall / 1_000_000 == 1_796_000_000)
        if resolution != 0 { #expect(wall % 1_000_000 / 1_000 == 123) }
    }

    /// Damaged stamps are of no time, but of some.
    @Test(arguments: 0...255 as ClosedRange<UInt8>)
    func stampsOfAnySize(resolution: UInt8) throws {
        let writer = Writer()
        for stamp in [0, 1, UInt64(Int64.max), .max] {
            let file =
                writer.section() + writer.interface(resolution: resolution)
                + writer.enhanced(writer.packet(datagram), stamp: stamp)
            let wall = try #require(try read(file).first?.wall)
            #expect((0...253_402_300_800_000_000).contains(wall))
        }
    }

    /// Each section has its own order and its own interfaces.
    @Test func sections() throws {
        let (one, other) = (Writer(), Writer(isSwapped: true))
        let file =
            one.section() + one.interface(resolution: 9) + one.enhanced(one.packet([1]), stamp: 5_000_000_000)
            + other.section() + other.interface() + other.enhanced(other.packet([2]), stamp: 6_000_000)
            + one.section() + one.enhanced(one.packet([3]), stamp: 7) + one.interface()
            + one.enhanced(one.packet([4]), stamp: 8_000_000)
        #expect(try read(file).map { "\($0.bytes.hexadecimal) \($0.wall)" } == ["01 5000000", "02 6000000", "04 8000000"])
    }

    @Test func otherInterfacesBesideNetlink() throws {
        let writer = Writer()
        let file =
            writer.section() + writer.interface(linkType: 1) + writer.interface()
            + writer.enhanced([9, 9, 9], stamp: 1) + writer.enhanced(writer.packet([1]), stamp: 2, interface: 1)
            + writer.enhanced(writer.packet([2]), stamp: 3, interface: 2)
        #expect(try read(file).map(\.bytes) == [[1]])
    }

    @Test func otherLinkTypes() {
        let writer = Writer()
        #expect(throws: CaptureError.wrongLinkType(1)) { try read(writer.head(linkType: 1)) }
        #expect(throws: CaptureError.wrongLinkType(105)) { try read(writer.section() + writer.interface(linkType: 105)) }
        // The upper bits of the classic field say something else.
        #expect(throws: Never.self) { try read(writer.head(linkType: 0x1000_00fd)) }
    }

    @Test(arguments: ["", "00", "a1b2c3", "7b226a736f6e223a", "ffffffffffffffff"])
    func otherFiles(hexadecimal: String) {
        #expect(throws: CaptureError.notACapture) { try read(octets(hexadecimal)) }
    }

    /// A packet that is shorter than its own header carries nothing.
    @Test func shortPackets() throws {
        let writer = Writer()
        for count in 0...16 {
            let packet = Array(writer.packet(datagram).prefix(count))
            #expect(try read(writer.head() + writer.record(packet, seconds: 1, fraction: 0)) == [])
        }
    }

    /// Cut anywhere: what came before is there, and the cut is told.
    @Test func everyCut() {
        let writer = Writer()
        let files = [
            writer.head() + writer.record(writer.packet([1, 2, 3]), seconds: 1, fraction: 2)
                + writer.record(writer.packet([4, 5, 6]), seconds: 1, fraction: 3),
            writer.section() + writer.interface() + writer.enhanced(writer.packet([1, 2, 3]), stamp: 1)
                + writer.enhanced(writer.packet([4, 5, 6]), stamp: 2),
        ]
        for file in files {
            var counts: Set<Int> = []
            for length in 4..<file.count {
                var found = 0
                do {
                    try Capture.read(Array(file.prefix(length))) { _ in found += 1 }
                } catch {
                    guard case .cut = error else {
                        Issue.record("\(length) octets: \(error)")
                        continue
                    }
                }
                counts.insert(found)
            }
            #expect(counts == [0, 1])
        }
    }

    @Test func randomDamageNeverTraps() {
        let writer = Writer()
        let files = [
            writer.head() + writer.record(writer.packet(datagram), seconds: 1, fraction: 2),
            writer.section() + writer.interface(resolution: 9) + writer.enhanced(writer.packet(datagram), stamp: 1),
        ]
        var random = SeededGenerator(2)
        for _ in 0..<10_000 {
            var file = files[Int.random(in: 0...1, using: &random)]
            for _ in 0..<Int.random(in: 1...4, using: &random) {
                file[Int.random(in: 0..<file.count, using: &random)] = UInt8(truncatingIfNeeded: random.next())
            }
            _ = try? read(file)
        }
    }
}
