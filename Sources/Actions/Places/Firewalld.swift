internal import Platform
internal import SystemBus

/// firewalld, and who else sets zones: NetworkManager does each time it activates a connection, and a reload or a new
/// start of firewalld forgets what was set.
@ActionActor
final class Firewalld {
    private static let name = "org.fedoraproject.FirewallD1"
    private static let path = "/org/fedoraproject/FirewallD1"
    private static let zones = "org.fedoraproject.FirewallD1.zone"

    /// Two who set the same zone against each other end after so many turns in such a time (µs).
    static let lossLimit = 5
    static let lossPeriod: Int64 = 60_000_000

    private let bus: Bus
    private var known: [String: Setting] = [:]
    private var losses: [String: [Int64]] = [:]
    private var watches: [SignalWatch] = []

    /// Called when the zone of an interface is another one than we put there, or saw there, last; a few times a minute
    /// at most.
    var onLoss: (_ interface: String) -> Void = { _ in }

    init(_ bus: Bus) {
        self.bus = bus
        // Heard again from the next zone that is noted on.
        bus.whenLost { [weak self] in self?.watches = [] }
    }

    func call(_ member: String, _ arguments: [BusArgument] = []) async throws(BusError) -> [BusValue] {
        try await bus.call(Firewalld.name, Firewalld.path, Firewalld.zones, member, arguments)
    }

    /// Nil where the interface is in none.
    func zone(of interface: String) async throws(BusError) -> String? {
        let reply = try await call("getZoneOfInterface", [.text(interface)])
        guard let zone = reply.first?.text else { throw .noAnswer }
        return zone.isEmpty ? nil : zone
    }

    /// `INVALID_ZONE: …`: firewalld has one error, and its code before the words.
    static func code(_ error: BusError) -> Substring? {
        guard case .refused(_, let message) = error else { return nil }
        return message.split(separator: ":", maxSplits: 1).first
    }

    // MARK: Who else sets zones

    /// Notes what the zone is by our doing or knowledge; nil: none. From now on another one is told.
    func note(_ zone: String?, of interface: String) {
        known[interface] = zone.map { .value($0) } ?? .unset
        watch()
    }

    private func watch() {
        guard watches.isEmpty else { return }
        let signals = "sender='\(Firewalld.name)',path='\(Firewalld.path)'"
        for member in ["ZoneOfInterfaceChanged", "InterfaceAdded", "InterfaceRemoved"] {
            add("\(signals),interface='\(Firewalld.zones)',member='\(member)'") { [weak self] signal in
                guard let interface = signal.values.dropFirst().first?.text else { return }
                self?.look(at: interface)
            }
        }
        add("\(signals),interface='\(Firewalld.name)',member='Reloaded'") { [weak self] _ in self?.lookAtAll() }
        add(Bus.ownership(of: Firewalld.name)) { [weak self] signal in
            if signal.values.dropFirst(2).first?.text?.isEmpty == false { self?.lookAtAll() }
        }
    }

    private func add(_ rule: String, _ heard: @escaping (SignalWatch.Signal) -> Void) {
        guard let watch = try? bus.watch(rule) else { return }
        watch.onSignal = heard
        watches.append(watch)
    }

    private func lookAtAll() {
        for interface in known.keys { look(at: interface) }
    }

    /// What the signal said may be over: what is there now counts.
    private func look(at interface: String) {
        guard known[interface] != nil else { return }
        ActionActor.task {
            let zone: Setting
            do throws(BusError) {
                zone = try await self.zone(of: interface).map { .value($0) } ?? .unset
            } catch {
                // It is looked at again when firewalld is back.
                return
            }
            guard let wanted = known[interface], zone != wanted, mayTell(interface) else { return }
            onLoss(interface)
        }
    }

    private func mayTell(_ interface: String) -> Bool {
        let now = Timestamp.now().boottime
        let recent = (losses[interface] ?? []).filter { $0 > now - Firewalld.lossPeriod }
        guard recent.count < Firewalld.lossLimit else { return false }
        losses[interface] = recent + [now]
        return true
    }
}
