import Testing

@testable import Agent

/// When a dialogue of ours takes polkit's place: only where polkit has asked nobody, and never to ask again.
@Suite(.serialized, .timeLimit(.minutes(10))) struct FactorFallbackTests {
    @Test func withoutAnAuthenticationAgentADialogueAsks() throws {
        let stage = try FactorStage(asked: [.challenge], dialogues: [.right])
        defer { stage.stop() }
        stage.demand()
        #expect(try stage.end() == .passed)
        #expect(stage.events == ["requested", "passed"] && !stage.hasOpenDemand)
        let asked = try #require(stage.dialogues?.asked)
        #expect(asked.count == 1 && stage.prompts.count == 1)
        #expect(asked[0].rule == "work" && asked[0].place == "office" && asked[0].session == "2")
        // The time that the person has is one.
        #expect((1...60_000_000).contains(asked[0].limit))
    }

    @Test func withoutPolkitADialogueAsks() throws {
        let stage = try FactorStage(nil, dialogues: [.right])
        defer { stage.stop() }
        stage.demand()
        #expect(try stage.end() == .passed)
        #expect(stage.events == ["requested", "passed"] && stage.dialogues?.asked.count == 1)
    }

    @Test(arguments: [FakePolkit.Answer.dismissed, .refusal, .no])
    func whomPolkitHasAskedNobodyAsksAgain(answer: FakePolkit.Answer) throws {
        let stage = try FactorStage(asked: [answer, answer, answer], dialogues: [.right])
        defer { stage.stop() }
        stage.demand()
        #expect(try stage.end() == .failed)
        #expect(stage.dialogues?.asked.isEmpty == true && stage.hasOpenDemand)
    }

    /// Whatever polkit says before anybody is asked, but that a person has to be.
    @Test(arguments: [FakePolkit.Answer.yes, .no, .dismissed, .garbage, .refusal])
    func aRefusalOfPolkitsIsFinal(answer: FakePolkit.Answer) throws {
        let stage = try FactorStage(answer, dialogues: [.right])
        defer { stage.stop() }
        stage.demand()
        #expect(try stage.end() == .failed)
        #expect(stage.dialogues?.asked.isEmpty == true && stage.events == ["failed"])
    }

    @Test func aPasswordAloneIsFinalTooAndItsOwnServiceHasToAskForMore() throws {
        let first = try FactorStage(asked: [.challenge], problem: "a password alone", dialogues: [.right])
        defer { first.stop() }
        first.demand()
        #expect(try first.end() == .failed)
        #expect(first.reasons == ["a password alone"] && first.dialogues?.asked.isEmpty == true)

        for answer in [FakePolkit.Answer.challenge, nil] {
            let second = try FactorStage(
                answer, asked: [.challenge], dialogues: [.right], ownProblem: "there is no PAM service vicinity")
            defer { second.stop() }
            second.demand()
            #expect(try second.end() == .failed)
            #expect(second.reasons[0].hasSuffix("there is no PAM service vicinity"))
            #expect(second.dialogues?.asked.isEmpty == true && second.hasOpenDemand)
        }
    }

    @Test func wrongCodesCountTogetherAndAreAskedForInTheSameWay() throws {
        let stage = try FactorStage(
            asked: [.challenge, .challenge, .challenge], dialogues: [.wrong, .wrong, .wrong, .right])
        defer { stage.stop() }
        stage.demand()
        #expect(try stage.end() == .failed)
        #expect(stage.reasons == ["3 wrong answers"] && stage.dialogues?.asked.count == 3)
        #expect(stage.events == ["requested", "failed"])
    }

    @Test func whatADialogueCouldNotAskFails() throws {
        let stage = try FactorStage(asked: [.challenge], dialogues: [.failed(because: "it crashed"), .right])
        defer { stage.stop() }
        stage.demand()
        #expect(try stage.end() == .failed)
        #expect(stage.reasons == ["it crashed"] && stage.dialogues?.asked.count == 1)
    }

    @Test func theDialogueGoesWithItsReason() throws {
        let stage = try FactorStage(nil, dialogues: [])
        defer { stage.stop() }
        stage.demand()
        try stage.until { stage.dialogues?.asked.count == 1 }
        stage.cancel()
        #expect(try stage.end() == .cancelled)
        #expect(stage.dialogues?.withdrawn == 1 && !stage.hasOpenDemand)
        // Locked, it goes as well; unlocked, it is back.
        stage.demand(2)
        try stage.until { stage.dialogues?.asked.count == 2 }
        stage.seat?.change { $0.isLocked = true }
        try stage.until { stage.dialogues?.withdrawn == 2 }
        stage.seat?.change { $0.isLocked = false }
        try stage.until { stage.dialogues?.asked.count == 3 }
        stage.seat?.leave()
        #expect(try stage.end(2) == .failed)
        #expect(stage.dialogues?.withdrawn == 3 && stage.hasOpenDemand)
    }

    @Test func nobodyAnswersInTime() throws {
        let stage = try FactorStage(nil, dialogues: [])
        defer { stage.stop() }
        stage.demand(timeout: 200_000)
        #expect(try stage.end() == .expired)
        #expect(stage.dialogues?.withdrawn == 1 && stage.events == ["requested", "expired"])
    }
}
