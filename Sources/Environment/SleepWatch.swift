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
    private var state = SleepState()
    private var watch: ClockWatch?

    init(_ bus: SystemBus, on loop: EventLoop, _ observe: @escaping (Observation) -> Void) {
        self.bus = bus
        self.observe = observe
        // The kernel calls it off on waking as it does when the time is set.
        watch = try? ClockWatch(on: loop) { [unowned self] in
            for observation in state.clocksWereSet() { self.observe(observation) }
        }
    }

    /// To be called when the bus is there, and when it is again.
    func addMatches() {
        bus.match(
            "sender='\(SleepWatch.logind)',path='\(SleepWatch.path)',interface='\(SleepWatch.manager)',"
                + "member='PrepareForSleep'"
        ) { [unowned self] _, values in
            if let isStarting = values.first?.flag { said(isStarting) }
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
            case .values(let values): if let flag = values.first?.flag, flag != state.isSleeping { said(flag) }
            case .absent: if state.isSleeping { said(false) }
            case .failed: break
            }
        }
    }

    private func said(_ isSleeping: Bool) {
        observe(state.managerSaid(isSleeping))
    }
}
