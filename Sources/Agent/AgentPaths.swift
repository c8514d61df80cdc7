public import InstalledRules
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

    /// Of `vicinity-act`.
    public var rootHelper = "/run/vicinity-act.sock"

    /// Whether this is the machine's agent, and not one that somebody tries out.
    var isSystem: Bool { runtime == AgentPaths().runtime }

    var socket: String { "\(runtime)/events.sock" }
    /// To which the helpers of users' sessions connect.
    var sessionSocket: String { "\(runtime)/session.sock" }
    /// Where PAM stacks ask, by `second-factor-needed`.
    var secondFactorSocket: String { "\(runtime)/second-factor.sock" }
    var activations: String { "\(state)/activations.json" }
    var lastGoodRules: String { "\(state)/rules.json" }
    var permissions: String { "\(state)/permissions.json" }
    /// What people have said to being written about.
    var consents: String { "\(state)/consents.json" }
    /// Of hashed names.
    package var hashKey: String { "\(state)/hash.key" }
    package var history: String { "\(state)/history.jsonl" }
    package var analytics: String { "\(logs)/analytics.jsonl" }

    /// Where rule files and the configuration are. Only the installed agent reads what others than the administrator
    /// put in place.
    public var ruleDirectories: InstalledRules.Directories {
        configuration == AgentPaths().configuration ? .system : InstalledRules.Directories(root: configuration)
    }

    /// Whether this machine has the agent's unit, running or not.
    public static var isAgentInstalled: Bool {
        ["/etc/systemd/system", "/lib/systemd/system", "/usr/lib/systemd/system"].contains {
            Files.names(in: $0).contains("vicinityd.service")
        }
    }
}
