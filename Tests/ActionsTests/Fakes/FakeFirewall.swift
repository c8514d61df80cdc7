import Platform
import SystemBus
import TestSupport

/// firewalld with the zones of interfaces.
final class FakeFirewall: @unchecked Sendable {
    private static let name = "org.fedoraproject.FirewallD1"
    private static let path = "/org/fedoraproject/FirewallD1"
    private static let zones = ["block", "drop", "home", "public", "work"]

    private let interfaces = Lock<[String: String]>([:])
    private var fake: FakeService?

    init(on bus: TestBus, _ interfaces: [String: String] = [:]) throws {
        self.interfaces.withLock { $0 = interfaces }
        fake = try FakeService(FakeFirewall.name, at: bus.address) { [unowned self] in answer($0) }
    }

    var service: FakeService {
        guard let fake else { fatalError("it is being made") }
        return fake
    }

    /// Set by hand, without a word.
    subscript(_ interface: String) -> String? {
        get { interfaces.withLock { $0[interface] } }
        set { interfaces.withLock { $0[interface] = newValue } }
    }

    /// `firewall-cmd --zone ZONE --change-interface INTERFACE`
    func change(_ interface: String, to zone: String) {
        self[interface] = zone
        service.emit(
            FakeFirewall.path, "\(FakeFirewall.name).zone", "ZoneOfInterfaceChanged", [.text(zone), .text(interface)])
    }

    /// `firewall-cmd --reload`, of which somebody may hear.
    func reload() {
        interfaces.withLock { $0 = [:] }
        service.emit(FakeFirewall.path, FakeFirewall.name, "Reloaded", [])
    }

    /// `systemctl restart firewalld`
    func restart() {
        service.vanish()
        interfaces.withLock { $0 = [:] }
        service.appear()
    }

    private func answer(_ call: FakeService.Call) -> FakeService.Answer {
        interfaces.withLock { interfaces in
            switch call.member {
            case "getZoneOfInterface": return .value(.text(interfaces[call.text(0)] ?? ""))
            case "getZones": return .value(.texts(FakeFirewall.zones))
            case "changeZoneOfInterface":
                guard FakeFirewall.zones.contains(call.text(0)) else {
                    return .error("\(FakeFirewall.name).Exception", "INVALID_ZONE: \(call.text(0))")
                }
                interfaces[call.text(1)] = call.text(0)
                return .value(.text(call.text(0)))
            case "removeInterface":
                guard let zone = interfaces.removeValue(forKey: call.text(1)) else {
                    return .error("\(FakeFirewall.name).Exception", "UNKNOWN_INTERFACE: \(call.text(1))")
                }
                return .value(.text(zone))
            default: return .unknown
            }
        }
    }
}
