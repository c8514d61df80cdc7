internal import Platform
internal import SystemBus

/// Whether a connection of NetworkManager's is up, be it of a VPN plugin or WireGuard: `state` is `up` or `down`.
///
/// One that is being activated counts as up, one that is being deactivated as down.
@ActionActor
final class NetworkManagerPlace: Place {
    static let setting = "state"
    /// µs; a VPN that is not up by then waits for something that does not come.
    nonisolated static let limit: Int64 = 60_000_000

    private static let service = "org.freedesktop.NetworkManager"
    private static let path = "/org/freedesktop/NetworkManager"
    private static let settings = "org.freedesktop.NetworkManager.Settings"
    private static let active = "org.freedesktop.NetworkManager.Connection.Active"

    private struct Connection {
        let path: String
        let uuid: String
    }

    private struct Activation {
        let path: String
        let state: State
    }

    /// NMActiveConnectionState.
    private enum State: Int64 {
        case unknown, activating, activated, deactivating, deactivated

        var isUp: Bool { self == .activating || self == .activated }
    }

    /// The connection's name or UUID.
    private let name: String
    private let bus: Bus
    private let limit: Int64

    /// - Parameter limit: how long a start or an end may take, in µs.
    init(_ name: String, on bus: Bus, limit: Int64 = NetworkManagerPlace.limit) {
        self.name = name
        self.bus = bus
        self.limit = limit
    }

    func read(_ names: Set<String>) async throws(PlaceError) -> Settings? {
        do {
            var isUp = false
            if let connection = try await connection() {
                isUp = try await activations(of: connection).contains { $0.state.isUp }
            }
            return [NetworkManagerPlace.setting: .value(isUp ? "up" : "down")]
        } catch {
            throw placeError(error, "state of connection \(name)")
        }
    }

    func write(_ settings: Settings) async throws(PlaceError) {
        guard let wanted = settings[NetworkManagerPlace.setting] else { return }
        let isStart = wanted == .value("up")
        do {
            if isStart { try await activate() } else { try await deactivate() }
        } catch {
            throw placeError(error, "\(isStart ? "activation" : "deactivation") of connection \(name)")
        }
    }

    private func placeError(_ error: any Error, _ purpose: String) -> PlaceError {
        switch error {
        case let error as PlaceError: error
        case BusError.noAnswer:
            .failed(
                "\(purpose): not done after \(limit / 1_000_000) s, or NetworkManager does not "
                    + "answer; journalctl -u NetworkManager")
        case let error as BusError: error.placeError(purpose, "NetworkManager")
        default: .failed("\(purpose): \(error)")
        }
    }

    // MARK: Activation

    private func activate() async throws {
        guard let connection = try await connection() else {
            throw PlaceError.failed("there is no connection \(name); nmcli connection show lists those there are")
        }
        let deadline = Timestamp.now().boottime + limit
        let watch = try watchStates()
        defer { watch.end() }
        let present = try await activations(of: connection)
        if present.contains(where: { $0.state == .activated }) { return }
        // Somebody has begun already, or it goes down and has to be down before it can come up.
        if let begun = present.first(where: { $0.state == .activating }) {
            return try await waitUntilUp(begun.path, watch, until: deadline)
        }
        for going in present where going.state == .deactivating {
            try await waitUntilDown(going.path, watch, until: deadline)
        }
        let reply = try await call(
            NetworkManagerPlace.path, NetworkManagerPlace.service, "ActivateConnection",
            [.path(connection.path), .path("/"), .path("/")])
        guard let path = reply.first?.text else { throw BusError.noAnswer }
        try await waitUntilUp(path, watch, until: deadline)
    }

    private func deactivate() async throws {
        guard let connection = try await connection() else { return }
        let deadline = Timestamp.now().boottime + limit
        let watch = try watchStates()
        defer { watch.end() }
        for activation in try await activations(of: connection) {
            if activation.state != .deactivating {
                do throws(BusError) {
                    _ = try await call(
                        NetworkManagerPlace.path, NetworkManagerPlace.service, "DeactivateConnection",
                        [.path(activation.path)])
                } catch {
                    // It went down by itself.
                    guard error.name?.hasSuffix(".ConnectionNotActive") ?? false else { throw error }
                }
            }
            try await waitUntilDown(activation.path, watch, until: deadline)
        }
    }

    private func waitUntilUp(_ path: String, _ watch: SignalWatch, until deadline: Int64) async throws {
        let reached = try await state(of: path)
        if reached == .activated { return }
        // Gone already: the signal that says why has come before, if there was one.
        let deadline = reached == nil ? Timestamp.now().boottime + 1_000_000 : deadline
        let (state, reason) = try await watch.first(until: deadline) { signal -> (State, Int64)? in
            guard signal.path == path, let number = signal.values.first?.number, let state = State(rawValue: number),
                [.activated, .deactivating, .deactivated].contains(state)
            else { return nil }
            return (state, signal.values.dropFirst().first?.number ?? 0)
        }
        guard state == .activated else {
            throw PlaceError.failed(
                "activation of connection \(name): \(NetworkManagerPlace.words(forReason: reason)); "
                    + "journalctl -u NetworkManager")
        }
    }

