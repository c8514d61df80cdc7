internal import Environment
internal import Feed
internal import Platform

/// What the agent knows now, read once.
struct AgentSnapshot {
    let environment: NetworkEnvironment
    let permission: FeedPermission

    /// Seconds that the agent may take.
    private static let patience = 10

    /// On a thread of its own, since it waits.
    static func read(from socket: String) async throws(VicinityError) -> AgentSnapshot {
        let result: Result<AgentSnapshot, VicinityError> = await withCheckedContinuation { continuation in
            do throws(SystemError) {
                let worker = try EventLoop()
                try worker.start()
                worker.perform {
                    let result = Result { () throws(VicinityError) in try AgentSnapshot(from: socket) }
                    worker.stop()
                    continuation.resume(returning: result)
                }
            } catch {
                continuation.resume(returning: .failure(.agentUnavailable("\(error)")))
            }
        }
        return try result.get()
    }

    private init(from socket: String) throws(VicinityError) {
        var request = FeedRequest()
        request.follows = false
        var client: FeedClient
        do throws(SystemError) {
            client = try FeedClient(connectingTo: socket, request: request, patience: AgentSnapshot.patience)
        } catch {
            throw .agentUnavailable("\(error)")
        }
        var follower = FeedFollower()
        guard let line = client.next(), case .began(let permission, let refusal) = follower.take(line) else {
            throw .agentUnavailable("it ended the connection")
        }
        if let refusal { throw .refused(PermissionText.text(for: refusal)) }
        self.permission = permission
        environment = follower.environment
    }
}
