internal import Platform
internal import SystemBus

/// One command as a unit of systemd's, from its start until nothing of it is left.
@ActionActor
final class CommandUnit {
    private static let service = "org.freedesktop.systemd1.Service"
    private static let slack: Int64 = 15_000_000

    private enum Cause {
        case timedOut, cancelled
    }

    private let command: Command
    private let user: String?
    private let id: UInt64
    private let manager: ServiceManager
    private let hasStarted: () -> Void
    private let began = Timestamp.now().boottime
    private let output: PipeReader
    private let errors: PipeReader
    /// A file with what the command reads.
    private var input: FileDescriptor?
    private var cause: Cause?
    private var isRunning = false
    private var timer: EventLoop.Timer?

    init(
        _ command: Command, id: UInt64, user: String?, of manager: ServiceManager, started: @escaping () -> Void
    ) throws(SystemError) {
        self.command = command
        self.id = id
        self.user = user
        self.manager = manager
        hasStarted = started
        output = try PipeReader(on: ActionActor.shared.loop)
        errors = try PipeReader(on: ActionActor.shared.loop)
        input = try Files.inMemory(command.input)
    }

    private var name: String { "\(TransientUnit.prefix)\(id).service" }

    /// Runs it to its end, once.
    func result() async -> CommandResult {
        var result = CommandResult(end: .cancelled)
        do {
            try output.start()
            try errors.start()
            result.end = try await end()
        } catch let error as SystemError {
            result.end = .failedToStart(.system(error))
        } catch let error as BusError {
            let problem = error.placeError(name, "systemd")
            result.end = isRunning ? .lost(because: "\(problem)") : .failedToStart(.manager("\(problem)"))
        } catch {
            result.end = .lost(because: "\(error)")
        }
        if let timer { ActionActor.shared.loop.cancel(timer) }
        // What it wrote is in the pipes; whoever else has them open is not waited for.
        result.output = output.finish()
        result.errors = errors.finish()
        result.duration = Timestamp.now().boottime - began
        return result
    }

    func cancel() { end(because: .cancelled) }

    private func end() async throws(BusError) -> CommandResult.End {
        let environment = try await manager.variables()
        try await manager.subscribe()
        let jobs = try manager.watchJobs()
        defer { jobs.end() }
        if cause != nil { return .dropped }
        let job = try await start(environment)
        isRunning = true
        // Not before: its state is asked for after that.
        let path = ServiceManager.path(of: name)
        let states = try manager.bus.watch(
            "sender='\(ServiceManager.name)',path='\(path)',interface='org.freedesktop.DBus.Properties',"
                + "member='PropertiesChanged',arg0='\(ServiceManager.unit)'")
        defer { states.end() }
        // What was cancelled meanwhile is ended now.
        if cause != nil { stop() }
        scheduleTimeout()
        let started = try await manager.ended(job, jobs, until: began + command.timeout + CommandUnit.slack) == "done"
        if started { hasStarted() }
        try await waitUntilOver(path, states)
        let end = try await outcome(path, started)
        // Nothing more is asked of it.
        _ = try? await manager.call("UnrefUnit", [.text(name)])
        switch cause {
        case .cancelled: return .cancelled
        case .timedOut: return .timedOut
        case nil: return end
        }
    }

    private func start(_ environment: [String]) async throws(BusError) -> String {
        let unit = TransientUnit(
            command, id: id, user: user, environment: environment, input: input?.rawValue ?? -1,
            output: output.writing, errors: errors.writing)
        // What is sent are duplicates: from here on a pipe that nobody writes to ends.
        defer {
            input = nil
            output.handedOver()
            errors.handedOver()
        }
        let reply = try await manager.call("StartTransientUnit", unit.arguments)
        guard let job = reply.first?.text else { throw .noAnswer }
        return job
    }

    /// Until nothing is left of its control group.
    private func waitUntilOver(_ path: String, _ states: SignalWatch) async throws(BusError) {
        let limit = began + command.timeout + Int64(TransientUnit.patience) + 2 * CommandUnit.slack
        while true {
            let state = try await manager.bus.property(ServiceManager.name, path, ServiceManager.unit, "ActiveState")
            if ["inactive", "failed"].contains(state.text) { return }
            _ = try await states.first(until: limit) { signal in
                signal.values.dropFirst().first?["ActiveState"] ?? .flag(true)
            }
        }
    }

    private func outcome(_ path: String, _ hasStarted: Bool) async throws(BusError) -> CommandResult.End {
        func get(_ property: String) async throws(BusError) -> BusValue {
            try await manager.bus.property(ServiceManager.name, path, CommandUnit.service, property)
        }
        let result = try await get("Result").text ?? ""
        let code = try await get("ExecMainCode").number ?? 0
        let status = try await get("ExecMainStatus").number ?? 0
        return CommandResult.End(
            command, user: user, hasStarted: hasStarted, result: result, code: code, status: status)
    }

    // MARK: Ending it

    /// systemd counts no time asleep; here it counts, as everywhere.
    private func scheduleTimeout() {
        let grace: Int64 = 500_000
        timer = ActionActor.shared.loop.schedule(at: began + command.timeout + grace) { [weak self] in
            ActionActor.assumeIsolated { self?.end(because: .timedOut) }
        }
    }

    /// The first cause counts.
    private func end(because cause: Cause) {
        guard self.cause == nil else { return }
        self.cause = cause
        if isRunning { stop() }
    }

    private func stop() {
        ActionActor.task { _ = try? await manager.call("StopUnit", [.text(name), .text("replace")]) }
    }
}
