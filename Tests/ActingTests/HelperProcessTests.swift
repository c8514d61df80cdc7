import ActionProtocol
import Foundation
import Glibc
import InstalledRules
import Platform
import Testing

/// `vicinity-act` as a process, with a socket, rule files and a state directory of the test's.
@Suite(.enabled(if: getuid() == 0, "takes root: rule files have to be root's"), .serialized, .timeLimit(.minutes(10)))
struct HelperProcessTests {
    private final class Place {
        let directory = "/run/vicinity-test-\(UInt32.random(in: 0 ... .max))"
        private let process = Process()

        var socket: String { directory + "/act.sock" }
        var digest: String { InstalledRules.digest(of: InstalledRules.Directories(root: directory + "/etc")) }

        private let agentUser: String

        /// - Parameter agentUser: root is not the agent, as where it is installed.
        init(rules: String, agentUser: String = "nobody") throws {
            self.agentUser = agentUser
            try FileManager.default.createDirectory(
                atPath: directory + "/etc/rules.d", withIntermediateDirectories: true,
                attributes: [.posixPermissions: 0o755])
            try write(rules)
            process.executableURL = Place.program
            process.arguments = options
            process.standardError = FileHandle.nullDevice
            try process.run()
        }

        deinit {
            process.terminate()
            process.waitUntilExit()
            try? FileManager.default.removeItem(atPath: directory)
        }

        func write(_ rules: String) throws {
            try rules.write(toFile: directory + "/etc/rules.d/a.toml", atomically: true, encoding: .utf8)
        }

        /// Connects as soon as there is somebody to connect to.
        func connect() throws -> Agent {
            while true {
                if let connection = try? UnixSocket.connect(to: socket) { return Agent(connection) }
                guard process.isRunning else { throw CocoaError(.fileNoSuchFile) }
                sched_yield()
            }
        }

        /// The exit status of another one, at the same places.
        func status(_ arguments: String...) throws -> Int32 {
            let other = Process()
            other.executableURL = Place.program
            other.arguments = options + arguments
            other.standardError = FileHandle.nullDevice
            try other.run()
            other.waitUntilExit()
            return other.terminationStatus
        }

        private var options: [String] {
            [
                "--config", directory + "/etc", "--state-directory", directory + "/state", "--socket", socket,
                "--agent-user", agentUser,
            ]
        }

        private static let program = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
            .deletingLastPathComponent().deletingLastPathComponent().appendingPathComponent(".build/debug/vicinity-act")
    }

    private final class Agent {
        private let connection: FileDescriptor
        private var reader: LineReader

        init(_ connection: consuming FileDescriptor) {
            UnixSocket.limitWaiting(connection.rawValue, seconds: 20)
            reader = LineReader(connection.rawValue, maximumLine: HelperReport.maximumSize)
            self.connection = connection
        }

        func hangUp() { _ = shutdown(connection.rawValue, Int32(SHUT_RDWR)) }
        func send(_ octets: [UInt8]) { #expect(UnixSocket.send(octets[...], on: connection.rawValue) == octets.count) }
        /// Says all of it, however long that takes; false where it has been hung up on.
        func says(_ octets: [UInt8]) -> Bool {
            var rest = octets[...]
            while !rest.isEmpty {
                let count = rest.withUnsafeBytes {
                    Glibc.send(connection.rawValue, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL))
                }
                guard count > 0 else { return false }
                rest = rest.dropFirst(count)
            }
            return true
        }
        func ask(_ request: HelperRequest) { send(request.line) }
        func next() -> HelperReport? { reader.next().flatMap { HelperReport(line: $0) } }
        var isHungUpOn: Bool { reader.next() == nil && reader.hasEnded }
    }

    private static let rules = """
        [rule.a]
        on = "offline"
        enter = [{ command = ["/bin/true"] }]
        [rule.slow]
        on = "offline"
        enter = [{ command = ["/bin/sleep", "600"] }]
        [rule.watched]
        on = "offline"
        mode = "observe"
        enter = [{ command = ["/bin/true"] }]
        """

    private func run(_ id: UInt64, _ digest: String, _ rule: String = "a", _ index: Int = 0) -> HelperRequest {
        .run(
            id: id, digest: digest,
            NamedAction(rule: rule, edge: .enter, index: index, record: EventRecord(event: "rule.run")))
    }

    @Test func otherFilesThanTheAgentMeansAreSaidAndNothingIsDone() throws {
        let place = try Place(rules: Self.rules)
        let agent = try place.connect()
        let former = place.digest
        agent.ask(run(1, String(repeating: "0", count: 64)))
        #expect(agent.next() == .outdated(digest: former, .action(id: 1)))
        agent.ask(.hold(pass: 3, digest: former, []))
        #expect(agent.next() == .settled(pass: 3))
        try place.write(Self.rules + "\n# another")
        agent.ask(.hold(pass: 4, digest: former, []))
        #expect(place.digest != former)
        #expect(agent.next() == .outdated(digest: place.digest, .hold(pass: 4)))
        agent.ask(run(2, former))
        #expect(agent.next() == .outdated(digest: place.digest, .action(id: 2)))
    }

