public import Platform

/// Serves the feed on a Unix stream socket: a snapshot first, then every line.
///
/// No reader delays the agent or another reader: each has a bounded queue of shared lines, from which the oldest go.
/// Everything happens on the thread of the event loop.
public final class FeedServer: @unchecked Sendable {
    /// Lines that a reader may fall behind.
    private static let queueLimit = 1_024
    /// How long a reader has for its request, µs.
    private static let requestTime: Int64 = 100_000
    private static let connectionLimit = 1_100
    /// Connections that are accepted in one go.
    private static let turn = 16
    private static let connectionLimitPerUser = 64
    /// Lines held for `since`, and how long (µs).
    private static let heldLimit = 1_000
    private static let heldTime: Int64 = 24 * 3_600 * 1_000_000

    private let loop: EventLoop
    private let listener: FileDescriptor
    private var readers: [Int32: Reader] = [:]
    private var held: [FeedLine] = []
    private let readableBy: (UnixSocket.Peer) -> FeedPermission
    private let encoder: () -> FeedEncoder
    private let snapshot: (FeedPermission) -> FeedLine
    private let explain: (String) -> [FeedLine]

    /// - Parameters:
    ///   - listener: a socket that listens; everybody may connect, and learns from the first line what they may see.
    ///   - permission: what a peer may see.
    ///   - encoder: the encoder as it is now, for lines made for one reader.
    ///   - snapshot: the first line for a reader.
    ///   - explain: the lines that explain a rule or a network, or everything that holds.
    public init(
        _ listener: consuming FileDescriptor, on loop: EventLoop,
        permission: @escaping (UnixSocket.Peer) -> FeedPermission,
        encoder: @escaping () -> FeedEncoder, snapshot: @escaping (FeedPermission) -> FeedLine,
        explain: @escaping (String) -> [FeedLine] = { _ in [] }
    ) throws(SystemError) {
        self.loop = loop
        self.readableBy = permission
        self.encoder = encoder
        self.snapshot = snapshot
        self.explain = explain
        let descriptor = listener.rawValue
        self.listener = listener
        try loop.watch(descriptor) { [unowned self] _ in acceptAll() }
    }

    /// On a socket of its own.
    public convenience init(
        at path: String, on loop: EventLoop, permission: @escaping (UnixSocket.Peer) -> FeedPermission,
        encoder: @escaping () -> FeedEncoder, snapshot: @escaping (FeedPermission) -> FeedLine,
        explain: @escaping (String) -> [FeedLine] = { _ in [] }
    ) throws(SystemError) {
        try self.init(
            try UnixSocket.listen(at: path, mode: 0o666), on: loop, permission: permission, encoder: encoder,
            snapshot: snapshot, explain: explain)
    }

    /// Ends every connection, after what can still be sent at once.
    public func stop() {
        loop.forget(listener.rawValue)
        for descriptor in readers.keys { drop(descriptor) }
    }

    public var readerCount: Int { readers.count }

    /// Hands a line to everybody who wants it.
    public func publish(_ line: FeedLine) {
        held.append(line)
        // Twice the limit before it is cut: moving the rest once in a thousand lines costs nothing.
        if held.count >= FeedServer.heldLimit * 2 { held.removeFirst(FeedServer.heldLimit) }
        for (descriptor, reader) in readers where reader.isStarted && reader.filter.admits(line) {
            reader.append(line, limit: FeedServer.queueLimit)
            if !reader.isWaiting { flush(descriptor, reader) }
        }
    }

    // MARK: Connections

    private func acceptAll() {
        // Those who come faster than that wait their turn with everything else there is to do.
        for _ in 0..<FeedServer.turn {
            do {
                guard let connection = try UnixSocket.accept(on: listener.rawValue) else { return }
                try start(connection)
            } catch {
                // Out of descriptors: those who wait are served when others go; meanwhile nobody spins.
                loop.forget(listener.rawValue)
                loop.schedule(at: Timestamp.now().boottime + 1_000_000) { [weak self] in
                    guard let self else { return }
                    try? loop.watch(listener.rawValue) { [unowned self] _ in acceptAll() }
                }
                return
            }
        }
    }

    private func start(_ connection: consuming FileDescriptor) throws(SystemError) {
        let descriptor = connection.rawValue
        guard let peer = try? UnixSocket.peer(of: descriptor) else { return }
        let others = readers.values.count { $0.user == peer.user }
        guard readers.count < FeedServer.connectionLimit,
            peer.user == 0 || others < FeedServer.connectionLimitPerUser
        else { return }
        let permission = readableBy(peer)
        guard permission == .full else {
            _ = UnixSocket.send(snapshot(permission).octets[...], on: descriptor)
            return
        }
        let reader = Reader(connection, user: peer.user)
        readers[descriptor] = reader
        do {
            try loop.watch(descriptor) { [unowned self] readiness in ready(descriptor, readiness) }
        } catch {
            readers[descriptor] = nil
            throw error
        }
        reader.timer = loop.schedule(at: Timestamp.now().boottime + FeedServer.requestTime) { [weak self] in
            reader.timer = nil
            self?.begin(descriptor, FeedRequest())
        }
    }

