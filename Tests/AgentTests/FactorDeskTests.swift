import Rules
import PAM
import Testing

@testable import Agent

/// What demands, seats and answers come to, by values.
@Suite struct FactorDeskTests {
    private static let second: Int64 = 1_000_000
    private static let minute: Int64 = 60_000_000
    private static let ada = Seat.Session(id: "2", user: 1_000, leader: 20, name: "ada", isLocked: false)
    private static let locked = Seat.Session(id: "2", user: 1_000, leader: 20, name: "ada", isLocked: true)
    private static let bob = Seat.Session(id: "7", user: 1_001, leader: 70, name: "bob", isLocked: false)

    private static func demand(
        _ identifier: UInt64 = 1, rule: String = "work", network: String? = "office", attempts: Int = 3,
        grace: Int64 = 0, edge: Rule.Edge = .enter
    ) -> FactorDemand {
        var factor = EdgeAction.SecondFactor(message: "Confirm")
        (factor.attempts, factor.grace) = (attempts, grace)
        return FactorDemand(identifier: identifier, rule: rule, edge: edge, network: network, factor: factor)
    }

    /// A desk, and what it ordered.
    private struct Play {
        var desk = FactorDesk()
        var now: Int64 = 1_000_000_000
        var orders: [FactorDesk.Order] = []

