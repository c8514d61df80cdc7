internal import SystemBus

/// firewalld's zone of an interface, until the next start of firewalld: `zone` is its name, unset where the interface is
/// in none, to which the default zone applies.
@ActionActor
final class ZonePlace: Place {
    static let setting = "zone"

    private let interface: String
    private let firewall: Firewalld

    init(_ interface: String, of firewall: Firewalld) {
        self.interface = interface
        self.firewall = firewall
    }

    func read(_ names: Set<String>) async throws(PlaceError) -> Settings? {
        do throws(BusError) {
            let zone = try await firewall.zone(of: interface)
            firewall.note(zone, of: interface)
            return [ZonePlace.setting: zone.map { .value($0) } ?? .unset]
        } catch {
            throw explain(error, "zone of \(interface)")
        }
    }

    func write(_ settings: Settings) async throws(PlaceError) {
        switch settings[ZonePlace.setting] {
        case .value(let zone)?: try await put(into: zone)
        case .unset?: try await remove()
        case nil: break
        }
    }

    private func put(into zone: String) async throws(PlaceError) {
        let purpose = "zone \(zone) for \(interface)"
        var problem: BusError
        do throws(BusError) {
            // An empty name would mean the default zone.
            let reply = try await firewall.call("changeZoneOfInterface", [.text(zone), .text(interface)])
            guard reply.first?.text != nil else { throw BusError.noAnswer }
            return firewall.note(zone, of: interface)
        } catch {
            problem = error
        }
        guard Firewalld.code(problem) == "INVALID_ZONE" else { throw explain(problem, purpose) }
        let known = (try? await firewall.call("getZones"))?.first?.list?.compactMap(\.text).sorted() ?? []
        throw .failed("\(purpose): firewalld has no such zone; it has \(known.joined(separator: ", "))")
    }

    private func remove() async throws(PlaceError) {
        do throws(BusError) {
            _ = try await firewall.call("removeInterface", [.text(""), .text(interface)])
        } catch {
            // It is in none.
            if Firewalld.code(error) != "UNKNOWN_INTERFACE" { throw explain(error, "removal of \(interface)") }
        }
        firewall.note(nil, of: interface)
    }

    private func explain(_ error: BusError, _ purpose: String) -> PlaceError {
        if case .absent = error {
            return .failed("\(purpose): firewalld is not running; systemctl enable --now firewalld")
        }
        return error.placeError(purpose, "firewalld")
    }
}
