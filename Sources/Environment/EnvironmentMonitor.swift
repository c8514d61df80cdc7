public import Netlink
internal import Platform

/// What a consumer of `EnvironmentMonitor.changes` receives.
public enum EnvironmentUpdate: Hashable, Sendable {
    /// Always the first element, and again after `missed`.
    case snapshot(NetworkEnvironment)
    case change(EnvironmentChange)
    /// The consumer fell behind: so many changes were dropped. A fresh snapshot follows.
    case missed(Int)
}

/// Watches where this machine is, straight from the kernel. No privilege is needed.
///
///     let monitor = try EnvironmentMonitor()
///     for await update in monitor.changes { … }
public final class EnvironmentMonitor: Sendable {
    private let loop: EventLoop
    private let watcher: EnvironmentWatcher
    private let hub: EnvironmentHub

    /// Reads everything and starts to follow the kernel on a thread of its own.
    ///
    /// - Parameter capacity: changes a consumer may fall behind before it misses some.
    /// - Throws: `NetlinkError` when the kernel cannot be asked.
    public init(capacity: Int = 256) throws(NetlinkError) {
        do { loop = try EventLoop() } catch { throw .system(error) }
        let watcher = EnvironmentWatcher(on: loop)
        try watcher.start()
        let hub = EnvironmentHub(watcher.environment, capacity: capacity)
        watcher.onChange = { [unowned watcher] in hub.publish($0, watcher.environment) }
        self.watcher = watcher
        self.hub = hub
        do { try loop.start() } catch { throw .system(error) }
    }

    deinit {
        hub.finish()
        // What the loop's thread uses has to end there.
        loop.perform { [watcher] in watcher.stop() }
        loop.stop()
    }

    /// The environment as of now.
    public var environment: NetworkEnvironment { hub.environment }

    /// A new, independent stream: a snapshot first, then every change. Any number may be open; each is bounded, and
    /// a slow consumer costs the others nothing.
    public var changes: AsyncStream<EnvironmentUpdate> { hub.stream() }
}
