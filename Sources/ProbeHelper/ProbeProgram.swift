internal import CPlatform
internal import Glibc
internal import Platform
internal import ProbeProtocol

/// `vicinity-probe`: reads one request from standard input, answers it on standard output, and ends. It has no options,
/// reads no file and starts nothing.
public enum ProbeProgram {
    /// Seconds after which the kernel ends this process whatever it does; whoever asked does not wait as long.
    private static let lifetime: UInt32 = 4

    /// - Returns: the exit status, sysexits(3).
    public static func run() -> Int32 {
        // Whoever started this may have blocked nearly all signals, as threads of Swift's pools do.
        var none = sigset_t()
        unsafe sigemptyset(&none)
        unsafe pthread_sigmask(SIG_SETMASK, &none, nil)
        signal(SIGALRM, SIG_DFL)
        _ = alarm(lifetime)
        signal(SIGPIPE, SIG_IGN)
        // Standard descriptors, a socket, and room for what the C library opens for itself. The address space holds
        // a Swift program and OpenSSL several times over.
        guard vicinity_confine(8, 512 << 20, 2) == 0 else { return 71 }  // EX_OSERR
        let deadline = Deadline(in: ProbeRequest.maximumTime * 1_000)
        let answer: ProbeAnswer
        if let line = readLine(by: deadline), let request = ProbeRequest(line: line) {
            answer = request.answered(by: Deadline(in: min(request.time * 1_000, deadline.remaining)))
        } else {
            answer = .badRequest
        }
        return Deadline(in: 1_000_000).writes(answer.line, to: STDOUT_FILENO) ? 0 : 74  // EX_IOERR
    }

    /// The first line, or what there is when the input ends; nil where it is too long or late.
    private static func readLine(by deadline: Deadline) -> [UInt8]? {
        var line: [UInt8] = []
        var buffer = [UInt8](repeating: 0, count: 1_024)
        while line.count <= ProbeRequest.maximumSize {
            guard deadline.waits(for: STDIN_FILENO, POLLIN) else { return nil }
            let count = unsafe read(STDIN_FILENO, &buffer, buffer.count)
            if count < 0, errno == EINTR || errno == EAGAIN { continue }
            guard count >= 0 else { return nil }
            line += buffer[..<count]
            if count == 0 || line.last == UInt8(ascii: "\n") { return line }
        }
        return nil
    }
}
