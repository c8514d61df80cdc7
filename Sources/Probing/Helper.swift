internal import Glibc
internal import Platform
internal import ProbeProtocol

/// One helper with one question: behind the service manager's socket where there is one, else a child of ours. Both
/// speak over one stream socket.
final class Helper {
    private let loop: EventLoop
    private let answered: (Result<ProbeAnswer, Failure>) -> Void
    private let ended: () -> Void
    private var connection: FileDescriptor?
    private var process: ChildProcess?
    private var line: [UInt8] = []

    struct Failure: Error {
        var reason: String
    }

    /// Asks.
    ///
    /// - Parameters:
    ///   - answered: called from the loop; it has to be stopped then.
    ///   - ended: called once, when it was stopped and nothing is left of it; perhaps from within `stop()`.
    init(
        _ request: ProbeRequest, paths: ProbePaths, on loop: EventLoop,
        answered: @escaping (Result<ProbeAnswer, Failure>) -> Void, ended: @escaping () -> Void
    ) throws(SystemError) {
        self.loop = loop
        self.answered = answered
        self.ended = ended
        let socket: Int32
        if let accepted = Self.connect(to: paths.socket) {
            socket = accepted.rawValue
            connection = consume accepted
            try Self.send(request.line, on: socket)
        } else {
            let pair = try UnixSocket.pair()
            // What it writes to standard error would be a stranger's words in our journal.
            let nowhere = FileDescriptor(
                owning: try SystemError.check("open", "/dev/null") { unsafe open("/dev/null", O_RDWR | O_CLOEXEC) })
            // Before there is anybody who could hang up.
            try Self.send(request.line, on: pair.ourEnd)
            let child = try ChildProcess(
                [paths.helper], variables: ["LANG=C.UTF-8"], input: pair.childEnd, output: pair.childEnd,
                errors: nowhere.rawValue, on: loop)
            process = child
            let ours = pair.release()
            socket = ours.rawValue
            connection = consume ours
            child.ended = { [self] _ in hasEnded() }
        }
        do throws(SystemError) {
            try loop.watch(socket) { [self] _ in receive() }
        } catch {
            process?.abandon()
            process = nil
            connection = nil
            throw error
        }
    }

    /// All of it, and its end; it fits into an empty socket.
    private static func send(_ line: [UInt8], on socket: Int32) throws(SystemError) {
        guard UnixSocket.send(line[...], on: socket) == line.count else { throw SystemError("send") }
        _ = shutdown(socket, Int32(SHUT_WR))
    }

    /// Lets go of it: hangs up on a service, which ends by that or by its own limits, and kills a child.
    func stop() {
        guard connection != nil else { return }
        hangUp()
        if let process {
            process.signal(SIGKILL)
        } else {
            ended()
        }
    }

    /// A socket of the service manager: who listens has to be root, as the kernel noted it. Nil otherwise, or where
    /// nobody does.
    private static func connect(to path: String) -> FileDescriptor? {
        guard let connection = try? UnixSocket.connect(to: path, isBlocking: false),
            let peer = try? UnixSocket.peer(of: connection.rawValue), peer.user == 0
        else { return nil }
        return connection
    }

    private func receive() {
        guard let socket = connection?.rawValue else { return }
        var buffer = [UInt8](repeating: 0, count: ProbeAnswer.maximumSize + 1)
        guard let count = UnixSocket.receive(into: &buffer, on: socket) else { return }
        line += buffer[..<count]
        if line.count > ProbeAnswer.maximumSize {
            answered(.failure(Failure(reason: "the helper said too much")))
        } else if line.contains(UInt8(ascii: "\n")) {
            // What follows the first line makes it no answer at all.
            answered(
                ProbeAnswer(line: line).map { .success($0) } ?? .failure(Failure(reason: "the helper talked nonsense")))
        } else if count == 0 {
            answered(.failure(Failure(reason: "the helper ended without an answer")))
        }
    }

    private func hasEnded() {
        process = nil
        // What it wrote before is read first, up to the end of the stream.
        if connection == nil { ended() }
    }

    private func hangUp() {
        if let socket = connection?.rawValue { loop.forget(socket) }
        connection = nil
    }
}
