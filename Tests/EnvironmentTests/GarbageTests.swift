import Netlink
import Platform
import TestSupport
import Testing
import WiFi

@testable import Environment

/// Whatever octets come: no trap, no hang, and nothing is lost in silence.
@Suite struct GarbageTests {
    /// The messages that are understood, one of each.
    private static let messages: [Signal] = [
        .interface(ssid: Array("Home".utf8)), .interfaceRemoved(), .connect(home),
        .connect(home, status: 16, isTimeout: true),
        .connect(AccessPoint("S", 1, .wpa3).with { $0.links = [0: .numbered(5)] }), .roam(upstairs),
        .disconnect(reason: 3, byAccessPoint: true), .authenticate(home, status: 17), .associate(home),
        .unanswered(home), .station(home.bssid, isAuthorized: true, signal: -40), .stationRemoved(home.bssid),
        .portAuthorized(home), .channelSwitched(to: 2437, link: 0), .linksChanged(), .scanEntry(home),
        .link(state: 6, kind: "veth"), .linkRemoved(9), .address("192.0.2.7"), .rule(),
        .defaultRoute(via: "192.0.2.1", priority: 600), .neighbour("192.0.2.1", .numbered(1)),
    ]

    /// The world is joined to Home, hears something, and reads everything again where that was not understood.
    private func check(_ signal: Signal, after name: String) {
        let world = World()
        world.isSlow = true
        let before = world.counters
        world.hear(signal)
        let rejected = world.counters.malformed - before.malformed
        #expect(
            world.questions.contains(.inventory(.malformedMessage)) == (rejected > 0),
            "\(name): \(signal.bytes.hexadecimal)")
        #expect(world.counters.messages - before.messages >= rejected)
    }

    @Test(arguments: messages.indices)
    func everyMutationOfOneOctet(place: Int) {
        let signal = GarbageTests.messages[place]
        for position in signal.bytes.indices {
            for value in [signal.bytes[position] ^ 0xff, signal.bytes[position] &+ 1] {
                var mutated = signal
                mutated.bytes[position] = value
                check(mutated, after: "octet \(position)")
            }
        }
    }

    @Test(arguments: messages.indices)
    func everyTruncation(place: Int) {
        let signal = GarbageTests.messages[place]
        for count in 1..<signal.bytes.count {
            // Cut by the wire, and cut by a kernel that says so.
            check(Signal(bus: signal.bus, Array(signal.bytes.prefix(count))), after: "\(count) octets")
            guard count >= 16 else { continue }
            let shortened = Wire.number(UInt32(count)) + signal.bytes.prefix(count).dropFirst(4)
            check(Signal(bus: signal.bus, Array(shortened)), after: "shortened to \(count)")
        }
    }

    @Test(arguments: messages.indices)
    func everyAttributeTwice(place: Int) throws {
        let signal = GarbageTests.messages[place]
        let header = signal.bus == 16 ? 4 : [16: 16, 17: 16, 20: 8, 24: 12, 28: 12, 32: 12][signal.message.type] ?? 0
        let message = signal.message
        guard message.type != 32 || signal.bus == 16 else { return }
        var attributes: [Attribute] = []
        try Attributes(message.payload.dropFirst(header)).forEach { attributes.append($0) }
        for attribute in attributes {
            let payload = message.payload + Wire.attribute(attribute.type, Array(attribute.payload))
            let twice = Signal(bus: signal.bus, Wire.message(message.type, Array(payload)))
            let world = World()
            world.isSlow = true
            world.hear(twice)
            #expect(world.counters.malformed == 1, "attribute \(attribute.type)")
            #expect(world.questions == [.inventory(.malformedMessage)])
        }
    }

    @Test func tenThousandRandomMessages() {
        var random = SeededGenerator(5)
        let world = World()
        world.isSlow = true
        var rejected: UInt64 = 0
        for round in 0..<10_000 {
            let bus: UInt16 = random.once(in: 2) ? 0 : 16
            let types: [UInt16] = bus == 0 ? [16, 17, 20, 21, 24, 25, 28, 29, 32] : [Wire.family, Wire.family, 16, 99]
            let payload = random.octets(0...120)
            let bytes =
                switch round % 3 {
                case 0: payload
                case 1: Wire.message(types.randomElement(using: &random) ?? 0, payload)
                default:
                    Wire.message(
                        types.randomElement(using: &random) ?? 0,
                        [[46, 47, 48, 19, 34, 37].randomElement(using: &random) ?? 0, 1, 0, 0]
                            + (0..<4).flatMap { _ in
                                Wire.attribute(UInt16.random(in: 0...330, using: &random), random.octets(0...12))
                            })
                }
            let before = world.counters
            world.hear(Signal(bus: bus, bytes))
            #expect(world.counters.messages >= before.messages + (bytes.isEmpty ? 0 : 1))
            rejected += world.counters.malformed - before.malformed
        }
        #expect(rejected == world.counters.malformed)
        #expect((3_000..<10_000).contains(rejected))
        // However many were rejected, one reading is on its way, and it finds the truth.
        #expect(world.questions.count { if case .inventory = $0 { true } else { false } } == 1)
        world.kernel.interfaces[3]?.association = .init(accessPoint: home, isAuthorized: true)
        world.kernel.interfaces[3]?.state = 6
        world.isSlow = false
        world.answer()
        world.pass(30)
        #expect(world.state?.network?.name == "Home")
        #expect(world.environment.interfaces.count == 1)
    }

    @Test func unknownCommandsAreIgnored() {
        let world = World()
        for command in 0...255 as ClosedRange<UInt8>
        where ![3, 4, 6, 7, 8, 19, 20, 34, 37, 38, 46, 47, 48, 88, 125, 154, 156].contains(command) {
            world.hear(.wireless(command, [1, 2, 3]))
        }
        #expect(world.counters.malformed == 0)
        #expect(world.counters.ignored == 239)
        #expect(world.toldEverything() == [])
    }

    /// Other families, control messages, and what programs ask.
    @Test func messagesOfOthersAreIgnored() {
        let world = World()
        world.hear(Signal(bus: 16, Wire.message(99, [46, 1, 0, 0])))
        world.hear(Signal(bus: 16, Wire.message(2, [0, 0, 0, 0])))
        world.hear(Signal(bus: 16, Wire.message(Wire.family, flags: 1, [46, 1, 0, 0])))
        world.hear(Signal(bus: 0, Wire.message(18, flags: 0x301, [0])))
        #expect(world.counters.ignored == 4)
        #expect(world.counters.malformed == 0)
        #expect(world.questionCount == 0)
    }

    /// Attributes that newer kernels add.
    @Test func unknownAttributesAreSkipped() throws {
        let known = try NL80211Message(Signal.connect(home).message)
        var message = Signal.connect(home).message
        message.payload += Wire.attribute(400, [1, 2, 3]) + Wire.attribute(400, []) + Wire.attribute(326, [1])
        #expect(try NL80211Message(message) == known)
    }
}
