public import Netlink
public import Platform
internal import WiFi

/// Feeds a capture of netlink traffic through the same decoder and reducer as the kernel's own.
///
/// It reads what `vicinity record` writes, and captures of an nlmon device. In the former the answers to the
/// reducer's questions follow the events that raised them; in the latter nobody asked, so nobody knows.
public struct Replay {
    /// The changes that one moment of the capture made.
    public struct Step: Sendable {
        public var time: Timestamp
        public var changes: [EnvironmentChange]
    }

    private let datagrams: [CapturedDatagram]
    private let isRecording: Bool
    private var position = 0
    private var decoder = ObservationDecoder()
    private var reducer = EnvironmentReducer()
    private var recent: [CapturedDatagram] = []
    /// The moment of the datagram before.
    private var now: Timestamp?

    public var environment: NetworkEnvironment { reducer.environment }
    public var counters: ReceptionCounters { decoder.counters }
    /// The moment of the first datagram; nil in an empty capture.
    public var start: Timestamp? { datagrams.first.map { Timestamp($0) } }

    /// - Throws: `CaptureError` for files that are no capture of netlink; one that is cut is replayed up to there.
    public init(_ file: [UInt8]) throws(CaptureError) {
        var datagrams: [CapturedDatagram] = []
        do {
            try Capture.read(file) { datagrams.append($0) }
        } catch {
            guard case .cut = error, !datagrams.isEmpty else { throw error }
        }
        self.datagrams = datagrams
        isRecording = datagrams.first.flatMap { Replay.note($0) }?.isStart ?? false
        decoder.family = Replay.family(in: datagrams)
        // Nobody read everything before a capture of nlmon began.
        if !isRecording, let start { observe(.inventory(Inventory(), nil), at: start) }
    }

    /// The next moment that made changes; nil at the end.
    public mutating func next() -> Step? {
        while position < datagrams.count {
            let datagram = datagrams[position]
            let time = moment(of: datagram)
            // At the same moment the answer comes after the question.
            if let due = reducer.deadline, due <= time.boottime {
                let moment = time.advanced(by: due - time.boottime)
                let changes = observe(.deadline, at: moment)
                if !changes.isEmpty { return Step(time: moment, changes: changes) }
                continue
            }
            position += 1
            now = time
            let changes = take(datagram, at: time)
            if !changes.isEmpty { return Step(time: time, changes: changes) }
        }
        return nil
    }

    /// A capture knows only civil time, which can step back and, in a damaged file, leap by centuries, in which the
    /// reducer would ask every few seconds how things are. It waits for nothing longer than a minute.
    private func moment(of datagram: CapturedDatagram) -> Timestamp {
        guard let now else { return Timestamp(datagram) }
        let passed = min(max(datagram.wall - now.wall, 0), 600_000_000)
        return Timestamp(wall: datagram.wall, boottime: now.boottime + passed)
    }

    private mutating func take(_ datagram: CapturedDatagram, at time: Timestamp) -> [EnvironmentChange] {
        if isRecording, let note = Replay.note(datagram) { return take(note, at: time) }
        guard let bus = ObservationDecoder.Bus(number: datagram.bus), !isRequest(datagram), !isCopy(datagram) else {
            return []
        }
        var changes: [EnvironmentChange] = []
        for (observation, message) in decoder.decode(datagram.bytes, from: bus) {
            // Of a capture nobody can read everything again.
            if case .lost = observation, !isRecording { continue }
            if message.type == 4, isRecording {  // NLMSG_OVERRUN, as a recorder notes it
                changes += observe(.lost(.overrun), at: time)
            } else if let observation, isEvidence(message, bus) {
                changes += observe(observation, at: time)
            }
        }
        return changes
    }

    /// Whether a message of a capture tells how things are: of what others were answered about Wi-Fi, only the kinds of
    /// interfaces.
    private func isEvidence(_ message: NetlinkMessage, _ bus: ObservationDecoder.Bus) -> Bool {
        guard message.sequence != 0, bus == .generic else { return true }
        return message.payload.first == 7  // NEW_INTERFACE
    }

    /// What programs send is not always well-formed: wpa_supplicant's RTM_SETLINK ends in more zeros than it says.
    private func isRequest(_ datagram: CapturedDatagram) -> Bool {
        datagram.bytes.hostInteger(at: 6, as: UInt16.self).map { $0 & 1 != 0 } ?? false  // NLM_F_REQUEST
    }

    /// An nlmon device shows a multicast once for every socket that listens.
    private mutating func isCopy(_ datagram: CapturedDatagram) -> Bool {
        guard !isRecording else { return false }
        recent.removeAll { abs(datagram.wall - $0.wall) > 5_000 }
        if recent.contains(where: { $0.bus == datagram.bus && $0.bytes == datagram.bytes }) { return true }
        recent.append(datagram)
        return false
    }

