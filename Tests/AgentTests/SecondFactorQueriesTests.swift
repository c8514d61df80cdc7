import Foundation
import Glibc
import Platform
import TestSupport
import Testing

@testable import Agent

/// Who asks gets what the kernel says after that, and nobody is kept.
@Suite(.timeLimit(.minutes(10))) struct SecondFactorQueriesTests {
    /// On a loop of its own. The kernel answers when the test says so.
    private final class Stage: @unchecked Sendable {
        let path = "/tmp/vicinity-factor-\(UInt32.random(in: 0 ... .max))"
        private let loop: EventLoop
        private var queries: SecondFactorQueries?
        private let asked = DispatchSemaphore(value: 0)
        private let state = Lock(State())

        private struct State {
            var answers: [@Sendable (Bool) -> Void] = []
            var maySkip = true
            var answersAll = false
        }

        init() throws {
            loop = try EventLoop()
            let made = DispatchSemaphore(value: 0)
            loop.perform { [self] in
                queries = try? SecondFactorQueries(
                    try UnixSocket.listen(at: path, mode: 0o600), on: loop,
                    verify: { [self] body in
                        if state.withLock({ $0.answersAll }) { return loop.perform { body(true) } }
                        state.withLock { $0.answers.append(body) }
                        asked.signal()
                    }, maySkip: { [self] in state.withLock { $0.maySkip } })
                made.signal()
            }
            try loop.start()
            made.wait()
        }

        func stop() {
            let ended = DispatchSemaphore(value: 0)
            loop.perform { [self] in
                queries?.stop()
                queries = nil
                loop.stop()
                ended.signal()
            }
            ended.wait()
            unlink(path)
        }

        func read(_ body: @escaping @Sendable (Bool) -> Void) {
            let done = DispatchSemaphore(value: 0)
            loop.perform { [self] in
                queries?.read(body)
                done.signal()
            }
            done.wait()
        }

        func rulesSay(_ maySkip: Bool) { state.withLock { $0.maySkip = maySkip } }

        /// The kernel answers at once from now on.
        func answerAll() { state.withLock { $0.answersAll = true } }

        /// Until the kernel has been asked once more.
        func isAsked() throws { try #require(asked.wait(timeout: .now() + 30) == .success) }

        /// The kernel says what it was asked.
        func answer(_ isCurrent: Bool = true) throws {
            let body = state.withLock { $0.answers.removeFirst() }
            loop.perform { body(isCurrent) }
        }
    }

    private struct Asker: ~Copyable {
        let connection: FileDescriptor

        init(_ stage: Stage) throws { connection = try UnixSocket.connect(to: stage.path) }
        init(owning descriptor: Int32) { connection = FileDescriptor(owning: descriptor) }

        /// Nil where it was let go without a word.
        func answer() throws -> (word: String, stamp: Int64)? {
            UnixSocket.limitWaiting(connection.rawValue, seconds: 30)
            var text: [UInt8] = []
            var buffer = [UInt8](repeating: 0, count: 128)
            while let count = UnixSocket.receive(into: &buffer, on: connection.rawValue), count > 0 {
                text += buffer[..<count]
            }
            guard !text.isEmpty else { return nil }
            #expect(text.last == UInt8(ascii: "\n"))
            let words = String(decoding: text.dropLast(), as: UTF8.self).split(separator: " ")
            try #require(words.count == 3 && words[0] == "vicinity-second-factor/1")
            return (String(words[1]), try #require(Int64(words[2])))
        }
    }

    /// Who asks within the agent is answered by what is read after that, with whoever connects.
    @Test func whoAsksWithinIsAnsweredByTheSameReading() throws {
        let stage = try Stage()
        defer { stage.stop() }
        let told = Lock([Bool]())
        let asker = try Asker(stage)
        try stage.isAsked()
        stage.read { isCurrent in told.withLock { $0.append(isCurrent) } }
        try stage.answer()
        #expect(try asker.answer()?.word == "skip")
        #expect(told.withLock { $0 }.isEmpty)
        try stage.isAsked()
        try stage.answer(false)
        stage.read { _ in }
        try stage.isAsked()
        #expect(told.withLock { $0 } == [false])
    }

    @Test(arguments: [(true, true), (true, false), (false, true), (false, false)])
    func skipsOnlyWhereTheKernelAnsweredAndTheRulesAllowIt(isCurrent: Bool, maySkip: Bool) throws {
        let stage = try Stage()
        defer { stage.stop() }
        stage.rulesSay(maySkip)
        let before = Timestamp.now().boottime
        let asker = try Asker(stage)
        try stage.isAsked()
        try stage.answer(isCurrent)
        let answer = try #require(try asker.answer())
        #expect(answer.word == (isCurrent && maySkip ? "skip" : "needed"))
        #expect(before <= answer.stamp && answer.stamp <= Timestamp.now().boottime)
    }

    /// What was read before somebody asked is no answer for them.
    @Test func whoComesLaterIsAnsweredByWhatIsReadLater() throws {
        let stage = try Stage()
        defer { stage.stop() }
        let first = try Asker(stage)
        // The others' questions come after that.
        try stage.isAsked()
        let second = try Asker(stage)
        let third = try Asker(stage)
        try stage.answer()
        let stamp = try #require(try first.answer()?.stamp)
        try stage.isAsked()
        stage.rulesSay(false)
        try stage.answer()
        let later = try #require(try second.answer())
        #expect(later.word == "needed" && later.stamp >= stamp)
        #expect(try third.answer()?.word == "needed")
    }

    /// There is nothing to be said, so whatever somebody says, all of it or half, makes no difference to anybody.
    @Test func whatIsSaidMakesNoDifference() throws {
        let stage = try Stage()
        defer { stage.stop() }
        stage.answerAll()
        let words: [[UInt8]] = [
            [], [0x0A], [0, 0xFF, 0xFE], Array("vicinity-second-factor/1 skip 1\n".utf8), Array("GET / HTTP/1.1".utf8),
            [UInt8](repeating: 0x41, count: 1 << 20),
        ]
        stage.rulesSay(false)
        var connections: [Int32] = []
        for octets in words {
            for ends in [false, true] {
                let connection = try UnixSocket.connect(to: stage.path).release()
                _ = UnixSocket.send(octets[...], on: connection)
                if ends { shutdown(connection, Int32(SHUT_WR)) }
                connections.append(connection)
                // And one who does not wait for the answer.
                let gone = try UnixSocket.connect(to: stage.path)
                _ = UnixSocket.send(octets[...], on: gone.rawValue)
            }
        }
        for descriptor in connections {
            let asker = Asker(owning: descriptor)
            #expect(try asker.answer()?.word == "needed")
        }
    }

    @Test func aCrowdIsBounded() throws {
        let stage = try Stage()
        defer { stage.stop() }
        var (answered, refused) = (0, 0)
        let first = try Asker(stage)
        try stage.isAsked()
        var connections: [Int32] = []
        for _ in 0..<100 { connections.append(try UnixSocket.connect(to: stage.path).release()) }
        // By now all of them have been heard.
        let last = Asker(owning: connections.removeLast())
        #expect(try last.answer()?.word == nil)
        refused += 1
        try stage.answer()
        _ = try first.answer()
        try stage.isAsked()
        try stage.answer()
        for descriptor in connections {
            let asker = Asker(owning: descriptor)
            if try asker.answer() == nil { refused += 1 } else { answered += 1 }
        }
        #expect(answered <= 64 && refused >= 36)
    }
}
