import Environment
import Feed
import Foundation
import Glibc
import JSON
import Platform
import Synchronization
import Testing

/// A server on a loop of its own, and readers that are real connections.
final class Bench: Sendable {
    /// What lives on the loop's thread, and as long as that.
    private final class Core: @unchecked Sendable {
        var server: FeedServer?
        var encoder = FeedEncoder()
        let snapshots = Atomic<Int>(0)
        let permission = Lock<FeedPermission?>(nil)
    }

    let loop: EventLoop
    let path: String
    private let core = Core()

    /// - Parameters:
    ///   - permission: of everybody; nil: it is still to be found out.
    ///   - held: what a former server left.
    ///   - path: of its socket, where that is not any.
    init(permission: FeedPermission? = .full, held: HeldEvents? = nil, at path: String? = nil) throws {
        self.path = path ?? NSTemporaryDirectory() + "feed-\(UInt64.random(in: 0 ... .max))"
        loop = try EventLoop()
        core.permission.withLock { $0 = permission }
        if let held { core.encoder = FeedEncoder(continuing: held) }
        core.encoder.disclosure = Canaries.disclosure
        core.server = try FeedServer(
            at: self.path, on: loop, held: held, permission: { [core] _ in core.permission.withLock { $0 } },
            encoder: { [core] in core.encoder },
            snapshot: { [core] in
                core.snapshots.add(1, ordering: .relaxed)
                return Canaries.snapshot(core.encoder, $0)
            },
            explain: { [core] name in
                let known = Canaries.explanations.filter { $0.name == name }
                guard known.isEmpty else { return known.map { core.encoder.explanationLine(of: $0) } }
                return (0..<(name.isEmpty ? 3 : 1)).map { number in
                    core.encoder.explanationLine(
                        of: Explanation(kind: .rule, name: "\(name)\(number)", truth: .yes, text: "so"))
                }
            })
        try loop.start()
    }

    deinit {
        loop.perform { [core, loop, path] in
            guard let server = core.server else { return loop.stop() }
            server.stop()
            core.server = nil
            unlink(path)
            loop.stop()
        }
    }

    func publish(_ count: Int, _ body: FeedEvent.Body = .agentReloaded(problems: 0)) async {
        await onLoop { core in
            for _ in 0..<count { core.server?.publish(core.encoder.line(for: FeedEvent(body, at: .now()))) }
        }
    }

    func publish(_ events: [FeedEvent]) async {
        await onLoop { core in for event in events { core.server?.publish(core.encoder.line(for: event)) } }
    }

    /// What everybody may see from now on.
    func permit(_ permission: FeedPermission?) async {
        await onLoop { core in
            core.permission.withLock { $0 = permission }
            core.server?.recheck()
        }
    }

    /// The agent ends; another one may take its place.
    func end() async {
        await onLoop { core in
            core.server?.stop()
            core.server = nil
        }
        unlink(path)
    }

    func held() async -> HeldEvents? { await onLoop { $0.server?.held() } }
    func readerCount() async -> Int { await onLoop { $0.server?.readerCount ?? 0 } }

    /// How many readers have been let in or turned away.
    var snapshots: Int { core.snapshots.load(ordering: .relaxed) }

    /// How many came between one turn of the loop and the next, so many times.
    func snapshotsInTurns(_ turns: Int) async -> [Int] {
        await withCheckedContinuation { continuation in
            loop.perform { [core, loop] in
                let turns = Turns(loop, turns) {
                    core.snapshots.load(ordering: .relaxed)
                } done: {
                    continuation.resume(returning: $0)
                }
                turns.next()
            }
        }
    }

    func instance() async -> String { await onLoop { $0.encoder.instance } }

    private func onLoop<Result: Sendable>(_ body: @escaping @Sendable (Core) -> Result) async -> Result {
        await withCheckedContinuation { continuation in
            loop.perform { [core] in continuation.resume(returning: body(core)) }
        }
    }
}

extension FeedClient {
    mutating func json() -> JSONValue? {
        next().flatMap { try? JSONValue(parsing: $0, maximumSize: 1 << 16) }
    }
}

/// Looks at the loop from within, once a turn.
private final class Turns {
    private let loop: EventLoop
    private var rest: Int
    private let count: () -> Int
    private let done: ([Int]) -> Void
    private var last: Int
    private var served: [Int] = []

    init(_ loop: EventLoop, _ turns: Int, count: @escaping () -> Int, done: @escaping ([Int]) -> Void) {
        self.loop = loop
        rest = turns
        self.count = count
        self.done = done
        last = count()
    }

    func next() {
        let now = count()
        served.append(now - last)
        last = now
        rest -= 1
        // On a busy machine nobody may have come yet.
        guard rest > 0 || last == 0 else { return done(served) }
        loop.schedule(at: Timestamp.now().boottime) { [self] in next() }
    }
}

private final class Flag: Sendable {
    private let value = Mutex(false)

    var isSet: Bool {
        get { value.withLock { $0 } }
        set { value.withLock { $0 = newValue } }
    }
}

