internal import Platform
internal import SystemBus

/// Keeps the machine awake for the moment that undoing what lowers protection takes, as `systemd-inhibit --mode=delay`
/// does. logind itself sets the limit, `InhibitDelayMaxSec=` of logind.conf(5).
final class SleepLock {
    private static let logind = "org.freedesktop.login1"

    /// µs; at boot logind waits for polkit, which is started for it.
    private static let patience: UInt64 = 60_000_000
    /// After so long it is asked again, twice as long each time (µs).
    private static let retryDelays: ClosedRange<Int64> = 10_000_000...3_600_000_000

    private let bus: SystemBus
    private let loop: EventLoop
    private var lock: FileDescriptor?
    private var isAsked = false
    private var timer: EventLoop.Timer?
    private var failures = 0

    /// Whether sleep has to wait for us.
    var isWanted = true {
        didSet { if isWanted != oldValue { follow() } }
    }

    init(_ bus: SystemBus, on loop: EventLoop) {
        self.bus = bus
        self.loop = loop
    }

    /// To be called when the bus is there, and when it is again.
    func connected() {
        isAsked = false
        // At boot it often starts later than the agent.
        bus.watchOwner(of: SleepLock.logind) { [unowned self] in if $0 != nil { follow() } }
        follow()
    }

    private func follow() {
        guard isWanted else { return lock = nil }
        guard lock == nil, !isAsked else { return }
        isAsked = true
        bus.callForDescriptor(
            SleepLock.logind, "/org/freedesktop/login1", "org.freedesktop.login1.Manager", "Inhibit",
            [.text("sleep"), .text("Vicinity"), .text("Undoing what lowers protection"), .text("delay")],
            limit: SleepLock.patience
        ) { [unowned self] descriptor in
            isAsked = false
            // One that came too late is let go at once.
            if isWanted { lock = consume descriptor }
            if lock != nil { failures = 0 } else if isWanted { tryAgain() }
        }
    }

    private func tryAgain() {
        if let timer { loop.cancel(timer) }
        let delays = SleepLock.retryDelays
        timer = loop.schedule(
            at: Timestamp.now().boottime + min(delays.lowerBound << min(failures, 16), delays.upperBound)
        ) { [unowned self] in
            timer = nil
            follow()
        }
        failures += 1
    }
}