    private func waitUntilDown(_ path: String, _ watch: SignalWatch, until deadline: Int64) async throws {
        // What has gone has no state.
        guard let state = try await state(of: path), state != .deactivated else { return }
        try await watch.first(until: deadline) { signal -> Void? in
            signal.path == path && signal.values.first?.number == State.deactivated.rawValue ? () : nil
        }
    }

    private func watchStates() throws(BusError) -> SignalWatch {
        try bus.watch(
            "interface='\(NetworkManagerPlace.active)',member='StateChanged',"
                + "path_namespace='\(NetworkManagerPlace.path)/ActiveConnection'", of: NetworkManagerPlace.service)
    }

    /// NMActiveConnectionStateReason.
    private static func words(forReason reason: Int64) -> String {
        switch reason {
        case 2: "the user disconnected it"
        case 3: "the device it runs on was disconnected"
        case 4: "the service of the VPN stopped"
        case 5: "the server's IP configuration is not valid"
        case 6: "the server did not answer in time"
        case 7: "the service of the VPN did not start in time"
        case 8: "the service of the VPN did not start; is its plugin installed?"
        case 9: "it needs a secret that is not stored and nobody is there to be asked"
        case 10: "the server did not accept the login"
        case 11: "the connection was deleted"
        case 12: "a connection that it needs failed"
        case 13: "its device could not be made"
        case 14: "its device went away"
        default: "it failed"
        }
    }

    // MARK: What there is

    private func call(
        _ path: String, _ interface: String, _ member: String, _ arguments: [BusArgument] = []
    ) async throws(BusError) -> [BusValue] {
        try await bus.call(NetworkManagerPlace.service, path, interface, member, arguments)
    }

    /// The connection meant; nil where there is none.
    private func connection() async throws -> Connection? {
        let path = "\(NetworkManagerPlace.path)/Settings"
        if name.utf8.count == 36, name.utf8.count(where: { $0 == UInt8(ascii: "-") }) == 4 {
            do throws(BusError) {
                let reply = try await call(path, NetworkManagerPlace.settings, "GetConnectionByUuid", [.text(name)])
                if let found = reply.first?.text { return Connection(path: found, uuid: name) }
            } catch {
                // It may be the name of one all the same.
                if case .refused = error {} else { throw error }
            }
        }
        var found: [Connection] = []
        let reply = try await call(path, NetworkManagerPlace.settings, "ListConnections")
        for path in try NetworkManagerPlace.paths(reply.first) {
            do throws(BusError) {
                let settings = try await call(path, "\(NetworkManagerPlace.settings).Connection", "GetSettings")
                let connection = settings.first?["connection"]
                guard let identifier = connection?["id"]?.text, let uuid = connection?["uuid"]?.text else {
                    throw .noAnswer
                }
                // Names are compared by their octets.
                if identifier.utf8.elementsEqual(name.utf8) { found.append(Connection(path: path, uuid: uuid)) }
            } catch {
                // Deleted meanwhile, or another user's.
                guard error.isUnknownObject || error.name == "\(NetworkManagerPlace.settings).PermissionDenied" else {
                    throw error
                }
            }
        }
        guard found.count <= 1 else {
            throw PlaceError.failed(
                "\(found.count) connections are called \(name): say which by its UUID, "
                    + found.map(\.uuid).sorted().joined(separator: " or "))
        }
        return found.first
    }

    private func activations(of connection: Connection) async throws(BusError) -> [Activation] {
        let paths = try await bus.property(
            NetworkManagerPlace.service, NetworkManagerPlace.path, NetworkManagerPlace.service, "ActiveConnections")
        var found: [Activation] = []
        for path in try NetworkManagerPlace.paths(paths) {
            do throws(BusError) {
                let uuid = try await bus.property(
                    NetworkManagerPlace.service, path, NetworkManagerPlace.active, "Uuid")
                guard let uuid = uuid.text else { throw BusError.noAnswer }
                guard uuid == connection.uuid, let state = try await state(of: path), state != .deactivated else {
                    continue
                }
                found.append(Activation(path: path, state: state))
            } catch {
                // Gone meanwhile.
                guard error.isUnknownObject else { throw error }
            }
        }
        return found
    }

    private static func paths(_ value: BusValue?) throws(BusError) -> [String] {
        guard let list = value?.list else { throw .noAnswer }
        let paths = list.compactMap(\.text)
        guard paths.count == list.count else { throw .noAnswer }
        return paths
    }

    /// Nil for an activation that is over.
    private func state(of path: String) async throws(BusError) -> State? {
        do throws(BusError) {
            let state = try await bus.property(
                NetworkManagerPlace.service, path, NetworkManagerPlace.active, "State")
            // To take nonsense for down would be to note that down is what was there.
            guard let state = state.number.flatMap(State.init) else { throw BusError.noAnswer }
            return state
        } catch {
            if error.isUnknownObject { return nil }
            throw error
        }
    }
}