@Suite(.timeLimit(.minutes(10))) struct ServerTests {
    @Test func whoeverConnectsWithoutEndKeepsTheLoopFromNothing() async throws {
        let bench = try Bench(permission: .denied)
        let isOver = Flag()
        let path = bench.path
        for _ in 0..<3 {
            Thread.detachNewThread {
                while !isOver.isSet { _ = try? FeedClient(connectingTo: path, request: FeedRequest()) }
            }
        }
        defer { isOver.isSet = true }
        // What the loop does between two of its turns does not depend on who else gets the processor.
        let served = await bench.snapshotsInTurns(400)
        #expect(served.contains { $0 > 0 })
        #expect(served.allSatisfy { $0 <= 32 }, "\(served.max() ?? 0)")
    }

    @Test func theFirstLineIsASnapshotThenEverythingInOrder() async throws {
        let bench = try Bench()
        await bench.publish(3)
        var reader = try FeedClient(connectingTo: bench.path, request: FeedRequest())
        let first = reader.json()
        #expect(first?["type"]?.string == "environment.snapshot")
        #expect(first?["permission"]?.string == "full")
        #expect(first?["as_of_seq"]?.integer == 3)
        await bench.publish(100)
        for sequence in 4...103 { #expect(reader.json()?["seq"]?.integer == Int64(sequence)) }
    }

    @Test func whoMayNotKnowGetsOneLineAndTheEnd() async throws {
        let bench = try Bench(permission: .denied)
        await bench.publish(3)
        var reader = try FeedClient(connectingTo: bench.path, request: FeedRequest())
        #expect(reader.json()?["permission"]?.string == "denied")
        #expect(reader.next() == nil)
    }

    @Test func sinceResumesWithoutAHole() async throws {
        let bench = try Bench()
        await bench.publish(10)
        var request = FeedRequest()
        request.since = (await bench.instance(), 4)
        var reader = try FeedClient(connectingTo: bench.path, request: request)
        #expect(reader.json()?["type"]?.string == "environment.snapshot")
        await bench.publish(2)
        for sequence in 5...12 { #expect(reader.json()?["seq"]?.integer == Int64(sequence)) }
    }

    @Test func sinceBeforeWhatIsHeldSaysHowMuchIsMissing() async throws {
        let bench = try Bench()
        await bench.publish(5_000)
        var request = FeedRequest()
        request.since = (await bench.instance(), 10)
        var reader = try FeedClient(connectingTo: bench.path, request: request)
        _ = reader.next()
        #expect(reader.json()?["gap"]?["lost"]?.integer == 3_990)
        #expect(reader.json()?["seq"]?.integer == 4_001)
    }

    @Test func sinceAnotherLifeOfTheAgentIsAGapOfUnknownSize() async throws {
        let bench = try Bench()
        await bench.publish(2)
        var request = FeedRequest()
        request.since = ("0000000000000000", 7)
        var reader = try FeedClient(connectingTo: bench.path, request: request)
        _ = reader.next()
        #expect(reader.json()?["gap"]?["lost"]?.isNull == true)
        #expect(reader.json()?["seq"]?.integer == 1)
    }

    @Test func filtersLeaveOutWhatWasNotAskedFor() async throws {
        let bench = try Bench()
        var request = FeedRequest()
        request.filter.types = ["rule.*", "agent.stopped"]
        var reader = try FeedClient(connectingTo: bench.path, request: request)
        _ = reader.next()
        await bench.publish(5)
        await bench.publish(1, .ruleActivated(.init(name: "r", file: "f", line: 1)))
        await bench.publish(1, .agentStopped)
        #expect(reader.json()?["type"]?.string == "rule.activated")
        #expect(reader.json()?["type"]?.string == "agent.stopped")
    }

    /// A reader that does not read costs the others nothing, and is told how much it lost: not one line disappears.
    @Test func aSlowReaderLosesTheOldestAndIsToldHowMany() async throws {
        let bench = try Bench()
        var slow = try FeedClient(connectingTo: bench.path, request: FeedRequest())
        var good = try FeedClient(connectingTo: bench.path, request: FeedRequest())
        _ = slow.next()
        _ = good.next()
        let count = 20_000
        let batchSize = 500
        for batch in 0..<(count / batchSize) {
            await bench.publish(batchSize)
            for index in 1...batchSize { #expect(good.json()?["seq"]?.integer == Int64(batch * batchSize + index)) }
        }
        var expected: Int64 = 1
        var gaps = 0
        while expected <= count {
            let next = slow.json()
            let line = try #require(next)
            if let lost = line["gap"]?["lost"]?.integer {
                gaps += 1
                expected += lost
            } else {
                #expect(line["seq"]?.integer == expected)
                expected += 1
            }
        }
        #expect(gaps > 0)
    }

    /// Readers come and go in the middle of it: each of the others gets each line.
    @Test func hundredsOfReadersGetEachLineWhileOthersLeave() async throws {
        let bench = try Bench()
        let count = 300
        let lines = 40
        let connections = try (0..<count).map { _ in
            let connection = try UnixSocket.connect(to: bench.path)
            _ = UnixSocket.send(FeedRequest().line[...], on: connection.rawValue)
            return connection.release()
        }
        while await bench.readerCount() < count { sched_yield() }
        for number in 0..<lines {
            await bench.publish(1)
            // From anywhere among them.
            for leaver in 0..<3 { close(connections[(number * 3 + leaver) * 2]) }
        }
        let stayed = connections.indices.filter { $0 % 2 == 1 || $0 >= lines * 6 }
        for index in stayed {
            var reader = LineReader(connections[index], maximumLine: 1 << 16)
            UnixSocket.limitWaiting(connections[index], seconds: 20)
            _ = fcntl(connections[index], F_SETFL, 0)
            _ = reader.next()
            for sequence in 1...lines {
                let line = reader.next() ?? []
                #expect(String(decoding: line, as: UTF8.self).contains("\"seq\":\(sequence),"), "\(index)")
            }
            close(connections[index])
        }
        while await bench.readerCount() > 0 { sched_yield() }
    }

    @Test func aReaderThatOnlyAsksForTheSnapshotGetsTheEnd() async throws {
        let bench = try Bench()
        var request = FeedRequest()
        request.follows = false
        var reader = try FeedClient(connectingTo: bench.path, request: request)
        #expect(reader.json()?["type"]?.string == "environment.snapshot")
        #expect(reader.next() == nil)
    }

    @Test func nonsenseForARequestMeansEverything() async throws {
        let bench = try Bench()
        let connection = try UnixSocket.connect(to: bench.path)
        _ = UnixSocket.send(ArraySlice(repeatElement(0xff, count: 10_000)), on: connection.rawValue)
        var buffer = [UInt8](repeating: 0, count: 64)
        let count = try #require(UnixSocket.receive(into: &buffer, on: connection.rawValue))
        #expect(buffer[..<count].starts(with: Array(#"{"schema":"vicinity/1""#.utf8)))
    }

    @Test(arguments: [("office", ["office0"]), ("", ["0", "1", "2"])])
    func whoAsksWhyGetsTheAnswerAndTheEnd(name: String, expected: [String]) async throws {
        let bench = try Bench()
        await bench.publish(3)
        var request = FeedRequest()
        request.why = name
        var reader = try FeedClient(connectingTo: bench.path, request: request)
        #expect(reader.json()?["type"]?.string == "environment.snapshot")
        for name in expected {
            let line = reader.json()
            #expect(line?["type"]?.string == "explanation")
            #expect(line?["seq"]?.isNull == true)
            #expect(line?["explanation"]?["name"]?.string == name)
        }
        #expect(reader.next() == nil)
    }

    @Test func whoMayNotKnowIsNotToldWhy() async throws {
        let bench = try Bench(permission: .denied)
        var request = FeedRequest()
        request.why = ""
        var reader = try FeedClient(connectingTo: bench.path, request: request)
        #expect(reader.json()?["permission"]?.string == "denied")
        #expect(reader.next() == nil)
    }

    /// What is no name is no request: the reader gets everything, as if it had said nothing.
    @Test(arguments: [
        #"{"why":"\#(String(repeating: "x", count: 65))"}"#, #"{"why":"a\u001b[2J"}"#, #"{"why":"a b"}"#,
        #"{"why":"é"}"#, #"{"why":7}"#, #"{"why":["office"]}"#, #"{"why":null}"#, #"{"why":"office""#,
    ])
    func aQuestionThatIsNoneIsNoRequest(request: String) async throws {
        let bench = try Bench()
        let connection = try UnixSocket.connect(to: bench.path)
        _ = UnixSocket.send(Array((request + "\n").utf8)[...], on: connection.rawValue)
        var buffer = [UInt8](repeating: 0, count: 8_192)
        _ = try #require(UnixSocket.receive(into: &buffer, on: connection.rawValue))
        await bench.publish(1)
        let count = try #require(UnixSocket.receive(into: &buffer, on: connection.rawValue))
        #expect(String(decoding: buffer[..<count], as: UTF8.self).contains("agent.reloaded"))
    }

    @Test func aMegabyteOfQuestionIsNotKept() async throws {
        let bench = try Bench()
        let connection = try UnixSocket.connect(to: bench.path)
        let flood = Array(#"{"why":""#.utf8) + [UInt8](repeating: 0x78, count: 1 << 20)
        _ = UnixSocket.send(flood[...], on: connection.rawValue)
        var buffer = [UInt8](repeating: 0, count: 8_192)
        let count = try #require(UnixSocket.receive(into: &buffer, on: connection.rawValue))
        #expect(String(decoding: buffer[..<count], as: UTF8.self).contains("environment.snapshot"))
    }

    @Test func readersComeAndGoByTheHundred() async throws {
        let bench = try Bench()
        for _ in 0..<500 {
            var reader = try FeedClient(connectingTo: bench.path, request: FeedRequest())
            #expect(reader.next() != nil)
        }
        await bench.publish(1)
        var last = try FeedClient(connectingTo: bench.path, request: FeedRequest())
        #expect(last.json()?["as_of_seq"]?.integer == 1)
    }
}
