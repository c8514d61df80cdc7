internal import Feed

/// Whether a program may see which networks the machine is on, by the agent's word: as a phone guards what tells its
/// location.
public enum LocationAuthorization: String, Hashable, Sendable, CaseIterable {
    /// Nobody has decided: names and addresses are withheld, and `request()` may change that.
    case notDetermined
    /// The administrator's configuration forbids it, and asking is of no use.
    case restricted
    /// It was decided that names and addresses, or everything, are withheld.
    case denied
    case authorized

    init(_ permission: FeedPermission) {
        self =
            switch permission {
            case .full: .authorized
            case .hashed, .denied: .denied
            case .notDetermined: .notDetermined
            case .restricted: .restricted
            }
    }

    /// What it is at present.
    ///
    /// - Throws: `VicinityError` where the agent does not answer.
    public static func current(from source: EnvironmentSource = .agent) async throws(VicinityError)
        -> LocationAuthorization
    {
        guard case .agent(let socket) = source.kind else { return .authorized }
        return LocationAuthorization(try await AgentSnapshot.read(from: socket).permission)
    }

    /// Asks for it: where the user sits at the machine polkit has them authenticate, otherwise an administrator. It lasts
    /// until it is revoked, and counts for what connects to the agent from then on.
    ///
    /// - Returns: `authorized`.
    /// - Throws: `VicinityError` where it was not given.
    @discardableResult
    public static func request() async throws(VicinityError) -> LocationAuthorization {
        try await PermissionRequest.perform()
    }
}

/// Why the agent tells nothing.
public enum VicinityError: Error, Hashable, Sendable, CustomStringConvertible {
    /// The program may not see it. This is not the same as being on no network.
    case notAuthorized(LocationAuthorization)
    /// No agent answers, with the reason.
    case agentUnavailable(String)
    /// The agent turned the program away, with the reason: there may be room later.
    case refused(String)
    /// What was asked for was not granted, with the words of who decided.
    case requestDenied(String)

    public var description: String {
        switch self {
        case .notAuthorized(.notDetermined):
            "nobody has decided yet whether this program may see which networks the machine is on: "
                + "LocationAuthorization.request() asks"
        case .notAuthorized(.restricted):
            "the administrator's configuration forbids to see which networks the machine is on"
        case .notAuthorized: "this program may not see which networks the machine is on"
        case .agentUnavailable(let reason): "the agent does not answer: \(reason)"
        case .refused(let reason): reason
        case .requestDenied(let reason): reason
        }
    }
}
