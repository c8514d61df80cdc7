internal import Rules

/// Where the root helper finds and keeps its things; file-hierarchy(7).
public struct ActingPaths: Sendable {
    /// Of the service manager, or opened by the helper itself where there is none.
    public var socket = "/run/vicinity-act.sock"
    /// Its own, readable by nobody else: previous values and the last good rules.
    public var state = "/var/lib/vicinity-act"
    public var ruleDirectories = RuleFiles.systemDirectories
    public var configurationDirectories = ["/etc/vicinity", "/run/vicinity", "/usr/lib/vicinity"]

    public init() {}

    var journal: String { "\(state)/journal.json" }
    var lastGoodRules: String { "\(state)/rules.json" }
}
