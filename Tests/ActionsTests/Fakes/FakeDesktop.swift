import Platform
import SystemBus
import TestSupport

/// logind with sessions that lock when they are told to.
final class FakeLogin: @unchecked Sendable {
    private static let name = "org.freedesktop.login1"
    private static let session = "org.freedesktop.login1.Session"

    struct Session {
        let id: String
        let kind: String
        var isRemote = false
        /// Whether anything locks it.
        var hasLocker = true
        var isLocked = false
    }

    private let sessions: Lock<[Session]>
    private var fake: FakeService?

    init(on bus: TestBus, _ sessions: [Session]) throws {
        self.sessions = Lock(sessions)
        fake = try FakeService(FakeLogin.name, at: bus.address) { [unowned self] in answer($0) }
    }

    var service: FakeService {
        guard let fake else { fatalError("it is being made") }
        return fake
    }

    func unlock() {
        sessions.withLock { sessions in
            for index in sessions.indices { sessions[index].isLocked = false }
        }
    }

    var locked: [String] { sessions.withLock { $0.filter(\.isLocked).map(\.id) } }

    private static func path(_ id: String) -> String { "/org/freedesktop/login1/session/_3\(id)" }

    private func answer(_ call: FakeService.Call) -> FakeService.Answer {
        let known = sessions.withLock { $0 }
        switch call.member {
        case "ListSessions":
            return .value(
                .list(
                    known.map {
                        .structure([
                            .text($0.id), .unsigned(1_000), .text("ada"), .text("seat0"), .path(FakeLogin.path($0.id)),
                        ])
                    }, of: "(susso)"))
        case "LockSession":
            guard let index = known.firstIndex(where: { $0.id == call.text(0) }) else {
                return .error("org.freedesktop.login1.NoSuchSession", "No session '\(call.text(0))' known")
            }
            guard known[index].hasLocker else { return .done }
            sessions.withLock { $0[index].isLocked = true }
            let path = FakeLogin.path(known[index].id)
            service.perform { [self] in service.changed(path, FakeLogin.session, ["LockedHint": .flag(true)]) }
            return .done
        case "GetAll", "Get":
            guard let session = known.first(where: { FakeLogin.path($0.id) == call.path }) else { return .unknown }
            let properties: [String: BusArgument] = [
                "Class": .text("user"), "Active": .flag(true), "Remote": .flag(session.isRemote),
                "Type": .text(session.kind), "LockedHint": .flag(session.isLocked),
            ]
            if call.member == "GetAll" { return .value(.properties(properties)) }
            return properties[call.text(1)].map { .value(.variant($0)) } ?? .noProperty
        default: return .unknown
        }
    }
}

/// A desktop that shows notifications.
final class FakeDesktop: @unchecked Sendable {
    private let texts = Lock<[String]>([])
    private var fake: FakeService?

    init(on bus: TestBus) throws {
        fake = try FakeService("org.freedesktop.Notifications", at: bus.address) { [unowned self] call in
            guard call.member == "Notify" else { return .unknown }
            texts.withLock { $0.append("\(call.text(3)): \(call.text(4))") }
            return .value(.unsigned(1))
        }
    }

    var service: FakeService {
        guard let fake else { fatalError("it is being made") }
        return fake
    }

    func clear() { texts.withLock { $0 = [] } }
    var shown: [String] { texts.withLock { $0 } }
}
