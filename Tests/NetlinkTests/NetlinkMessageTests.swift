import TestSupport
import Testing

@testable import Netlink

/// Datagrams taken apart, whatever they claim.
@Suite struct NetlinkMessageTests {
    /// Two messages; the first needs three octets of padding.
    private let datagram =
        Wire.message(20, flags: 2, sequence: 7, port: 99, [1, 2, 3, 4, 5]) + Wire.message(3, sequence: 7, [0, 0, 0, 0])

    @Test func headerInHostOrder() {
        let (messages, malformed) = NetlinkMessage.split(octets("14000000 1400 0200 07000000 63000000 01020304")[...])
        #expect(malformed == nil)
        #expect(messages == [NetlinkMessage(type: 20, flags: 2, sequence: 7, port: 99, payload: [1, 2, 3, 4])])
    }

    @Test func severalMessages() {
        let (messages, malformed) = NetlinkMessage.split(datagram[...])
        #expect(malformed == nil)
        #expect(messages.map(\.type) == [20, 3])
        #expect(messages[0].payload == [1, 2, 3, 4, 5])
        #expect(NetlinkMessage.split([]).messages == [])
    }

    @Test func lastPaddingMayBeMissing() {
        let bytes = NetlinkMessage(type: 20, payload: [1, 2, 3, 4, 5]).bytes
        #expect(bytes.count == 21)
        let (messages, malformed) = NetlinkMessage.split(bytes[...])
        #expect(malformed == nil)
        #expect(messages.first?.payload == [1, 2, 3, 4, 5])
    }

    /// Cut anywhere, everything before the cut message is there, and the cut is told.
    @Test func everyTruncation() {
        for count in 0..<datagram.count {
            let (messages, malformed) = NetlinkMessage.split(datagram.prefix(count))
            // 21 octets of a message, 3 of padding, 20 of a message.
            #expect(messages.count == (count < 21 ? 0 : 1))
            #expect((malformed == nil) == [0, 21, 22, 23, 24].contains(count), "\(count) octets")
        }
    }

    @Test(arguments: [UInt32(0), 1, 15, 45, 0x7fff_ffff, .max])
    func lengthsThatDoNotFit(length: UInt32) {
        var bytes = datagram
        bytes.replaceSubrange(0..<4, with: Wire.number(length))
        let (messages, malformed) = NetlinkMessage.split(bytes[...])
        #expect(messages == [])
        #expect(malformed != nil)
    }

    @Test func sliceInTheMiddleOfAnArray() {
        let shifted = ([9, 9, 9] + datagram)[3...]
        #expect(NetlinkMessage.split(shifted).messages == NetlinkMessage.split(datagram[...]).messages)
    }

    @Test func bytesAreWhatWasSplit() {
        for message in NetlinkMessage.split(datagram[...]).messages {
            #expect(NetlinkMessage.split(message.bytes[...]).messages == [message])
        }
    }

    @Test func flags() {
        #expect(NetlinkMessage(type: 20, flags: 0x10, payload: []).isInterruptedDump)
        #expect(!NetlinkMessage(type: 20, flags: 0x0f, payload: []).isInterruptedDump)
        #expect(NetlinkMessage(type: 20, flags: 1, payload: []).isRequest)
        #expect(!NetlinkMessage(type: 20, flags: 0xfffe, payload: []).isRequest)
    }

    // MARK: Error reports

    private func report(flags: UInt16 = 0, _ payload: [UInt8]) -> (code: Int32, text: String?)? {
        NetlinkMessage(type: 2, flags: flags, payload: payload[...]).errorReport
    }

    /// The header of the request that is answered.
    private func request(length: UInt32) -> [UInt8] { Wire.number(length) + octets("1200 0503 07000000 00000000") }

    @Test func acknowledgement() {
        #expect(report([0, 0, 0, 0] + request(length: 16))?.code == 0)
        #expect(report([0, 0, 0, 0] + request(length: 16))?.text == nil)
        #expect(NetlinkMessage(type: 3, payload: [0, 0, 0, 0]).errorReport == nil)
    }

    @Test func errorWithoutWords() {
        // -ENODEV
        #expect(report(Wire.number(Int32(-19)) + request(length: 16))?.code == 19)
    }

    /// NLM_F_ACK_TLVS: the request is sent back whole, padded, before the words.
    @Test func kernelsOwnWords() {
        let words = Wire.attribute(1, text: "Unknown device") + Wire.attribute(2, UInt32(20))
        let whole = Wire.number(Int32(-19)) + request(length: 22) + [1, 2, 3, 4, 5, 6, 0, 0] + words
        #expect(report(flags: 0x200, whole)?.text == "Unknown device")
        #expect(report(flags: 0, whole)?.text == nil)
        // NLM_F_CAPPED: only its header.
        let capped = Wire.number(Int32(-19)) + request(length: 4_000) + words
        #expect(report(flags: 0x300, capped)?.text == "Unknown device")
        #expect(report(flags: 0x200, capped)?.code == 19)
        #expect(report(flags: 0x200, capped)?.text == nil)
    }

    @Test func errorsThatAreNone() {
        for count in 0..<4 { #expect(report([UInt8](repeating: 0xff, count: count)) == nil) }
        #expect(report(flags: 0x200, Wire.number(Int32(-19)))?.code == 19)
        #expect(report(flags: 0x200, Wire.number(Int32(-19)) + Wire.number(UInt32.max))?.text == nil)
        // The one number that has no opposite.
        #expect(report(Wire.number(Int32.min))?.code == .min)
    }
}

/// Attributes and nests.
@Suite struct AttributesTests {
    private func read(_ bytes: [UInt8], isList: Bool = false) throws(MalformedMessage) -> [String] {
        var found: [String] = []
        try Attributes(bytes[...]).forEach(isList: isList) { found.append("\($0.type): \($0.payload.hexadecimal)") }
        return found
    }

