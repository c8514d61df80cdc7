public import Environment
internal import Feed
public import Netlink
internal import Platform

/// Watches where this machine is: by default as the agent tells it, as far as its user may see that.
///
///     let monitor = try NetworkMonitor()
///     for await update in monitor.changes { … }
///
/// Where no agent answers the monitor waits for one, and goes on when it was started anew. `status` tells that from a
/// machine that is on no network.
public final class NetworkMonitor: Sendable {
    /// How it stands between the monitor and its source.
    public enum Status: Hashable, Sendable {
        /// Nothing is known yet.
        case connecting
        /// Changes arrive. Without authorisation they have neither names nor addresses, or none arrive at all.
        case connected(LocationAuthorization)
        /// Nothing arrives for this reason; the monitor keeps trying.
        case unavailable(VicinityError)

        /// Nil as long as the agent has not said.
        public var authorization: LocationAuthorization? {
            if case .connected(let authorization) = self { authorization } else { nil }
        }
    }

    private enum Follower {
        case agent(AgentFollower)
        case kernel(EnvironmentMonitor)
    }

    private let follower: Follower

    /// - Parameters:
    ///   - source: whom to ask; nobody else is.
    ///   - capacity: changes a consumer may fall behind before it misses some.
    /// - Throws: `NetlinkError` where the kernel cannot be asked. That no agent runs is no error but a `status`.
    public init(source: EnvironmentSource = .agent, capacity: Int = 256) throws(NetlinkError) {
        switch source.kind {
        case .kernel: follower = .kernel(try EnvironmentMonitor(capacity: capacity))
        case .agent(let socket):
            do throws(SystemError) {
                follower = .agent(try AgentFollower(socket, capacity: capacity))
            } catch {
                throw .system(error)
            }
        }
    }

    deinit {
        if case .agent(let agent) = follower { agent.stop() }
    }

    /// The environment as it was last told; nil before anybody told any.
    public var environment: NetworkEnvironment? {
        switch follower {
        case .agent(let agent): agent.environment
        case .kernel(let monitor): monitor.environment
        }
    }

    /// A new, independent stream: a snapshot as soon as there is one, then every change. Any number may be open; each is
    /// bounded. Whoever falls behind, and everybody when the agent was away or had no room, gets `missed` with the number
    /// of changes that are known to be lost, one at least, and a fresh snapshot.
    public var changes: AsyncStream<EnvironmentUpdate> {
        switch follower {
        case .agent(let agent): agent.changes
        case .kernel(let monitor): monitor.changes
        }
    }

    public var status: Status {
        switch follower {
        case .agent(let agent): agent.status
        case .kernel: .connected(.authorized)
        }
    }

    /// The status as it is, and whenever it is another one. A consumer that falls behind gets the latest.
    public var statusUpdates: AsyncStream<Status> {
        switch follower {
        case .agent(let agent): return agent.statusUpdates
        case .kernel:
            return AsyncStream { continuation in
                continuation.yield(.connected(.authorized))
            }
        }
    }

    /// Asks that this user's programs may see names and addresses, see `LocationAuthorization.request()`; once they may,
    /// the monitor connects anew to see them.
    public func requestAuthorization() async throws(VicinityError) {
        guard case .agent(let agent) = follower else { return }
        try await LocationAuthorization.request()
        agent.reconnect()
    }
}
