import ActionProtocol
import Foundation
import Glibc
import Platform
import Testing

/// `vicinity-act` over its socket, as a process: what agents, strangers and root get from it.
@Suite(
    .enabled(if: PrivateMachine.isPossible, "takes root, namespaces, strace and what `swift build` makes"),
    .timeLimit(.minutes(10)))
struct ConversationTests {
    private static let rules = """

        [rule.run]
        on = "office"
        enter = [
            { command = ["/bin/sh", "-c", "echo out; echo errors >&2; cat; exit 3"] },
            { command = ["/bin/sh", "-c", "sleep 1000 & echo $! $$ >/run/running; trap 'sleep 0.2; exit' TERM; wait"] },
        ]
        """

    /// How long something may take that happens by itself (s).
    private static let limit = 20.0
    /// How often it is looked (µs).
    private static let pause: UInt32 = 1_000

    private func eventually(_ condition: () -> Bool) -> Bool {
        let deadline = Date(timeIntervalSinceNow: ConversationTests.limit)
        while !condition() {
            guard Date() < deadline else { return false }
            usleep(ConversationTests.pause)
        }
        return true
    }

    private func run(_ id: UInt64, _ index: Int, _ place: Workplace) -> HelperRequest {
        .run(
            id: id, digest: place.digest,
            NamedAction(rule: "run", edge: .enter, index: index, record: EventRecord(event: "rule.run")))
    }

    /// The processes of the second command, when there are any.
    private func running(_ machine: PrivateMachine) -> [Int32] {
        var words: [Int32] = []
        _ = eventually {
            words = (machine.read("/run/running") ?? "").split { " \n".contains($0) }.compactMap { Int32($0) }
            return words.count == 2
        }
        return words
    }

    /// Whether a process exists and is no zombie.
    private func isAlive(_ process: Int32) -> Bool {
        guard let stat = try? Files.read("/proc/\(process)/stat", limit: 4_096) else { return false }
        let state = String(decoding: stat, as: UTF8.self).split(separator: ")").last?.first { $0 != " " }
        return state != "Z" && state != "X"
    }

    // MARK: Commands

    @Test func aCommandIsToldFromBeginningToEnd() throws {
        let place = try Workplace(more: Self.rules)
        let helper = try place.machine.helper()
        let agent = try #require(helper.connect())
        agent.ask(run(1, 0, place))
        #expect(agent.next() == .started(id: 1))
        guard case .ended(1, let end)? = agent.next() else { throw PrivateMachine.Impossible() }
        #expect(end.result == .failed && end.exit == 3)
        #expect(String(decoding: end.output, as: UTF8.self).hasPrefix("out\n{"))
        #expect(end.errors == Array("errors\n".utf8))
    }

    @Test func cancellingEndsTheWholeOfIt() throws {
        let place = try Workplace(more: Self.rules)
        let helper = try place.machine.helper()
        let agent = try #require(helper.connect())
        agent.ask(run(7, 1, place))
        #expect(agent.next() == .started(id: 7))
        let processes = running(place.machine)
        #expect(processes.count == 2 && processes.allSatisfy { isAlive($0) })
        agent.ask(.cancel(id: 7))
        guard case .ended(7, let end)? = agent.next() else { throw PrivateMachine.Impossible() }
        #expect(end.result == .cancelled)
        #expect(eventually { !processes.contains { isAlive($0) } })
    }

    /// An agent that was killed counts from the beginning again.
    @Test func anotherAgentHasItsOwnNumbers() throws {
        let place = try Workplace(more: Self.rules)
        let helper = try place.machine.helper()
        var agent = helper.connect()
        agent?.ask(run(1, 1, place))
        #expect(agent?.next() == .started(id: 1))
        let processes = running(place.machine)
        agent = nil
        let other = try #require(helper.connect())
        other.ask(run(1, 0, place))
        #expect(other.next() == .started(id: 1))
        guard case .ended(1, let end)? = other.next() else { throw PrivateMachine.Impossible() }
        #expect(end.exit == 3)
        #expect(processes.count == 2 && !processes.contains { isAlive($0) })
    }

