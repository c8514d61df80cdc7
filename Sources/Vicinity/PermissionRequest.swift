internal import Feed
internal import SystemBus

/// `RequestPermission` of the agent's object on the system bus.
enum PermissionRequest {
    /// µs; a person may have to find a password.
    private static let patience: UInt64 = 180_000_000

    /// - Parameter address: of another bus than the machine's.
    static func perform(on address: String? = nil) async throws(VicinityError) -> LocationAuthorization {
        let values: [BusValue]
        do throws(ManagerCall.Failure) {
            values = try await ManagerCall.perform("RequestPermission", limit: patience, mayAsk: true, on: address)
        } catch {
            switch error {
            case .unavailable(let reason): throw .agentUnavailable(reason)
            case .refused("io.vicinity.Error.Restricted", _): throw .notAuthorized(.restricted)
            case .refused(let error, let text):
                throw .requestDenied(text ?? error ?? "the agent did not answer in time")
            case .cancelled: throw .requestDenied("the task was cancelled")
            }
        }
        guard let permission = values.first?.text.flatMap({ FeedPermission(rawValue: $0) }) else {
            throw .agentUnavailable("its answer cannot be understood")
        }
        let authorization = LocationAuthorization(permission)
        guard authorization == .authorized else { throw .notAuthorized(authorization) }
        return authorization
    }
}
