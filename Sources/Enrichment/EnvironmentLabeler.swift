internal import Environment
public import Netlink
internal import Platform
internal import WiFi

/// Keeps what may be told of where the machine is, for whoever wants it with each of many events: asking takes no more
/// than a lock. The kernel tells where that is, so that it works without an agent; @unchecked: what is not locked is
/// touched on the loop's thread alone, once it runs.
public final class EnvironmentLabeler: @unchecked Sendable {
    /// Where what stands for names comes from.
    public struct Sources: Sendable {
        /// A directory of rule files, or one; nil for the machine's, which have to be root's.
        public var rules: String?
        /// A directory with `vicinity.toml`, which says whose the key is; nil for the machine's, which have to be root's.
        public var configuration: String?
        public var hashKey = "/var/lib/vicinity/hash.key"
        /// The agent's, which is asked where the key cannot be read.
        public var socket = "/run/vicinity/events.sock"

        public init() {}
    }

    private let loop: EventLoop
    private let watcher: EnvironmentWatcher
    private let feed: HashedFeed
    private let sources: Sources
    private var names: NameLabels
    private var ssid: SSID?
    private let current: Lock<EnvironmentLabels>

    /// Reads where the machine is, and follows that on a thread of its own.
    ///
    /// - Throws: where the kernel cannot be asked.
    public init(_ sources: Sources = Sources()) throws(NetlinkError) {
        do { loop = try EventLoop() } catch { throw .system(error) }
        self.sources = sources
        watcher = EnvironmentWatcher(on: loop)
        try watcher.start()
        names = NameLabels(sources)
        feed = HashedFeed(sources.socket, on: loop)
        current = Lock(EnvironmentLabels(wifiEnvironment: nil, networkType: watcher.environment.networkType))
        ssid = watcher.environment.joinedInterface?.wifi?.network?.ssid
        if let ssid, names.label(of: ssid) == nil { feed.read() }
        renew()
        watcher.afterChange = { [unowned self] in renew() }
        feed.onChange = { [unowned self] in renew() }
        do { try loop.start() } catch { throw .system(error) }
    }

    deinit {
        // What the loop's thread uses has to end there.
        loop.perform { [watcher, feed] in
            watcher.stop()
            feed.stop()
        }
        loop.stop()
    }

    /// As of now.
    public var labels: EnvironmentLabels { current.withLock { $0 } }

    private func renew() {
        let environment = watcher.environment
        let interface = environment.joinedInterface
        let network = interface?.wifi?.network
        if network?.ssid != ssid {
            // Another place is rare, and the files may be others by now.
            ssid = network?.ssid
            names = NameLabels(sources)
        }
        var label: String?
        if let interface, let ssid {
            label = names.label(of: ssid)
            if label == nil {
                label = feed.environments[interface.index]
                loop.perform { [weak self] in self?.feed.start() }
            }
        }
        let new = EnvironmentLabels(wifiEnvironment: label, networkType: environment.networkType)
        current.withLock { $0 = new }
    }
}
