internal import Glibc
internal import Platform
internal import SystemBus

/// Tells that the machine is about to sleep and that it woke up: by systemd-logind's word, and where that says none, as
/// when somebody writes to `/sys/power/state`, by the clocks.
final class SleepWatch {
    private static let logind = "org.freedesktop.login1"
    private static let path = "/org/freedesktop/login1"
    private static let manager = "org.freedesktop.login1.Manager"

    private let bus: SystemBus
    private let observe: (Observation) -> Void
    private var isSleeping = false
    private var clocks = SleepClocks()
    private var watch: ClockWatch?

    init(_ bus: SystemBus, on loop: EventLoop, _ observe: @escaping (Observation) -> Void) {
        self.bus = bus
        self.observe = observe
        // The kernel calls it off on waking as it does when the time is set.
        watch = try? ClockWatch(on: loop) { [unowned self] in lookAtClocks() }
    }

    /// To be called when the bus is there, and when it is again.
    func addMatches() {
        bus.match(
            "sender='\(SleepWatch.logind)',path='\(SleepWatch.path)',interface='\(SleepWatch.manager)',"
                + "member='PrepareForSleep'"
        ) { [unowned self] _, values in
            if let isStarting = values.first?.flag { turn(isStarting) }
        }
        bus.watchOwner(of: SleepWatch.logind) { [unowned self] _ in ask() }
        ask()
    }

    /// What was said while nobody listened; a logind that is gone lets nobody sleep.
    private func ask() {
        bus.call(
            SleepWatch.logind, SleepWatch.path, "org.freedesktop.DBus.Properties", "Get",
            [.text(SleepWatch.manager), .text("PreparingForSleep")]
        ) { [unowned self] reply in
            switch reply {
            case .values(let values): if let flag = values.first?.flag, flag != isSleeping { turn(flag) }
            case .absent: if isSleeping { turn(false) }
            case .failed: break
            }
        }
    }

    private func turn(_ isSleeping: Bool) {
        self.isSleeping = isSleeping
        _ = clocks.sleptSince()
        observe(isSleeping ? .suspending : .resumed)
    }

    private func lookAtClocks() {
        guard clocks.sleptSince() >= SleepClocks.leastSleep, !isSleeping else { return }
        observe(.suspending)
        observe(.resumed)
    }
}

/// The two clocks that differ in the time asleep, clock_gettime(2).
struct SleepClocks {
    /// What counts as sleep (µs): reading two clocks takes a moment in itself.
    static let leastSleep: Int64 = 100_000

    private var asleep: Int64

    init(asleep: Int64 = now()) { self.asleep = asleep }

    /// How long the machine slept since this was asked last (µs).
    mutating func sleptSince(asleep now: Int64 = now()) -> Int64 {
        defer { asleep = now }
        return now - asleep
    }

    /// The time asleep since boot (µs).
    static func now() -> Int64 {
        var (boottime, monotonic) = (timespec(), timespec())
        unsafe clock_gettime(CLOCK_MONOTONIC, &monotonic)
        unsafe clock_gettime(CLOCK_BOOTTIME, &boottime)
        return (Int64(boottime.tv_sec) - Int64(monotonic.tv_sec)) * 1_000_000
            + (Int64(boottime.tv_nsec) - Int64(monotonic.tv_nsec)) / 1_000
    }
}
