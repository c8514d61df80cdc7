import Platform
import SystemBus
import TestSupport

/// NetworkManager with connections and whether they are up.
final class FakeNetworkManager: @unchecked Sendable {
    struct Connection {
        let id: String
        let uuid: String
    }

    private static let name = "org.freedesktop.NetworkManager"
    private static let path = "/org/freedesktop/NetworkManager"
    private static let active = "org.freedesktop.NetworkManager.Connection.Active"

    private struct State {
        var connections: [String: Connection] = [:]
        /// Active connections by their paths.
        var active: [String: (uuid: String, state: UInt32)] = [:]
        var next = 0
        /// Of NMActiveConnectionStateReason, why the next activation fails.
        var refusal: UInt32?
    }

    private let state = Lock(State())
    private var fake: FakeService?

    init(on bus: TestBus, _ connections: [Connection]) throws {
        for (number, connection) in connections.enumerated() {
            state.withLock { $0.connections["\(FakeNetworkManager.path)/Settings/\(number)"] = connection }
        }
        fake = try FakeService(FakeNetworkManager.name, at: bus.address) { [unowned self] in answer($0) }
    }

    var service: FakeService {
        guard let fake else { fatalError("it is being made") }
        return fake
    }

    func isUp(_ uuid: String) -> Bool {
        state.withLock { state in state.active.values.contains { $0.uuid == uuid && $0.state == 2 } }
    }

    /// Somebody does it by hand.
    func set(_ uuid: String, isUp: Bool) {
        state.withLock { state in
            state.active = state.active.filter { $0.value.uuid != uuid }
            if isUp { state.active["\(FakeNetworkManager.path)/ActiveConnection/hand"] = (uuid, 2) }
        }
    }

    func refuseNext(because reason: UInt32) { state.withLock { $0.refusal = reason } }

    private func answer(_ call: FakeService.Call) -> FakeService.Answer {
        state.withLock { state in
            switch (call.member, call.text(1)) {
            case ("ListConnections", _):
                return .value(.list(state.connections.keys.sorted().map { .path($0) }, of: "o"))
            case ("GetConnectionByUuid", _):
                guard let path = state.connections.first(where: { $0.value.uuid == call.text(0) })?.key else {
                    return .error("\(FakeNetworkManager.name).Settings.InvalidConnection", "No connection")
                }
                return .value(.path(path))
            case ("GetSettings", _):
                guard let connection = state.connections[call.path] else { return .unknown }
                return .value(
                    .list(
                        [
                            .entry(
                                .text("connection"),
                                .properties(["id": .text(connection.id), "uuid": .text(connection.uuid)]))
                        ], of: "{sa{sv}}"))
            case ("Get", "ActiveConnections"):
                return .value(.variant(.list(state.active.keys.sorted().map { .path($0) }, of: "o")))
            case ("Get", "Uuid"):
                return state.active[call.path].map { .value(.variant(.text($0.uuid))) } ?? .unknown
            case ("Get", "State"):
                return state.active[call.path].map { .value(.variant(.unsigned($0.state))) } ?? .unknown
            case ("ActivateConnection", _): return activate(call.text(0), &state)
            case ("DeactivateConnection", _):
                let path = call.text(0)
                guard state.active[path] != nil else {
                    return .error("\(FakeNetworkManager.name).ConnectionNotActive", "The connection was not active")
                }
                state.active[path]?.state = 3
                become(4, 2, path)
                return .done
            default: return .unknown
            }
        }
    }

    private func activate(_ connection: String, _ state: inout State) -> FakeService.Answer {
        guard let uuid = state.connections[connection]?.uuid else { return .unknown }
        state.next += 1
        let path = "\(FakeNetworkManager.path)/ActiveConnection/\(state.next)"
        state.active[path] = (uuid, 1)
        if let reason = state.refusal { become(4, reason, path) } else { become(2, 1, path) }
        state.refusal = nil
        return .value(.path(path))
    }

    /// After the answer.
    private func become(_ new: UInt32, _ reason: UInt32, _ path: String) {
        service.perform { [self] in
            state.withLock { state in
                if new == 4 { state.active[path] = nil } else { state.active[path]?.state = new }
            }
            service.send(path, FakeNetworkManager.active, "StateChanged", [.unsigned(new), .unsigned(reason)])
        }
    }
}
