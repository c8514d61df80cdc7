internal import CPlatform
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
    private let group: pid_t
    private let exit: FileDescriptor
    private let output: FileDescriptor
    private let errors: FileDescriptor
    private var result = CommandResult(end: .dropped)
    private var cause: Cause?
    private var deadline: EventLoop.Timer?

    /// Starts it. `finish` is called once, from the loop.
    init(
        _ command: Command, on loop: EventLoop, patience: Int64, finish: @escaping (CommandResult) -> Void
    ) throws(SystemError) {
        let output = try Pipe()
        let errors = try Pipe()
        let process = try spawn(command, output: output, errors: errors)
        do throws(SystemError) {
            exit = FileDescriptor(owning: try SystemError.check("pidfd_open") { vicinity_pidfd_open(process) })
        } catch {
            Self.abandon(process)
            throw error
        }
        self.loop = loop
        self.patience = patience
        self.finish = finish
        group = process
        self.output = output.release()
        self.errors = errors.release()
        do throws(SystemError) {
            try loop.watch(exit.rawValue) { [self] _ in reap() }
            try watch(self.output.rawValue, into: \.output)
            try watch(self.errors.rawValue, into: \.errors)
        } catch {
            release()
            Self.abandon(group)
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
        kill(-group, SIGTERM)
        // A stopped process could not obey.
        kill(-group, SIGCONT)
        deadline = loop.schedule(at: Timestamp.now().boottime + patience) { [self] in
            deadline = nil
            kill(-group, SIGKILL)
        }
    }

    /// The leader has ended. It is a zombie still, so its number, which names the group, is not given anew: whatever
    /// it left behind, perhaps holding our pipes open for ever, is killed before it is reaped.
    private func reap() {
        // The loop may have been told of an earlier descriptor of the same number.
        guard hasEnded else { return }
        kill(-group, SIGKILL)
        // What it wrote is in the pipes; who else writes now is being killed.
        _ = read(output.rawValue, into: \.output)
        _ = read(errors.rawValue, into: \.errors)
        release()
        var status: Int32 = 0
        let reaped = (try? SystemError.check("waitpid") { unsafe waitpid(group, &status, 0) }) ?? -1
        let signal = vicinity_exit_signal(status)
        result.duration = Timestamp.now().boottime - started
        result.end =
            switch cause {
            case .timedOut: .timedOut
            case .cancelled: .cancelled
            case nil where reaped != group: .failedToStart(SystemError("waitpid"))
            case nil: signal != 0 ? .killed(signal: signal) : .exited(code: vicinity_exit_code(status))
            }
        finish(result)
    }

    private var hasEnded: Bool {
        var information = unsafe siginfo_t()
        let code = unsafe waitid(P_PID, id_t(group), &information, WEXITED | WNOHANG | WNOWAIT)
        return unsafe code < 0 || information.si_signo != 0
    }

    private func watch(
        _ descriptor: Int32, into captured: WritableKeyPath<CommandResult, CapturedOutput>
    ) throws(SystemError) {
        try loop.watch(descriptor) { [self] _ in
            if !read(descriptor, into: captured) { loop.forget(descriptor) }
        }
    }

    /// Takes what is there, no more than a few buffers at once so that the loop gets round. False at its end.
    private func read(_ descriptor: Int32, into captured: WritableKeyPath<CommandResult, CapturedOutput>) -> Bool {
        var buffer = [UInt8](repeating: 0, count: 16 << 10)
        for _ in 0..<8 {
            let count = unsafe Glibc.read(descriptor, &buffer, buffer.count)
            if count == 0 { return false }
            if count < 0 { return errno == EAGAIN || errno == EINTR }
            result[keyPath: captured].append(buffer[..<count])
        }
        return true
    }

    /// Makes the loop let go of this object; its descriptors are closed with it.
    private func release() {
        if let deadline { loop.cancel(deadline) }
        deadline = nil
        loop.forget(exit.rawValue)
        loop.forget(output.rawValue)
        loop.forget(errors.rawValue)
    }

    /// Ends a process that cannot be supervised.
    private static func abandon(_ group: pid_t) {
        kill(-group, SIGKILL)
        _ = waitpid(group, nil, 0)
    }
}