        mutating func demand(_ demand: FactorDemand = FactorDeskTests.demand()) { orders = desk.demand(demand) }
        mutating func seat(_ seat: Seat.Session = FactorDeskTests.ada) {
            orders = desk.seated(.session(seat), at: now)
        }
        mutating func probe(_ problem: String? = nil) throws {
            orders = desk.probed(try #require(probed), problem, at: now)
        }
        mutating func answer(_ answer: FactorDesk.Answer) throws {
            orders = desk.answered(try #require(asked), answer, at: now)
        }
        mutating func pass(_ microseconds: Int64) {
            now += microseconds
            orders = desk.advance(to: now)
        }
        /// As far as the dialogue.
        mutating func prompt(_ wanted: FactorDemand = FactorDeskTests.demand(), _ seat: Seat.Session = ada) throws {
            demand(wanted)
            try #require(orders == [.look])
            self.seat(seat)
            try probe()
            _ = try #require(asked)
        }

        var probed: UInt64? {
            orders.compactMap { if case .probe(let question, _) = $0 { question } else { nil } }.last
        }
        var asked: UInt64? {
            orders.compactMap { if case .ask(let question, _, _, _) = $0 { question } else { nil } }.last
        }
        var withdrawn: UInt64? {
            orders.compactMap { if case .withdraw(let question) = $0 { question } else { nil } }.last
        }
        var limit: Int64? { orders.compactMap { if case .ask(_, _, _, let limit) = $0 { limit } else { nil } }.last }
        var message: String? {
            orders.compactMap { if case .ask(_, _, let message, _) = $0 { message } else { nil } }.last
        }
        var ends: [UInt64: FactorEnd.Outcome] {
            var ends: [UInt64: FactorEnd.Outcome] = [:]
            for case .end(let identifiers, _, let end) in orders { for one in identifiers { ends[one] = end.outcome } }
            return ends
        }
        var because: String? {
            orders.compactMap { if case .end(_, _, let end) = $0 { end.because } else { nil } }.last
        }
        var isRequested: Bool { orders.contains { if case .requested = $0 { true } else { false } } }
    }

    // MARK: Answers

    @Test func theRightAnswerPasses() throws {
        var play = Play()
        try play.prompt()
        #expect(play.isRequested && play.message == "Confirm (network office)" && play.limit == 120 * Self.second)
        #expect(play.desk.hasOpenDemand)
        try play.answer(.right)
        #expect(play.ends == [1: .passed] && !play.desk.hasOpenDemand && !play.desk.isWaiting)
    }

    @Test func aWrongAnswerAsksAgainWithinTheSameTime() throws {
        var play = Play()
        try play.prompt()
        play.now += 30 * Self.second
        try play.answer(.wrong)
        #expect(play.ends.isEmpty)
        try play.probe()
        #expect(!play.isRequested && play.limit == 90 * Self.second)
        try play.answer(.right)
        #expect(play.ends == [1: .passed])
    }

    @Test func tooManyWrongAnswersFail() throws {
        var play = Play()
        try play.prompt()
        for _ in 0..<2 {
            try play.answer(.wrong)
            #expect(play.ends.isEmpty)
            try play.probe()
        }
        try play.answer(.wrong)
        #expect(play.ends == [1: .failed] && play.because == "3 wrong answers")
        // Until it is passed, or does not matter any more.
        #expect(play.desk.hasOpenDemand)
        play.desk.forget("work", .leave)
        #expect(play.desk.hasOpenDemand)
        play.desk.forget("work", .enter)
        #expect(!play.desk.hasOpenDemand)
    }

    @Test func whatIsNoAnswerFailsAtOnce() throws {
        var play = Play()
        try play.prompt()
        try play.answer(.failed(because: "dismissed"))
        #expect(play.ends == [1: .failed] && play.because == "dismissed")
    }

    @Test func whoWouldNotBeAskedHasFailed() throws {
        var play = Play()
        play.demand()
        play.seat()
        try play.probe("nobody is asked")
        #expect(play.ends == [1: .failed] && play.because == "nobody is asked" && !play.isRequested)
        // Nor after a wrong answer, should that have changed.
        try play.prompt()
        try play.answer(.wrong)
        try play.probe("nobody is asked")
        #expect(play.ends == [1: .failed])
    }

    @Test func timeRunsFromTheDialogueOn() throws {
        var play = Play()
        play.demand()
        play.pass(600 * Self.second)
        play.seat()
        try play.probe()
        #expect(play.limit == 120 * Self.second)
        let question = try #require(play.asked)
        #expect(play.desk.nextDeadline == play.now + 120 * Self.second)
        play.pass(120 * Self.second - 1)
        #expect(play.orders.isEmpty)
        play.pass(1)
        #expect(play.ends == [1: .expired] && play.withdrawn == question && play.desk.hasOpenDemand)
    }

    @Test func anAnswerThatComesTooLateIsNone() throws {
        var play = Play()
        try play.prompt()
        play.now += 120 * Self.second
        try play.answer(.right)
        #expect(play.ends == [1: .expired])
    }

    @Test func answersToOtherQuestionsSayNothing() throws {
        var play = Play()
        try play.prompt()
        let asked = try #require(play.asked)
        #expect(play.desk.answered(asked - 1, .right, at: play.now).isEmpty)
        #expect(play.desk.answered(asked + 1, .right, at: play.now).isEmpty)
        #expect(play.desk.probed(asked, nil, at: play.now).isEmpty)
        #expect(play.desk.hasOpenDemand)
        // Of a dialogue that is gone.
        _ = play.desk.cancel(1)
        #expect(play.desk.answered(asked, .right, at: play.now).isEmpty)
        var other = Play()
        try other.prompt()
        let former = try #require(other.asked)
        try other.answer(.wrong)
        #expect(other.desk.answered(former, .right, at: other.now).isEmpty)
    }

    // MARK: Who sits there

    @Test func nobodyCannotBeAsked() throws {
        var play = Play()
        play.demand()
        play.orders = play.desk.seated(.nobody("nobody is logged in"), at: play.now)
        #expect(play.ends == [1: .failed] && play.because == "nobody is logged in")
        try play.prompt()
        play.orders = play.desk.seated(.nobody("logged out"), at: play.now)
        #expect(play.ends == [1: .failed] && play.withdrawn != nil)
    }

    @Test func somebodyElseDoesNotAnswerForWhoWasAsked() throws {
        var play = Play()
        try play.prompt()
        play.seat(Self.bob)
        #expect(play.ends == [1: .failed] && play.withdrawn != nil)
        // The same number of a session, of another user, is another person.
        try play.prompt()
        var other = Self.ada
        other.user = 1_002
        play.seat(other)
        #expect(play.ends == [1: .failed])
    }

    @Test func aLockedScreenIsWaitedFor() throws {
        var play = Play()
        play.demand()
        play.seat(Self.locked)
        #expect(play.orders.isEmpty && play.desk.isWaiting && play.desk.hasOpenDemand && play.desk.nextDeadline == nil)
        play.pass(86_400 * Self.second)
        #expect(play.orders.isEmpty)
        play.seat()
        try play.probe()
        #expect(play.limit == 120 * Self.second)
        try play.answer(.right)
        #expect(play.ends == [1: .passed])
    }

    @Test func lockingTakesTheDialogueAwayAndStopsTheTime() throws {
        var play = Play()
        try play.prompt()
        let question = try #require(play.asked)
        play.now += 30 * Self.second
        play.seat(Self.locked)
        #expect(play.orders == [.withdraw(question)] && play.desk.nextDeadline == nil)
        #expect(play.desk.answered(question, .right, at: play.now).isEmpty)
        play.pass(3_600 * Self.second)
        play.seat()
        try play.probe()
        #expect(!play.isRequested && play.limit == 90 * Self.second)
        // Who locks the screen gains no attempts.
        for _ in 0..<2 {
            try play.answer(.wrong)
            try play.probe()
        }
        play.seat(Self.locked)
        play.seat()
        try play.probe()
        try play.answer(.wrong)
        #expect(play.ends == [1: .failed])
    }

    @Test func whoLeavesWhileItIsLockedIsNotAsked() throws {
        var play = Play()
        play.demand()
        play.seat(Self.locked)
        play.orders = play.desk.cancel(1)
        #expect(play.ends == [1: .cancelled] && !play.desk.hasOpenDemand && !play.desk.isWaiting)
        play.seat()
        #expect(play.orders.isEmpty)
    }

    @Test func leavingTakesTheDialogueAwayWithoutAGrace() throws {
        var play = Play()
        let wanted = Self.demand(grace: 60 * Self.minute)
        try play.prompt(wanted)
        let question = try #require(play.asked)
        play.orders = play.desk.cancel(1)
        #expect(play.withdrawn == question && play.ends == [1: .cancelled] && !play.desk.hasOpenDemand)
        try play.prompt(wanted)
    }

    // MARK: Several

    @Test func oneIsAskedForAfterTheOther() throws {
        var play = Play()
        try play.prompt()
        let question = try #require(play.asked)
        play.demand(Self.demand(2, rule: "other"))
        #expect(play.orders.isEmpty)
        play.demand(Self.demand(3, rule: "third"))
        play.orders = play.desk.cancel(2)
        #expect(play.ends == [2: .cancelled])
        play.orders = play.desk.answered(question, .right, at: play.now)
        #expect(play.ends == [1: .passed] && play.orders.last == .look && play.desk.hasOpenDemand)
        play.seat()
        try play.probe()
        try play.answer(.failed(because: "dismissed"))
        #expect(play.ends == [3: .failed])
    }

    @Test func theSameIsAskedForOnce() throws {
        var play = Play()
        try play.prompt()
        let question = try #require(play.asked)
        for number: UInt64 in 2...10_000 {
            play.demand(Self.demand(number))
            #expect(play.orders.isEmpty)
        }
        // One that is not needed any more does not take it from the others.
        play.orders = play.desk.cancel(1)
        #expect(play.ends == [1: .cancelled] && play.withdrawn == nil)
        play.orders = play.desk.answered(question, .right, at: play.now)
        #expect(play.ends.count == 9_999 && play.ends.values.allSatisfy { $0 == .passed })
        #expect(!play.desk.hasOpenDemand)
    }

    @Test func whatDiffersIsNotTheSame() throws {
        for other in [
            Self.demand(2, rule: "b"), Self.demand(2, network: "lab"), Self.demand(2, network: nil),
            Self.demand(2, attempts: 1), Self.demand(2, edge: .leave),
        ] {
            var play = Play()
            try play.prompt()
            play.demand(other)
            play.orders = play.desk.cancel(1)
            #expect(play.withdrawn != nil && play.orders.last == .look)
        }
    }

    @Test func thoseBeyondTheLimitWait() throws {
        var play = Play()
        let begin = play.now
        for number: UInt64 in 1...5 {
            try play.prompt(Self.demand(number))
            try play.answer(.failed(because: "dismissed"))
            play.now += Self.minute
        }
        play.demand(Self.demand(6))
        play.seat()
        #expect(play.orders.isEmpty && play.desk.hasOpenDemand && play.desk.nextDeadline == begin + FactorDesk.window)
        // Locking and unlocking gains nothing.
        play.seat(Self.locked)
        play.seat()
        #expect(play.orders.isEmpty && play.desk.nextDeadline == begin + FactorDesk.window)
        play.pass(begin + FactorDesk.window - play.now)
        #expect(play.orders == [.look])
        play.seat()
        try play.probe()
        try play.answer(.right)
        #expect(play.ends == [6: .passed])
    }

    // MARK: Grace

    @Test func withinTheGraceNobodyIsAsked() throws {
        let wanted = Self.demand(grace: 10 * Self.minute)
        var play = Play()
        try play.prompt(wanted)
        try play.answer(.right)
        let passed = play
        play.now += 10 * Self.minute - 1
        play.demand(wanted)
        play.seat()
        #expect(play.ends == [1: .passed] && play.because == "within the grace of a pass 9 min ago")
        // That counts from the pass, not from the last time that nobody was asked.
        play.now += 1
        play.demand(wanted)
        play.seat()
        #expect(play.probed != nil)
        // Not while it is locked.
        play = passed
        play.demand(wanted)
        play.seat(Self.locked)
        #expect(play.orders.isEmpty)
        // Of another person, another network, another rule, without a network, or without a grace.
        for (other, seat) in [
            (wanted, Self.bob),
            (Self.demand(network: "lab", grace: 10 * Self.minute), Self.ada),
            (Self.demand(rule: "b", grace: 10 * Self.minute), Self.ada),
            (Self.demand(network: nil, grace: 10 * Self.minute), Self.ada), (Self.demand(), Self.ada),
        ] {
            play = passed
            play.demand(other)
            play.seat(seat)
            #expect(play.probed != nil, "\(other)")
        }
    }

    @Test func whereNoNetworkIsKnownThereIsNoGrace() throws {
        let wanted = Self.demand(network: nil, grace: 10 * Self.minute)
        var play = Play()
        try play.prompt(wanted)
        try play.answer(.right)
        play.demand(wanted)
        play.seat()
        #expect(play.probed != nil)
        // Nor where it is any of a kind.
        var unlisted = Self.demand(network: "unlisted", grace: 10 * Self.minute)
        unlisted.isPlace = false
        play = Play()
        try play.prompt(unlisted)
        #expect(play.message == "Confirm")
        try play.answer(.right)
        play.demand(unlisted)
        play.seat()
        #expect(play.probed != nil)
    }

    @Test func aFailureEndsTheGrace() throws {
        let wanted = Self.demand(grace: 10 * Self.minute)
        var play = Play()
        try play.prompt(wanted)
        try play.answer(.right)
        try play.prompt(wanted, Self.bob)
        try play.answer(.failed(because: "dismissed"))
        play.demand(wanted)
        play.seat()
        #expect(play.probed != nil)
    }

    // MARK: Words

    @Test(arguments: [
        ("a $(user) b", "a $ (user) b"), ("$(", "$ ("), ("$$((", "$$ (("), ("$", "$"), ("$ (", "$ ("),
        ("$(\u{301}x)", "$ (\u{301}x)"), ("(a)", "(a)"),
    ])
    func polkitPutsNothingIntoTheMessage(text: String, told: String) {
        let factor = EdgeAction.SecondFactor(message: text)
        let demand = FactorDemand(identifier: 1, rule: "a", edge: .enter, network: nil, factor: factor)
        #expect(Array(demand.message.utf8) == Array(told.utf8))
    }

    // MARK: The stack

    private func problem(_ lines: String) throws -> String? {
        FactorStack.problem(
            of: try PAMStack(service: "polkit-1", directories: ["/etc/pam.d"]) { path in
                path == "/etc/pam.d/polkit-1" ? Array(lines.utf8) : nil
            })
    }

    @Test func aStackWithoutAFactorIsNone() throws {
        let oath = "auth required pam_oath.so usersfile=/etc/users.oath\n"
        #expect(try problem(oath) == nil)
        #expect(try problem("auth required pam_unix.so\n" + oath) == nil)
        #expect(try problem("auth required pam_unix.so\n")?.contains("a password alone") == true)
        #expect(try problem("")?.contains("a password alone") == true)
        #expect(try problem("auth sufficient pam_unix.so\n" + oath)?.contains("polkit-1:2") == true)
        #expect(try problem("auth required pam_u2f.so nouserok\n")?.contains("pam_u2f with nouserok") == true)
    }
}
