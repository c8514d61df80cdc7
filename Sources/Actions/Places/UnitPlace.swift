internal import Platform
internal import SystemBus

/// Whether a unit runs: `active` is `yes` or `no`.
///
/// One that is starting counts as active and one that is stopping does not, so that what undoes a start that nobody
/// waited for is written, and what is under way is not asked for again. One that is not there is not active.
@ActionActor
final class UnitPlace: Place {
    static let setting = "active"
    /// systemd has limits of its own, 90 s unless a unit says otherwise (µs).
    nonisolated static let limit: Int64 = 120_000_000

    private let unit: String
    private let manager: ServiceManager
    private let limit: Int64

    /// - Parameter limit: how long a start or a stop may take, in µs.
    init(_ unit: String, of manager: ServiceManager, limit: Int64 = UnitPlace.limit) {
        self.unit = unit
        self.manager = manager
        self.limit = limit
    }

    func read(_ names: Set<String>) async throws(PlaceError) -> Settings? {
        guard ServiceManager.isName(unit) else { throw .failed("\(unit) is no name of a unit, systemd.unit(5)") }
        do throws(BusError) {
            return [UnitPlace.setting: .value(UnitPlace.isActive(try await state()) ? "yes" : "no")]
        } catch {
            throw error.placeError("state of \(unit)", "systemd")
        }
    }

    func write(_ settings: Settings) async throws(PlaceError) {
        guard let wanted = settings[UnitPlace.setting] else { return }
        let isStart = wanted == .value("yes")
        // Somebody else's job may take the place of ours.
        if try await run(isStart) == .canceled, try await run(isStart) == .canceled {
            throw .failed("\(isStart ? "start" : "stop") of \(unit): something else stops and starts it too; \(remedy)")
        }
    }

    private enum End {
        case done, canceled
    }

    private var remedy: String { "\(manager.command) status \(unit)" }

    private func run(_ isStart: Bool) async throws(PlaceError) -> End {
        let purpose = "\(isStart ? "start" : "stop") of \(unit)"
        let (result, state): (String?, String)
        do throws(BusError) {
            (result, state) = try await change(isStart)
        } catch {
            throw explain(error, purpose)
        }
        guard let result else {
            throw .failed("\(purpose): not done after \(limit / 1_000_000) s, it is \(state); \(remedy)")
        }
        if UnitPlace.isActive(state) == isStart { return .done }
        if result == "canceled" { return .canceled }
        throw .failed("\(purpose): \(words(result, state, isStart)); \(remedy)")
    }

    /// How the job ended, nil where it has not in time, and what the unit is then.
    private func change(_ isStart: Bool) async throws(BusError) -> (String?, String) {
        let deadline = Timestamp.now().boottime + limit
        let watch = try manager.watchJobs()
        defer { watch.end() }
        try await manager.subscribe()
        let reply = try await manager.call(isStart ? "StartUnit" : "StopUnit", [.text(unit), .text("replace")])
        guard let job = reply.first?.text else { throw .noAnswer }
        var result: String?
        do throws(BusError) {
            result = try await manager.ended(job, watch, until: deadline)
        } catch {
            if error != .noAnswer { throw error }
        }
        return (result, try await state())
    }

    private func words(_ result: String, _ state: String, _ isStart: Bool) -> String {
        switch result {
        case "done" where isStart:
            // As a oneshot without RemainAfterExit= does.
            "it started and is \(state) already: only what keeps running, or has RemainAfterExit=yes, can be held"
        case "done": "it stopped and is \(state) again"
        case "dependency": "a unit that it needs failed"
        case "timeout": "it took longer than systemd allows"
        case "skipped": "a condition of it does not hold"
        default: "\(result), it is \(state)"
        }
    }

    private func explain(_ error: BusError, _ purpose: String) -> PlaceError {
        switch error.name?.split(separator: ".").last {
        // What is not there runs no more.
        case "NoSuchUnit": .failed("\(purpose): there is no such unit; \(manager.command) list-unit-files")
        case "UnitMasked": .failed("\(purpose): it is masked; \(manager.command) unmask \(unit)")
        case "LoadFailed", "BadUnitSetting": .failed("\(purpose): its file has a mistake; \(remedy)")
        case "AccessDenied", "InteractiveAuthorizationRequired":
            .failed("\(purpose): systemd does not let this process do that")
        default: error.placeError(purpose, "systemd")
        }
    }

    /// systemd's ActiveState; of what cannot be loaded too.
    private func state() async throws(BusError) -> String {
        let reply = try await manager.call("LoadUnit", [.text(unit)])
        guard let path = reply.first?.text else { throw .noAnswer }
        let state = try await manager.bus.property(ServiceManager.name, path, ServiceManager.unit, "ActiveState")
        guard let text = state.text else { throw .noAnswer }
        return text
    }

    private static func isActive(_ state: String) -> Bool { ["active", "reloading", "activating"].contains(state) }
}
