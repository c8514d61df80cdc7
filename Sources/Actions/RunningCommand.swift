internal import Glibc
internal import Platform

/// A command from its start until it was reaped.
final class RunningCommand {
    enum Cause {
        case timedOut, cancelled
    }

    private let loop: EventLoop
    private let patience: Int64
    private let finish: (CommandResult) -> Void
    private let started = Timestamp.now().boottime
    private let output: PipeReader
    private let errors: PipeReader
    private var process: ChildProcess?
    private var result = CommandResult(end: .dropped)
    private var cause: Cause?
    private var deadline: EventLoop.Timer?

    /// Starts it. `finish` is called once, from the loop.
    init(
        _ command: Command, on loop: EventLoop, patience: Int64, finish: @escaping (CommandResult) -> Void
    ) throws(SystemError) {
        let output = try PipeReader(on: loop)
        let errors = try PipeReader(on: loop)
        let input = try Files.inMemory(command.input)
        self.loop = loop
        self.patience = patience
        self.finish = finish
        self.output = output
        self.errors = errors
        let process = try ChildProcess(
            command.arguments, variables: command.context.variables, input: input.rawValue, output: output.writing,
            errors: errors.writing, on: loop)
        self.process = process
        output.handedOver()
        errors.handedOver()
        process.ended = { [self] in hasEnded($0) }
        do throws(SystemError) {
            try output.start()
            try errors.start()
        } catch {
            process.abandon()
            release()
            throw error
        }
        // Time asleep counts, as everywhere.
        deadline = loop.schedule(at: started + command.timeout) { [self] in end(because: .timedOut) }
    }

    /// Tells the group to end, and kills it if it does not. The first cause counts.
    func end(because cause: Cause) {
        guard self.cause == nil else { return }
        self.cause = cause
        if let deadline { loop.cancel(deadline) }
        process?.signal(SIGTERM)
        // A stopped process could not obey.
        process?.signal(SIGCONT)
        deadline = loop.schedule(at: Timestamp.now().boottime + patience) { [self] in
            deadline = nil
            process?.signal(SIGKILL)
        }
    }

    private func hasEnded(_ end: ChildProcess.End) {
        // What it wrote is in the pipes; who else writes now is being killed.
        result.output = output.finish()
        result.errors = errors.finish()
        release()
        result.duration = Timestamp.now().boottime - started
        result.end =
            switch (cause, end) {
            case (.timedOut, _): .timedOut
            case (.cancelled, _): .cancelled
            case (nil, .lost(let error)): .lost(because: error.description)
            case (nil, .killed(let signal)): .killed(signal: signal)
            case (nil, .exited(let code)): .exited(code: code)
            }
        finish(result)
    }

    /// Makes the loop let go of this object; its descriptors are closed with it.
    private func release() {
        if let deadline { loop.cancel(deadline) }
        deadline = nil
        process = nil
        output.stop()
        errors.stop()
    }
}