    @Test func inTheOrderOfTheMessage() throws {
        let bytes = Wire.attribute(3, UInt32(7)) + Wire.attribute(1, [0xaa]) + Wire.attribute(2)
        #expect(try read(bytes) == ["3: 07000000", "1: aa", "2: "])
        #expect(try read([]) == [])
    }

    @Test func lastPaddingMayBeMissing() throws {
        #expect(try read(Array(Wire.attribute(1, [0xaa]).dropLast(3))) == ["1: aa"])
    }

    /// NLA_F_NESTED and NLA_F_NET_BYTEORDER are no part of the type.
    @Test func flagsOfTheType() throws {
        #expect(try read(Wire.attribute(0x8003, [1]) + Wire.attribute(0x4004, [2])) == ["3: 01", "4: 02"])
    }

    @Test func everyTruncation() throws {
        let bytes = Wire.attribute(1, [0xaa, 0xbb]) + Wire.attribute(2, UInt32(5))
        for count in 0..<bytes.count where ![0, 6, 7, 8].contains(count) {
            #expect(throws: MalformedMessage.self, "\(count) octets") { try read(Array(bytes.prefix(count))) }
        }
    }

    @Test(arguments: [UInt16(0), 1, 3, 9, 0xffff])
    func lengthsThatDoNotFit(length: UInt16) {
        #expect(throws: MalformedMessage.self) { try read(Wire.number(length) + [1, 0, 0, 0, 0, 0]) }
    }

    @Test(arguments: [UInt16(0), 63, 64, 325, 383, 0x8001])
    func repetition(type: UInt16) {
        let twice = Wire.attribute(type, [1]) + Wire.attribute(type, [1])
        #expect(throws: MalformedMessage.self) { try read(twice) }
        #expect(throws: Never.self) { try read(twice, isList: true) }
    }

    /// Beyond what is known nothing is held against the kernel.
    @Test func repetitionOfTypesThatNobodyKnows() throws {
        #expect(try read(Wire.attribute(384, [1]) + Wire.attribute(384, [1])).count == 2)
        #expect(try read(Wire.attribute(0x3fff, [1]) + Wire.attribute(0x3fff, [1])).count == 2)
    }

    @Test func neighboursInTheSetOfTypesAreNoRepetition() throws {
        let all = (0..<384 as Range<UInt16>).flatMap { Wire.attribute($0) }
        #expect(try read(all).count == 384)
    }

    @Test func valuesHaveTheirSize() throws {
        let attribute = Attribute(type: 1, payload: [1, 2, 3, 4])
        #expect(try attribute.integer(UInt32.self) == 0x0403_0201)
        for count in (0...9) where count != 4 {
            let other = Attribute(type: 1, payload: [UInt8](repeating: 1, count: count)[...])
            #expect(throws: MalformedMessage.self) { try other.integer(UInt32.self) }
        }
        #expect(throws: MalformedMessage.self) { try attribute.macAddress() }
        #expect(try attribute.ipAddress().description == "1.2.3.4")
        #expect(throws: MalformedMessage.self) { try Attribute(type: 1, payload: [1, 2, 3]).ipAddress() }
        #expect(try Attribute(type: 1, payload: [2, 0, 0, 0, 0, 9]).macAddress() == .numbered(9))
    }

    /// A slice begins anywhere in memory.
    @Test func unalignedValues() throws {
        for offset in 0..<8 {
            let bytes = ([UInt8](repeating: 9, count: offset) + Wire.attribute(1, UInt64(0x0102_0304_0506_0708)))
            try Attributes(bytes[offset...]).forEach { attribute throws(MalformedMessage) in
                #expect(try attribute.integer(UInt64.self) == 0x0102_0304_0506_0708)
            }
        }
    }

    @Test func text() {
        #expect(Attribute(type: 1, payload: Array("wlan0\0junk".utf8)[...]).text == "wlan0")
        #expect(Attribute(type: 1, payload: Array("wlan0".utf8)[...]).text == "wlan0")
        #expect(Attribute(type: 1, payload: []).text == "")
        #expect(Attribute(type: 1, payload: [0x77, 0xff, 0x0a]).text == "w\\xff\\x0a")
    }

    @Test func nestedGarbage() throws {
        let nest = Attribute(type: 1, payload: [9, 0, 1, 0, 1])
        #expect(throws: MalformedMessage.self) { try nest.nested.forEach { _ in } }
        let inner = Wire.nest(1, Wire.nest(2, Wire.attribute(3, [7])))
        var depth = 0
        try Attributes(inner[...]).forEach { outer throws(MalformedMessage) in
            try outer.nested.forEach { middle throws(MalformedMessage) in
                try middle.nested.forEach { attribute throws(MalformedMessage) in
                    depth = Int(attribute.payload.first ?? 0)
                }
            }
        }
        #expect(depth == 7)
    }

    @Test func randomOctetsNeverTrap() {
        var random = SeededGenerator(1)
        for _ in 0..<10_000 {
            let bytes = random.octets(0...64)
            _ = try? read(bytes)
            _ = try? read(bytes, isList: true)
            _ = NetlinkMessage.split(bytes[...]).messages.map(\.errorReport?.code)
        }
    }
}
