import Agent
import CPlatform
import Environment
import Glibc
import Platform

/// The agent as vicinityd runs it, but that nl80211's multicasts come over standard input, a socket of datagrams: for
/// tests that have no radio.
@main enum ReplayingAgent {
    /// As `Wire` numbers it.
    private static let family: UInt16 = 32

    static func main() throws {
        let words = CommandLine.arguments.dropFirst()
        guard words.count == 4 else { exit(64) }
        var paths = AgentPaths()
        for (path, word) in zip([\AgentPaths.configuration, \.runtime, \.state, \.logs], words) {
            paths[keyPath: path] = word
        }
        vicinity_refuse_core_dumps()
        signal(SIGPIPE, SIG_IGN)
        let loop = try EventLoop()
        let agent = Agent(on: loop, paths: paths)
        agent.watcher.replayed = ReplayedEvents(descriptor: STDIN_FILENO, family: family)
        let signals = try Signals([SIGTERM, SIGHUP], on: loop) { signal in
            if signal == SIGHUP { agent.reload() } else { agent.stop { loop.stop() } }
        }
        try agent.start()
        withExtendedLifetime(signals) { loop.run() }
    }
}
