internal import Environment
internal import Feed
internal import Platform

/// Keeps a connection to the agent's feed, on a thread of its own. @unchecked: what is not locked is touched there only.
final class AgentFollower: @unchecked Sendable {
    typealias Status = NetworkMonitor.Status

    private struct Told {
        var status = Status.connecting
        var hasEnvironment = false
        var streams: [UInt64: AsyncStream<Status>.Continuation] = [:]
        var last: UInt64 = 0
        var isOver = false
    }

    private final class Connection {
        let descriptor: FileDescriptor
        var follower = FeedFollower()
        var input: [UInt8] = []
        /// Whether its reader may see nothing, and was told so: the end is no surprise.
        var isDenied = false
        /// Whether the first line is in.
        var hasBegun = false

        init(_ descriptor: consuming FileDescriptor) { self.descriptor = descriptor }
    }

    private let loop: EventLoop
    private let socket: String
    private let hub: EnvironmentHub
    private let told = Lock(Told())
    private var connection: Connection?
    private var timer: EventLoop.Timer?
    private var failures = 0
    /// Changes that are known to be lost since the last snapshot; nil where none are.
    private var lost: Int?
    /// The number of the last line of the connection before.
    private var last: UInt64 = 0
    private var isOver = false

    /// µs: how soon it is tried again, twice as late each time.
    private static let firstDelay: Int64 = 100_000
    private static let lastDelay: Int64 = 30_000_000
    private static let maximumLine = 2 * FeedLine.maximumLength

    init(_ socket: String, capacity: Int) throws(SystemError) {
        self.socket = socket
        hub = EnvironmentHub(NetworkEnvironment(), capacity: capacity, isKnown: false)
        loop = try EventLoop()
        loop.perform { [self] in connect() }
        try loop.start()
    }

    /// To be called once; until then its thread keeps it.
    func stop() {
        let streams = told.withLock { told in
            told.isOver = true
            defer { told.streams = [:] }
            return Array(told.streams.values)
        }
        for stream in streams { stream.finish() }
        hub.finish()
        loop.perform { [self] in
            isOver = true
            close()
            if let timer { loop.cancel(timer) }
            loop.stop()
        }
    }

    /// Another permission may count for another connection.
    func reconnect() {
        loop.perform { [self] in
            failures = 0
            close()
            connect()
        }
    }

    // MARK: What is told

    var status: Status { told.withLock { $0.status } }
    var environment: NetworkEnvironment? { told.withLock { $0.hasEnvironment } ? hub.environment : nil }
    var changes: AsyncStream<EnvironmentUpdate> { hub.stream() }

    var statusUpdates: AsyncStream<Status> {
        let (stream, continuation) = AsyncStream.makeStream(of: Status.self, bufferingPolicy: .bufferingNewest(1))
        let identifier = told.withLock { told -> UInt64? in
            // Within the lock, so that no later one comes before it.
            continuation.yield(told.status)
            guard !told.isOver else { return nil }
            told.last += 1
            told.streams[told.last] = continuation
            return told.last
        }
        if let identifier {
            continuation.onTermination = { [weak self] _ in self?.forget(identifier) }
        } else {
            continuation.finish()
        }
        return stream
    }

    private func forget(_ identifier: UInt64) { told.withLock { _ = $0.streams.removeValue(forKey: identifier) } }

    private func set(_ status: Status) {
        told.withLock { told in
            guard told.status != status else { return }
            told.status = status
            for stream in told.streams.values { stream.yield(status) }
        }
    }

    // MARK: The connection, on the loop's thread

    private func connect() {
        guard !isOver, connection == nil else { return }
        if let timer { loop.cancel(timer) }
        timer = nil
        do throws(SystemError) {
            let connection = Connection(try UnixSocket.connect(to: socket, isBlocking: false))
            let descriptor = connection.descriptor.rawValue
            try loop.watch(descriptor) { [unowned self] _ in receive() }
            // Everything, at once: without a word the agent would wait for one.
            _ = UnixSocket.send(FeedRequest().line[...], on: descriptor)
            self.connection = connection
        } catch {
            set(.unavailable(.agentUnavailable("\(error)")))
            retry()
        }
    }

    private func close() {
        guard let connection else { return }
        last = connection.follower.sequence
        loop.forget(connection.descriptor.rawValue)
        self.connection = nil
    }

    private func retry() {
        guard !isOver, timer == nil else { return }
        let delay = min(AgentFollower.firstDelay << Int64(min(failures, 9)), AgentFollower.lastDelay)
        failures += 1
        timer = loop.schedule(at: Timestamp.now().boottime + delay) { [unowned self] in
            timer = nil
            connect()
        }
    }

    private func receive() {
        guard let connection else { return }
        var buffer = [UInt8](repeating: 0, count: 65_536)
        guard let count = UnixSocket.receive(into: &buffer, on: connection.descriptor.rawValue) else { return }
        guard count > 0 else { return end() }
        connection.input += buffer[..<count]
        var start = 0
        while let end = connection.input[start...].firstIndex(of: UInt8(ascii: "\n")) {
            let line = connection.input[start..<end]
            start = end + 1
            take(line, connection)
            guard self.connection === connection else { return }
        }
        connection.input.removeSubrange(..<start)
        // No line of the feed is as long as that, so this is none.
        if connection.input.count > AgentFollower.maximumLine { end() }
    }

    /// The agent ended the connection.
    private func end() {
        let isExpected = connection?.isDenied ?? false
        close()
        if !isExpected { set(.unavailable(.agentUnavailable("it ended the connection"))) }
        retry()
    }

    private func take(_ line: ArraySlice<UInt8>, _ connection: Connection) {
        switch connection.follower.take(line) {
        case .began(let permission, let refusal):
            connection.hasBegun = true
            connection.isDenied = permission.view == .nothing
            began(permission, refusal, connection.follower)
        case .changed(let change):
            guard connection.hasBegun else { return end() }
            hub.publish([change], connection.follower.environment)
        case .lost(let count):
            // What the environment is now only a new snapshot says. Whoever is behind does well to pause before it.
            guard connection.hasBegun else { return end() }
            lost = (lost ?? 0) + max(count ?? 1, 1)
            close()
            retry()
        case .other, nil: break
        }
    }

    private func began(_ permission: FeedPermission, _ refusal: FeedRefusal?, _ follower: FeedFollower) {
        if let refusal { return set(.unavailable(.refused(PermissionText.text(for: refusal)))) }
        if permission.view > .nothing {
            failures = 0
            let isFirst = told.withLock { told in
                defer { told.hasEnvironment = true }
                return !told.hasEnvironment
            }
            let missed =
                isFirst ? 0 : max(lost ?? 0, follower.sequence > last ? Int(clamping: follower.sequence - last) : 1)
            hub.renew(follower.environment, missed: missed)
            lost = nil
        }
        set(.connected(LocationAuthorization(permission)))
    }
}
