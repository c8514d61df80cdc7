import ActionProtocol
import Foundation
import Glibc
import Platform
import Testing

@testable import Agent

/// What the agent takes from the helpers in users' sessions, each of which is a process of the user's.
@Suite(.timeLimit(.minutes(10))) struct SessionHelpersTests {
    /// The agent's side, on a loop of its own.
    private final class Stage: @unchecked Sendable {
        struct Counts: Equatable {
            var started = 0
            var ended = 0
            var reports: [HelperReport] = []
        }

        let path = "/tmp/vicinity-session-\(UInt32.random(in: 0 ... .max))"
        private let loop: EventLoop
        private var helpers: SessionHelpers?
        private let counts = Lock(Counts())

        /// In the process of somebody who is not root: root has no desktop.
        init() throws {
            if getuid() == 0 { guard setgid(65_534) == 0, setuid(65_534) == 0 else { throw SystemError("setuid") } }
            loop = try EventLoop()
            let made = DispatchSemaphore(value: 0)
            loop.perform { [self] in
                helpers = try? SessionHelpers(try UnixSocket.listen(at: path, mode: 0o600), on: loop)
                helpers?.onStart = { [self] _ in counts.withLock { $0.started += 1 } }
                helpers?.onEnd = { [self] _ in counts.withLock { $0.ended += 1 } }
                helpers?.onReport = { [self] _, report in counts.withLock { $0.reports.append(report) } }
                made.signal()
            }
            try loop.start()
            made.wait()
        }

        deinit { unlink(path) }

        var told: Counts { counts.withLock { $0 } }

        /// How many came between one turn of the loop and the next, so many times.
        func startedInTurns(_ turns: Int) -> [Int] {
            let seen = Lock([Int]())
            let done = DispatchSemaphore(value: 0)
            @Sendable func look(_ rest: Int) {
                seen.withLock { $0.append(told.started) }
                guard rest > 0 else {
                    done.signal()
                    return
                }
                loop.schedule(at: Timestamp.now().boottime) { look(rest - 1) }
            }
            loop.perform { look(turns) }
            done.wait()
            let counts = seen.withLock { $0 }
            return zip(counts, counts.dropFirst()).map { $1 - $0 }
        }

        /// The agent asks every session the same thing so often, in one go.
        func ask(_ request: HelperRequest, times: Int) {
            loop.perform { [self] in
                for _ in 0..<times { for session in (helpers?.sessions ?? [:]).values { session.send(request) } }
            }
        }
    }

    private struct Session: ~Copyable {
        let connection: FileDescriptor

        init(_ stage: Stage) throws {
            connection = try UnixSocket.connect(to: stage.path)
            UnixSocket.limitWaiting(connection.rawValue, seconds: 20)
        }

        /// All of it, unless the agent hangs up.
        func say(_ octets: [UInt8]) {
            var rest = octets[...]
            while !rest.isEmpty {
                let count = rest.withUnsafeBytes {
                    send(connection.rawValue, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL))
                }
                guard count > 0 else { return }
                rest = rest.dropFirst(count)
            }
        }

        /// Whether the agent has hung up without a word, within the time limit.
        func isOver() -> Bool {
            var buffer = [UInt8](repeating: 0, count: 64)
            return UnixSocket.receive(into: &buffer, on: connection.rawValue) == 0
        }
    }

    private static func nonsense() -> [[UInt8]] {
        let line = HelperReport.ended(id: 1, ActionEnd(.succeeded)).line
        let long = [UInt8](repeating: UInt8(ascii: " "), count: HelperReport.maximumSize)
        var lines = [
            [0x0A], Array("{}\n".utf8), Array("[]\n".utf8), Array("null\n".utf8), [0, 0xFF, 0xFE, 0x0A],
            Array(line.dropLast(2)) + [0x0A], Array(line.dropLast()) + line, long, long + line,
            [UInt8](repeating: UInt8(ascii: "["), count: 60_000) + [0x0A], [UInt8](repeating: 0, count: 1 << 20),
            // What the agent says, and never a helper.
            HelperRequest.release.line, HelperRequest.prepare.line,
        ]
        var random = SystemRandomNumberGenerator()
        for _ in 0..<200 {
            lines.append((0..<Int.random(in: 1...400, using: &random)).map { _ in UInt8.random(in: 0...255) } + [0x0A])
        }
        return lines
    }

    @Test func whoTalksNonsenseIsHungUpOnAndTheNextOneIsHeard() async {
        await #expect(processExitsWith: .exitCode(0)) {
            let stage = try Stage()
            let lines = Self.nonsense()
            for (number, line) in lines.enumerated() {
                let session = try Session(stage)
                session.say(line)
                let isOver = session.isOver()
                #expect(isOver, "\(number): \(line.prefix(80))")
            }
            until { stage.told.ended == lines.count }
            #expect(stage.told == .init(started: lines.count, ended: lines.count))
            let session = try Session(stage)
            for octet in HelperReport.started(id: 7).line { session.say([octet]) }
            until { stage.told.reports == [.started(id: 7)] }
            #expect(stage.told.ended == lines.count)
            withExtendedLifetime(session.connection.rawValue) {}
        }
    }

    /// Half a report is none; one that is never ended keeps nobody waiting; and the last of a user's is the one that counts.
    @Test func halfAReportIsNone() async {
        await #expect(processExitsWith: .exitCode(0)) {
            let stage = try Stage()
            let line = HelperReport.started(id: 7).line
            do {
                let gone = try Session(stage)
                gone.say(Array(line.dropLast()))
            }
            until { stage.told.ended == 1 }
            let slow = try Session(stage)
            slow.say(Array(line.dropLast()))
            until { stage.told.started == 2 }
            let next = try Session(stage)
            let isOver = slow.isOver()
            #expect(isOver)
            next.say(line)
            until { stage.told.reports.count == 1 }
            #expect(stage.told == .init(started: 3, ended: 2, reports: [.started(id: 7)]))
            withExtendedLifetime(next.connection.rawValue) {}
        }
    }

    /// The agent keeps so much for one who does not read, and then does without.
    @Test func whoNeverReadsIsHungUpOn() async {
        await #expect(processExitsWith: .exitCode(0)) {
            let stage = try Stage()
            let session = try Session(stage)
            until { stage.told.started == 1 }
            let states = (0..<500).map {
                NamedState(rule: "r", index: $0, record: EventRecord(event: "rule.activated"))
            }
            let request = HelperRequest.hold(pass: 1, digest: String(repeating: "0", count: 64), states)
            stage.ask(request, times: 4 * HelperRequest.maximumSize / request.line.count)
            until { stage.told.ended == 1 }
            withExtendedLifetime(session.connection.rawValue) {}
        }
    }

    /// Each of them takes the place of the one before, for ever.
    @Test func whoeverConnectsWithoutEndKeepsTheLoopFromNothing() async {
        await #expect(processExitsWith: .exitCode(0)) {
            let stage = try Stage()
            for _ in 0..<3 {
                let path = stage.path
                // They end with this process.
                Thread.detachNewThread { while true { _ = try? UnixSocket.connect(to: path) } }
            }
            until { stage.told.started > 0 }
            let started = stage.startedInTurns(2_000)
            #expect(started.contains { $0 > 0 })
            #expect(started.allSatisfy { $0 <= 32 }, "\(started.max() ?? 0)")
        }
    }
}
