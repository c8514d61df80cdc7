internal import Glibc
internal import Synchronization

/// Standard output and error: one write(2) a line, so that nothing waits in a buffer.
enum Output {
    static var isTerminal: Bool { isatty(STDOUT_FILENO) == 1 }

    /// Whether colours are wanted: on a terminal, unless NO_COLOR is set (no-color.org).
    static var isColored: Bool {
        guard isTerminal else { return false }
        return variable("NO_COLOR")?.isEmpty ?? true && variable("TERM") != "dumb"
    }

    private static func variable(_ name: String) -> String? {
        guard let value = unsafe getenv(name) else { return nil }
        return unsafe String(cString: value)
    }

    static func line(_ text: String) { write(Array((text + "\n").utf8)[...], to: STDOUT_FILENO) }

    /// In as many lines as the terminal makes necessary, each with the blanks at the beginning.
    static func wrapped(_ text: String) {
        for row in text.wrapped(to: width ?? .max) { line(row) }
    }

    static func error(_ text: String) { write(Array("vicinity: \(text)\n".utf8)[...], to: STDERR_FILENO) }

    /// A complaint that names its place by itself.
    static func diagnostic(_ text: String) { write(Array("\(text)\n".utf8)[...], to: STDERR_FILENO) }

    /// The columns of the terminal; nil where there is none, and so nothing to fit into.
    static var width: Int? {
        guard isTerminal else { return nil }
        var size = winsize()
        guard unsafe ioctl(STDOUT_FILENO, UInt(TIOCGWINSZ), &size) == 0, size.ws_col > 0 else { return 80 }
        return Int(size.ws_col)
    }

    /// The exit status where the reader is gone: of a command whose status is an answer, that answer.
    static let abandonedStatus = Atomic<Int32>(0)

    /// Waits for a slow reader; ends the process when it is gone, as the tools of a pipeline do.
    static func write(_ octets: ArraySlice<UInt8>, to descriptor: Int32 = STDOUT_FILENO) {
        var rest = octets
        while !rest.isEmpty {
            let count = unsafe rest.withUnsafeBytes { unsafe Glibc.write(descriptor, $0.baseAddress, $0.count) }
            if count >= 0 {
                rest = rest.dropFirst(count)
            } else if errno == EPIPE {
                exit(abandonedStatus.load(ordering: .relaxed))
            } else if errno != EINTR {
                exit(74)  // EX_IOERR: a full disk must not look like success.
            }
        }
    }
}
