/// Levels of permission in words.
public enum PermissionText {
    public static func meaning(of level: FeedPermission) -> String {
        switch level {
        case .full: "you see which networks this machine is on"
        case .hashed: "names and addresses are withheld, by the administrator's choice"
        case .notDetermined: "names and addresses are withheld until you ask for them"
        case .restricted: "the administrator's configuration lets you see nothing of where this machine is"
        case .denied: "you may not see where this machine is"
        }
    }

    /// What can be done about it; nil where there is no need or no way.
    public static func advice(for level: FeedPermission) -> String? {
        switch level {
        case .full, .restricted: nil
        case .hashed, .notDetermined, .denied: "`vicinity permission request` asks for more"
        }
    }

    public static func text(for refusal: FeedRefusal) -> String {
        switch refusal {
        case .tooManyConnections: "you have as many connections to the agent as one user may: end some of them"
        case .tooManyAttempts: "you connect to the agent more often than one user may: wait a few seconds"
        case .full: "the agent has no room for more connections: try again later"
        }
    }
}
