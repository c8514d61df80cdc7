internal import Glibc
public import Platform

/// Serves the feed on a Unix stream socket: a snapshot first, then every line.
///
/// No reader delays the agent or another reader: the last lines are kept once for all of them, and one that falls
/// farther behind than they reach loses the oldest. Everything happens on the thread of the event loop.
public final class FeedServer: @unchecked Sendable {
    /// How far a reader may fall behind: lines, and what they take in all.
    public static let lineLimit = 4_096
    public static let octetLimit = 4 << 20
    /// How long a reader has for its request, µs.
    private static let requestTime: Int64 = 100_000
    /// Connections that are accepted in one go.
    private static let turn = 16
    /// Connections in all, where the process may have as many descriptors besides its own.
    private static let connectionLimit = 2_048
    private static let otherDescriptors = 128
    /// Readers that are served in one go: what follows from an event is not to wait for a thousand of them.
    private static let servedInTurn = 64
    /// Lines of an answer to `why`.
    private static let explanationLimit = 1_023

    private let loop: EventLoop
    private let listener: FileDescriptor
    private var readers: [Int32: FeedReader] = [:]
    /// Those who get lines, in the order in which they are served.
    private var served: [FeedReader] = []
    /// Who is next, and how many may still have something to get.
    private var next = 0
    private var unserved = 0
    private var isServing = false
    private var limits: ConnectionLimits
    private var log = LineLog(limit: FeedServer.lineLimit, octetLimit: FeedServer.octetLimit)
    private let readableBy: (UnixSocket.Peer) -> FeedPermission?
    private let encoder: () -> FeedEncoder
    private let snapshot: (FeedPermission) -> FeedLine
    private let explain: (String) -> [FeedLine]

    /// - Parameters:
    ///   - listener: a socket that listens; everybody may connect, and learns from the first line what they may see.
    ///   - held: lines of a former server that readers may ask for with `since`.
    ///   - permission: what a peer may see; nil where that is still to be found out, and then `recheck()` follows.
    ///   - encoder: the encoder as it is now, for lines made for one reader.
    ///   - snapshot: the first line for a reader.
    ///   - explain: the lines that explain a rule or a network, or everything that holds.
    public init(
        _ listener: consuming FileDescriptor, on loop: EventLoop, held: HeldEvents? = nil,
        permission: @escaping (UnixSocket.Peer) -> FeedPermission?,
        encoder: @escaping () -> FeedEncoder, snapshot: @escaping (FeedPermission) -> FeedLine,
        explain: @escaping (String) -> [FeedLine] = { _ in [] }
    ) throws(SystemError) {
        self.loop = loop
        self.readableBy = permission
        self.encoder = encoder
        self.snapshot = snapshot
        self.explain = explain
        limits = ConnectionLimits(total: FeedServer.possibleConnections)
        for line in held?.lines ?? [] { log.append(FeedLine(line)) }
        let descriptor = listener.rawValue
        self.listener = listener
        try loop.watch(descriptor) { [unowned self] _ in acceptAll() }
    }

    /// On a socket of its own.
    public convenience init(
        at path: String, on loop: EventLoop, held: HeldEvents? = nil,
        permission: @escaping (UnixSocket.Peer) -> FeedPermission?,
        encoder: @escaping () -> FeedEncoder, snapshot: @escaping (FeedPermission) -> FeedLine,
        explain: @escaping (String) -> [FeedLine] = { _ in [] }
    ) throws(SystemError) {
        try self.init(
            try UnixSocket.listen(at: path, mode: 0o666), on: loop, held: held, permission: permission,
            encoder: encoder, snapshot: snapshot, explain: explain)
    }

    /// Ends every connection, after what can still be sent at once.
    public func stop() {
        loop.forget(listener.rawValue)
        while unserved > 0 { serve() }
        for descriptor in readers.keys { drop(descriptor) }
    }

    public var readerCount: Int { readers.count }

    /// What the next server may hand out to those who ask with `since`.
    public func held(at now: Timestamp = .now()) -> HeldEvents {
        let encoder = encoder()
        let lines = heldPositions(at: now).compactMap { position in
            log[position].flatMap { HeldEvents.Line($0, encoder.disclosure) }
        }
        return HeldEvents(instance: encoder.instance, sequence: encoder.sequence, lines: lines)
    }

