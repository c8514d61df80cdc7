import Agent
import Testing

/// How many calls may wait, by values.
@Suite struct WaitingCallsTests {
    @Test func thereIsRoomForSoManyOfOneSenderAndOfAll() {
        var waiting = WaitingCalls()
        func enter(_ sender: String) -> Bool { waiting.enter(sender) }
        for _ in 0..<WaitingCalls.perSender { #expect(enter(":1.1")) }
        #expect(!enter(":1.1"))
        waiting.leave(":1.1")
        #expect(enter(":1.1") && !enter(":1.1"))
        var count = WaitingCalls.perSender
        for sender in 2... where enter(":1.\(sender)") {
            count += 1
            if count == WaitingCalls.inAll { break }
        }
        #expect(!enter(":2.1"))
        waiting.leave(":1.2")
        #expect(enter(":2.1"))
        waiting.leave(":9.9")
        #expect(!enter(":2.2"))
    }

    @Test func whoNeedsNoLeaveChangesSomethingSoOften() {
        var waiting = WaitingCalls()
        func change(_ user: UInt32, _ seconds: Int64) -> Bool { waiting.change(user, at: seconds * 1_000_000) }
        for second in 0..<Int64(WaitingCalls.changesPerMinute) { #expect(change(1_000, second)) }
        #expect(!change(1_000, 59) && change(1_001, 59))
        #expect(change(1_000, 60) && !change(1_000, 60) && change(1_000, 61))
    }

    @Test func oneUserLeavesRoomForOthers() {
        var waiting = WaitingCalls()
        func ask(_ user: UInt32) -> Bool { waiting.ask(user) }
        for _ in 0..<WaitingCalls.askedPerUser { #expect(ask(1_000)) }
        #expect(!ask(1_000) && ask(1_001))
        waiting.answered(1_000)
        #expect(ask(1_000))
        for user in 2_000..<2_000 + UInt32(WaitingCalls.asked - WaitingCalls.askedPerUser - 1) {
            #expect(ask(user))
        }
        #expect(!ask(3_000))
        waiting.answered(3_000)
        #expect(!ask(3_000))
    }
}
