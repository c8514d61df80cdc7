import CPlatform
import Glibc
import Platform

/// A child of the test's, reaped with this object at the latest. Foundation's looks only now and then whether one has
/// ended, which for hundreds of them is most of the time.
final class Child {
    let identifier: Int32
    private var end: Int32?

    /// - Parameters:
    ///   - input: its standard input; nil for nothing.
    ///   - output: where its output goes; nil for nowhere.
    init(_ arguments: [String], input: Int32? = nil, output: Int32? = nil, errors: Int32? = nil) throws {
        let nothing = FileDescriptor(owning: open("/dev/null", O_RDWR | O_CLOEXEC))
        let raw = nothing.rawValue
        var pointers = arguments.map { strdup($0) } + [nil]
        var variables = [strdup("PATH=/usr/sbin:/usr/bin:/sbin:/bin"), nil]
        defer { (pointers + variables).forEach { free($0) } }
        var process: Int32 = 0
        let program = arguments.first ?? ""
        let code = vicinity_spawn(
            program, &pointers, &variables, input ?? raw, output ?? raw, errors ?? raw, &process)
        guard code == 0 else { throw SystemError("posix_spawn", program, code: code) }
        identifier = process
    }

    deinit {
        if isRunning { kill(identifier, SIGKILL) }
        _ = status
    }

    var isRunning: Bool {
        if end != nil { return false }
        var status: Int32 = 0
        guard waitpid(identifier, &status, WNOHANG) != 0 else { return true }
        end = status
        return false
    }

    /// Waits for its end. The exit status; nil where a signal ended it.
    var status: Int32? {
        var status: Int32 = 0
        if let end { status = end } else { while waitpid(identifier, &status, 0) < 0, errno == EINTR {} }
        end = status
        return vicinity_exit_signal(status) == 0 ? vicinity_exit_code(status) : nil
    }
}
