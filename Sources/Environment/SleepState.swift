internal import Glibc

/// Whether the machine sleeps, by what a manager of the session says and by the two clocks that differ in the time
/// asleep, clock_gettime(2).
struct SleepState {
    /// What counts as sleep (µs): reading two clocks takes a moment in itself.
    static let leastSleep: Int64 = 100_000

    private(set) var isSleeping = false
    private var asleep: Int64

    /// - Parameter asleep: the time asleep since boot (µs), here and below.
    init(asleep: Int64 = timeAsleep()) { self.asleep = asleep }

    /// A manager said that the machine is about to sleep, or that it woke up.
    mutating func managerSaid(_ isSleeping: Bool, asleep now: Int64 = timeAsleep()) -> Observation {
        self.isSleeping = isSleeping
        asleep = now
        return isSleeping ? .suspending : .resumed
    }

    /// The wall clock was set, as it is on waking: what there is to tell where nobody announced the sleep. Whoever
    /// announced one says when it is over.
    mutating func clocksWereSet(asleep now: Int64 = timeAsleep()) -> [Observation] {
        defer { asleep = now }
        return now - asleep >= SleepState.leastSleep && !isSleeping ? [.suspending, .resumed] : []
    }

    static func timeAsleep() -> Int64 {
        var (boottime, monotonic) = (timespec(), timespec())
        unsafe clock_gettime(CLOCK_MONOTONIC, &monotonic)
        unsafe clock_gettime(CLOCK_BOOTTIME, &boottime)
        return (Int64(boottime.tv_sec) - Int64(monotonic.tv_sec)) * 1_000_000
            + (Int64(boottime.tv_nsec) - Int64(monotonic.tv_nsec)) / 1_000
    }
}
