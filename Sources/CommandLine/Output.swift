internal import Glibc

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

    static func error(_ text: String) { write(Array("vicinity: \(text)\n".utf8)[...], to: STDERR_FILENO) }

    /// Waits for a slow reader; ends the process when it is gone, as the tools of a pipeline do.
    static func write(_ octets: ArraySlice<UInt8>, to descriptor: Int32 = STDOUT_FILENO) {
        var rest = octets
        while !rest.isEmpty {
            let count = unsafe rest.withUnsafeBytes { unsafe Glibc.write(descriptor, $0.baseAddress, $0.count) }
            if count >= 0 {
                rest = rest.dropFirst(count)
            } else if errno == EPIPE {
                exit(0)
            } else if errno != EINTR {
                exit(74)  // EX_IOERR: a full disk must not look like success.
            }
        }
    }
}
