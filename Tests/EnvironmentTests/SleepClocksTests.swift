import Testing

@testable import Environment

@Suite struct SleepClocksTests {
    @Test func whatOneClockCountsAndTheOtherDoesNotIsSleep() {
        var clocks = SleepClocks(asleep: 5_000_000)
        #expect(clocks.sleptSince(asleep: 5_000_000) == 0)
        #expect(clocks.sleptSince(asleep: 8_600_000) == 3_600_000)
        // Once.
        #expect(clocks.sleptSince(asleep: 8_600_001) == 1)
    }

    /// Nobody can put this machine to sleep for a test; that it does not seem to sleep all the time can be seen.
    @Test func anAwakeMachineDoesNotSeemToSleep() {
        var clocks = SleepClocks()
        for _ in 0..<1_000 { #expect(clocks.sleptSince() < SleepClocks.leastSleep) }
    }
}
