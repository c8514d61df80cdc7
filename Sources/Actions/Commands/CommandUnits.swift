internal import Glibc
internal import Platform
internal import SystemBus

/// Runs each command as a transient unit of systemd's: whatever it starts is in its control group, and ends with it.
@ActionActor
public final class CommandUnits: CommandPerforming {
    /// How long systemd may take to start or end what was asked for, beyond what the command may take (µs).
    private static let slack: Int64 = 15_000_000

    private let manager: ServiceManager
    private let gate = Gate(limit: 16)

    public init(_ manager: ServiceManager) { self.manager = manager }

    public func run(
        _ command: Command, id: UInt64, user: String?, started: @escaping () -> Void
    ) async -> CommandResult {
        guard await gate.enter() else { return CommandResult(end: .dropped) }
        defer { gate.leave() }
        do throws(SystemError) {
            let run = try CommandUnit(command, id: id, user: user, of: manager, started: started)
            // Not cancelled with the task: the unit has to be ended first.
            let work = ActionActor.task { await run.result() }
            return await withTaskCancellationHandler {
                await work.value
            } onCancel: {
                ActionActor.shared.loop.perform { ActionActor.assumeIsolated { run.cancel() } }
            }
        } catch {
            return CommandResult(end: .failedToStart(.system(error)))
        }
    }

    public func stopLeftovers() async {
        guard
            let reply = try? await manager.call(
                "ListUnitsByPatterns", [.texts([]), .texts(["\(TransientUnit.prefix)*.service"])])
        else { return }
        let names = (reply.first?.list ?? []).compactMap { $0.list?.first?.text }
        let stops = names.map { name in ActionActor.task { await stop(name) } }
        for stop in stops { await stop.value }
    }

    public func prepare() {
        ActionActor.task { [manager] in
            try? await manager.subscribe()
            manager.forgetVariables()
            _ = try? await manager.variables()
        }
    }

    private func stop(_ unit: String) async {
        guard ServiceManager.isName(unit) else { return }
        do throws(BusError) {
            let watch = try manager.watchJobs()
            defer { watch.end() }
            try await manager.subscribe()
            let deadline = Timestamp.now().boottime + Int64(TransientUnit.patience) + CommandUnits.slack
            let reply = try await manager.call("StopUnit", [.text(unit), .text("replace")])
            if let job = reply.first?.text { _ = try await manager.ended(job, watch, until: deadline) }
        } catch {
            // It has gone meanwhile, or systemd has.
            Log.write(.warning, "\(error.placeError("end of \(unit)", "systemd"))")
        }
    }
}

/// Lets a few in at a time, the others in their order.
@ActionActor
final class Gate {
    private let limit: Int
    private var inside = 0
    private var waiting: [Promise<Void>] = []

    init(limit: Int) { self.limit = limit }

    /// False where its task was cancelled before its turn.
    func enter() async -> Bool {
        if Task.isCancelled { return false }
        if inside < limit {
            inside += 1
            return true
        }
        let turn = Promise<Void>()
        waiting.append(turn)
        if case .value = await turn.value(until: nil) { return true }
        guard let position = waiting.firstIndex(where: { $0 === turn }) else {
            // Its turn came in the same moment.
            leave()
            return false
        }
        waiting.remove(at: position)
        return false
    }

    func leave() {
        if waiting.isEmpty { inside -= 1 } else { waiting.removeFirst().fulfil(()) }
    }
}
