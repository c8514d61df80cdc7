internal import Netlink
internal import Platform
internal import WiFi

/// Datagrams in place of nl80211's multicasts, to measure or test what happens from there on. Everything else is the
/// kernel's.
package struct ReplayedEvents: Sendable {
    /// Of a socket that keeps datagrams apart; not closed.
    let descriptor: Int32
    /// The identifier that nl80211 has in them.
    let family: UInt16
    /// What is answered in the kernel's place; nil for questions that it answers itself.
    let answer: @Sendable (Query) -> Answer?

    package init(descriptor: Int32, family: UInt16, answer: @escaping @Sendable (Query) -> Answer? = { _ in nil }) {
        self.descriptor = descriptor
        self.family = family
        self.answer = answer
    }
}

/// Reads what the kernel tells: the event sockets, and the answers of `KernelQueries`. Needs no privilege.
///
/// Everything in it happens on the thread of its event loop.
final class KernelObserver: @unchecked Sendable {
    private let loop: EventLoop
    private let queries: KernelQueries
    private let genericSocket: NetlinkSocket
    private let routeSocket: NetlinkSocket
    private let neighbourSocket: NetlinkSocket
    private var genericReader: DatagramReader
    private var routeReader: DatagramReader
    private var neighbourReader: DatagramReader
    private let replayed: ReplayedEvents?
    private var decoder = ObservationDecoder()
    private var names: [Int32: String] = [:]
    private var followed: Set<SocketFilter.Neighbour> = []
    private let observe: (Observation, Timestamp) -> Void

    /// Shown every fact that becomes an observation, for recording.
    var tap: ((Timestamp, Recording.Fact) -> Void)?
    var counters: ReceptionCounters { decoder.counters }
    /// Whether this kernel has Wi-Fi at all.
    var hasWireless: Bool { decoder.family != nil }

    init(
        on loop: EventLoop, replayed: ReplayedEvents? = nil, _ observe: @escaping (Observation, Timestamp) -> Void
    ) throws(NetlinkError) {
        self.loop = loop
        self.replayed = replayed
        self.observe = observe
        do { queries = try KernelQueries() } catch { throw .system(error) }
        genericSocket = try NetlinkSocket(.generic)
        routeSocket = try NetlinkSocket(.route)
        neighbourSocket = try NetlinkSocket(.route, receiveBuffer: 32_768)
        genericReader = DatagramReader(descriptor: replayed?.descriptor ?? genericSocket.descriptor)
        routeReader = DatagramReader(descriptor: routeSocket.descriptor)
        neighbourReader = DatagramReader(descriptor: neighbourSocket.descriptor, capacity: 4_096)
    }

    deinit {
        for socket in [genericSocket, routeSocket, neighbourSocket] { loop.forget(socket.descriptor) }
        if let replayed { loop.forget(replayed.descriptor) }
    }

    /// Subscribes, reads everything once, and from then on hands over what comes.
    func start() throws(NetlinkError) {
        // A family that is not there yet, or goes, is told by the controller.
        if let group = GenericNetlinkFamily.controller.groups["notify"] { try genericSocket.join(group) }
        do {
            let (family, message) = try queries.resolve()
            try subscribe(to: family)
            record(.message(bus: NetlinkSocket.Bus.generic.number, message), at: .now())
        } catch .familyNotFound {}
        if let replayed { decoder.family = replayed.family }
        for group: RouteGroup in [.link, .ipv4Address, .ipv6Address, .ipv4Route, .ipv6Route, .ipv4Rule, .ipv6Rule] {
            try routeSocket.join(group.rawValue)
        }
        try neighbourSocket.attach(.nothing)
        try neighbourSocket.join(RouteGroup.neighbour.rawValue)
        let first = queries.first()
        if let error = first.error { throw error }
        deliver(first)
        do throws(SystemError) {
            try loop.watch(replayed?.descriptor ?? genericSocket.descriptor) { [unowned self] _ in readEvents() }
            try loop.watch(routeSocket.descriptor) { [unowned self] _ in readEvents() }
            try loop.watch(neighbourSocket.descriptor) { [unowned self] _ in readNeighbours() }
        } catch {
            throw .system(error)
        }
    }

    /// Hears of these neighbours, and no others, from now on.
    func follow(_ neighbours: Set<SocketFilter.Neighbour>) {
        guard neighbours != followed else { return }
        followed = neighbours
        try? neighbourSocket.attach(.neighbours(neighbours))
    }

