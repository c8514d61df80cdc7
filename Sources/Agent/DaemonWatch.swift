internal import ActionProtocol
internal import Platform
internal import SystemBus

/// Tells when a daemon that holds what rules ask for was started anew, or told to load its files again, and may have
/// forgotten it.
///
/// Root's helper would hear of that itself, but it is there only while there is work.
final class DaemonWatch {
    private let bus: SystemBus
    private let tell: (HelperRequest.Daemon) -> Void

    init(_ bus: SystemBus, _ tell: @escaping (HelperRequest.Daemon) -> Void) {
        self.bus = bus
        self.tell = tell
    }

    /// To be called when the bus is there, and when it is again.
    func connected() { HelperRequest.Daemon.allCases.forEach(watch) }

    /// The bus itself was away, and with it whoever was on it.
    func returned() { HelperRequest.Daemon.allCases.forEach(tell) }

    private func watch(_ daemon: HelperRequest.Daemon) {
        bus.watchOwner(of: daemon.busName) { [unowned self] in if $0 != nil { tell(daemon) } }
        if let signal = daemon.reloadSignal {
            bus.match("sender='\(daemon.busName)',\(signal)") { [unowned self] _, _ in tell(daemon) }
        }
    }
}

extension HelperRequest.Daemon {
    /// By which it tells that it holds what its files say again, and nothing else.
    fileprivate var reloadSignal: String? {
        switch self {
        case .firewalld: "interface='org.fedoraproject.FirewallD1',member='Reloaded'"
        case .networkManager: nil
        }
    }

    var busName: String {
        switch self {
        case .firewalld: "org.fedoraproject.FirewallD1"
        case .networkManager: "org.freedesktop.NetworkManager"
        }
    }
}
