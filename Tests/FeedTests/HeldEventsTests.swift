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

    /// As one that has just been started is: the time for the request is over and the request is there, both unseen.
    @Test func aBusyAgentHearsTheRequestThatIsThere() async throws {
        let (_, held) = try await filled(3)
        let path = NSTemporaryDirectory() + "feed-\(UInt64.random(in: 0 ... .max))"
        defer { unlink(path) }
        let (isLate, isSent) = (DispatchSemaphore(value: 0), DispatchSemaphore(value: 0))
        let encoder = FeedEncoder(continuing: held)
        let loop = try EventLoop()
        let server = try FeedServer(
            at: path, on: loop, held: held,
            permission: { _ in
                // In this order, so that the timer is the first of the two that the loop hears of.
                loop.perform {
                    let end = Timestamp.now().boottime + 150_000
                    while Timestamp.now().boottime < end {}
                    isLate.signal()
                    isSent.wait()
                }
                return .full
            }, encoder: { encoder }, snapshot: { encoder.snapshotLine(of: nil, permission: $0) })
        try loop.start()
        var request = FeedRequest()
        request.since = (held.instance, held.sequence - 2)
        let connection = try UnixSocket.connect(to: path)
        UnixSocket.limitWaiting(connection.rawValue, seconds: 20)
        isLate.wait()
        _ = UnixSocket.send(request.line[...], on: connection.rawValue)
        isSent.signal()
        var reader = LineReader(connection.rawValue, maximumLine: 2 * FeedLine.maximumLength)
        func next() -> JSONValue? { reader.next().flatMap { try? JSONValue(parsing: $0, maximumSize: 1 << 16) } }
        #expect(next()?["type"]?.string == "environment.snapshot")
        for sequence in held.sequence - 1...held.sequence {
            #expect(next()?["seq"]?.integer == Int64(sequence))
        }
        await withCheckedContinuation { continuation in
            loop.perform {
                server.stop()
                loop.stop()
                continuation.resume()
            }
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

    /// A process that is killed leaves the last record cut; and what is damaged ends there.
    @Test func whatIsNotWholeIsLeftOut() async throws {
        let (_, held) = try await filled(3)
        let octets = held.encoded()
        func isBeginning(_ other: HeldEvents?) -> Bool {
            guard let other else { return true }
            return other.instance == held.instance && other.count <= held.count
                && octets.starts(with: other.encoded())
        }
        for count in stride(from: 0, to: octets.count, by: 101) {
            #expect(isBeginning(HeldEvents(Array(octets[..<count]))))
        }
        #expect(HeldEvents(octets.dropLast())?.count == held.count - 1)
        #expect(HeldEvents(octets + [0]) == held)
        var generator = SystemRandomNumberGenerator()
        for _ in 0..<500 {
            var broken = octets
            let place = Int.random(in: 0..<broken.count, using: &generator)
            broken[place] ^= UInt8.random(in: 1 ... .max, using: &generator)
            let other = HeldEvents(broken)
            #expect(isBeginning(other) && other != held)
        }
        #expect(HeldEvents([UInt8](repeating: 0, count: HeldEvents.maximumLength + 1)) == nil)
    }

    @Test func linesAreAppendedOneByOne() async throws {
        let bench = try Bench()
        await bench.publish(2)
        let before = try #require(await bench.held())
        var encoder = FeedEncoder(continuing: before)
        let records = try (0..<2).map { _ in
            let line = encoder.line(for: FeedEvent(.agentStopped, at: .now()))
            return try #require(HeldEvents.record(of: line, disclosing: FeedDisclosure()))
        }
        let after = try #require(HeldEvents(before.encoded() + records.joined()))
        #expect(after.count == 4 && after.sequence == 4 && after.instance == before.instance)
        // A line that is missing is not passed over.
        #expect(HeldEvents(before.encoded() + records[1]) == nil)
        // Where none is left the number goes on.
        let empty = try #require(HeldEvents(before.encoded(), at: Timestamp(wall: 0, boottime: .max)))
        #expect(empty.count == 0 && empty.sequence == 2 && HeldEvents(empty.encoded()) == empty)
        #expect(HeldEvents(empty.encoded() + records.joined())?.sequence == 4)
        let snapshot = encoder.snapshotLine(of: nil, permission: .denied)
        #expect(HeldEvents.record(of: snapshot, disclosing: FeedDisclosure()) == nil)
    }

    /// With checksums that agree, so that the contents have to be looked at.
    @Test func contentsAreChecked() async throws {
        let (_, held) = try await filled(3)
        #expect(HeldEvents(Records(held.encoded()).octets) == held)
        func changed(_ text: String, _ replacement: String) -> HeldEvents? {
            var records = Records(held.encoded())
            let isFound = records.replace(text, with: replacement)
            #expect(isFound)
            return HeldEvents(records.octets)
        }
        #expect(changed("{\"schema\"", "{\"scheme\"") == nil)
        #expect(changed("\"seq\":2,", "\"seq\":9,") == nil)
        #expect(changed("\"agent.started\"", "\"agent.start\u{7}d\"") == nil)
        #expect(changed("}\n", "} ") == nil)
        #expect(HeldEvents(Array("vicinity-held/1\n".utf8) + held.encoded().dropFirst(16)) == nil)
    }
}

/// Records taken apart, and put together with checksums of their own.
private struct Records {
    private let magic: [UInt8]
    private var contents: [[UInt8]] = []

    init(_ octets: [UInt8]) {
        magic = Array(octets.prefix(16))
        var rest = octets.dropFirst(16)
        while rest.count >= 2 {
            let length = Int(rest.removeFirst()) | Int(rest.removeFirst()) << 8
            contents.append(Array(rest.prefix(length)))
            rest = rest.dropFirst(length + 16)
        }
    }

    /// Where it occurs first. False where it does not.
    mutating func replace(_ text: String, with replacement: String) -> Bool {
        for place in contents.indices {
            guard let range = Data(contents[place]).range(of: Data(text.utf8)) else { continue }
            contents[place].replaceSubrange(range, with: Array(replacement.utf8))
            return true
        }
        return false
    }

    var octets: [UInt8] {
        magic
            + contents.flatMap { content in
                [UInt8(truncatingIfNeeded: content.count), UInt8(truncatingIfNeeded: content.count >> 8)] + content
                    + Array(Checksum.of(content).utf8.prefix(16))
            }
    }
}
