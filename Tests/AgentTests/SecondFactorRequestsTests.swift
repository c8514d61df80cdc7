import Foundation
import Glibc
import JSON
import Platform
import Rules
import SystemBus
import TestSupport
import Testing

@testable import Agent
@testable import Vicinity

/// Programs that ask for a second factor, by the command and by the library, on a bus of the test's own with a logind and a
/// polkit of its own.
@Suite(
    .enabled(if: getuid() == 0, "takes root: somebody who is not has to call"), .serialized, .timeLimit(.minutes(10)))
struct SecondFactorRequestsTests {
    private static let nobody: UInt32 = 65_534
    private static let program = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
        .deletingLastPathComponent().deletingLastPathComponent().appendingPathComponent(".build/debug/vicinity").path

    private final class Stage {
        let bus: ControlBus
        let seat: FakeSeat
        let polkit: FakePolkit?
        let control: ControlStage

        /// - Parameter answer: what polkit says where nobody is asked; nil: there is none.
        init(
            _ answer: FakePolkit.Answer? = .challenge, asked: [FakePolkit.Answer] = [], user: UInt32 = nobody,
            isLocked: Bool = false
        ) throws {
            let bus = try ControlBus()
            self.bus = bus
            try ControlBus.copyProgram(program, to: bus.directory)
            var session = FakeSeat.Session()
            (session.user, session.isLocked) = (user, isLocked)
            seat = try FakeSeat(on: bus, session)
            polkit = try answer.map { try FakePolkit($0, asked: asked + [.nothing], on: bus) }
            control = try ControlStage(on: bus)
        }

        func stop() {
            control.stop()
            polkit?.stop()
            seat.service.stop()
        }

        func start(_ words: String..., as caller: ControlBus.Caller = .stranger) throws -> ControlBus.Running {
            try bus.start([bus.directory + "/vicinity", "second-factor"] + words, as: caller)
        }

        /// As a shell starts it: test threads block nearly every signal, and a child inherits that.
        func startInShell(_ words: String...) throws -> ControlBus.Running {
            let script = """
                import os, signal, sys
                signal.pthread_sigmask(signal.SIG_SETMASK, [])
                signal.signal(signal.SIGINT, signal.SIG_DFL)
                os.execv(sys.argv[1], sys.argv[1:])
                """
            return try bus.start(
                ["/usr/bin/python3", "-c", script, bus.directory + "/vicinity", "second-factor"] + words, as: .stranger)
        }

        var prompts: [FakePolkit.Question] { polkit?.questions.filter(\.mayAsk) ?? [] }

        func until(_ condition: () -> Bool, sourceLocation: Testing.SourceLocation = #_sourceLocation) throws {
            let end = Timestamp.now().boottime + 20_000_000
            while !condition() {
                try #require(Timestamp.now().boottime < end, sourceLocation: sourceLocation)
                sched_yield()
            }
        }
    }

    // MARK: require

