internal import Platform
internal import SystemBus

/// Locks the screens that somebody sits at, by logind, and sees that they are.
@ActionActor
public final class SessionLock {
    private static let name = "org.freedesktop.login1"
    private static let path = "/org/freedesktop/login1"
    private static let session = "org.freedesktop.login1.Session"
    /// µs; what has not locked by then has nobody who locks it.
    public nonisolated static let limit: Int64 = 5_000_000

    private struct Session {
        let id: String
        let user: String
        let path: String
    }

    private let bus: Bus
    private let limit: Int64

    /// - Parameters:
    ///   - bus: the machine's.
    ///   - limit: how long a session may take to lock, in µs.
    public init(_ bus: Bus, limit: Int64 = SessionLock.limit) {
        self.bus = bus
        self.limit = limit
    }

    /// Returns when every active session on this machine's own screens says that it is locked.
    public func lock() async throws(PlaceError) {
        do {
            let deadline = Timestamp.now().boottime + limit
            let sessions = try await sessions(until: deadline)
            guard !sessions.isEmpty else { throw PlaceError.failed("lock: nobody has a session at this machine") }
            let locks = sessions.map { session in
                Task(executorPreference: ActionActor.shared.loop) { try await self.lock(session, until: deadline) }
            }
            var problems: [String] = []
            for lock in locks {
                do {
                    try await withTaskCancellationHandler {
                        try await lock.value
                    } onCancel: {
                        lock.cancel()
                    }
                } catch BusError.cancelled {
                    throw BusError.cancelled
                } catch {
                    problems.append("\(error)")
                }
            }
            if !problems.isEmpty { throw PlaceError.failed("lock: \(problems.joined(separator: "; "))") }
        } catch let error as PlaceError {
            throw error
        } catch let error as BusError {
            throw error.placeError("lock", "systemd-logind")
        } catch {
            throw .failed("lock: \(error)")
        }
    }

    private func lock(_ session: Session, until deadline: Int64) async throws {
        let watch = try bus.watch(
            "path='\(session.path)',interface='org.freedesktop.DBus.Properties',member='PropertiesChanged',"
                + "arg0='\(SessionLock.session)'", of: SessionLock.name)
        defer { watch.end() }
        do throws(BusError) {
            _ = try await bus.call(
                SessionLock.name, SessionLock.path, "org.freedesktop.login1.Manager", "LockSession",
                [.text(session.id)], limit: SessionLock.left(until: deadline))
            while try await !isLocked(session, until: deadline) {
                _ = try await watch.first(until: deadline) { _ in true }
            }
        } catch {
            switch error {
            case .cancelled: throw error
            case .noAnswer:
                throw PlaceError.failed(
                    "session \(session.id) of \(session.user) has not locked within "
                        + "\(limit / 1_000_000) s: it has no screen locker, or one that logind does not know"
                )
            default: throw error.placeError("session \(session.id) of \(session.user)", "systemd-logind")
            }
        }
    }

    private func isLocked(_ session: Session, until deadline: Int64) async throws(BusError) -> Bool {
        let hint = try await bus.property(
            SessionLock.name, session.path, SessionLock.session, "LockedHint", limit: SessionLock.left(until: deadline))
        guard let flag = hint.flag else { throw .noAnswer }
        return flag
    }

    /// What is left of the time; sd-bus takes none for its own limit.
    private static func left(until deadline: Int64) -> Int64 { max(deadline - Timestamp.now().boottime, 1) }

    /// Those that are shown now, on a screen of this machine.
    private func sessions(until deadline: Int64) async throws(BusError) -> [Session] {
        let reply = try await bus.call(
            SessionLock.name, SessionLock.path, "org.freedesktop.login1.Manager", "ListSessions",
            limit: SessionLock.left(until: deadline))
        guard let entries = reply.first?.list else { throw .noAnswer }
        var found: [Session] = []
        for entry in entries {
            guard let fields = entry.list, fields.count >= 5, let id = fields[0].text, let user = fields[2].text,
                let path = fields[4].text
            else { throw .noAnswer }
            do throws(BusError) {
                let session = try await bus.properties(
                    SessionLock.name, path, SessionLock.session, limit: SessionLock.left(until: deadline))
                guard session["Class"]?.text == "user", session["Active"]?.flag ?? false,
                    // Somebody far away sees no screen of this machine.
                    !(session["Remote"]?.flag ?? false),
                    ["x11", "wayland", "mir", "tty"].contains(session["Type"]?.text) || fields[3].text == "seat0"
                else { continue }
                found.append(Session(id: id, user: user, path: path))
            } catch {
                // It ended meanwhile.
                guard error.isUnknownObject else { throw error }
            }
        }
        return found
    }
}
