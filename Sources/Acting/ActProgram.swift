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
        if let request, ask(request, at: paths.socket) { return 0 }
        return serve(paths, agentUser: user(named: agentUser), doing: request)
    }

    private static func refuse(_ problem: String) -> Int32 {
        Log.write(.error, "\(problem)\n\(usage)")
        return 64
    }

    /// Asks the helper that serves, who has to be root; false where there is none. Waits until it has done what is
    /// asked, unless that is for later.
    private static func ask(_ request: HelperRequest, at path: String) -> Bool {
        guard let connection = try? UnixSocket.connect(to: path),
            let peer = try? UnixSocket.peer(of: connection.rawValue), peer.user == 0 || peer.user == geteuid()
        else { return false }
        let line = request.line
        guard UnixSocket.send(line[...], on: connection.rawValue) == line.count else { return false }
        if case .protect(let delay) = request, delay > 0 {
            // It hangs up when it has taken notice.
            _ = shutdown(connection.rawValue, Int32(SHUT_WR))
        }
        UnixSocket.limitWaiting(connection.rawValue, seconds: 30)
        var reader = LineReader(connection.rawValue, maximumLine: HelperReport.maximumSize)
        while let line = reader.next() {
            if case .settled? = HelperReport(line: line) { return true }
        }
        return reader.hasEnded
    }

    private static func user(named name: String) -> UInt32? {
        guard let entry = unsafe getpwnam(name) else { return nil }
        return unsafe entry.pointee.pw_uid
    }

    /// - Parameter request: what is done without serving anybody.
    private static func serve(_ paths: ActingPaths, agentUser: UInt32?, doing request: HelperRequest?) -> Int32 {
        let loop = ActionActor.shared.loop
        do {
            try Files.makeDirectory(paths.state, mode: 0o700)
            // One that serves and did not answer holds it.
            let lock = try Files.lock("\(paths.state)/lock", waits: request == nil)
            let signals = try Signals([SIGTERM, SIGINT], on: loop) { _ in loop.stop() }
            let listener = request == nil ? try listener(paths).release() : nil
            ActionActor.task {
                let server = ActServer(paths, agentUser: agentUser) { loop.stop() }
                await server.start()
                if let listener { server.listen(FileDescriptor(owning: listener)) }
                // Without a service manager nobody else would do it.
                if let request { server.take(request) }
                running = server
            }
            withExtendedLifetime(signals) { loop.run() }
            _ = lock.rawValue
            return 0
        } catch {
            Log.write(.error, "\(error)")
            return 71  // EX_OSERR
        }
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
