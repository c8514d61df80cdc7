internal import ActionProtocol
internal import Actions
internal import Glibc
internal import InstalledRules
internal import Platform

/// `vicinity session`: does in a user's session what rule files ask for there, when the agent says that the time has
/// come. A unit of the user's service manager runs it as long as the user is logged in.
public enum SessionProgram {
    /// - Parameters:
    ///   - socket: of the agent.
    ///   - configuration: a directory with `vicinity.toml` and `rules.d`; nil for those of the system.
    /// - Returns: the exit status, sysexits(3).
    public static func run(socket: String, configuration: String?) -> Int32 {
        signal(SIGPIPE, SIG_IGN)
        umask(0o077)
        guard let state = stateDirectory else {
            Log.write(.error, "neither XDG_STATE_HOME nor HOME says where to keep what has to be put back")
            return 78  // EX_CONFIG
        }
        let loop = ActionActor.shared.loop
        do {
            try Files.makeDirectory(state, mode: 0o700)
            let lock = try Files.lock("\(state)/lock")
            let signals = try Signals([SIGTERM, SIGINT, SIGHUP], on: loop) { _ in loop.stop() }
            ActionActor.task {
                let client = SessionClient(
                    socket: socket, state: state, rules: configuration.map { .init(root: $0) } ?? .system)
                running = client
                await client.start()
            }
            withExtendedLifetime(signals) { loop.run() }
            _ = lock.rawValue
            return 0
        } catch {
            Log.write(.error, "\(error)")
            return 71  // EX_OSERR
        }
    }

    @ActionActor private static var running: SessionClient?

    /// Where it keeps what has to be put back, XDG Base Directory Specification.
    public static var stateDirectory: String? {
        if let path = variable("XDG_STATE_HOME"), path.hasPrefix("/") { return "\(path)/vicinity" }
        return variable("HOME").map { "\($0)/.local/state/vicinity" }
    }

    static func variable(_ name: String) -> String? {
        guard let value = unsafe getenv(name) else { return nil }
        return unsafe String(cString: value)
    }
}
