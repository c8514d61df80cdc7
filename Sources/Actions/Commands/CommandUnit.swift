internal import Platform
internal import SystemBus

/// One command as a unit of systemd's, from its start until nothing of it is left. Where the bus or an answer is lost on
/// the way, the unit is found again by its name.
@ActionActor
final class CommandUnit {
    private static let service = "org.freedesktop.systemd1.Service"

    private enum Cause {
        case timedOut, cancelled
    }

    private let command: Command
    private let user: String?
    private let manager: ServiceManager
    private let limits: CommandUnits.Limits
    private let hasStarted: () -> Void
    private let began = Timestamp.now().boottime
    private let output: PipeReader
    private let errors: PipeReader
    private let id: UInt64
    /// A file with what the command reads.
    private var input: FileDescriptor?
    private var cause: Cause?
    /// systemd was asked for the unit: from here on it may be there, whatever is known.
    private var wasAsked = false
    /// The program was there.
    private var hasBegun = false
    /// How its start ended, where that was heard.
    private var startResult: String?
    private var isStopping = false
    private var isOver = false
    private var timer: EventLoop.Timer?

    init(
        _ command: Command, id: UInt64, user: String?, of manager: ServiceManager, limits: CommandUnits.Limits,
        started: @escaping () -> Void
    ) throws(SystemError) {
        self.command = command
        self.id = id
        self.user = user
        self.manager = manager
        self.limits = limits
        hasStarted = started
        output = try PipeReader(on: ActionActor.shared.loop)
        errors = try PipeReader(on: ActionActor.shared.loop)
        input = try Files.inMemory(command.input)
    }

    var name: String { "\(TransientUnit.prefix)\(id).service" }
    private var path: String { ServiceManager.path(of: name) }
    /// When it is not waited for any longer.
    private var deadline: Int64 { began + command.timeout + limits.patience + 2 * limits.slack }

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
            result.end = wasAsked ? .lost(because: "\(problem)") : .failedToStart(.manager("\(problem)"))
        } catch {
            result.end = .lost(because: "\(error)")
        }
        isOver = true
        if let timer { ActionActor.shared.loop.cancel(timer) }
        // What it wrote is in the pipes; whoever else has them open is not waited for.
        result.output = output.finish()
        result.errors = errors.finish()
        result.duration = Timestamp.now().boottime - began
        return result
    }

    func cancel() { end(because: .cancelled) }

    private func end() async throws(BusError) -> CommandResult.End {
        var problem: BusError
        do throws(BusError) {
            return try await startAndFollow()
        } catch {
            guard wasAsked, error.isLoss else { throw error }
            problem = error
        }
        var delay = limits.firstRetry
        while Timestamp.now().boottime + delay < deadline {
            await limits.pause(&delay)
            do throws(BusError) {
                return try await findAndFollow()
            } catch {
                guard error.isLoss else { throw error }
                problem = error
            }
        }
        throw problem
    }

    private func startAndFollow() async throws(BusError) -> CommandResult.End {
        let variables = try await manager.variables()
        try await manager.subscribe()
        let jobs = try manager.watchJobs()
        defer { jobs.end() }
        if cause != nil { return .dropped }
        scheduleTimeout()
        let job = try await start(variables)
        // Not before: its state is asked for after that.
        let states = try watchStates()
        defer { states.end() }
        startResult = try await manager.ended(job, jobs, until: began + command.timeout + limits.slack)
        if startResult == "done" { begin() }
        return try await follow(states)
    }

    /// Goes on with the unit that was asked for, of which nothing has been heard since.
    private func findAndFollow() async throws(BusError) -> CommandResult.End {
        try await manager.subscribe()
        let states = try watchStates()
        defer { states.end() }
        do throws(BusError) {
            // What was said about keeping its result ended with the former connection.
            _ = try await manager.call("RefUnit", [.text(name)])
        } catch {
            guard error.isNoSuchUnit else { throw error }
            return end(or: .lost(because: "\(name): systemd was lost meanwhile, and does not know it any more"))
        }
        // It may have been told to end before it was there.
        if cause != nil { stop() }
        return try await follow(states)
    }

    private func watchStates() throws(BusError) -> SignalWatch {
        try manager.bus.watch(
            "path='\(path)',interface='org.freedesktop.DBus.Properties',member='PropertiesChanged',"
                + "arg0='\(ServiceManager.unit)'", of: ServiceManager.name)
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
        wasAsked = true
        do throws(BusError) {
            let reply = try await manager.call("StartTransientUnit", unit.arguments)
            guard let job = reply.first?.text else { throw .noAnswer }
            return job
        } catch {
            switch error {
            // There is nobody who could have made it, or who wanted to.
            case .absent, .refused: wasAsked = false
            default: break
            }
            throw error
        }
    }

    private func begin() {
        guard !hasBegun else { return }
        hasBegun = true
        hasStarted()
    }

    /// Until nothing is left of its control group.
    private func follow(_ states: SignalWatch) async throws(BusError) -> CommandResult.End {
        while true {
            let state = try await manager.bus.property(ServiceManager.name, path, ServiceManager.unit, "ActiveState")
            guard let text = state.text else { throw .noAnswer }
            if text == "active" { begin() }
            if ["inactive", "failed"].contains(text) { break }
            _ = try await states.first(until: deadline) { signal in
                signal.values.dropFirst().first?["ActiveState"] ?? .flag(true)
            }
        }
        let end = try await outcome()
        // Nothing more is asked of it.
        _ = try? await manager.call("UnrefUnit", [.text(name)])
        return self.end(or: end)
    }

    private func end(or end: CommandResult.End) -> CommandResult.End {
        switch cause {
        case .cancelled: .cancelled
        case .timedOut: .timedOut
        case nil: end
        }
    }

    private func outcome() async throws(BusError) -> CommandResult.End {
        func get(_ property: String) async throws(BusError) -> BusValue {
            try await manager.bus.property(ServiceManager.name, path, CommandUnit.service, property)
        }
        guard let result = try await get("Result").text, let code = try await get("ExecMainCode").number,
            let status = try await get("ExecMainStatus").number
        else { throw .noAnswer }
        // Of what was found again that is all there is to tell by: systemd.exec(5), "Process Exit Codes".
        if startResult == nil, code > 1 || code == 1 && !(200...243).contains(status) { begin() }
        return CommandResult.End(command, user: user, hasStarted: hasBegun, result: result, code: code, status: status)
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
        if wasAsked { stop() }
    }

    /// Asks until it is heard, or the unit is not there (any more).
    private func stop() {
        guard !isStopping else { return }
        isStopping = true
        ActionActor.task {
            defer { self.isStopping = false }
            var delay = self.limits.firstRetry
            while !self.isOver {
                do throws(BusError) {
                    _ = try await self.manager.call("StopUnit", [.text(self.name), .text("replace")])
                    return
                } catch {
                    if error.isNoSuchUnit { return }
                }
                await self.limits.pause(&delay)
            }
        }
    }
}

extension BusError {
    /// Whether what was asked for may have been done all the same.
    var isLoss: Bool {
        switch self {
        case .noBus, .noAnswer, .ended, .absent: true
        case .refused, .cancelled: false
        }
    }

    var isNoSuchUnit: Bool { name == "org.freedesktop.systemd1.NoSuchUnit" }
}
