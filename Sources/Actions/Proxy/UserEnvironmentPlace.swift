internal import Glibc
internal import Platform
internal import SystemBus

/// The variables that the user's service manager gives to what it starts from now on; org.freedesktop.systemd1(5).
@ActionActor
public final class UserEnvironmentPlace: Place {
    private let manager: ServiceManager
    private let socket: String
    /// What is empty where it should not be: the manager was given it by us, and keeps it as long as it lives.
    private var covered: Set<String> = []

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
                let value = String(text[text.index(after: end)...])
                if names.contains(name), !value.isEmpty || !covered.contains(name) { settings[name] = .value(value) }
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
        let before = unset.isEmpty ? [:] : try await read(Set(unset)) ?? [:]
        covered.subtract(settings.keys)
        try await change(unset, set)
        if !unset.isEmpty { try await cover(before) }
    }

    /// A manager that was told to read its configuration again (`daemon-reload`) while a rule held has taken what is in
    /// /run/environment.d for its own. What shows again once it is taken away is covered.
    private func cover(_ before: Settings) async throws(PlaceError) {
        let after = try await read(Set(before.keys)) ?? [:]
        let left = after.filter { $0.value != .unset && $0.value == before[$0.key] }.keys.sorted()
        if left.isEmpty { return }
        try await change([], left.map { "\($0)=" })
        covered.formUnion(left)
    }

    private func change(_ unset: [String], _ set: [String]) async throws(PlaceError) {
        do throws(BusError) {
            _ = try await manager.call("UnsetAndSetEnvironment", [.texts(unset), .texts(set)])
        } catch {
            throw error.placeError("variables of the session", "the user's systemd")
        }
    }
}
