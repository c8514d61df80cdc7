internal import InstalledRules

/// Where the root helper finds and keeps its things; file-hierarchy(7).
struct ActingPaths: Sendable {
    /// Of the service manager, or opened by the helper itself where there is none.
    var socket = "/run/vicinity-act.sock"
    /// Its own, readable by nobody else: previous values and the last good rules.
    var state = "/var/lib/vicinity-act"
    var ruleDirectories = InstalledRules.Directories.system

    /// Where `vicinity-factor` is started by whoever connects, of the service manager.
    var factor: String { "\(directory)/vicinity-factor.sock" }
    /// Where a session's helper gets the dialogue that somebody waits for; there only as long.
    var dialogue: String { "\(directory)/vicinity-dialogue.sock" }

    private var directory: String { "/" + socket.split(separator: "/").dropLast().joined(separator: "/") }

    var journal: String { "\(state)/journal.json" }
    var lastGoodRules: String { "\(state)/rules.json" }

    /// Reads rules from one directory only.
    mutating func use(configuration path: String) {
        ruleDirectories = InstalledRules.Directories(root: path)
    }
}
