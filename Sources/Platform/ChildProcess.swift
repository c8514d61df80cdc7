internal import CPlatform
internal import Glibc

/// A program that runs in a process group of its own, from its start until it was reaped.
///
/// To be used on the thread of its event loop. While there is one nobody else may reap this process's children or
/// ignore `SIGCHLD`.
public final class ChildProcess {
    public enum End: Hashable, Sendable {
        case exited(code: Int32)
        case killed(signal: Int32)
        /// Somebody else reaped it.
        case lost(SystemError)
    }

    /// The number of the process, which is its group's.
    public let identifier: Int32
    /// Called once, from the loop, when the process was reaped and what it left behind in its group is killed.
    public var ended: (End) -> Void = { _ in }

    private let loop: EventLoop
    private let exit: FileDescriptor
    private var isReaped = false

    /// Starts it, with nothing of ours but three descriptors, which the caller keeps: no variable, no blocked or ignored
    /// signal, `/` as directory.
    ///
    /// - Parameters:
    ///   - arguments: an absolute path, then what the program is told; no shell sees them.
    ///   - variables: `NAME=value`.
    public init(
        _ arguments: [String], variables: [String], input: Int32, output: Int32, errors: Int32, on loop: EventLoop
    ) throws(SystemError) {
        self.loop = loop
        let process = try Self.spawn(arguments, variables, input: input, output: output, errors: errors)
        identifier = process
        do throws(SystemError) {
            exit = FileDescriptor(owning: try SystemError.check("pidfd_open") { vicinity_pidfd_open(process) })
        } catch {
            Self.abandon(process)
            throw error
        }
        do throws(SystemError) {
            // The loop keeps it until it was reaped.
            try loop.watch(exit.rawValue) { [self] _ in reap() }
        } catch {
            Self.abandon(process)
            throw error
        }
    }

    /// Sends a signal to the whole group; nothing happens once the process was reaped.
    public func signal(_ number: Int32) {
        if !isReaped { kill(-identifier, number) }
    }

    /// Kills and reaps it here and now; `ended` is not called. For what cannot be supervised.
    public func abandon() {
        guard !isReaped else { return }
        isReaped = true
        loop.forget(exit.rawValue)
        Self.abandon(identifier)
    }

    /// The leader has ended. It is a zombie still, so its number, which names the group, is not given anew: whatever
    /// it left behind, perhaps holding our pipes open for ever, is killed before it is reaped.
    private func reap() {
        // The loop may have been told of an earlier descriptor of the same number.
        guard !isReaped, hasEnded else { return }
        kill(-identifier, SIGKILL)
        isReaped = true
        loop.forget(exit.rawValue)
        var status: Int32 = 0
        let reaped = (try? SystemError.check("waitpid") { unsafe waitpid(identifier, &status, 0) }) ?? -1
        let signal = vicinity_exit_signal(status)
        if reaped != identifier {
            ended(.lost(SystemError("waitpid")))
        } else {
            ended(signal != 0 ? .killed(signal: signal) : .exited(code: vicinity_exit_code(status)))
        }
    }

    private var hasEnded: Bool {
        var information = unsafe siginfo_t()
        let code = unsafe waitid(P_PID, id_t(identifier), &information, WEXITED | WNOHANG | WNOWAIT)
        return unsafe code < 0 || information.si_signo != 0
    }

    private static func abandon(_ group: pid_t) {
        kill(-group, SIGKILL)
        _ = waitpid(group, nil, 0)
    }

    /// `posix_spawn` rather than `fork`: between fork and exec no Swift may run. Threads of Swift's pools block nearly
    /// all signals, and a child inherits that mask and every ignored signal, so both are reset.
    private static func spawn(
        _ arguments: [String], _ variables: [String], input: Int32, output: Int32, errors: Int32
    ) throws(SystemError) -> pid_t {
        let program = arguments.first ?? ""
        guard !(arguments + variables).contains(where: { $0.utf8.contains(0) }) else {
            throw SystemError("posix_spawn", program, code: EINVAL)
        }
        var process: pid_t = 0
        let code = unsafe withCStrings(arguments) { arguments in
            unsafe withCStrings(variables) { variables in
                unsafe vicinity_spawn(program, arguments, variables, input, output, errors, &process)
            }
        }
        guard code == 0 else { throw SystemError("posix_spawn", program, code: code) }
        return process
    }
}

/// A pipe that a child writes to. Our end does not block, the child's does.
public struct OutputPipe: ~Copyable {
    private let ours: FileDescriptor
    private let theirs: FileDescriptor

    public init() throws(SystemError) {
        var reading: Int32 = -1
        var writing: Int32 = -1
        try SystemError.check("pipe2") { unsafe vicinity_pipe(&reading, &writing) }
        // Owned at once, so that nothing stays open where a later call fails.
        let ours = FileDescriptor(owning: reading)
        let theirs = FileDescriptor(owning: writing)
        let raw = ours.rawValue
        try SystemError.check("fcntl") { fcntl(raw, F_SETFL, O_NONBLOCK) }
        self.ours = ours
        self.theirs = theirs
    }

    /// The child's end.
    public var writing: Int32 { theirs.rawValue }

    /// Gives both ends away.
    public consuming func release(writing: inout FileDescriptor?) -> FileDescriptor {
        writing = consume theirs
        return ours
    }
}

extension Files {
    /// A file in memory that stands at its beginning: as a child's input, unlike a pipe, it needs no one to feed it.
    public static func inMemory(_ contents: [UInt8]) throws(SystemError) -> FileDescriptor {
        let created = FileDescriptor(
            owning: try SystemError.check("memfd_create") { unsafe vicinity_memory_file("vicinity-event") })
        var rest = contents[...]
        while !rest.isEmpty {
            let count = try SystemError.check("write") {
                unsafe rest.withUnsafeBytes { unsafe write(created.rawValue, $0.baseAddress, $0.count) }
            }
            rest = rest.dropFirst(count)
        }
        try SystemError.check("lseek") { lseek(created.rawValue, 0, SEEK_SET) }
        return created
    }
}

/// The array of C strings, ended by a null, that `execve(2)` takes.
private func withCStrings<Result>(
    _ strings: [String], _ body: (UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>) -> Result
) -> Result {
    var pointers = unsafe strings.map { unsafe strdup($0) } + [nil]
    defer { unsafe pointers.forEach { unsafe free($0) } }
    return unsafe pointers.withUnsafeMutableBufferPointer { buffer in
        guard let base = buffer.baseAddress else { preconditionFailure("an array with a null is not empty") }
        return unsafe body(base)
    }
}
