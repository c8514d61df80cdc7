internal import Feed
internal import JSON
internal import Platform

/// What the agent says stands for the names of the Wi-Fi networks that are joined, by interface. Its hashes take no
/// permission to be seen, nor the key.
///
/// @unchecked: everything happens on the thread of its event loop, once that runs.
final class HashedFeed: @unchecked Sendable {
    private let loop: EventLoop
    private let socket: String
    private var channel: LineChannel?
    private var isStarted = false
    private(set) var environments: [Int32: String] = [:]
    /// Called when they are others.
    var onChange: (() -> Void)?

    /// µs until it is tried again.
    private static let delay: Int64 = 5_000_000
    /// Seconds that the agent may take for the first answer.
    private static let patience = 2
    private static let maximumLine = 2 * FeedLine.maximumLength

    init(_ socket: String, on loop: EventLoop) {
        (self.socket, self.loop) = (socket, loop)
    }

    private static func request(follows: Bool) -> FeedRequest {
        var request = FeedRequest()
        request.isHashed = true
        request.follows = follows
        return request
    }

    /// Asks once, and waits for the answer.
    func read() {
        guard
            var client = try? FeedClient(
                connectingTo: socket, request: Self.request(follows: false), patience: Self.patience),
            let line = client.next()
        else { return }
        take(line)
    }

    /// Follows what it says from now on, as soon as there is an agent.
    func start() {
        guard !isStarted else { return }
        isStarted = true
        connect()
    }

    private func connect() {
        guard isStarted else { return }
        guard let connection = try? UnixSocket.connect(to: socket, isBlocking: false),
            let channel = try? LineChannel(
                connection, on: loop, maximumLine: Self.maximumLine, maximumWaiting: Self.maximumLine)
        else { return retry() }
        channel.onLine = { [weak self] in self?.take($0) }
        channel.onEnd = { [weak self] in self?.end() }
        self.channel = channel
        channel.send(Self.request(follows: true).line)
    }

    func stop() {
        isStarted = false
        onChange = nil
        channel?.close()
        channel = nil
    }

    private func retry() {
        loop.schedule(at: Timestamp.now().boottime + Self.delay) { [weak self] in self?.connect() }
    }

    private func end() {
        channel = nil
        set([:])
        retry()
    }

    private func take(_ line: ArraySlice<UInt8>) {
        guard let value = try? JSONValue(parsing: line, maximumSize: Self.maximumLine) else { return }
        var changed = environments
        switch value["type"]?.string {
        case "environment.snapshot":
            changed = [:]
            for interface in value["interfaces"]?.array ?? [] where interface["wifi"]?["state"]?.string == "joined" {
                changed.note(interface)
            }
        case "wifi.joined", "wifi.roamed", "wifi.channel_changed": changed.note(value)
        case "wifi.left":
            if let index = value["ifindex"]?.integer.flatMap({ Int32(exactly: $0) }) { changed[index] = nil }
        default: return
        }
        set(changed)
    }

    private func set(_ new: [Int32: String]) {
        guard new != environments else { return }
        environments = new
        onChange?()
    }
}

extension [Int32: String] {
    fileprivate mutating func note(_ value: JSONValue) {
        guard let index = value["ifindex"]?.integer.flatMap({ Int32(exactly: $0) }) else { return }
        self[index] = value["wifi"]?["wifi_environment"]?.string
    }
}