    @Test func whoGivesItPasses() throws {
        let stage = try Stage(asked: [.yes])
        defer { stage.stop() }
        let outcome = try stage.start("require", "--reason", "open the vault").outcome()
        #expect(outcome.status == 0 && outcome.output == "the second factor was given\n", "\(outcome)")
        let questions = try #require(stage.polkit?.questions)
        #expect(questions.map(\.mayAsk) == [false, true])
        #expect(questions.allSatisfy { $0.action == "io.vicinity.second-factor" })
        #expect(
            questions.last?.message
                == "A program of nobody's asks you to confirm who you are. If you did not start it, cancel this. "
                + "It says: \"\u{2068}open the vault\u{2069}\"")
    }

    @Test func whereItMayBeSkippedNobodyIsAsked() throws {
        let stage = try Stage(asked: [.no])
        defer { stage.stop() }
        stage.control.factorIs(FactorStatus(FactorStanding(.skip, rule: "sudo")))
        let outcome = try stage.start("require", "--format", "json").outcome()
        #expect(outcome.status == 0 && outcome.output == "{\"outcome\":\"skipped\"}\n")
        #expect(stage.polkit?.questions.isEmpty == true)
        // By any other word it is needed.
        for verdict in FactorStanding.Verdict.allCases where verdict != .skip {
            stage.control.factorIs(FactorStatus(FactorStanding(verdict, rule: "sudo")))
            #expect(
                try stage.bus.send("RequireSecondFactor", "string:")
                    == "org.freedesktop.DBus.Error.InteractiveAuthorizationRequired")
        }
        #expect(stage.polkit?.questions.isEmpty == true)
    }

    @Test(arguments: [
        (FakePolkit.Answer.dismissed, Int32(77), "dismissed"), (.refusal, 77, "no answer"),
        (.challenge, 75, "no authentication agent"),
    ])
    func whoDoesNotGiveItDoesNotPass(answer: FakePolkit.Answer, status: Int32, words: String) throws {
        let stage = try Stage(asked: [answer])
        defer { stage.stop() }
        let outcome = try stage.start("require").outcome()
        #expect(outcome.status == status && outcome.complaint.contains(words), "\(outcome)")
        #expect(outcome.output.isEmpty && stage.prompts.count == 1)
        // No rule has demanded it, so nothing is owed.
        #expect(!stage.control.hasOpenDemand)
    }

    @Test func wrongAnswersAreANo() throws {
        let stage = try Stage(asked: [.no, .no, .no])
        defer { stage.stop() }
        let outcome = try stage.start("require").outcome()
        #expect(outcome.status == 77 && outcome.complaint.contains("3 wrong answers") && stage.prompts.count == 3)
    }

    /// A rule of the site's that lets everybody through, and a machine without polkit.
    @Test func whereNobodyWouldBeAskedNobodyPasses() throws {
        for answer in [FakePolkit.Answer.yes, .no, nil] {
            let stage = try Stage(answer, asked: [.yes])
            defer { stage.stop() }
            let outcome = try stage.start("require").outcome()
            #expect(outcome.status == 75 && outcome.complaint.contains("polkit") && stage.prompts.isEmpty)
        }
    }

    @Test func withoutAnAgentNobodyPasses() throws {
        let bus = try ControlBus()
        try ControlBus.copyProgram(Self.program, to: bus.directory)
        for word in ["status", "require"] {
            let outcome = try bus.start([bus.directory + "/vicinity", "second-factor", word], as: .stranger).outcome()
            #expect(outcome.status == 69 && outcome.output.isEmpty)
        }
    }

    // MARK: Who is asked

    @Test func somebodyElsesSessionIsNotAsked() throws {
        // Somebody else sits there; the program runs over ssh; what its user's manager runs, of another user.
        for (user, session) in [(UInt32(1_000), "2"), (Self.nobody, "7"), (1_000, nil)] as [(UInt32, String?)] {
            let stage = try Stage(asked: [.yes], user: user)
            defer { stage.stop() }
            stage.seat.programsBelong(to: session)
            let outcome = try stage.start("require").outcome()
            #expect(outcome.status == 75 && stage.polkit?.questions.isEmpty == true, "\(outcome)")
        }
    }

    @Test func whatTheUsersManagerRunsIsTheUsers() throws {
        let stage = try Stage(asked: [.yes])
        defer { stage.stop() }
        stage.seat.programsBelong(to: nil)
        #expect(try stage.start("require").outcome().status == 0)
    }

    @Test func rootAsksInTheSessionThatItWasStartedIn() throws {
        let stage = try Stage(asked: [.yes], user: 1_000)
        defer { stage.stop() }
        #expect(try stage.start("require", as: .tester).outcome().status == 0)
        #expect(stage.prompts.first?.message.hasPrefix("A program of root's ") == true)
        stage.seat.programsBelong(to: nil)
        #expect(try stage.start("require", as: .tester).outcome().status == 75)
        stage.seat.programsBelong(to: "7")
        #expect(try stage.start("require", as: .tester).outcome().status == 75)
    }

    @Test func whoseSessionLogindDoesNotSayIsNotAsked() throws {
        let stage = try Stage(asked: [.yes])
        defer { stage.stop() }
        for answer in [FakeService.Answer.unknown, .done, .value(.text("nonsense")), .value(.path("/other"))] {
            stage.seat.service.on("GetSessionByPID") { _ in answer }
            #expect(try stage.start("require").outcome().status == 75)
        }
        #expect(stage.polkit?.questions.isEmpty == true)
    }

    // MARK: Whoever goes

    @Test(arguments: [SIGINT, SIGKILL]) func whoGoesAwayTakesTheQuestionAway(signal: Int32) throws {
        let stage = try Stage()
        defer { stage.stop() }
        let program = try stage.startInShell("require")
        try stage.until { stage.prompts.count == 1 }
        kill(program.process.processIdentifier, signal)
        try stage.until { stage.polkit?.cancelled.count == 1 }
        #expect(try program.outcome().status != 0)
        // The next one is asked at once.
        stage.polkit?.respond(.no, then: [.yes])
        #expect(try stage.start("require").outcome().status == 0)
    }

    @Test func whoGoesAwayWhileItIsLockedIsNotAsked() throws {
        let stage = try Stage(asked: [.yes], isLocked: true)
        defer { stage.stop() }
        let program = try stage.startInShell("require")
        try stage.until { stage.seat.service.calls.contains("GetAll") }
        kill(program.process.processIdentifier, SIGTERM)
        _ = try program.outcome()
        let other = try stage.start("require", "--reason", "b")
        stage.seat.change { $0.isLocked = false }
        #expect(try other.outcome().status == 0)
        #expect(stage.prompts.map { $0.message.contains("It says") } == [true])
    }

    // MARK: What is shown

    @Test func whatAProgramSaysIsToldApart() throws {
        let stage = try Stage(asked: Array(repeating: .yes, count: 5))
        defer { stage.stop() }
        for (reason, shown) in [
            ("a\nb", "a\\x0ab"), ("a\u{202e}b", "a\\xe2\\x80\\xaeb"), ("x\". polkit says: \"y", "x'. polkit says: 'y"),
            ("$(polkit.message)", "$ (polkit.message)"), ("<b>&amp;", "\\x3cb\\x3e\\x26amp;"),
        ] {
            #expect(try stage.start("require", "--reason", reason).outcome().status == 0)
            #expect(stage.prompts.last?.message.hasSuffix("It says: \"\u{2068}\(shown)\u{2069}\"") == true, "\(reason)")
        }
    }

    @Test func aLongReasonIsRefused() throws {
        let stage = try Stage(asked: [.yes])
        defer { stage.stop() }
        let long = String(repeating: "a", count: 121)
        #expect(try stage.start("require", "--reason", long).outcome().status == 64)
        #expect(
            try stage.bus.ask(
                "call", "io.vicinity", "/io/vicinity", "io.vicinity.Manager1", "RequireSecondFactor", "s", long
            ).complaint == "Call failed: a reason has 120 octets at most\n")
        #expect(stage.polkit?.questions.isEmpty == true)
        #expect(try stage.start("require", "--reason", String(long.dropLast())).outcome().status == 0)
    }

    // MARK: Too many

    @Test func whoFloodsIsRefusedAndRulesComeFirst() throws {
        let stage = try Stage(asked: [.nothing])
        defer { stage.stop() }
        let programs = try (0..<WaitingCalls.factorsPerUser).map { try stage.start("require", "--reason", "\($0)") }
        try stage.until { stage.prompts.count == 1 && stage.seat.service.calls(of: "GetSessionByPID").count == 4 }
        let refused = try stage.start("require").outcome()
        #expect(refused.status == 75 && refused.complaint.contains("too many"))
        // Whatever programs have open, a rule's question is next.
        stage.control.ruleDemands("work")
        try stage.until { stage.polkit?.cancelled.count == 1 && stage.prompts.count == 2 }
        #expect(stage.prompts.last?.message == "Confirm" && stage.control.hasOpenDemand)
        stage.polkit?.respond(.yes, then: [.yes, .yes, .yes])
        let statuses = try programs.map { try $0.outcome().status }
        #expect(statuses.sorted() == [0, 0, 0, 75])
        #expect(!stage.control.hasOpenDemand)
    }

    @Test func programsAreNotAskedForTooOften() throws {
        let stage = try Stage(asked: Array(repeating: .dismissed, count: 5))
        defer { stage.stop() }
        for _ in 0..<5 { #expect(try stage.start("require").outcome().status == 77) }
        let refused = try stage.start("require").outcome()
        #expect(refused.status == 75 && refused.complaint.contains("too often") && stage.prompts.count == 5)
        // Rules have their own count.
        stage.control.ruleDemands("work")
        try stage.until { stage.prompts.count == 6 }
    }

    // MARK: status

    @Test func statusSaysWhatDecides() throws {
        let stage = try Stage()
        defer { stage.stop() }
        let location = Rules.SourceLocation(file: "/etc/vicinity/rules.d/a.toml", line: 7, column: 1)
        stage.control.factorIs(
            FactorStatus(FactorStanding(.inactive, rule: "unlock", at: location), because: "not on office"))
        let needed = try stage.start("status", as: .tester).outcome()
        #expect(needed.status == 1)
        #expect(
            needed.output == """
                a second factor is needed here
                  rule unlock would let it be skipped, but does not hold
                  rule unlock: not on office
                  /etc/vicinity/rules.d/a.toml:7

                """)
        let json = try JSONValue(
            parsing: Array(try stage.start("status", "--format", "json", as: .tester).outcome().output.utf8),
            maximumSize: 4_096)
        #expect(json["needed"]?.bool == true && json["state"]?.string == "inactive" && json["line"]?.integer == 7)
        #expect(json["because"]?.string == "not on office" && json["rule"]?.string == "unlock")
        // Who may not see where this machine is learns what PAM stacks tell everybody.
        let stranger = try stage.start("status").outcome()
        #expect(stranger.status == 1 && !stranger.output.contains("unlock") && !stranger.output.contains("office"))
        stage.control.factorIs(FactorStatus(FactorStanding(.skip, rule: "unlock", at: location), because: "on office"))
        let skipped = try stage.start("status").outcome()
        #expect(skipped.status == 0 && skipped.output.hasPrefix("the second factor may be skipped here\n"))
        #expect(
            try stage.start("status", as: .tester).outcome().output.contains("rule unlock holds and lets it be skipped")
        )
    }

    // MARK: The library

    @Test func theLibraryAsks() async throws {
        let stage = try Stage(asked: [.yes, .dismissed])
        defer { stage.stop() }
        let address = stage.bus.address
        #expect(try await SecondFactor.isRequired(on: address))
        try await SecondFactor.require(reason: "open the vault", on: address)
        #expect(stage.prompts.last?.message.contains("open the vault") == true)
        await #expect(
            throws: SecondFactorError.denied("the second factor was not given: the person dismissed the question")
        ) {
            try await SecondFactor.require(reason: "", on: address)
        }
        await #expect(throws: SecondFactorError.invalidReason) {
            try await SecondFactor.require(reason: String(repeating: "é", count: 61), on: address)
        }
        stage.control.factorIs(FactorStatus(FactorStanding(.skip)))
        #expect(try await !SecondFactor.isRequired(on: address))
        try await SecondFactor.require(reason: "", on: address)
        #expect(stage.prompts.count == 2)
    }

    @Test func cancellingTheTaskTakesTheQuestionAway() async throws {
        let stage = try Stage()
        defer { stage.stop() }
        let address = stage.bus.address
        let task = Task { try await SecondFactor.require(reason: "", on: address) }
        try stage.until { stage.prompts.count == 1 }
        task.cancel()
        await #expect(throws: SecondFactorError.cancelled) { try await task.value }
        try stage.until { stage.polkit?.cancelled.count == 1 }
        // One that was cancelled before it began asks nobody.
        let late = Task {
            withUnsafeCurrentTask { $0?.cancel() }
            try await SecondFactor.require(reason: "", on: address)
        }
        await #expect(throws: SecondFactorError.cancelled) { try await late.value }
        #expect(stage.prompts.count == 1)
    }

    @Test func withoutAnAgentTheLibraryThrows() async throws {
        let bus = try ControlBus()
        await #expect(throws: SecondFactorError.self) { try await SecondFactor.isRequired(on: bus.address) }
        await #expect(throws: SecondFactorError.agentUnavailable("there is no system bus")) {
            try await SecondFactor.require(reason: "", on: "unix:path=/nonexistent")
        }
    }

    @Test func refusalsHaveTypes() {
        #expect(SecondFactorError("io.vicinity.Error.SecondFactorExpired", "x") == .expired)
        #expect(SecondFactorError("io.vicinity.Error.SecondFactorUnavailable", "x") == .unavailable("x"))
        #expect(SecondFactorError("org.freedesktop.DBus.Error.LimitsExceeded", "x") == .busy("x"))
        #expect(SecondFactorError("org.freedesktop.DBus.Error.UnknownMethod", "x") == .agentUnavailable("x"))
        #expect(SecondFactorError(nil, nil) == .agentUnavailable("the agent did not answer in time"))
        #expect(SecondFactor.maximumReasonLength == FactorCaller.reasonLimit)
    }

    // MARK: The example

    private static let example = "example-require-second-factor"

    /// What the program says that people copy, of a file that anybody can read.
    private func note(on bus: ControlBus) throws -> ControlBus.Outcome {
        let build = URL(fileURLWithPath: Self.program).deletingLastPathComponent().path
        try ControlBus.copyProgram("\(build)/\(Self.example)", to: bus.directory)
        let file = bus.directory + "/note"
        try "a secret\n".write(toFile: file, atomically: true, encoding: .utf8)
        chmod(file, 0o644)
        return try bus.start(["\(bus.directory)/\(Self.example)", file], as: .stranger).outcome()
    }

    @Test(arguments: [
        (FakePolkit.Answer.yes, "a secret\n", Int32(0)), (.dismissed, "", 77), (.refusal, "", 77),
        (.challenge, "", 77),
    ])
    func theExamplePrintsNothingWithoutIt(answer: FakePolkit.Answer, output: String, status: Int32) throws {
        let stage = try Stage(asked: [answer])
        defer { stage.stop() }
        let outcome = try note(on: stage.bus)
        #expect(outcome.output == output && outcome.status == status, "\(outcome)")
        #expect(outcome.complaint.hasPrefix("A second factor is needed here") && stage.prompts.count == 1)
    }

    @Test func theExampleAsksNobodyWhereItMayBeSkipped() throws {
        let stage = try Stage(asked: [.no])
        defer { stage.stop() }
        stage.control.factorIs(FactorStatus(FactorStanding(.skip, rule: "sudo")))
        let outcome = try note(on: stage.bus)
        #expect(outcome.output == "a secret\n" && outcome.complaint.isEmpty && stage.prompts.isEmpty)
    }

    @Test func theExamplePrintsNothingWithoutAnAgent() throws {
        let outcome = try note(on: try ControlBus())
        #expect(outcome.output.isEmpty && outcome.status == 77, "\(outcome)")
        #expect(outcome.complaint.hasPrefix("the agent does not answer"))
    }
}
