import Testing

@testable import Environment

@Suite struct SleepStateTests {
    private func words(_ observations: [Observation]) -> [String] { observations.map { "\($0)" } }

    @Test func whatOneClockCountsAndTheOtherDoesNotIsSleep() {
        var state = SleepState(asleep: 5_000_000)
        #expect(state.clocksWereSet(asleep: 5_000_000).isEmpty)
        #expect(words(state.clocksWereSet(asleep: 8_600_000)) == ["suspending", "resumed"])
        // Once.
        #expect(state.clocksWereSet(asleep: 8_600_001).isEmpty)
        #expect(!state.isSleeping)
    }

    /// The clocks show it before the manager has said that it is over.
    @Test func anAnnouncedSleepIsToldOnce() {
        var state = SleepState(asleep: 0)
        #expect(words([state.managerSaid(true, asleep: 0)]) == ["suspending"])
        #expect(state.isSleeping)
        #expect(state.clocksWereSet(asleep: 60_000_000).isEmpty)
        #expect(words([state.managerSaid(false, asleep: 60_000_000)]) == ["resumed"])
        #expect(state.clocksWereSet(asleep: 60_000_001).isEmpty)
        // The next one is nobody's.
        #expect(state.clocksWereSet(asleep: 90_000_000).count == 2)
    }

    /// And after it, too.
    @Test func whatTheManagerToldIsNotToldAgainByTheClocks() {
        var state = SleepState(asleep: 0)
        _ = state.managerSaid(true, asleep: 0)
        _ = state.managerSaid(false, asleep: 60_000_000)
        #expect(state.clocksWereSet(asleep: 60_000_000).isEmpty)
    }

    /// Nobody can put this machine to sleep for a test; that it does not seem to sleep all the time can be seen.
    @Test func anAwakeMachineDoesNotSeemToSleep() {
        var state = SleepState()
        for _ in 0..<1_000 { #expect(state.clocksWereSet().isEmpty) }
    }
}
