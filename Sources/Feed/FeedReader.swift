internal import Platform

/// One connection of the feed's server: who it is, and how far its reader has come.
final class FeedReader {
    enum Input {
        case nothing
        case closed
        case line(ArraySlice<UInt8>)
    }

    enum Output {
        /// Everything that there is.
        case sent
        /// The reader is behind.
        case full
        case gone
    }

    private let connection: FileDescriptor
    let peer: UnixSocket.Peer
    /// Nil until it is known.
    var permission: FeedPermission?
    /// What the reader said; nil until it did, or its time to say something is over.
    var request: FeedRequest?
    var timer: EventLoop.Timer?
    var isStarted = false
    /// Whether the loop tells when the socket takes more.
    var isWaiting = false
    var endsWhenSent = false
    /// Of the next line.
    private(set) var position: LineLog.Position = .max
    /// Among those whom the server serves; nil before it starts.
    var place: Int?
    private var filter = CompiledFilter(FeedFilter(), for: .nothing)
    private var input: [UInt8] = []
    /// Lines for this reader alone, and one of the log's that is half out.
    private var own: ArraySlice<[UInt8]> = []
    /// How much of the first of them is out already.
    private var offset = 0
    private var lost = 0
    /// Lines that go out together, so that one who is behind comes up with few calls.
    private static let batch = (lines: 64, octets: 64 << 10)

    init(_ connection: consuming FileDescriptor, _ peer: UnixSocket.Peer) {
        self.connection = connection
        self.peer = peer
    }

    var descriptor: Int32 { connection.rawValue }
    var view: FeedView { permission?.view ?? .nothing }

    /// - Parameter position: where in the log it begins.
    func start(at position: LineLog.Position, _ filter: FeedFilter) {
        isStarted = true
        self.position = position
        self.filter = CompiledFilter(filter, for: view)
    }

    /// A line for this reader alone, before what else there is.
    func append(_ octets: [UInt8]) { own.append(octets) }

    /// Lines before a position are about to go: notes how many of them the reader wanted and will not get.
    func skip(to next: LineLog.Position, in log: LineLog) {
        guard isStarted, position < next else { return }
        if filter.admitsAll {
            lost += Int(next - position)
        } else {
            for place in position..<next { if let line = log[place], filter.admits(line) { lost += 1 } }
        }
        position = next
    }

    /// Sends what there is, as far as the socket takes it.
    func flush(_ log: LineLog, _ encoder: () -> FeedEncoder) -> Output {
        while true {
            if let first = own.first {
                guard let count = UnixSocket.send(first[offset...], on: connection.rawValue) else { return .gone }
                offset += count
                guard offset == first.count else { return .full }
                offset = 0
                own.removeFirst()
                if own.isEmpty { own = [] }
            } else if !isStarted {
                return .sent
            } else if lost > 0 {
                own.append(encoder().gapLine(lost: lost).octets)
                lost = 0
            } else {
                switch flushLog(log, encoder) {
                case .sent: if position >= log.end { return .sent }
                case let other: return other
                }
            }
        }
    }

    /// Sends the next lines of the log; `sent` when these are out.
    private func flushLog(_ log: LineLog, _ encoder: () -> FeedEncoder) -> Output {
        // Mostly there is one line, which goes out as it is.
        if position + 1 == log.end, let line = log[position] {
            guard filter.admits(line) else {
                position += 1
                return .sent
            }
            let octets = view == .full ? line.octets : line.octets(disclosing: encoder().disclosure)
            guard let count = UnixSocket.send(octets[...], on: connection.rawValue) else { return .gone }
            return advance(past: octets, to: position + 1, count)
        }
        var batch: [(next: LineLog.Position, octets: [UInt8])] = []
        var size = 0
        var next = position
        let disclosure = view == .full ? nil : encoder().disclosure
        while next < log.end, batch.count < FeedReader.batch.lines, size < FeedReader.batch.octets {
            defer { next += 1 }
            guard let line = log[next], filter.admits(line) else { continue }
            let octets = disclosure.map { line.octets(disclosing: $0) } ?? line.octets
            batch.append((next + 1, octets))
            size += octets.count
        }
        guard let first = batch.first else {
            position = next
            return .sent
        }
        let joined = batch.count == 1 ? first.octets : batch.reduce(into: []) { $0 += $1.octets }
        guard var count = UnixSocket.send(joined[...], on: connection.rawValue) else { return .gone }
        for line in batch {
            if case .full = advance(past: line.octets, to: line.next, count) { return .full }
            count -= line.octets.count
        }
        position = next
        return .sent
    }

    /// Notes that so many octets of a line, or of it and others, are out.
    private func advance(past line: [UInt8], to next: LineLog.Position, _ count: Int) -> Output {
        if count < line.count {
            guard count > 0 else { return .full }
            // A line that is half out has to be ended.
            own = [line]
            offset = count
            position = next
            return .full
        }
        position = next
        return .sent
    }

    /// What the reader says: at most one line counts, and only at the beginning.
    func read() -> Input {
        var buffer = [UInt8](repeating: 0, count: 1_024)
        // One who never stops talking is not listened to without end.
        for _ in 0..<16 {
            guard let count = UnixSocket.receive(into: &buffer, on: connection.rawValue) else { return .nothing }
            if count == 0 { return .closed }
            guard request == nil else { continue }
            input += buffer[..<count]
            if let end = input.firstIndex(of: UInt8(ascii: "\n")) { return .line(input[..<end]) }
            if input.count > FeedRequest.maximumLength { return .line([]) }
        }
        return .nothing
    }
}
