import Rules
import Testing

@testable import Agent

/// Programs at the desk: rules come first, and what a program asks for is nobody's duty. By values.
@Suite struct FactorProgramTests {
    private static let ada = Seat.Session(id: "2", user: 1_000, leader: 20, name: "ada", isLocked: false)

    private static func program(_ number: UInt64, reason: String = "", session: String? = "2", user: UInt32 = 1_000)
        -> FactorDemand
    {
        FactorDemand(number, by: FactorCaller(user: user, name: "ada", session: session, reason: reason))
    }

    private static let rule = FactorDemand(
        identifier: 1, rule: "work", edge: .enter, network: "office", factor: .init(message: "Confirm"))

    private func ends(_ orders: [FactorDesk.Order]) -> [(identifiers: [UInt64], end: FactorEnd)] {
        orders.compactMap { if case .end(let identifiers, _, let end) = $0 { (identifiers, end) } else { nil } }
    }

    private func asked(_ orders: [FactorDesk.Order]) -> UInt64? {
        orders.compactMap { if case .ask(let question, _, _, _) = $0 { question } else { nil } }.last
    }

    /// As far as the dialogue.
    private func prompt(_ desk: inout FactorDesk, at now: Int64 = 0) throws -> UInt64 {
        let orders = desk.seated(.session(Self.ada), at: now)
        guard case .probe(let question, _)? = orders.last else { throw NoQuestion() }
        return try #require(asked(desk.probed(question, nil, at: now)))
    }

    private struct NoQuestion: Error {}

    @Test func whatAProgramAsksForIsNotOwed() throws {
        var desk = FactorDesk()
        #expect(desk.demand(Self.program(1)) == [.look] && !desk.hasOpenDemand && desk.isWaiting)
        let question = try prompt(&desk)
        #expect(!desk.hasOpenDemand)
        let end = try #require(ends(desk.answered(question, .failed(because: "dismissed"), at: 0)).first?.end)
        #expect(end.outcome == .failed && end.wasAsked && !desk.hasOpenDemand && !desk.isWaiting)
    }

    @Test func aRuleTakesTheTurnOfAProgram() throws {
        for isAsked in [true, false] {
            var desk = FactorDesk()
            _ = desk.demand(Self.program(1))
            _ = desk.demand(Self.program(2, reason: "b"))
            let question = isAsked ? try prompt(&desk) : nil
            let orders = desk.demand(Self.rule)
            #expect(orders.first == question.map { .withdraw($0) } ?? orders.first && orders.last == .look)
            #expect(ends(orders).map(\.end.outcome) == [.cancelled] && desk.hasOpenDemand)
            #expect(desk.openDemand?.rule == "work")
            // An answer to what was withdrawn is none.
            if let question { #expect(desk.answered(question, .right, at: 0).isEmpty) }
            let next = try prompt(&desk)
            let passed = desk.answered(next, .right, at: 0)
            #expect(ends(passed).first?.identifiers == [1] && passed.last == .look && !desk.hasOpenDemand)
        }
    }

    @Test func aProgramWaitsForARule() throws {
        var desk = FactorDesk()
        _ = desk.demand(Self.rule)
        let question = try prompt(&desk)
        #expect(desk.demand(Self.program(1)).isEmpty)
        var other = Self.rule
        (other.identifier, other.rule) = (2, "other")
        #expect(desk.demand(other).isEmpty)
        // The rule's that came later is next all the same.
        _ = desk.answered(question, .right, at: 0)
        #expect(desk.openDemand?.rule == "other")
    }

    @Test func theSameIsAskedOnceAndOthersAreNotTheSame() throws {
        var desk = FactorDesk()
        _ = desk.demand(Self.program(1, reason: "a"))
        _ = desk.demand(Self.program(2, reason: "a"))
        _ = desk.demand(Self.program(3, reason: "b"))
        _ = desk.demand(Self.program(4, reason: "a", session: nil))
        let question = try prompt(&desk)
        let passed = desk.answered(question, .right, at: 0)
        #expect(ends(passed).first?.identifiers == [1 << 63 | 1, 1 << 63 | 2] && passed.last == .look)
        // There is no grace for programs.
        _ = desk.cancel(1 << 63 | 3)
        _ = desk.demand(Self.program(5, reason: "a"))
        _ = try prompt(&desk)
    }

    @Test func whoseTurnHasComeAndWhoIsGoneIsNotAsked() {
        for caller in [
            Self.program(1, session: "7"), Self.program(1, user: 1_001), Self.program(1, session: nil, user: 0),
        ] {
            var desk = FactorDesk()
            _ = desk.demand(caller)
            let end = ends(desk.seated(.session(Self.ada), at: 0)).first?.end
            #expect(end?.outcome == .failed && end?.wasAsked == false)
        }
    }

    /// 10,000 of them leave a rule its turn and its prompts.
    @Test func programsTakeNothingFromRules() throws {
        var desk = FactorDesk()
        var refused = 0
        for number: UInt64 in 1...10_000 {
            _ = desk.demand(Self.program(number))
            do {
                let question = try prompt(&desk)
                _ = desk.answered(question, .failed(because: "dismissed"), at: 0)
            } catch is NoQuestion {
                refused += 1
            }
        }
        #expect(refused == 10_000 - FactorDesk.maximumPrompts && !desk.isWaiting)
        _ = desk.demand(Self.rule)
        _ = try prompt(&desk)
        // Later there is room again.
        _ = desk.cancel(1)
        _ = desk.demand(Self.program(10_001))
        _ = try prompt(&desk, at: FactorDesk.window)
    }

    @Test(
        arguments: [
            ("", nil), ("open", "open"), ("a\"b", "a'b"), ("\u{201C}x\u{201D}", "'x'"), ("\u{1b}[2J", "\\x1b[2J"),
            ("\u{2069}\u{2067}", "\\xe2\\x81\\xa9\\xe2\\x81\\xa7"), (" x ", "\\x20x\\x20"), ("שלום", "שלום"),
        ] as [(String, String?)])
    func aProgramsWordsStayItsOwn(reason: String, shown: String?) {
        let message = Self.program(1, reason: reason).message
        let beginning = "A program of ada's asks you to confirm who you are. If you did not start it, cancel this."
        #expect(message == beginning + (shown.map { " It says: \"\u{2068}\($0)\u{2069}\"" } ?? ""))
    }
}
