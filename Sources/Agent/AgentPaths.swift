internal import Platform

public enum AgentVersion {
    public static let current = "0.1.0"
}

/// Where the agent keeps its things; file-hierarchy(7).
public struct AgentPaths: Sendable {
    /// `vicinity.toml` and `rules.d`.
    public var configuration = "/etc/vicinity"
    /// The feed's socket.
    public var runtime = "/run/vicinity"
    /// What has to outlive the agent.
    public var state = "/var/lib/vicinity"
    /// The analytics log.
    public var logs = "/var/log/vicinity"

    public init() {}

    public static let defaultSocket = "/run/vicinity/events.sock"

    /// Whether this is the machine's agent, and not one that somebody tries out.
    var isSystem: Bool { runtime == AgentPaths().runtime }

    var socket: String { "\(runtime)/events.sock" }
    var activations: String { "\(state)/activations.json" }
    var lastGoodRules: String { "\(state)/rules.json" }
    var analytics: String { "\(logs)/analytics.jsonl" }

    /// Where `vicinity.toml` and `vicinity.toml.d` are, the strongest first: the administrator's, those of run time,
    /// the vendor's.
    public var configurationDirectories: [String] {
        configuration == AgentPaths().configuration
            ? [configuration, runtime, "/usr/lib/vicinity"] : [configuration]
    }

    /// The directories of rule files, the strongest first.
    public var rules: [String] { configurationDirectories.map { "\($0)/rules.d" } }

    /// Everything that is read again when it changes.
    var watched: [String] {
        rules + configurationDirectories.flatMap { ["\($0)/vicinity.toml", "\($0)/vicinity.toml.d"] }
    }

    /// Whether this machine has the agent's unit, running or not.
    public static var isAgentInstalled: Bool {
        ["/etc/systemd/system", "/lib/systemd/system", "/usr/lib/systemd/system"].contains {
            Files.names(in: $0).contains("vicinityd.service")
        }
    }
}