    /// Hands a line to everybody who wants it.
    public func publish(_ line: FeedLine) {
        if let next = log.excess {
            for reader in readers.values { reader.skip(to: next, in: log) }
            log.drop(before: next)
        }
        log.append(line)
        unserved = served.count
        if !isServing { serve() }
    }

    /// Serves the next readers, and goes on when everything else has had its turn; lines that come meanwhile go out
    /// together. Whoever was first this time is not the next time.
    private func serve() {
        isServing = false
        for _ in 0..<min(unserved, FeedServer.servedInTurn) {
            if next >= served.count { next = 0 }
            guard next < served.count else { break }
            let reader = served[next]
            next += 1
            unserved -= 1
            // One that waits is served when its socket takes more.
            if !reader.isWaiting, reader.position < log.end { flush(reader.descriptor, reader) }
        }
        guard unserved > 0, !served.isEmpty else { return unserved = 0 }
        isServing = true
        loop.perform { [weak self] in self?.serve() }
    }

    /// Asks anew what each reader may see: starts those of whom it was not known yet, and ends the connections of those
    /// who may see less now than they get. Who may see more gets it with the next connection.
    public func recheck() {
        for (descriptor, reader) in readers {
            guard let permission = readableBy(reader.peer) else { continue }
            if reader.permission == nil {
                decide(descriptor, reader, permission)
            } else if permission.view < reader.view {
                drop(descriptor)
            }
        }
    }

    /// Other names may be told to readers who do not see all: lines that wait for them are written anew.
    ///
    /// - Parameter hasOtherKey: whether the key of hashed names is another one.
    public func disclosureChanged(hasOtherKey: Bool = false) {
        for position in log.start..<log.end { log[position]?.forgetDisclosed(hasOtherKey: hasOtherKey) }
    }

    // MARK: Connections

