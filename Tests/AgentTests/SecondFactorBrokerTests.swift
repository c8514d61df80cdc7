import SystemBus
import TestSupport
import Testing

@testable import Agent

/// What people, polkit and logind do, and what becomes of a demand: nothing but a person's right answer passes.
@Suite(.serialized, .timeLimit(.minutes(10))) struct SecondFactorBrokerTests {
    @Test func theRightCodePasses() throws {
        let stage = try FactorStage(asked: [.yes])
        defer { stage.stop() }
        stage.demand()
        #expect(try stage.end() == .passed)
        #expect(stage.events == ["requested", "passed"] && stage.users == ["ada", "ada"])
        let questions = try #require(stage.polkit?.questions)
        #expect(questions.map(\.mayAsk) == [false, true])
        #expect(questions.allSatisfy { $0.kind == "unix-process" && $0.subject == "4711" && $0.user == 1_000 })
        #expect(questions.allSatisfy { $0.action == "io.vicinity.second-factor" })
        #expect(questions.map(\.message) == ["", "Confirm (network office)"])
        #expect(!stage.hasOpenDemand)
    }

    @Test func aWrongCodeThenTheRightOnePasses() throws {
        let stage = try FactorStage(asked: [.no, .yes])
        defer { stage.stop() }
        stage.demand()
        #expect(try stage.end() == .passed)
        #expect(stage.events == ["requested", "passed"] && stage.prompts.count == 2)
    }

    @Test func wrongCodesFail() throws {
        let stage = try FactorStage(asked: [.no, .no, .no, .yes])
        defer { stage.stop() }
        stage.demand()
        #expect(try stage.end() == .failed)
        #expect(stage.events == ["requested", "failed"] && stage.reasons == ["3 wrong answers"])
        #expect(stage.prompts.count == 3 && stage.hasOpenDemand)
    }

    @Test(arguments: [
        (FakePolkit.Answer.dismissed, "the person dismissed the question"),
        (.challenge, "no authentication agent of polkit's runs in the session, so nobody can be asked"),
        (.refusal, "polkit gives no answer (org.freedesktop.PolicyKit1.Error.Failed)"),
    ])
    func whatIsNoAnswerFailsAtOnce(answer: FakePolkit.Answer, because: String) throws {
        let stage = try FactorStage(asked: [answer, .yes])
        defer { stage.stop() }
        stage.demand()
        #expect(try stage.end() == .failed)
        #expect(stage.events == ["requested", "failed"] && stage.reasons == [because])
        #expect(stage.prompts.count == 1)
    }

    /// A rule of the site's that returns YES, or root's session.
    @Test(arguments: [
        (FakePolkit.Answer.yes, "polkit lets io.vicinity.second-factor pass without asking anybody"),
        (.no, "polkit refuses io.vicinity.second-factor without asking anybody"),
        (.dismissed, "polkit gives an answer that nobody asked for"), (.garbage, "polkit gives no answer"),
        (.refusal, "polkit gives no answer (org.freedesktop.PolicyKit1.Error.Failed)"),
    ])
    func whoIsNotAskedHasNotPassed(answer: FakePolkit.Answer, because: String) throws {
        let stage = try FactorStage(answer, asked: [.yes])
        defer { stage.stop() }
        stage.demand()
        #expect(try stage.end() == .failed)
        #expect(stage.events == ["failed"] && stage.prompts.isEmpty && stage.hasOpenDemand)
        #expect(stage.reasons.count == 1 && stage.reasons[0].hasPrefix(because))
    }

    @Test func withoutPolkitNobodyPasses() throws {
        let stage = try FactorStage(nil)
        defer { stage.stop() }
        stage.demand()
        #expect(try stage.end() == .failed)
        #expect(stage.events == ["failed"] && stage.reasons[0].contains("polkit does not run"))
    }

    @Test func aPolkitThatSaysNothingIsNotWaitedForForever() throws {
        let stage = try FactorStage(.nothing, limit: 200_000)
        defer { stage.stop() }
        stage.demand()
        #expect(try stage.end() == .failed)
        #expect(stage.events == ["failed"] && stage.reasons[0].hasPrefix("polkit gives no answer"))
    }

    @Test func aPasswordAloneIsNoSecondFactor() throws {
        let stage = try FactorStage(asked: [.yes], problem: "a password alone")
        defer { stage.stop() }
        stage.demand()
        #expect(try stage.end() == .failed)
        #expect(stage.reasons == ["a password alone"] && stage.prompts.isEmpty)
        // It is looked at each time.
        stage.stackIs(nil)
        stage.demand(2)
        #expect(try stage.end(2) == .passed)
    }

    @Test func nobodyAnswersInTime() throws {
        let stage = try FactorStage()
        defer { stage.stop() }
        stage.demand(timeout: 200_000)
        #expect(try stage.end() == .expired)
        #expect(stage.events == ["requested", "expired"] && stage.hasOpenDemand)
        // The dialogue goes.
        try stage.until { stage.polkit?.cancelled.count == 1 }
        // Who answers afterwards has not answered.
        stage.polkit?.respond(.yes, then: [.nothing])
        stage.demand(2, rule: "other", timeout: 200_000)
        #expect(try stage.end(2) == .expired)
        #expect(!stage.events.contains("passed"))
    }

    @Test func theNetworkIsLeftMeanwhile() throws {
        let stage = try FactorStage()
        defer { stage.stop() }
        stage.demand(grace: 600_000_000)
        try stage.until { stage.prompts.count == 1 }
        #expect(stage.hasOpenDemand)
        stage.cancel()
        #expect(try stage.end() == .cancelled)
        try stage.until { stage.polkit?.cancelled.count == 1 }
        #expect(stage.events == ["requested"] && !stage.hasOpenDemand)
        // There is no grace, and the next entry asks again.
        stage.polkit?.respond(.yes, then: [.yes])
        stage.demand(2, grace: 600_000_000)
        #expect(try stage.end(2) == .passed)
        #expect(stage.prompts.count == 2)
        stage.demand(3, grace: 600_000_000)
        #expect(try stage.end(3) == .passed)
        #expect(stage.prompts.count == 2 && stage.events.last == "passed")
    }

    @Test func twoAtOnceAreAskedForOneAfterTheOther() throws {
        let stage = try FactorStage()
        defer { stage.stop() }
        stage.demand(1)
        stage.demand(2, rule: "other")
        stage.demand(3)
        try stage.until { stage.prompts.count == 1 }
        stage.polkit?.respond(.yes, then: [.yes])
        #expect(try stage.end(1) == .passed)
        #expect(try stage.end(3) == .passed)
        #expect(try stage.end(2) == .passed)
        #expect(stage.prompts.count == 2 && stage.events == ["requested", "passed", "requested", "passed"])
    }

    // MARK: Who sits there

    @Test func aLockedScreenIsWaitedFor() throws {
        var session = FakeSeat.Session()
        session.isLocked = true
        let stage = try FactorStage(asked: [.yes], session: session)
        defer { stage.stop() }
        stage.demand(timeout: 2_000_000)
        try stage.until { stage.seat?.service.calls.contains("GetAll") == true }
        #expect(stage.hasOpenDemand && stage.polkit?.questions.isEmpty == true && stage.events.isEmpty)
        stage.seat?.change { $0.isLocked = false }
        #expect(try stage.end() == .passed)
        #expect(stage.events == ["requested", "passed"])
    }

    @Test func lockingTakesTheDialogueAway() throws {
        let stage = try FactorStage()
        defer { stage.stop() }
        stage.demand()
        try stage.until { stage.prompts.count == 1 }
        stage.seat?.change { $0.isLocked = true }
        try stage.until { stage.polkit?.cancelled.count == 1 }
        #expect(stage.hasOpenDemand && stage.ends.isEmpty)
        stage.polkit?.respond(.yes, then: [.yes])
        #expect(stage.ends.isEmpty)
        stage.seat?.change { $0.isLocked = false }
        #expect(try stage.end() == .passed)
        #expect(stage.prompts.count == 2 && stage.events == ["requested", "passed"])
    }

    @Test func whoLeavesWhileItIsLockedIsNotAsked() throws {
        var session = FakeSeat.Session()
        session.isLocked = true
        let stage = try FactorStage(asked: [.yes], session: session)
        defer { stage.stop() }
        stage.demand()
        try stage.until { stage.seat?.service.calls.contains("GetAll") == true }
        stage.cancel()
        #expect(try stage.end() == .cancelled)
        stage.seat?.change { $0.isLocked = false }
        stage.demand(2, rule: "other")
        #expect(try stage.end(2) == .passed)
        #expect(stage.prompts.count == 1)
    }

    @Test(arguments: [
        ("nobody has a session", FakeSeat.Session?.none), ("nobody is logged in", FakeSeat.Session(kind: "greeter")),
        ("a remote one", FakeSeat.Session(isRemote: true)), ("an active session", FakeSeat.Session(isActive: false)),
        ("nothing to show", FakeSeat.Session(type: "unspecified")), ("does not say", FakeSeat.Session(id: "../2")),
        ("does not say", FakeSeat.Session(leader: 0)),
    ])
    func whereNobodySitsNobodyPasses(because: String, session: FakeSeat.Session?) throws {
        let stage = try FactorStage(asked: [.yes], session: session)
        defer { stage.stop() }
        stage.demand()
        #expect(try stage.end() == .failed)
        #expect(stage.events == ["failed"] && stage.reasons[0].contains(because), "\(stage.reasons)")
        #expect(stage.polkit?.questions.isEmpty == true)
    }

    @Test func withoutLogindNobodyPasses() throws {
        let stage = try FactorStage(asked: [.yes], hasLogin: false)
        defer { stage.stop() }
        stage.demand()
        #expect(try stage.end() == .failed)
        #expect(stage.reasons[0].contains("systemd-logind does not run"))
    }

    @Test func nonsenseOfLogindIsNobody() throws {
        for (member, answers) in [
            ("Get ActiveSession", [FakeService.Answer.done, .value(.variant(.text("2"))), .value(.flag(true))]),
            (
                "GetAll",
                [
                    .done, .value(.text("2")), .value(.properties([:])),
                    .value(.properties(["Id": .text("3"), "Class": .text("user")])), .noProperty,
                ]
            ),
        ] {
            for answer in answers {
                let stage = try FactorStage(asked: [.yes])
                defer { stage.stop() }
                stage.seat?.service.on(member) { _ in answer }
                stage.demand()
                #expect(try stage.end() == .failed)
                #expect(stage.polkit?.questions.isEmpty == true, "\(member) \(answer)")
            }
        }
    }

    @Test func whoGoesAwayDuringTheDialogueHasNotPassed() throws {
        let stage = try FactorStage()
        defer { stage.stop() }
        stage.demand()
        try stage.until { stage.prompts.count == 1 }
        stage.seat?.leave()
        #expect(try stage.end() == .failed)
        #expect(stage.events == ["requested", "failed"])
        try stage.until { stage.polkit?.cancelled.count == 1 }
    }

    @Test func anotherSessionDoesNotAnswer() throws {
        let stage = try FactorStage()
        defer { stage.stop() }
        stage.demand()
        try stage.until { stage.prompts.count == 1 }
        stage.seat?.change { $0.id = "3" }
        #expect(try stage.end() == .failed)
        #expect(stage.reasons == ["the session that was asked is not at the screen any more"])
    }

    @Test func aBusThatGoesAwayPassesNobody() throws {
        let stage = try FactorStage()
        defer { stage.stop() }
        stage.demand()
        try stage.until { stage.prompts.count == 1 }
        stage.bus.end()
        #expect(try stage.end() == .failed)
        #expect(stage.events == ["requested", "failed"])
    }

    // MARK: Too often

    @Test func thoseBeyondTheLimitAreNotAskedForAndNotFailed() throws {
        let stage = try FactorStage(asked: .init(repeating: .dismissed, count: 5) + [.yes])
        defer { stage.stop() }
        for number: UInt64 in 1...5 {
            stage.demand(number)
            #expect(try stage.end(number) == .failed)
        }
        let looks = try #require(stage.seat?.service.calls(of: "GetAll").count)
        stage.demand(6)
        try stage.until { (stage.seat?.service.calls(of: "GetAll").count ?? 0) > looks }
        stage.seat?.change { $0.isLocked = false }
        try stage.until { (stage.seat?.service.calls(of: "GetAll").count ?? 0) > looks + 1 }
        #expect(stage.ends[6] == nil && stage.prompts.count == 5 && stage.hasOpenDemand)
        stage.cancel(6)
        #expect(try stage.end(6) == .cancelled)
    }
}
