import Environment
import Feed
import Glibc
import JSON
import Platform
import Testing

/// What the server does with readers of each level.
@Suite(.timeLimit(.minutes(5))) struct PermissionTests {
    private func reader(_ bench: Bench, _ request: FeedRequest = FeedRequest()) throws -> FeedClient {
        try FeedClient(connectingTo: bench.path, request: request, patience: 20)
    }

    /// By whichever way: as it happens, asked for later, out of the log after falling behind, as an answer.
    @Test(arguments: [FeedPermission.hashed, .notDetermined])
    func nothingThatAReaderGetsTellsANameOrAnAddress(permission: FeedPermission) async throws {
        let bench = try Bench(permission: permission)
        var octets: [UInt8] = []
        await bench.publish(Canaries.events)
        var since = FeedRequest()
        since.since = (await bench.instance(), 1)
        var first = try reader(bench)
        var second = try reader(bench, since)
        octets += first.next() ?? []
        octets += second.next() ?? []
        await bench.publish(Canaries.events)
        let count = Canaries.events.count
        for _ in 0..<count { octets += first.next() ?? [] }
        for _ in 0..<2 * count - 1 { octets += second.next() ?? [] }
        var slow = try reader(bench)
        octets += slow.next() ?? []
        for _ in 0..<400 { await bench.publish(Canaries.events) }
        var isGap = false
        for _ in 0..<5_000 where !isGap {
            let line = slow.next() ?? []
            isGap = String(decoding: line, as: UTF8.self).contains("feed.gap")
            octets += line
        }
        #expect(isGap)
        for name in ["", "away", "awya"] {
            var request = FeedRequest()
            request.why = name
            var asker = try reader(bench, request)
            while let line = asker.next() { octets += line }
        }
        #expect(octets.count > 60_000)
        #expect(Canaries.found(in: octets) == [])
    }

    /// For what has a use for hashes alone, whoever may see more.
    @Test func whoMaySeeEverythingCanAskForLess() async throws {
        let bench = try Bench(permission: .full)
        var request = FeedRequest()
        request.isHashed = true
        #expect(String(decoding: request.line, as: UTF8.self) == "{\"view\":\"hashed\"}\n")
        var client = try reader(bench, request)
        let first = client.next() ?? []
        #expect(String(decoding: first, as: UTF8.self).contains("\"permission\":\"hashed\""))
        await bench.publish(Canaries.events)
        var octets = Array(first)
        for _ in Canaries.events { octets += client.next() ?? [] }
        #expect(octets.count > 1_000 && Canaries.found(in: octets) == [])
    }

    /// Whether a private network or a user's rule exists is not to be found out by guessing.
    @Test func guessesAreNotConfirmed() async throws {
        let bench = try Bench(permission: .hashed)
        func answer(_ name: String) throws -> String {
            var request = FeedRequest()
            request.why = name
            var asker = try reader(bench, request)
            _ = asker.next()
            let line = asker.json()
            #expect(asker.next() == nil)
            #expect(line?["explanation"]?["name"]?.string == name)
            var writer = JSONWriter()
            writer.value(line?["explanation"] ?? .null)
            return writer.text.replacing(name)
        }
        let unknown = try answer("awya")
        #expect(try answer(Canaries.network) == unknown)
        #expect(try answer(Canaries.rule) == unknown)
        #expect(try answer("away") != unknown)
    }

    @Test func aFilterDoesNotConfirmTheNameOfAnInterface() async throws {
        let bench = try Bench(permission: .hashed)
        var guess = FeedRequest()
        guess.filter.interface = Canaries.interface.name
        var shown = FeedRequest()
        shown.filter.interface = "if4"
        var guesser = try reader(bench, guess)
        var other = try reader(bench, shown)
        _ = guesser.next()
        _ = other.next()
        await bench.publish(Canaries.events)
        #expect(other.json()?["type"]?.string == "wifi.associating")
        // Everything was sent by then; there is nothing for the other one.
        await bench.permit(.denied)
        #expect(guesser.next() == nil)
    }

    @Test(arguments: [FeedPermission.denied, .restricted])
    func whoMaySeeNothingGetsOneLine(permission: FeedPermission) async throws {
        let bench = try Bench(permission: permission)
        var since = FeedRequest()
        since.since = (await bench.instance(), 0)
        await bench.publish(3)
        var client = try reader(bench, since)
        let line = client.next()
        #expect(line.map { Canaries.found(in: $0) } == [])
        let json = try JSONValue(parsing: try #require(line), maximumSize: 8_192)
        #expect(json["permission"]?.string == permission.rawValue)
        #expect(json["interfaces"] == nil && json["networks"] == nil)
        #expect(client.next() == nil)
    }

    @Test(arguments: [
        (FeedPermission.full, FeedPermission.notDetermined, true), (.full, .hashed, true), (.full, .denied, true),
        (.hashed, .restricted, true), (.hashed, .full, false), (.notDetermined, .hashed, false), (.full, .full, false),
    ])
    func whoMaySeeLessIsSentAwayAtOnce(before: FeedPermission, after: FeedPermission, isOver: Bool) async throws {
        let bench = try Bench(permission: before)
        var client = try reader(bench)
        #expect(client.json()?["permission"]?.string == before.rawValue)
        await bench.permit(after)
        await bench.publish(1)
        let next = client.json()
        #expect((next == nil) == isOver)
        // As it was when the connection was made.
        #expect(isOver || (next?["withheld"]?.bool == true) == (before.view == .hashed))
        #expect(await bench.readerCount() == (isOver ? 0 : 1))
        var again = try reader(bench)
        #expect(again.json()?["permission"]?.string == after.rawValue)
    }

    /// Nothing is sent before it is known, and what the reader asked for is not forgotten meanwhile.
    @Test func aReaderWaitsUntilItsPermissionIsKnown() async throws {
        let bench = try Bench(permission: nil)
        await bench.publish(5)
        var request = FeedRequest()
        request.since = (await bench.instance(), 3)
        let connection = try UnixSocket.connect(to: bench.path)
        _ = UnixSocket.send(request.line[...], on: connection.rawValue)
        while await bench.readerCount() == 0 { sched_yield() }
        await bench.publish(1)
        var poll = pollfd(fd: connection.rawValue, events: Int16(POLLIN), revents: 0)
        // Longer than a reader has for its request.
        #expect(Glibc.poll(&poll, 1, 200) == 0)
        await bench.permit(.full)
        var lines = LineReader(connection.rawValue, maximumLine: 1 << 16)
        let numbers = (0..<4).map { _ in
            lines.next().flatMap { try? JSONValue(parsing: $0, maximumSize: 1 << 16) }?["seq"]?.integer
        }
        #expect(numbers == [nil, 4, 5, 6])
    }

    @Test func theHighestNumberIsANumber() async throws {
        let bench = try Bench()
        await bench.publish(2)
        for sequence: UInt64 in [.max, .max - 1, 30, 2] {
            var request = FeedRequest()
            request.since = (await bench.instance(), sequence)
            var client = try reader(bench, request)
            #expect(client.json()?["type"]?.string == "environment.snapshot")
            await bench.publish(1, .agentStopped)
            #expect(client.json()?["type"]?.string == "agent.stopped")
        }
    }
}

extension String {
    /// Without a name that may be told apart otherwise.
    fileprivate func replacing(_ name: String) -> String {
        split(separator: "\"").map { $0 == name ? "NAME" : String($0) }.joined(separator: "\"")
    }
}