    /// As many as leave the process the descriptors it needs for the rest.
    private static var possibleConnections: Int {
        var limit = rlimit()
        guard unsafe getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit) == 0 else { return connectionLimit }
        return min(connectionLimit, Int(clamping: limit.rlim_cur) - otherDescriptors)
    }

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
        let now = Timestamp.now().boottime
        if let refusal = limits.enter(peer.user, at: now) {
            _ = UnixSocket.send(encoder().refusalLine(refusal).octets[...], on: descriptor)
            return
        }
        let reader = FeedReader(connection, peer)
        do {
            try loop.watch(descriptor) { [unowned self] readiness in ready(descriptor, readiness) }
        } catch {
            limits.leave(peer.user)
            throw error
        }
        readers[descriptor] = reader
        if let permission = readableBy(peer) { decide(descriptor, reader, permission) }
        guard readers[descriptor] === reader else { return }
        reader.timer = loop.schedule(at: now + FeedServer.requestTime) { [weak self, weak reader] in
            guard let self, let reader else { return }
            reader.timer = nil
            // Of an agent that was busy the request has been waiting for, not the other way round.
            ready(descriptor, .readable)
            if readers[descriptor] === reader { asked(descriptor, reader, FeedRequest()) }
        }
    }

    private func ready(_ descriptor: Int32, _ readiness: EventLoop.Readiness) {
        guard let reader = readers[descriptor] else { return }
        if readiness.contains(.writable) {
            reader.isWaiting = false
            try? loop.change(descriptor, to: .readable)
            flush(descriptor, reader)
        }
        guard readers[descriptor] === reader, !readiness.isDisjoint(with: [.readable, .hungUp, .failed]) else { return }
        switch reader.read() {
        case .nothing: break
        case .closed: drop(descriptor)
        case .line(let line): asked(descriptor, reader, FeedRequest(line) ?? FeedRequest())
        }
    }

    /// It is known what the reader may see.
    private func decide(_ descriptor: Int32, _ reader: FeedReader, _ permission: FeedPermission) {
        reader.permission = permission
        if permission.view == .nothing {
            reader.append(snapshot(permission).octets)
            reader.endsWhenSent = true
            return flush(descriptor, reader)
        }
        if let request = reader.request { begin(descriptor, reader, request) }
    }

    /// It is known what the reader wants.
    private func asked(_ descriptor: Int32, _ reader: FeedReader, _ request: FeedRequest) {
        guard reader.request == nil else { return }
        if let timer = reader.timer { loop.cancel(timer) }
        reader.timer = nil
        reader.request = request
        if reader.view > .nothing { begin(descriptor, reader, request) }
    }

    private func begin(_ descriptor: Int32, _ reader: FeedReader, _ request: FeedRequest) {
        guard var permission = reader.permission else { return }
        if request.isHashed, permission.view > .hashed {
            permission = .hashed
            reader.permission = permission
        }
        reader.append(snapshot(permission).octets)
        if let why = request.why {
            // It gets what it asked for and nothing else.
            for line in answer(to: why, reader.view).prefix(FeedServer.explanationLimit) { reader.append(line.octets) }
            reader.endsWhenSent = true
        } else if let since = request.since {
            let (position, gap) = place(after: since)
            if let gap { reader.append(gap.octets) }
            start(reader, at: position, request)
            reader.endsWhenSent = !request.follows
        } else {
            start(reader, at: log.end, request)
            reader.endsWhenSent = !request.follows
        }
        flush(descriptor, reader)
    }

    private func start(_ reader: FeedReader, at position: LineLog.Position, _ request: FeedRequest) {
        reader.start(at: position, request.filter)
        reader.place = served.count
        served.append(reader)
    }

    private func answer(to why: String, _ view: FeedView) -> [FeedLine] {
        let lines = explain(why)
        guard view != .full else { return lines }
        let encoder = encoder()
        let shown = lines.compactMap(encoder.hashedLine)
        return shown.isEmpty && !why.isEmpty ? [encoder.unknownLine(why)] : shown
    }

    // MARK: Earlier lines

    private func heldPositions(at now: Timestamp) -> Range<LineLog.Position> {
        let oldest = now.boottime - HeldEvents.lifetime
        var first = log.end - UInt64(min(log.count, HeldEvents.limit))
        while let line = log[first], line.boottime < oldest { first += 1 }
        return first..<log.end
    }

    /// Where a reader goes on who has had a line: where that is not known any more, behind a gap, with everything that is
    /// held.
    private func place(after since: (instance: String, sequence: UInt64)) -> (LineLog.Position, gap: FeedLine?) {
        let encoder = encoder()
        let held = heldPositions(at: .now())
        let first = log[held.lowerBound]?.sequence ?? encoder.sequence + 1
        // Of another life of the agent nobody knows how many there were.
        guard since.instance == encoder.instance else { return (held.lowerBound, encoder.gapLine(lost: nil)) }
        // What was never told there is nothing after.
        guard since.sequence < encoder.sequence else { return (held.upperBound, nil) }
        guard since.sequence + 1 >= first else {
            return (held.lowerBound, encoder.gapLine(lost: Int(clamping: first - since.sequence - 1)))
        }
        // Without holes, so that the number tells the place.
        return (min(held.lowerBound + (since.sequence + 1 - first), held.upperBound), nil)
    }

    // MARK: Output

    private func flush(_ descriptor: Int32, _ reader: FeedReader) {
        switch reader.flush(log, encoder) {
        case .sent: if reader.endsWhenSent { drop(descriptor) }
        case .gone: drop(descriptor)
        case .full:
            guard !reader.isWaiting else { return }
            reader.isWaiting = true
            try? loop.change(descriptor, to: [.readable, .writable])
        }
    }

    private func drop(_ descriptor: Int32) {
        guard let reader = readers.removeValue(forKey: descriptor) else { return }
        limits.leave(reader.peer.user)
        if let timer = reader.timer { loop.cancel(timer) }
        loop.forget(descriptor)
        guard let place = reader.place else { return }
        // The last one takes its place.
        let last = served.removeLast()
        if last !== reader {
            served[place] = last
            last.place = place
        }
        // Where that is, and who is still to be served, is not worth knowing: who has everything costs nothing.
        if unserved > 0 { unserved = served.count }
    }
}