    private mutating func take(_ note: Recording.Note, at time: Timestamp) -> [EnvironmentChange] {
        switch note {
        case .start: []
        case .observation(let observation): observe(observation, at: time)
        case .failure(let query): observe(.answer(.failed(query)), at: time)
        case .answer(let query, let count, let isRadioBlocked):
            takeAnswer(query, count, isRadioBlocked).map { observe($0, at: time) } ?? []
        }
    }

    /// The answer that stands in the next `count` datagrams.
    private mutating func takeAnswer(_ query: Query, _ count: Int, _ isRadioBlocked: Bool) -> Observation? {
        var route: [RouteMessage] = []
        var wireless: [NL80211Message] = []
        for datagram in datagrams[position...].prefix(count) {
            for message in NetlinkMessage.split(datagram.bytes).messages {
                switch ObservationDecoder.Bus(number: datagram.bus) {
                case .generic: if let decoded = try? NL80211Message(message) { wireless.append(decoded) }
                case .route: if let decoded = try? RouteMessage(message) { route.append(decoded) }
                case nil: continue
                }
            }
        }
        position += min(count, datagrams.count - position)
        switch query {
        case .association(let index, let generation):
            return .answer(
                .association(index: index, generation: generation, AnswerAssembly.association(wireless)))
        case .station(let index, let generation, _):
            let stations = AnswerAssembly.association(wireless).stations
            return .answer(.station(index: index, generation: generation, stations.first))
        case .accessPoint(let index, let bssid):
            var entry: ScanEntry?
            for case .scanEntry(let found) in wireless { entry = found }
            return .answer(.accessPoint(index: index, bssid: bssid, entry))
        case .radio(let index, let generation):
            return .answer(.radio(index: index, generation: generation, isBlocked: isRadioBlocked))
        case .path: return .answer(.path(AnswerAssembly.path(route)))
        case .neighbour: return .answer(.neighbour(AnswerAssembly.neighbour(route)))
        case .routes(let index): return .answer(.routes(index: index, AnswerAssembly.routes(route)))
        case .announcements: return nil  // They stand in the note.
        case .inventory(let cause): return .inventory(AnswerAssembly.inventory(route, wireless: wireless), cause)
        }
    }

    @discardableResult
    private mutating func observe(_ observation: Observation, at time: Timestamp) -> [EnvironmentChange] {
        let reduction = reducer.reduce(observation, at: time)
        var changes = reduction.changes
        guard !isRecording else { return changes }
        for query in reduction.queries {
            if let answer = Replay.ignorance(of: query) { changes += observe(answer, at: time) }
        }
        return changes
    }

    /// In a capture nobody asked our questions.
    private static func ignorance(of query: Query) -> Observation? {
        switch query {
        case .association(let index, let generation):
            .answer(.association(index: index, generation: generation, nil))
        // Asked only where the access point's word is in, which in a capture it never is.
        case .station: nil
        case .accessPoint(let index, let bssid): .answer(.accessPoint(index: index, bssid: bssid, nil))
        case .radio(let index, let generation): .answer(.radio(index: index, generation: generation, isBlocked: false))
        case .path: .answer(.path(.unknown))
        case .neighbour, .routes, .announcements, .inventory: nil
        }
    }

    private static func note(_ datagram: CapturedDatagram) -> Recording.Note? {
        NetlinkMessage.split(datagram.bytes).messages.first.flatMap { Recording.note(in: $0) }
    }

    /// nl80211's identifier on the machine of the capture: somebody asked for it, or messages of a family there have
    /// nl80211's shape.
    private static func family(in datagrams: [CapturedDatagram]) -> UInt16? {
        var guesses: [UInt16: Int] = [:]
        for datagram in datagrams where datagram.bus == NetlinkSocket.Bus.generic.number {
            for message in NetlinkMessage.split(datagram.bytes).messages {
                if case .added(let family)? = try? GenericNetlinkNotification(message), family.name == "nl80211" {
                    return family.identifier
                }
                guard message.type > GenericNetlinkFamily.controller.identifier, message.sequence == 0 else { continue }
                switch try? NL80211Message(message) {
                case .connect, .disconnect, .authenticate, .associate: guesses[message.type, default: 0] += 1
                default: break
                }
            }
        }
        return guesses.max { $0.value < $1.value }?.key
    }
}

extension Timestamp {
    /// Of the first datagram: its civil time serves as boot time as well.
    fileprivate init(_ datagram: CapturedDatagram) {
        self.init(wall: datagram.wall, boottime: datagram.wall)
    }
}

extension ObservationDecoder.Bus {
    fileprivate init?(number: UInt16) {
        switch number {
        case NetlinkSocket.Bus.route.number: self = .route
        case NetlinkSocket.Bus.generic.number: self = .generic
        default: return nil
        }
    }
}
