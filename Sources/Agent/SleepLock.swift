internal import Platform
internal import SystemBus

/// Keeps the machine awake for the moment that undoing what lowers protection takes, as `systemd-inhibit --mode=delay`
/// does. logind itself sets the limit, `InhibitDelayMaxSec=` of logind.conf(5).
final class SleepLock {
    private static let logind = "org.freedesktop.login1"

    private let bus: SystemBus
    private var lock: FileDescriptor?
    private var isAsked = false

    /// Whether sleep has to wait for us.
    var isWanted = true {
        didSet { if isWanted != oldValue { follow() } }
    }

    init(_ bus: SystemBus) { self.bus = bus }

    /// To be called when the bus is there, and when it is again.
    func connected() {
        isAsked = false
        // At boot it often starts later than the agent.
        bus.match(
            "sender='org.freedesktop.DBus',interface='org.freedesktop.DBus',member='NameOwnerChanged',"
                + "arg0='\(SleepLock.logind)'"
        ) { [unowned self] _, values in
            if DaemonWatch.isStart(values) { follow() }
        }
        follow()
    }

    private func follow() {
        guard isWanted else { return lock = nil }
        guard lock == nil, !isAsked else { return }
        isAsked = true
        bus.callForDescriptor(
            SleepLock.logind, "/org/freedesktop/login1", "org.freedesktop.login1.Manager", "Inhibit",
            [.text("sleep"), .text("Vicinity"), .text("Undoing what lowers protection"), .text("delay")]
        ) { [unowned self] descriptor in
            isAsked = false
            // One that came too late is let go at once.
            if isWanted { lock = consume descriptor }
        }
    }
}
