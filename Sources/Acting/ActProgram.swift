internal import ActionProtocol
internal import Actions
internal import CPlatform
internal import CSystemd
internal import Glibc
internal import InstalledRules
internal import Platform
internal import Rules

/// `vicinity-act`: does as root what rule files ask for, when the agent says that the time has come. Started on demand,
/// it ends when there is nothing left to do.
public enum ActProgram {
    private static let usage = """
        usage: vicinity-act [--protect [--after SECONDS] | --release] [--config DIR] [--state-directory DIR]
                            [--socket PATH] [--agent-user NAME]
        """

    /// - Returns: the exit status, sysexits(3).
    public static func run(_ arguments: [String]) -> Int32 {
        var paths = ActingPaths()
        var agentUser = "vicinity"
        var request: HelperRequest?
        var delay: Int64?
        var words = arguments.dropFirst().makeIterator()
        while let word = words.next() {
            switch word {
            case "--help", "-h":
                print(usage)
                return 0
            case "--protect": request = .protect(after: 0)
            case "--release": request = .release
            case "--after":
                guard let text = words.next(), let seconds = Int64(text),
                    (0...HelperRequest.maximumDelay / 1_000).contains(seconds)
                else { return refuse("\(word) needs a number of seconds up to 60") }
                delay = seconds * 1_000
            case "--config", "--state-directory", "--socket":
                guard let path = words.next(), path.hasPrefix("/") else {
                    return refuse("\(word) needs an absolute path")
                }
                switch word {
                case "--config": paths.use(configuration: path)
                case "--state-directory": paths.state = path
                default: paths.socket = path
                }
            case "--agent-user":
                guard let name = words.next() else { return refuse("\(word) needs a user's name") }
                agentUser = name
            default: return refuse("unknown option \(word)")
            }
        }
        if let delay {
            guard case .protect? = request else { return refuse("--after is for --protect") }
            request = .protect(after: delay)
        }
        vicinity_refuse_core_dumps()
        signal(SIGPIPE, SIG_IGN)
        umask(0o077)
        do throws(SystemError) {
            try Files.makeDirectory(paths.state, mode: 0o700)
            guard let lock = try lock(paths, toDo: request) else { return 0 }
            return try serve(paths, agentUser: user(named: agentUser), doing: request, lock)
        } catch {
            Log.write(.error, "\(error)")
            return 71  // EX_OSERR
        }
    }

    /// How long somebody may take who holds the lock and does not answer, as one does that is starting or ending (µs).
    private static let patience: Int64 = 10_000_000
    /// How long it is waited before it is asked again (µs).
    private static let pause: UInt32 = 20_000

    /// Of the places and the journal; whoever has it is the only one who changes them.
    ///
    /// - Parameter request: what somebody who serves may do as well.
    /// - Returns: nil where somebody has done it.
    private static func lock(_ paths: ActingPaths, toDo request: HelperRequest?) throws(SystemError) -> FileDescriptor?
    {
        let path = "\(paths.state)/lock"
        guard let request else { return try Files.lock(path) }
        let deadline = Timestamp.now().boottime + patience
        while true {
            if ask(request, at: paths.socket) { return nil }
            do throws(SystemError) {
                return try Files.lock(path, waits: false)
            } catch {
                guard error.code == EWOULDBLOCK, Timestamp.now().boottime < deadline else { throw error }
            }
            usleep(pause)
        }
    }

    private static func refuse(_ problem: String) -> Int32 {
        Log.write(.error, "\(problem)\n\(usage)")
        return 64
    }

    /// Asks the helper that serves, who has to be root; false where there is none. Waits until it has done what is
    /// asked, or noted it where that is for later: one that only hangs up may have been ending.
    private static func ask(_ request: HelperRequest, at path: String) -> Bool {
        guard let connection = try? UnixSocket.connect(to: path),
            let peer = try? UnixSocket.peer(of: connection.rawValue), peer.user == 0 || peer.user == geteuid()
        else { return false }
        let line = request.line
        guard UnixSocket.send(line[...], on: connection.rawValue) == line.count else { return false }
        let isForLater = if case .protect(let delay) = request { delay > 0 } else { false }
        UnixSocket.limitWaiting(connection.rawValue, seconds: answerLimit)
        var reader = LineReader(connection.rawValue, maximumLine: HelperReport.maximumSize)
        while let line = reader.next() {
            switch HelperReport(line: line) {
            case .noted where isForLater, .settled where !isForLater: return true
            default: continue
            }
        }
        return false
    }

    /// How long somebody who serves may take (s).
    private static let answerLimit = 30

    private static func user(named name: String) -> UInt32? {
        guard let entry = unsafe getpwnam(name) else { return nil }
        return unsafe entry.pointee.pw_uid
    }

    /// - Parameter request: what is done here, since nobody serves who could. Meanwhile an agent may come who says what
    ///   may stay.
    private static func serve(
        _ paths: ActingPaths, agentUser: UInt32?, doing request: HelperRequest?, _ lock: consuming FileDescriptor
    ) throws(SystemError) -> Int32 {
        let loop = ActionActor.shared.loop
        let signals = try Signals([SIGTERM, SIGINT], on: loop) { _ in
            ActionActor.assumeIsolated { if let running { running.end() } else { loop.stop() } }
        }
        let listener: Int32? = isForNow(request) ? nil : try listener(paths).release()
        ActionActor.task {
            let server = ActServer(paths, agentUser: agentUser) { loop.stop() }
            running = server
            await server.start()
            if let listener { server.listen(FileDescriptor(owning: listener)) }
            guard let request else { return }
            server.takeOnce(request)
        }
        withExtendedLifetime(signals) { loop.run() }
        _ = lock.rawValue
        let isDone = ActionActor.assumeIsolated { request.map { running?.hasDone($0) ?? false } ?? true }
        return isDone ? 0 : 75  // EX_TEMPFAIL
    }

    private static func isForNow(_ request: HelperRequest?) -> Bool {
        if case .protect(let delay)? = request { return delay == 0 }
        return request != nil
    }

    @ActionActor private static var running: ActServer?

    /// The service manager's socket, sd_listen_fds(3), else one of our own.
    private static func listener(_ paths: ActingPaths) throws(SystemError) -> FileDescriptor {
        if sd_listen_fds(1) == 1 {
            try SystemError.check("fcntl") { fcntl(SD_LISTEN_FDS_START, F_SETFL, O_NONBLOCK) }
            return FileDescriptor(owning: SD_LISTEN_FDS_START)
        }
        return try UnixSocket.listen(at: paths.socket, mode: 0o600)
    }
}
