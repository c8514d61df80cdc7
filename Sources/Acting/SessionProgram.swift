internal import ActionProtocol
internal import Actions
internal import CPlatform
internal import Glibc
internal import InstalledRules
internal import Platform

/// `vicinity-session`: does in a user's session what rule files ask for there, when the agent says that the time has
/// come. A unit of the user's service manager runs it as long as the user is logged in.
public enum SessionProgram {
    /// Of the agent.
    public static let defaultSocket = "/run/vicinity/session.sock"

    /// `vicinity-session`, as it is installed.
    ///
    /// - Returns: the exit status, sysexits(3).
    public static func run(_ arguments: [String]) -> Int32 {
        switch arguments.dropFirst() {
        case []: return run(socket: defaultSocket, configuration: nil)
        case ["--release"]: return run(socket: defaultSocket, configuration: nil, isReleasing: true)
        case ["--help"], ["-h"]:
            print(usage)
            return 0
        default:
            Log.write(.error, "unknown option\n\(usage)")
            return 64
        }
    }

    private static let usage = "usage: vicinity-session [--release]"

    /// - Parameters:
    ///   - socket: of the agent.
    ///   - configuration: a directory with `vicinity.toml` and `rules.d`; nil for those of the system.
    ///   - isReleasing: undoes everything that was done in this session, when whoever serves it has ended, and ends.
    /// - Returns: the exit status, sysexits(3).
    public static func run(socket: String, configuration: String?, isReleasing: Bool = false) -> Int32 {
        vicinity_refuse_core_dumps()
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
                if isReleasing { await client.release { loop.stop() } } else { await client.start() }
            }
            withExtendedLifetime(signals) { loop.run() }
            _ = lock.rawValue
            let isDone = ActionActor.assumeIsolated { !isReleasing || running?.isReleased == true }
            return isDone ? 0 : 75  // EX_TEMPFAIL
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
