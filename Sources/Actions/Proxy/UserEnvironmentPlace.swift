internal import Glibc
internal import Platform
internal import SystemBus

/// The variables that the user's service manager gives to what it starts from now on; org.freedesktop.systemd1(5).
@ActionActor
public final class UserEnvironmentPlace: Place {
    private let manager: ServiceManager
    private let socket: String

    /// - Parameters:
    ///   - manager: of the user.
    ///   - socket: the manager's own, which says that it runs; nil: that of this process's user.
    public init(_ manager: ServiceManager, socket: String? = nil) {
        self.manager = manager
        self.socket = socket ?? "/run/user/\(geteuid())/systemd/private"
    }

    public func read(_ names: Set<String>) async throws(PlaceError) -> Settings? {
        do throws(BusError) {
            let value = try await manager.bus.property(
                ServiceManager.name, ServiceManager.path, ServiceManager.manager, "Environment")
            var settings = Dictionary(uniqueKeysWithValues: names.map { ($0, Setting.unset) })
            for text in (value.list ?? []).compactMap(\.text) {
                guard let end = text.firstIndex(of: "=") else { continue }
                let name = String(text[..<end])
                if names.contains(name) { settings[name] = .value(String(text[text.index(after: end)...])) }
            }
            return settings
        } catch {
            // Sessions are kept without a manager, too; one that is there and not on the bus will be again.
            let isOff = error == .noBus || error == .absent(ServiceManager.name)
            if isOff, !Files.exists(socket) { return nil }
            throw error.placeError("variables of the session", "the user's systemd")
        }
    }

    /// Covers what /run/environment.d gave to a manager that began while a rule held: it is ours, not the user's, and
    /// nothing to be given back. To be called before anything is noted of this place.
    ///
    /// - Parameter root: of another tree than the machine's.
    public func disownInherited(root: String = "") async throws(PlaceError) {
        guard let given = try EnvironmentPlace(root: root).read(Set(ProxyVariables.names)),
            let held = try await read(Set(ProxyVariables.names))
        else { return }
        let inherited = held.filter { $0.value != .unset && $0.value != .value("") && $0.value == given[$0.key] }
        if !inherited.isEmpty { try await write(inherited.mapValues { _ in .value("") }) }
    }

    public func write(_ settings: Settings) async throws(PlaceError) {
        var unset: [String] = []
        var set: [String] = []
        for (name, setting) in settings.sorted(by: { $0.key < $1.key }) {
            // What was there before us is put back whatever it was; systemd itself refuses control characters.
            guard ProxyVariables.names.contains(name) else {
                throw UnfitValue(name: "(a variable)", place: "the session's variables").placeError
            }
            switch setting {
            case .unset: unset.append(name)
            case .value(let value):
                guard value.utf8.allSatisfy({ $0 >= 0x20 && $0 != 0x7F }) else {
                    throw UnfitValue(name: name, place: "the session's variables").placeError
                }
                set.append("\(name)=\(value)")
            }
        }
        do throws(BusError) {
            _ = try await manager.call("UnsetAndSetEnvironment", [.texts(unset), .texts(set)])
        } catch {
            throw error.placeError("variables of the session", "the user's systemd")
        }
    }
}
