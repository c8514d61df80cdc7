internal import CPlatform
internal import Glibc
internal import Netlink
internal import Platform
internal import WiFi

/// `vicinityd`: options, signals, and the loop.
public enum AgentProgram {
    private static let usage = """
        usage: vicinityd [--config DIR] [--runtime-directory DIR] [--state-directory DIR] [--log-directory DIR]
        """

    /// - Returns: the exit status, sysexits(3).
    public static func run(_ arguments: [String]) -> Int32 {
        var paths = AgentPaths()
        var words = arguments.dropFirst().makeIterator()
        while let word = words.next() {
            switch word {
            case "--help", "-h":
                print(usage)
                return 0
            case "--version":
                print("vicinityd \(AgentVersion.current)")
                return 0
            case "--config", "--runtime-directory", "--state-directory", "--log-directory":
                guard let directory = words.next(), directory.hasPrefix("/") else {
                    Log.write(.error, "\(word) needs an absolute path\n\(usage)")
                    return 64
                }
                switch word {
                case "--config": paths.configuration = directory
                case "--runtime-directory": paths.runtime = directory
                case "--state-directory": paths.state = directory
                default: paths.logs = directory
                }
            default:
                Log.write(.error, "unknown option \(word.utf8.displayText)\n\(usage)")
                return 64
            }
        }
        guard geteuid() != 0 else {
            Log.write(.error, "refusing to run as root: nothing here needs it. Use the unit, or `setpriv --reuid`")
            return 77
        }
        return run(paths)
    }

    private static func run(_ paths: AgentPaths) -> Int32 {
        vicinity_refuse_core_dumps()
        signal(SIGPIPE, SIG_IGN)
        do {
            let loop = try EventLoop()
            let agent = Agent(on: loop, paths: paths)
            let signals = try Signals([SIGTERM, SIGINT, SIGHUP], on: loop) { signal in
                if signal == SIGHUP {
                    agent.reload()
                } else {
                    agent.stop { loop.stop() }
                }
            }
            try agent.start()
            withExtendedLifetime(signals) { loop.run() }
            return 0
        } catch {
            Log.write(.error, "\(error)")
            return 71  // EX_OSERR
        }
    }
}
