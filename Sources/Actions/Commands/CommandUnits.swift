internal import Glibc
internal import Platform
internal import SystemBus

/// Runs each command as a transient unit of systemd's: whatever it starts is in its control group, and ends with it.
@ActionActor
public final class CommandUnits: CommandPerforming {
    /// µs
    struct Limits: Sendable {
        /// How long systemd may take to start or end what was asked for, beyond what the command may take.
        var slack: Int64 = 15_000_000
        /// How long what was told to end may take before it is killed.
        var patience = Int64(TransientUnit.patience)
        /// What failed is tried again after this, twice as long each time.
        var firstRetry: Int64 = 250_000
        var lastRetry: Int64 = 5_000_000

        /// Lets the others go on for that long.
        @ActionActor func pause(_ delay: inout Int64) async {
            _ = await Promise<Void>().value(until: Timestamp.now().boottime + delay)
            delay = min(2 * delay, lastRetry)
        }
    }

    private let manager: ServiceManager
    private let limits: Limits
    private let gate = Gate(limit: 16)
    /// Units that somebody in this process waits for.
    private var awaited: Set<String> = []
    private var isSweeping = false

    public convenience init(_ manager: ServiceManager) { self.init(manager, limits: Limits()) }

    init(_ manager: ServiceManager, limits: Limits) {
        self.manager = manager
        self.limits = limits
    }

    public func run(
        _ command: Command, id: UInt64, user: String?, started: @escaping () -> Void
    ) async -> CommandResult {
        guard await gate.enter() else { return CommandResult(end: .dropped) }
        defer { gate.leave() }
        do throws(SystemError) {
            let run = try CommandUnit(
                command, id: id, user: user, of: manager, limits: limits, started: started)
            awaited.insert(run.name)
            // Not cancelled with the task: the unit has to be ended first.
            let work = ActionActor.task { await run.result() }
            let result = await withTaskCancellationHandler {
                await work.value
            } onCancel: {
                ActionActor.shared.loop.perform { ActionActor.assumeIsolated { run.cancel() } }
            }
            awaited.remove(run.name)
            // It may run on, and nobody waits for it any more.
            if case .lost = result.end { sweepLater() }
            return result
        } catch {
            return CommandResult(end: .failedToStart(.system(error)))
        }
    }

    public func stopLeftovers() async { if await !sweep() { sweepLater() } }

    private func sweepLater() {
        guard !isSweeping else { return }
        isSweeping = true
        ActionActor.task { [weak self, limits] in
            var delay = limits.firstRetry
            repeat { await limits.pause(&delay) } while await self?.sweep() == false
            self?.isSweeping = false
        }
    }

    public func prepare() {
        ActionActor.task { [manager] in
            try? await manager.subscribe()
            manager.forgetVariables()
            _ = try? await manager.variables()
        }
    }

    /// Ends what runs and nobody waits for; false where that has to be tried again.
    private func sweep() async -> Bool {
        guard
            let reply = try? await manager.call(
                "ListUnitsByPatterns", [.texts([]), .texts(["\(TransientUnit.prefix)*.service"])]),
            let units = reply.first?.list
        else { return false }
        let names = units.compactMap { $0.list?.first?.text }.filter { !awaited.contains($0) }
        let stops = names.map { name in ActionActor.task { await stop(name) } }
        var isDone = true
        for stop in stops where await !stop.value { isDone = false }
        return isDone
    }

    private func stop(_ unit: String) async -> Bool {
        guard ServiceManager.isName(unit) else { return true }
        do throws(BusError) {
            let watch = try manager.watchJobs()
            defer { watch.end() }
            try await manager.subscribe()
            let deadline = Timestamp.now().boottime + limits.patience + limits.slack
            let reply = try await manager.call("StopUnit", [.text(unit), .text("replace")])
            if let job = reply.first?.text { _ = try await manager.ended(job, watch, until: deadline) }
            return true
        } catch {
            if error.isNoSuchUnit { return true }
            Log.write(.warning, "\(error.placeError("end of \(unit)", "systemd"))")
            return false
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
