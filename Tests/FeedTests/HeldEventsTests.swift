import Feed
import Foundation
import JSON
import Platform
import Testing

/// The last lines of one agent in the hands of the next.
@Suite(.timeLimit(.minutes(5))) struct HeldEventsTests {
    private func filled(_ count: Int) async throws -> (bench: Bench, held: HeldEvents) {
        let bench = try Bench()
        await bench.publish(Canaries.events)
        await bench.publish(count)
        let held = await bench.held()
        return (bench, try #require(held))
    }

    @Test func theyComeBackAsTheyWere() async throws {
        let (_, held) = try await filled(10)
        #expect(held.count == Canaries.events.count + 10)
        let octets = held.encoded()
        #expect(HeldEvents(octets) == held)
        #expect(octets.count <= HeldEvents.maximumLength)
    }

    /// The numbers go on, so that who had a line of the first gets what followed from the second, without a hole.
    @Test(arguments: [FeedPermission.full, .hashed])
    func sinceGoesOnAcrossARestart(permission: FeedPermission) async throws {
        let (first, held) = try await filled(10)
        let last = UInt64(Canaries.events.count + 10)
        let instance = await first.instance()
        let second = try Bench(permission: permission, held: HeldEvents(held.encoded()))
        #expect(await second.instance() == instance)
        await second.publish(2)
        var request = FeedRequest()
        request.since = (instance, last - 3)
        var client = try FeedClient(connectingTo: second.path, request: request, patience: 20)
        #expect(client.json()?["as_of_seq"]?.integer == Int64(last + 2))
        var octets: [UInt8] = []
        for sequence in last - 2...last + 2 {
            let line = client.next() ?? []
            octets += line
            #expect(String(decoding: line, as: UTF8.self).contains("\"id\":\"\(instance):\(sequence)\""))
        }
        #expect(permission == .full || Canaries.found(in: octets) == [])
        request.since = (instance, 0)
        var all = try FeedClient(connectingTo: second.path, request: request, patience: 20)
        _ = all.next()
        for sequence in 1...last + 2 {
            let line = all.next() ?? []
            #expect(permission == .full || Canaries.found(in: line) == [])
            #expect(String(decoding: line, as: UTF8.self).contains("\"seq\":\(sequence),"))
        }
    }

    @Test func thereAreAThousandAtMost() async throws {
        let (_, held) = try await filled(3_000)
        #expect(held.count == HeldEvents.limit)
        #expect(HeldEvents(held.encoded())?.count == HeldEvents.limit)
    }

    @Test func whatIsTooOldIsLeftOut() async throws {
        let (_, held) = try await filled(1)
        var later = Timestamp.now()
        later.boottime += HeldEvents.lifetime + 1_000_000_000
        let kept = HeldEvents(held.encoded(), at: later)
        #expect(kept?.count == 0 && kept?.sequence == held.sequence)
    }

    @Test func whatIsOfAnotherBootIsNothing() async throws {
        let (_, held) = try await filled(1)
        #expect(HeldEvents(held.encoded(boot: "another")) == nil)
        #expect(HeldEvents(held.encoded(boot: "another"), boot: "another") == held)
        // Nothing comes from the future.
        #expect(HeldEvents(held.encoded(), at: Timestamp(wall: 0, boottime: 1)) == nil)
    }

    @Test func garbageIsRefused() async throws {
        let (_, held) = try await filled(3)
        let octets = held.encoded()
        for count in stride(from: 0, to: octets.count, by: 101) { #expect(HeldEvents(Array(octets[..<count])) == nil) }
        var generator = SystemRandomNumberGenerator()
        for _ in 0..<500 {
            var broken = octets
            let place = Int.random(in: 0..<broken.count, using: &generator)
            broken[place] ^= UInt8.random(in: 1 ... .max, using: &generator)
            #expect(HeldEvents(broken) == nil)
        }
        #expect(HeldEvents(octets + [0]) == nil)
        #expect(HeldEvents([UInt8](repeating: 0, count: HeldEvents.maximumLength + 1)) == nil)
    }

    /// With the checksum of its own, so that the contents have to be looked at.
    @Test func contentsAreChecked() async throws {
        let (_, held) = try await filled(3)
        let octets = held.encoded()
        func changed(_ text: String, _ replacement: String) -> [UInt8] {
            var contents = Array(octets.dropLast(64))
            guard let place = Data(contents).range(of: Data(text.utf8)) else { return octets }
            contents.replaceSubrange(place, with: Array(replacement.utf8))
            return contents + Array(Checksum.of(contents).utf8)
        }
        #expect(HeldEvents(changed("{\"schema\"", "{\"schema\"")) == held)
        #expect(HeldEvents(changed("{\"schema\"", "{\"scheme\"")) == nil)
        #expect(HeldEvents(changed("\"seq\":2,", "\"seq\":9,")) == nil)
        #expect(HeldEvents(changed("\"agent.started\"", "\"agent.start\u{7}d\"")) == nil)
        #expect(HeldEvents(changed("vicinity-held/1", "vicinity-held/2")) == nil)
        #expect(HeldEvents(changed("}\n", "} ")) == nil)
    }
}
