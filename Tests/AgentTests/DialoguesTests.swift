import ActionProtocol
import Foundation
import Glibc
import Platform
import Rules
import Testing

@testable import Agent

/// Questions that root's helper asks for the agent: whose word counts, and what becomes of one whose helper is gone.
@Suite(.timeLimit(.minutes(5))) struct DialoguesTests {
    private final class Stage {
        static let digest = String(repeating: "1", count: 64)
        static let seat = Seat.Session(id: "2", user: 65_534, leader: 1, name: "ada", isLocked: false)

        let loop: EventLoop
        let helper: FakeHelper
        let dispatcher: ActionDispatcher
        var answers: [FactorDesk.Answer] = []
        private let sessions = "/tmp/vicinity-dialogues-\(UInt32.random(in: 0 ... .max)).sock"
        private var until: () -> Bool = { false }
        private var isLate = false

        init() throws {
            loop = try EventLoop()
            helper = try FakeHelper(on: loop)
            dispatcher = ActionDispatcher(helper: helper.path, on: loop)
            dispatcher.use(RuleSet(), digest: Stage.digest)
            try dispatcher.listen(try UnixSocket.listen(at: sessions, mode: 0o666))
            helper.onRequest = { [unowned self] in look() }
        }

        deinit { unlink(sessions) }

        func ask(_ question: UInt64 = 1) {
            var demand = FactorDemand(
                identifier: 5, rule: "work", edge: .leave, network: "office", factor: .init(message: "Confirm"))
            demand.index = 3
            dispatcher.ask(question, demand, Stage.seat, limit: 60_000_000) { [unowned self] answer in
                answers.append(answer)
                look()
            }
        }

        func look() { if until() { loop.stop() } }

        func play(_ until: @escaping () -> Bool) throws {
            self.until = until
            loop.schedule(at: Timestamp.now().boottime + 20_000_000) { [unowned self] in
                isLate = true
                loop.stop()
            }
            look()
            loop.run()
            try #require(!isLate, "\(answers) \(helper.requests)")
        }

        var isWithdrawn: Bool { helper.requests.contains(.withdraw(id: 1)) }

        /// The helper of the session of the user at the seat, who is not root: says that, and goes when it has been told
        /// of a dialogue.
        func session(saying line: [UInt8] = []) throws -> Process {
            let script = """
                import socket, sys
                connection = socket.socket(socket.AF_UNIX)
                connection.connect("\(sessions)")
                connection.sendall(bytes.fromhex("\(line.map { String(format: "%02x", $0) }.joined())"))
                for line in connection.makefile():
                    if "dialogue" in line:
                        break
                """
            let process = Process()
            process.executableURL = URL(fileURLWithPath: "/usr/bin/setpriv")
            process.arguments = [
                "--reuid=65534", "--regid=65534", "--clear-groups", "/usr/bin/python3", "-c", script,
            ]
            try process.run()
            return process
        }
    }

    @Test func whatRootsHelperSaysIsTheAnswer() throws {
        let stage = try Stage()
        var said: [FactorAnswer] = [.right, .wrong, .failed(because: "it crashed")]
        stage.helper.answer = { request in
            guard case .ask(let id, _, _) = request else { return [] }
            return [.answered(id: id, said.removeFirst())]
        }
        for question: UInt64 in 1...3 { stage.ask(question) }
        try stage.play { stage.answers.count == 3 }
        #expect(stage.answers == [.right, .wrong, .failed(because: "it crashed")])
        let factor = NamedFactor(
            rule: "work", edge: .leave, index: 3, network: "office", session: "2", limit: 60_000)
        #expect(stage.helper.requests.first == .ask(id: 1, digest: Stage.digest, factor))
    }

    @Test func withoutASessionToShowItInNobodyIsAsked() throws {
        let stage = try Stage()
        stage.helper.answer = { request in
            guard case .ask(let id, _, _) = request else { return [] }
            return [.dialogue(id: id, user: 65_534)]
        }
        stage.ask()
        try stage.play { stage.answers.count == 1 && stage.isWithdrawn }
        let because = "no vicinity-session runs for who sits at the screen, so nobody can be asked"
        #expect(stage.answers == [.failed(because: because)])
    }

    @Test func aKilledHelperHasNotAnswered() throws {
        let stage = try Stage()
        stage.ask()
        stage.helper.onRequest = { stage.helper.hangUp() }
        try stage.play { stage.answers.count == 1 }
        #expect(stage.answers == [.failed(because: "vicinity-act ended")])
    }

    @Test func withoutAHelperNobodyIsAsked() throws {
        let stage = try Stage()
        unlink(stage.helper.path)
        stage.ask()
        try stage.play { stage.answers.count == 1 }
        guard case .failed(let because)? = stage.answers.first else { return #expect(Bool(false)) }
        #expect(because.hasPrefix("vicinity-act cannot be reached"))
    }

    @Test func whatWasWithdrawnIsAnsweredByNobody() throws {
        let stage = try Stage()
        stage.helper.answer = { request in
            switch request {
            case .withdraw(let id): [.answered(id: id, .right)]
            case .ask(2, _, _): [.answered(id: 2, .wrong)]
            default: []
            }
        }
        stage.ask(1)
        stage.dispatcher.withdraw(1)
        stage.ask(2)
        try stage.play { !stage.answers.isEmpty }
        #expect(stage.answers == [.wrong] && stage.isWithdrawn)
    }

    /// The user's own process cannot say that the user has passed; where it ends, so does the question.
    @Test(.enabled(if: getuid() == 0, "takes root, to be somebody else")) func aSessionAnswersNothing() throws {
        let stage = try Stage()
        let lie = HelperReport.answered(id: 1, .right).line
        let session = try stage.session(saying: lie + HelperReport.dialogue(id: 1, user: 65_534).line)
        var isThere = false
        // What a session says is heard before it can be told anything.
        stage.helper.answer = { request in
            guard case .ask(let id, _, _) = request else { return [] }
            return [.dialogue(id: id, user: 65_534)]
        }
        stage.dispatcher.schedule {
            self.whenThere(stage) {
                isThere = true; stage.ask()
            }
        }
        try stage.play { stage.answers.count == 1 && stage.isWithdrawn }
        session.waitUntilExit()
        #expect(isThere && stage.answers == [.failed(because: "the session of nobody ended")])
    }

    private func whenThere(_ stage: Stage, _ body: @escaping () -> Void) {
        if stage.dispatcher.sessions?.sessions[65_534] != nil { return body() }
        stage.loop.schedule(at: Timestamp.now().boottime + 1_000) { self.whenThere(stage, body) }
    }
}