    private func ready(_ descriptor: Int32, _ readiness: EventLoop.Readiness) {
        guard let reader = readers[descriptor] else { return }
        if readiness.contains(.writable) {
            reader.isWaiting = false
            try? loop.change(descriptor, to: .readable)
            flush(descriptor, reader)
        }
        guard !readiness.isDisjoint(with: [.readable, .hungUp, .failed]) else { return }
        switch reader.read() {
        case .nothing: break
        case .closed: drop(descriptor)
        case .line(let line): begin(descriptor, FeedRequest(line) ?? FeedRequest())
        }
    }

    private func begin(_ descriptor: Int32, _ request: FeedRequest) {
        guard let reader = readers[descriptor], !reader.isStarted else { return }
        if let timer = reader.timer { loop.cancel(timer) }
        reader.timer = nil
        reader.filter = request.filter
        reader.isStarted = true
        reader.append(snapshot(.full), limit: FeedServer.queueLimit)
        if let why = request.why {
            // It gets what it asked for and nothing else.
            reader.filter.types = [""]
            for line in explain(why).prefix(FeedServer.queueLimit - 1) {
                reader.append(line, limit: FeedServer.queueLimit)
            }
            reader.endsWhenSent = true
            flush(descriptor, reader)
            return
        }
        for line in request.since.map(heldLines) ?? [] where request.filter.admits(line) {
            reader.append(line, limit: FeedServer.queueLimit + FeedServer.heldLimit)
        }
        reader.endsWhenSent = !request.follows
        flush(descriptor, reader)
    }

    /// What came after a line: where that is not known any more, a gap, and everything that is held.
    private func heldLines(since: (instance: String, sequence: UInt64)) -> [FeedLine] {
        let encoder = encoder()
        let oldest = Timestamp.now().boottime - FeedServer.heldTime
        let lines = held.suffix(FeedServer.heldLimit).drop { $0.boottime < oldest }
        let wanted = lines.drop { since.instance == encoder.instance && ($0.sequence ?? 0) <= since.sequence }
        let first = lines.first?.sequence ?? encoder.sequence + 1
        if since.instance == encoder.instance, since.sequence + 1 >= first { return Array(wanted) }
        // Of another life of the agent nobody knows how many there were.
        let lost = since.instance == encoder.instance ? Int(clamping: first - since.sequence - 1) : nil
        return [encoder.gapLine(lost: lost)] + wanted
    }

    private func flush(_ descriptor: Int32, _ reader: Reader) {
        switch reader.send(gap: { self.encoder().gapLine(lost: $0) }) {
        case .sent: if reader.endsWhenSent { drop(descriptor) }
        case .gone: drop(descriptor)
        case .full:
            reader.isWaiting = true
            try? loop.change(descriptor, to: [.readable, .writable])
        }
    }

    private func drop(_ descriptor: Int32) {
        guard let reader = readers.removeValue(forKey: descriptor) else { return }
        if let timer = reader.timer { loop.cancel(timer) }
        loop.forget(descriptor)
    }
}

/// One connection.
private final class Reader {
    enum Input {
        case nothing
        case closed
        case line(ArraySlice<UInt8>)
    }

    enum Output {
        case sent, full, gone
    }

    private let connection: FileDescriptor
    let user: UInt32
    var filter = FeedFilter()
    var timer: EventLoop.Timer?
    var isStarted = false
    var isWaiting = false
    var endsWhenSent = false
    private var input: [UInt8] = []
    private var queue: [FeedLine] = []
    /// How much of the first line is out already.
    private var offset = 0
    private var lost = 0

    init(_ connection: consuming FileDescriptor, user: UInt32) {
        self.connection = connection
        self.user = user
    }

    func append(_ line: FeedLine, limit: Int) {
        queue.append(line)
        guard queue.count > limit else { return }
        // A line that is half out has to be ended.
        let first = offset > 0 ? 1 : 0
        let excess = max(queue.count - limit, limit / 8)
        queue.removeSubrange(first..<min(first + excess, queue.count))
        lost += excess
    }

    func send(gap: (Int) -> FeedLine) -> Output {
        while true {
            if lost > 0, offset == 0 {
                queue.insert(gap(lost), at: 0)
                lost = 0
            }
            guard let line = queue.first else { return .sent }
            guard let count = UnixSocket.send(line.octets[offset...], on: connection.rawValue) else { return .gone }
            offset += count
            guard offset == line.octets.count else { return .full }
            offset = 0
            queue.removeFirst()
        }
    }

    /// What the reader says: at most one line counts, and only at the beginning.
    func read() -> Input {
        var buffer = [UInt8](repeating: 0, count: 1_024)
        // One who never stops talking is not listened to without end.
        for _ in 0..<16 {
            guard let count = UnixSocket.receive(into: &buffer, on: connection.rawValue) else { return .nothing }
            if count == 0 { return .closed }
            guard !isStarted else { continue }
            input += buffer[..<count]
            if let end = input.firstIndex(of: UInt8(ascii: "\n")) { return .line(input[..<end]) }
            if input.count > FeedRequest.maximumLength { return .line([]) }
        }
        return .nothing
    }
}
