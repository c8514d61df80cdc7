import Feed
import Foundation
import Glibc
import JSON
import Platform
import Testing

/// Garbage, slow, huge and half requests on the feed's socket: who sends them gets what somebody gets who said nothing,
/// and nobody else notices.
@Suite(.timeLimit(.minutes(5))) struct GarbageRequestTests {
    /// Somebody who says what they like.
    private struct Talker: ~Copyable {
        let connection: FileDescriptor
        private var reader: LineReader

        init(_ bench: Bench) throws {
            connection = try UnixSocket.connect(to: bench.path)
            UnixSocket.limitWaiting(connection.rawValue, seconds: 20)
            reader = LineReader(connection.rawValue, maximumLine: 1 << 16)
        }

        func say(_ octets: [UInt8]) { _ = UnixSocket.send(octets[...], on: connection.rawValue) }
        mutating func next() -> JSONValue? {
            reader.next().flatMap { try? JSONValue(parsing: $0, maximumSize: 1 << 16) }
        }
    }

    private static let nonsense: [[UInt8]] = {
        let texts = [
            "", "{", "[]", "null", "7", "\"since\"", "{}{}", "{\"since\":}", "{\"since\":7}", "{\"since\":\":\"}",
            "{\"since\":\"x:-1\"}", "{\"since\":\"x:18446744073709551616\"}", "{\"types\":\"wifi.*\"}",
            "{\"types\":[[]]}", "{\"types\":{}}", "{\"interface\":[]}", "{\"follow\":\"no\"}", "{\"why\":{}}",
            "\u{feff}{}", "\0\0\0",
            String(repeating: "[", count: 4_000), String(repeating: "{\"a\":", count: 800),
            "{\"types\":[" + Array(repeating: "\"a*\"", count: 700).joined(separator: ",") + "",
        ]
        var lines = texts.map { Array($0.utf8) }
        lines += (0..<200).map { _ in (0..<Int.random(in: 1...500)).map { _ in UInt8.random(in: 0...255) } }
        return lines.map { $0.filter { $0 != 0x0A } + [0x0A] }
    }()

    @Test func garbageIsNoRequest() async throws {
        let bench = try Bench()
        for line in Self.nonsense {
            var talker = try Talker(bench)
            talker.say(line)
            let first = talker.next()
            #expect(first?["type"]?.string == "environment.snapshot", "\(line.prefix(80))")
            await bench.publish(1)
            #expect(talker.next()?["type"]?.string == "agent.reloaded", "\(line.prefix(80))")
        }
        while await bench.readerCount() > 0 { await Task.yield() }
    }

    /// Numbers and names at the edges of what they can be are a request like any other.
    @Test(arguments: [
        #"{"since":"x:18446744073709551615"}"#, #"{"since":":0"}"#, #"{"since":"::::0"}"#, #"{"types":["","*","**"]}"#,
        #"{"types":[],"interface":null,"follow":null}"#, #"{"since":"\#(String(repeating: "x", count: 4_000)):1"}"#,
    ])
    func whatIsAtTheEdgeIsAnswered(request: String) async throws {
        let bench = try Bench()
        await bench.publish(2)
        var talker = try Talker(bench)
        talker.say(Array((request + "\n").utf8))
        #expect(talker.next()?["type"]?.string == "environment.snapshot")
        await bench.publish(1)
        var last: JSONValue?
        repeat { last = talker.next() } while last != nil && last?["seq"]?.integer != 3
        #expect(last?["type"]?.string == "agent.reloaded")
    }

    /// Whoever breaks off in the middle of a word is let go, and whoever only waits gets everything.
    @Test func halfARequestIsNone() async throws {
        let bench = try Bench()
        do {
            let gone = try Talker(bench)
            gone.say(Array(#"{"types":["wifi.*"#.utf8))
            while await bench.readerCount() < 1 { await Task.yield() }
            withExtendedLifetime(gone.connection.rawValue) {}
        }
        while await bench.readerCount() > 0 { await Task.yield() }
        var waiting = try Talker(bench)
        waiting.say(Array(#"{"types":["wifi.*"]"#.utf8))
        #expect(waiting.next()?["type"]?.string == "environment.snapshot")
        // The rest comes too late.
        waiting.say(Array("}\n".utf8))
        await bench.publish(1)
        #expect(waiting.next()?["type"]?.string == "agent.reloaded")
    }

    /// It is put together of whatever pieces it comes in, as long as there is time. On a busy machine there may be none.
    @Test func aRequestMayComeInPieces() async throws {
        let bench = try Bench()
        var isHeard = false
        for _ in 0..<50 where !isHeard {
            var talker = try Talker(bench)
            for octet in Array("{\"follow\":false}\n".utf8) { talker.say([octet]) }
            #expect(talker.next()?["type"]?.string == "environment.snapshot")
            await bench.publish(1)
            isHeard = talker.next() == nil
        }
        #expect(isHeard)
    }

    /// One who never stops talking, and one who says and reads nothing, cost others nothing.
    @Test func aFloodKeepsNobodyWaiting() async throws {
        let bench = try Bench()
        let mute = try Talker(bench)
        let talker = try UnixSocket.connect(to: bench.path)
        let descriptor = talker.rawValue
        let flooded = Lock(0)
        let isOver = Lock(false)
        Thread.detachNewThread {
            let flood = [UInt8](repeating: UInt8(ascii: "x"), count: 64 << 10)
            while case let count = send(descriptor, flood, flood.count, Int32(MSG_NOSIGNAL)), count > 0 {
                flooded.withLock { $0 += count }
            }
            isOver.withLock { $0 = true }
        }
        var reader = try FeedClient(connectingTo: bench.path, request: FeedRequest(), patience: 20)
        #expect(reader.json()?["type"]?.string == "environment.snapshot")
        // For as long as the other one goes on.
        var sequence: Int64 = 0
        while !isOver.withLock({ $0 }), sequence < 200 || flooded.withLock({ $0 }) < 4 << 20 {
            await bench.publish(1)
            sequence += 1
            guard reader.json()?["seq"]?.integer == sequence else {
                Issue.record("line \(sequence) did not come")
                break
            }
        }
        #expect(!isOver.withLock { $0 })
        shutdown(descriptor, Int32(SHUT_RDWR))
        while !isOver.withLock({ $0 }) { await Task.yield() }
        withExtendedLifetime((talker.rawValue, mute.connection.rawValue)) {}
    }
}