    @Test func whatTheRulesDoNotAskForIsRefused() throws {
        let place = try Place(rules: Self.rules)
        let agent = try place.connect()
        for (id, rule, index) in [(UInt64(1), "watched", 0), (2, "none", 0), (3, "a", 1)] {
            agent.ask(run(id, place.digest, rule, index))
            guard case .ended(id, let end)? = agent.next() else {
                Issue.record("\(rule) was not refused")
                continue
            }
            #expect(end.result == .failed && end.because?.hasPrefix("the rule ") == true)
        }
    }

    @Test func whoTalksNonsenseIsHungUpOnAndNobodyElse() throws {
        let place = try Place(rules: Self.rules)
        for nonsense in [Array("{}\n".utf8), [0, 0xFF, 10], Array(HelperRequest.release.line.dropLast(3)) + [10]] {
            let stranger = try place.connect()
            stranger.send(nonsense)
            #expect(stranger.isHungUpOn)
        }
        let agent = try place.connect()
        let line = HelperRequest.hold(pass: 1, digest: place.digest, []).line
        for octet in line { agent.send([octet]) }
        #expect(agent.next() == .settled(pass: 1))
    }

    /// Half a request keeps nobody waiting but who makes it.
    @Test func halfARequestHoldsUpNobody() throws {
        let place = try Place(rules: Self.rules)
        let line = HelperRequest.hold(pass: 1, digest: place.digest, []).line
        let slow = try (0..<6).map { _ in
            let connection = try place.connect()
            connection.send(Array(line.dropLast()))
            return connection
        }
        let agent = try place.connect()
        agent.ask(.hold(pass: 2, digest: place.digest, []))
        #expect(agent.next() == .settled(pass: 2))
        #expect(try place.status("--protect") == 0)
        agent.hangUp()
        // It was not lost either.
        for connection in slow {
            connection.send([0x0A])
            #expect(connection.next() == .settled(pass: 1))
            connection.hangUp()
        }
    }

    /// The helper keeps so much for one who asks and never reads an answer, and then does without.
    @Test func whoNeverReadsIsHungUpOn() throws {
        let place = try Place(rules: Self.rules)
        let deaf = try place.connect()
        // Each of them is answered: no such rule.
        let states = (0..<HelperRequest.maximumStates).map {
            NamedState(rule: "none", index: $0, record: EventRecord(event: "rule.activated"))
        }
        var rounds = 0
        // The answers fill what there is for them: some megabytes.
        while deaf.says(HelperRequest.hold(pass: UInt64(rounds), digest: place.digest, states).line), rounds < 200 {
            rounds += 1
        }
        #expect(rounds < 200)
        let agent = try place.connect()
        agent.ask(.hold(pass: 1, digest: place.digest, []))
        #expect(agent.next() == .settled(pass: 1))
    }

    /// Before the helper is taken away, while the agent is connected.
    @Test func rootIsToldWhenAllIsUndoneWhoeverElseIsThere() throws {
        let place = try Place(rules: Self.rules)
        let agent = try place.connect()
        agent.ask(.hold(pass: 1, digest: place.digest, []))
        #expect(agent.next() == .settled(pass: 1))
        #expect(try place.status("--release") == 0)
        #expect(try place.status("--protect") == 0)
        #expect(try place.status("--after", "1", "--protect") == 0)
        #expect(try place.status("--release", "--after", "1") == 64)
    }

    /// Where there is no such user as well: whoever comes for protection neither takes the agent's place nor ends, by
    /// going, what runs for it.
    @Test(arguments: ["nobody", "vicinity-no-such-user"])
    func whoAsksForProtectionIsNotTheAgent(user: String) throws {
        let place = try Place(rules: Self.rules, agentUser: user)
        let agent = try place.connect()
        agent.ask(run(1, place.digest, "slow"))
        #expect(agent.next() == .started(id: 1))
        let other = try place.connect()
        other.ask(.protect(after: 0))
        #expect(other.next() == .settled(pass: nil))
        // There is one agent at a time.
        other.ask(run(1, place.digest))
        #expect(other.isHungUpOn)
        #expect(try place.status("--protect") == 0)
        agent.ask(.hold(pass: 9, digest: place.digest, []))
        #expect(agent.next() == .settled(pass: 9))
        agent.ask(.cancel(id: 1))
        guard case .ended(1, let end)? = agent.next() else {
            Issue.record("it ran on")
            return
        }
        #expect(end.result == .cancelled)
    }

    /// An agent counts from one, as the one before it did.
    @Test func whatRanForAFormerAgentIsNotTheNextOnes() throws {
        let place = try Place(rules: Self.rules)
        let former = try place.connect()
        former.ask(run(1, place.digest, "slow"))
        #expect(former.next() == .started(id: 1))
        former.hangUp()
        let agent = try place.connect()
        agent.ask(run(1, place.digest))
        #expect(agent.next() == .started(id: 1))
        guard case .ended(1, let end)? = agent.next() else {
            Issue.record("it has not ended")
            return
        }
        #expect(end.result == .succeeded)
    }
}