    /// While the first one is still there.
    @Test func aSecondAgentTakesThePlaceOfTheFirst() throws {
        let place = try Workplace(more: Self.rules)
        let helper = try place.machine.helper(["--agent-user", "root"])
        let (first, second) = (try #require(helper.connect()), try #require(helper.connect()))
        #expect(first.hold(place.digest, Workplace.first) != nil)
        first.ask(run(1, 1, place))
        #expect(first.next() == .started(id: 1))
        let processes = running(place.machine)
        #expect(second.hold(place.digest, [])?.count == Workplace.first.count)
        #expect(place.machine.files() == place.before)
        #expect(eventually { !processes.contains { isAlive($0) } })
    }

    @Test func beingStoppedEndsWhatRuns() throws {
        let place = try Workplace(more: Self.rules)
        let helper = try place.machine.helper()
        let agent = try #require(helper.connect())
        agent.ask(run(1, 1, place))
        let processes = running(place.machine)
        helper.kill(SIGTERM)
        #expect(helper.status == 0)
        #expect(processes.count == 2 && eventually { !processes.contains { isAlive($0) } })
    }

    /// Though the rules hold: somebody sits there without a way out. What was there before them stays away, too.
    @Test func theProxyIsTakenAwayWhileRulesHold() throws {
        let place = try Workplace()
        let helper = try place.machine.helper()
        let agent = try #require(helper.connect())
        #expect(agent.hold(place.digest, Workplace.first) != nil)
        agent.ask(.resetProxy(id: 5))
        guard case .ended(5, let end)? = agent.next() else { throw PrivateMachine.Impossible() }
        #expect(end.result == .succeeded)
        let places = String(decoding: end.output, as: UTF8.self).split(separator: "\n").map { $0.prefix { $0 != ":" } }
        #expect(Set(places).count == 3)
        let own = "/etc/apt/apt.conf.d/10own"
        #expect(place.machine.files().filter { !$0.value.isEmpty } == place.before.filter { $0.key == own })
        // Nothing of it is put back by leaving, since somebody else has changed it.
        #expect(agent.hold(place.digest, []) != nil)
        agent.ask(.resetProxy(id: 6))
        guard case .ended(6, let second)? = agent.next() else { throw PrivateMachine.Impossible() }
        #expect(second.result == .succeeded && second.output.isEmpty)
    }

    // MARK: Who may

    /// As another user: the first line that comes, or whether it is hung up on.
    private static let client = """
        import socket, sys
        s = socket.socket(socket.AF_UNIX)
        s.settimeout(20)
        s.connect("\(PrivateMachine.socket)")
        try:
            for line in sys.argv[1:]:
                s.sendall(line.encode())
            said = s.recv(65536)
        except (ConnectionError, BrokenPipeError):
            said = b""
        sys.exit(1 if b"outdated" in said else 2 if said else 0)
        """

    private func ask(_ machine: PrivateMachine, as user: UInt32, _ requests: HelperRequest...) -> Int32? {
        machine.status(
            [
                "/usr/bin/setpriv", "--reuid", "\(user)", "--regid", "\(user)", "--clear-groups", "/usr/bin/python3",
                "-c",
            ]
                + [Self.client] + requests.map { String(decoding: $0.line, as: UTF8.self) })
    }

    @Test func strangersAreRefusedAndTheAgentMayNotDoWhatRootMay() throws {
        let place = try Workplace()
        let helper = try place.machine.helper()
        let agent = try #require(helper.connect())
        #expect(agent.hold(place.digest, Workplace.first) != nil)
        let question = HelperRequest.hold(pass: 1, digest: String(repeating: "0", count: 64), [])
        let stranger: UInt32 = 1
        // Whoever is not let near it by the file system is looked at all the same.
        chmod(place.machine.outside(PrivateMachine.socket), 0o666)
        #expect(ask(place.machine, as: stranger, question) == 0)
        #expect(ask(place.machine, as: stranger, .release) == 0)
        for request in [HelperRequest.release, .protect(after: 0)] {
            #expect(ask(place.machine, as: PrivateMachine.agent.user, request) == 0)
        }
        #expect(ask(place.machine, as: PrivateMachine.agent.user, question) == 1)
        #expect(place.machine.files() == place.expected(Workplace.first))
        #expect(agent.hold(place.digest, []) != nil)
    }

    @Test func whoSaysTooMuchOrTooLittleIsHungUpOnAlone() throws {
        let place = try Workplace()
        let helper = try place.machine.helper()
        let agent = try #require(helper.connect())
        let long = try #require(helper.connect())
        long.send([UInt8](repeating: UInt8(ascii: " "), count: HelperRequest.maximumSize + 1))
        #expect(long.next() == nil)
        var half = helper.connect()
        half?.send(Array(HelperRequest.hold(pass: 1, digest: place.digest, []).line.dropLast()))
        half = nil
        #expect(agent.hold(place.digest, Workplace.first) != nil)
        #expect(place.machine.files() == place.expected(Workplace.first))
    }

    @Test func itEndsWhenNobodyNeedsIt() async throws {
        let place = try Workplace()
        let helper = try place.machine.helper()
        // docs/actions.md: after 15 to 30 s. On a machine that has much to do it may be later.
        let (least, most) = (14.0, 45.0)
        let begin = Date()
        while helper.isRunning, Date().timeIntervalSince(begin) < most {
            try await Task.sleep(for: .microseconds(Int(Self.pause)))
        }
        #expect(!helper.isRunning && Date().timeIntervalSince(begin) > least)
        helper.kill()
        #expect(helper.status == 0)
    }

    // MARK: What follows a second factor

    private static let factor = """

        [rule.factor]
        on = "office"
        [[rule.factor.enter]]
        [rule.factor.enter.second-factor]
        message = "Confirm"
        on-success = [{ command = ["/bin/echo", "passed"] }, { hold = "office" }]
        on-failure = ["disconnect", { command = ["/bin/echo", "failed"] }]
        [[rule.factor.enter]]
        command = ["/bin/echo", "next"]
        """

    private func follow(
        _ id: UInt64, _ index: Int, _ consequence: NamedConsequence?, _ place: Workplace, links: [String] = []
    ) -> HelperRequest {
        var record = EventRecord(event: "rule.activated")
        record.links = links
        return .run(
            id: id, digest: place.digest,
            NamedAction(rule: "factor", edge: .enter, index: index, consequence: consequence, record: record))
    }

    @Test func whatFollowsASecondFactorIsWhatTheRuleFilesSay() throws {
        let place = try Workplace(more: Self.factor)
        let helper = try place.machine.helper()
        let agent = try #require(helper.connect())
        for (consequence, word) in [
            (NamedConsequence(.success, index: 0), "passed"), (NamedConsequence(.failure, index: 1), "failed"),
        ] {
            agent.ask(follow(1, 0, consequence, place))
            #expect(agent.next() == .started(id: 1))
            guard case .ended(1, let end)? = agent.next() else { throw PrivateMachine.Impossible() }
            #expect(end.result == .succeeded && end.output == Array("\(word)\n".utf8))
        }
        // The agent's own business, more than there are, of what is no second factor, and the second factor itself.
        for (index, consequence) in [
            (0, NamedConsequence(.success, index: 1)), (0, NamedConsequence(.success, index: 2)),
            (0, NamedConsequence(.failure, index: 65_535)), (1, NamedConsequence(.success, index: 0)),
        ] {
            agent.ask(follow(2, index, consequence, place))
            guard case .ended(2, let end)? = agent.next() else { throw PrivateMachine.Impossible() }
            #expect(end.result == .failed && end.because == "the second factor has no such consequence")
        }
        agent.ask(follow(3, 0, nil, place))
        #expect(agent.next() == .started(id: 3))
        guard case .ended(3, let end)? = agent.next() else { throw PrivateMachine.Impossible() }
        #expect(end.result == .failed && end.because == "the agent asks for second factors itself")
    }

    /// Without NetworkManager, in the kernel.
    @Test func aLinkIsTakenDown() throws {
        let place = try Workplace(more: Self.factor)
        let helper = try place.machine.helper()
        let agent = try #require(helper.connect())
        func isUp() -> Bool {
            place.machine.status(["/bin/sh", "-c", "ip -o link show lo | grep -q '[<,]UP[,>]'"]) == 0
        }
        #expect(place.machine.status(["/bin/sh", "-c", "ip link set lo up"]) == 0 && isUp())
        for (id, links) in [(UInt64(1), ["none"]), (2, ["none", "lo"]), (3, ["lo"])] {
            agent.ask(follow(id, 0, NamedConsequence(.failure, index: 0), place, links: links))
            #expect(agent.next() == .started(id: id))
            guard case .ended(id, let end)? = agent.next() else { throw PrivateMachine.Impossible() }
            #expect(end.result == .succeeded, "\(end.because ?? "")")
            #expect(isUp() == (id == 1))
        }
        agent.ask(follow(4, 0, NamedConsequence(.failure, index: 0), place))
        #expect(agent.next() == .started(id: 4))
        guard case .ended(4, let end)? = agent.next() else { throw PrivateMachine.Impossible() }
        #expect(end.result == .failed && end.because?.contains("nobody knows which link") == true)
    }

    // MARK: Protection

    @Test func protectionWaitsForAnotherAgent() throws {
        let place = try Workplace()
        let helper = try place.machine.helper()
        var agent = helper.connect()
        #expect(agent?.hold(place.digest, Workplace.first) != nil)
        agent = nil
        #expect(place.machine.act(["--protect", "--after", "60"]) == 0)
        #expect(place.machine.files() == place.expected(Workplace.first))
        agent = helper.connect()
        #expect(agent?.hold(place.digest, Workplace.first) != nil)
        let journal = place.machine.read("\(PrivateMachine.state)/journal.json")
        #expect(journal?.contains(#""protecting":false"#) == true)
        #expect(place.machine.act(["--protect", "--after", "1"]) == 0)
        #expect(eventually { Workplace.relaxing.allSatisfy { place.machine.read($0) == nil } })
    }

    /// Nobody serves, and nobody starts a helper: whoever is to protect serves meanwhile.
    @Test func protectionWithoutAHelperHearsAnAgent() throws {
        let place = try Workplace()
        try place.hold(Workplace.first)
        let alone = try place.machine.helper(["--protect", "--after", "60"])
        let agent = try #require(alone.connect())
        #expect(agent.hold(place.digest, Workplace.first) != nil)
        let journal = place.machine.read("\(PrivateMachine.state)/journal.json")
        #expect(journal?.contains(#""protecting":false"#) == true)
        alone.kill()
        #expect(place.machine.files() == place.expected(Workplace.first))
        #expect(place.machine.act(["--protect", "--after", "1"]) == 0)
        #expect(Workplace.relaxing.allSatisfy { place.machine.read($0) == nil })
    }

    /// One starts, one ends, several ask: whatever comes first, it is done when they say so.
    @Test func protectionIsNotLostBetweenTwoHelpers() throws {
        let place = try Workplace()
        try place.hold(Workplace.first)
        let start = place.machine.remember()
        let rounds = 12
        for round in 0..<rounds {
            try place.machine.restore(start)
            let helper = try place.machine.helper()
            // Sooner or later in the life of the other one.
            if round % 3 == 1 { _ = helper.connect() }
            if round % 3 == 2 { helper.signal(SIGTERM) }
            let others = try (0..<2).map { _ in try place.machine.startAct(["--protect"]) }
            for other in others { #expect(other.status == 0) }
            #expect(Workplace.relaxing.allSatisfy { place.machine.read($0) == nil }, "round \(round)")
            helper.kill()
        }
    }
}