    func answer(_ query: Query) {
        if let answer = replayed?.answer(query) {
            return loop.perform { [weak self] in self?.observe(.answer(answer), .now()) }
        }
        queries.ask(query, names: names) { [loop, weak self] result in
            loop.perform { self?.deliver(result) }
        }
    }

    func whenAnswered(_ body: @escaping @Sendable () -> Void) {
        queries.whenAnswered { [loop] in loop.perform(body) }
    }

    private func record(_ fact: Recording.Fact, at time: Timestamp) {
        tap?(time, fact)
    }

    private func subscribe(to family: GenericNetlinkFamily) throws(NetlinkError) {
        decoder.family = family.identifier
        for name in ["config", "mlme"] {
            if let group = family.groups[name] { try genericSocket.join(group) }
        }
    }

    private func deliver(_ result: KernelQueries.Result) {
        let time = Timestamp.now()
        for fact in result.facts { record(fact, at: time) }
        guard let observation = result.observation else {
            loop.schedule(at: time.boottime + 1_000_000) { [weak self] in self?.answer(result.query) }
            return
        }
        if case .inventory(let inventory, _) = observation {
            names = [:]
            for link in inventory.links { names[link.index] = link.name }
        }
        observe(observation, time)
    }

    // MARK: Events

    /// Links first: what they say is older, and an authorised link is one that is up.
    private func readEvents() {
        let overruns = decoder.counters.overruns
        read(&routeReader, .route)
        read(&genericReader, .generic)
        // Now that the queues are empty: what stood in them is older than the loss, and than what will be read.
        if decoder.counters.overruns != overruns { observe(.lost(.overrun), .now()) }
    }

    private func read(_ reader: inout DatagramReader, _ bus: ObservationDecoder.Bus) {
        while true {
            let outcome = try? reader.next()
            let time = Timestamp.now()
            switch outcome {
            case .nothing, .closed: return
            case .overrun, nil:
                decoder.counters.overruns += 1
                record(.message(bus: bus.number, NetlinkMessage(type: 4, payload: [])), at: time)  // NLMSG_OVERRUN
                // After any other error than a full queue: one that stays must not keep the loop from everything else.
                if outcome == nil { return }
            case .datagram(_, isFromKernel: false):
                decoder.counters.foreign += 1
            case .datagram(let datagram, isFromKernel: true):
                for (observation, message) in decoder.decode(datagram, from: bus) {
                    guard let observation else {
                        noteFamily(message, time)
                        continue
                    }
                    if case .lost(let cause) = observation {
                        // What cannot be read to its end is not kept.
                        record(.lost(cause), at: time)
                    } else {
                        record(.message(bus: bus.number, message), at: time)
                    }
                    note(observation, time)
                    observe(observation, time)
                }
            }
        }
    }

    private func readNeighbours() {
        while case .datagram(let datagram, isFromKernel: true)? = try? neighbourReader.next() {
            let time = Timestamp.now()
            for (observation, message) in decoder.decode(datagram, from: .route) {
                guard let observation else { continue }
                record(.message(bus: NetlinkSocket.Bus.route.number, message), at: time)
                observe(observation, time)
            }
        }
    }

    /// Keeps what the questions need: names, and the kinds of new devices.
    private func note(_ observation: Observation, _ time: Timestamp) {
        guard case .route(let message) = observation else { return }
        switch message {
        case .link(let link):
            let isNew = names[link.index] == nil
            if let name = link.name { names[link.index] = name }
            guard isNew, let name = link.name, let facts = SysfsDevice.facts(named: name, index: link.index) else {
                return
            }
            record(.device(index: link.index, facts), at: time)
            observe(.device(index: link.index, facts), time)
        case .linkRemoved(let index): names[index] = nil
        case .address, .route, .rulesChanged, .neighbour: break
        }
    }

    private func noteFamily(_ message: NetlinkMessage, _ time: Timestamp) {
        switch try? GenericNetlinkNotification(message) {
        case .added(let family) where family.name == "nl80211":
            record(.message(bus: NetlinkSocket.Bus.generic.number, message), at: time)
            queries.use(family)
            try? subscribe(to: family)
        case .removed("nl80211"):
            decoder.family = nil
            queries.use(nil)
        default: return
        }
        record(.lost(.familyChanged), at: time)
        observe(.lost(.familyChanged), time)
    }
}

extension ObservationDecoder.Bus {
    var number: UInt16 { self == .route ? NetlinkSocket.Bus.route.number : NetlinkSocket.Bus.generic.number }
}
