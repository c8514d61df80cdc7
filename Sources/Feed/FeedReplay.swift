public import Environment
internal import JSON
public import Platform

/// Where a machine was, from the lines of its feed: the environments that the agent had, as far as the feed tells them,
/// and what it decided.
///
/// Pure: lines in, steps out, in the order in which the agent came by them. What the feed does not tell:
/// - When a link was lost that came back as a roam: it counts as joined all the time, so what had to wait for the end
///   of the roam may come up to 11 s sooner. A loss that was held back is known by its time, and the link is `unknown`
///   from then until the line that tells it.
/// - When a link came back after a sleep without having been left: it counts as joined from `agent.resumed` on.
/// - Lists that a line had no room for, and the kind of an interface that appeared in a recording of version 0.1.
public struct FeedReplay {
    public enum Event: Sendable {
        /// From here on an agent goes by this environment; nil where nothing was told yet of what holds.
        case began(Holding?)
        case environment(NetworkEnvironment)
        case decided(RecordedDecision)
        /// Time passed, at least until here.
        case passed
    }

    public struct Step: Sendable {
        /// Boot time never steps back, as long as no other agent begins.
        public var time: Timestamp
        public var event: Event
    }

    /// What held when a reader came, as its snapshot says.
    public struct Holding: Hashable, Sendable {
        public var networks: [String]
        public var rules: [String]
        /// Whether there was no room for all of them.
        public var isCut: Bool
    }

    public struct Counters: Hashable, Sendable {
        public var lines = 0
        /// No JSON, no line of this schema, or without time.
        public var unreadable = 0
        /// Lines that say themselves that others are missing, or whose numbers do.
        public var gaps = 0
        /// Lines from before anything told where the machine was.
        public var early = 0
        /// Other agents that the lines are of, each one a restart.
        public var restarts = 0
        /// Interfaces of which no line tells what they are.
        public var unknownInterfaces = 0
    }

    public private(set) var counters = Counters()

    private let text: [UInt8]
    private var entries: [Entry] = []
    private var position = 0
    private var hasDecisions = false
    private var hasSnapshot = false

    private var environment = NetworkEnvironment()
    private var hasBegun = false
    private var instance: ArraySlice<UInt8>?
    private var last = Timestamp(wall: 0, boottime: 0)
    private var end = Int64.max
    private var waiting: [Step] = []

    /// What is replayed from a capture has civil time for boot time; no sum of times comes near the limits of a number.
    private static let maximumTime: Int64 = 100_000_000_000_000_000
    /// Ten years: no machine is up longer, and nobody has to wait for rules that change with the hours of millennia.
    private static let maximumSpan: Int64 = 315_360_000_000_000
    private static let maximumLength = 2 * FeedLine.maximumLength
    /// The longest that the loss of a link is held back, µs.
    private static let holdingTime: Int64 = 11_000_000
    private static let usualHoldingTime: Int64 = 1_000_000

    /// How many lines back the moment of a loss is looked for.
    private static let search = 1_000

    /// A line, as far as its order among the others matters.
    struct Entry {
        enum Role {
            case snapshot
            case wifi, left
            case environment
            case decision, networkLeft
            case other
            /// No line: the link of that index is lost, as a later line tells.
            case loss
        }

        var role: Role
        var range: Range<Int>
        var time: Timestamp
        var interface: Int32?
        /// The first half of `id`.
        var instance: ArraySlice<UInt8>?
        var sequence: Int64?
    }

    public init(_ text: [UInt8]) {
        self.text = text
        read()
        putSnapshotsInOrder()
        insertLosses()
    }

    // MARK: Order

    private mutating func read() {
        var start = 0
        var lastSequence: (instance: ArraySlice<UInt8>, number: Int64)?
        while start < text.count {
            let end = text[start...].firstIndex(of: UInt8(ascii: "\n")) ?? text.count
            defer { start = end + 1 }
            guard end > start else { continue }
            counters.lines += 1
            guard end - start <= FeedReplay.maximumLength, let value = value(start..<end),
                let entry = entry(value, start..<end)
            else {
                counters.unreadable += 1
                continue
            }
            if value["type"]?.string == "feed.gap" { counters.gaps += 1 }
            if let instance = entry.instance, let number = entry.sequence {
                if let before = lastSequence, before.instance == instance, number > before.number + 1 {
                    counters.gaps += 1
                }
                lastSequence = (instance, number)
            }
            if entry.role == .decision || entry.role == .networkLeft { hasDecisions = true }
            if entry.role == .snapshot { hasSnapshot = true }
            entries.append(entry)
        }
    }

    private func value(_ range: Range<Int>) -> JSONValue? {
        try? JSONValue(parsing: text[range], maximumSize: FeedReplay.maximumLength)
    }

    private func entry(_ value: JSONValue, _ range: Range<Int>) -> Entry? {
        guard value["schema"]?.string == "vicinity/1", let type = value["type"]?.string,
            let boottime = value["boottime_us"]?.integer, (0...FeedReplay.maximumTime).contains(boottime),
            let wall = value["time"]?.string.flatMap({ Timestamp.wall(iso8601: $0) })
        else { return nil }
        let role: Entry.Role =
            switch type {
            case "environment.snapshot": .snapshot
            case "wifi.left": .left
            case "wifi.associating", "wifi.joined", "wifi.roamed", "wifi.join_failed", "wifi.channel_changed": .wifi
            case "link.up", "link.down", "address.changed", "route.changed", "dns.changed", "connectivity.changed",
                "evidence.changed", "agent.suspended", "agent.resumed", "agent.resynced":
                .environment
            case "network.left": .networkLeft
            case "network.entered", "network.assurance_changed", "rule.activated", "rule.deactivated", "rule.skipped":
                .decision
            default: .other
            }
        var entry = Entry(role: role, range: range, time: Timestamp(wall: wall, boottime: boottime))
        entry.interface = value["ifindex"]?.integer.flatMap { Int32(exactly: $0) }
        entry.sequence = value["seq"]?.integer
        if let id = value["id"]?.string {
            entry.instance = Array(id.utf8.prefix { $0 != UInt8(ascii: ":") })[...]
        } else if role == .snapshot {
            entry.sequence = value["as_of_seq"]?.integer
        }
        return entry
    }

    /// A reader who asked for earlier lines gets the snapshot before them, though it is of a later moment.
    private mutating func putSnapshotsInOrder() {
        var ordered: [Entry] = []
        ordered.reserveCapacity(entries.count)
        var pending: Entry?
        for entry in entries {
            if let snapshot = pending {
                let isEarlier = entry.sequence.map { $0 <= snapshot.sequence ?? 0 } ?? (entry.role != .snapshot)
                if entry.role == .snapshot || !isEarlier {
                    ordered.append(snapshot)
                    pending = nil
                }
            }
            if entry.role == .snapshot { pending = entry } else { ordered.append(entry) }
        }
        if let pending { ordered.append(pending) }
        // A snapshot has no number of its own: it is of the agent whose lines follow.
        var following: ArraySlice<UInt8>?
        for index in ordered.indices.reversed() {
            if ordered[index].role == .snapshot {
                ordered[index].instance = following
            } else {
                following = ordered[index].instance ?? following
            }
        }
        entries = ordered
    }

    /// Notes from when on a link was unknown whose loss was told only later.
    private mutating func insertLosses() {
        var lastOfInterface: [Int32: Int] = [:]
        var latest: Int64 = 0
        var losses: [(before: Int, entry: Entry)] = []
        var agent: ArraySlice<UInt8>?
        for (index, entry) in entries.enumerated() {
            if entry.role == .snapshot || agent != nil && entry.instance != nil && entry.instance != agent {
                latest = 0
                lastOfInterface = [:]
            }
            agent = entry.instance ?? agent
            if entry.role == .left, let interface = entry.interface {
                let lost = entry.time.boottime
                if publication(of: index, after: latest) > lost + 100_000 {
                    var place = index
                    let first = max(lastOfInterface[interface].map { $0 + 1 } ?? 0, index - FeedReplay.search)
                    while place > first, entries[place - 1].time.boottime > lost, entries[place - 1].role != .snapshot {
                        place -= 1
                    }
                    var loss = entry
                    loss.role = .loss
                    losses.append((place, loss))
                }
            }
            if entry.role == .wifi || entry.role == .left, let interface = entry.interface {
                lastOfInterface[interface] = index
            }
            latest = max(latest, entry.time.boottime)
        }
        guard !losses.isEmpty else { return }
        losses.sort { $0.before < $1.before }
        var merged: [Entry] = []
        merged.reserveCapacity(entries.count + losses.count)
        var next = losses[...]
        for (index, entry) in entries.enumerated() {
            while let loss = next.first, loss.before == index {
                merged.append(loss.entry)
                next.removeFirst()
            }
            merged.append(entry)
        }
        entries = merged
    }

    /// When a loss was told: what came of it says so, another network or what the agent concluded; otherwise, where a
    /// line before is of a later moment, it is taken to have been held back for as long as is usual.
    private func publication(of index: Int, after latest: Int64) -> Int64 {
        let own = entries[index].time.boottime
        if isContinued(index) { return entries[index + 1].time.boottime }
        var next = index + 1
        while next < entries.count, [.wifi, .environment].contains(entries[next].role),
            entries[next].time.boottime <= own + FeedReplay.holdingTime
        {
            next += 1
        }
        if next < entries.count, entries[next].role == .networkLeft {
            let told = entries[next].time.boottime
            if (own...own + FeedReplay.holdingTime).contains(told) { return told }
        }
        guard latest > own else { return own }
        let following = index + 1 < entries.count ? entries[index + 1].time.boottime : .max
        return max(latest, min(own + FeedReplay.usualHoldingTime, following))
    }

    // MARK: Steps

    public mutating func next() -> Step? {
        while waiting.isEmpty {
            guard position < entries.count else { return nil }
            let index = position
            position += 1
            take(entries[index], at: index)
        }
        return waiting.removeFirst()
    }

    private mutating func take(_ entry: Entry, at index: Int) {
        guard entry.role != .loss else { return lose(entry) }
        guard let value = value(entry.range) else { return }
        let isAnother = entry.instance != nil && instance != nil && entry.instance != instance
        if isAnother { counters.restarts += 1 }
        if let instance = entry.instance { self.instance = instance }
        if entry.role == .snapshot {
            environment = NetworkEnvironment(snapshot: value)
            // Another reader of the same agent: what it decided goes on.
            let isSame = hasBegun && !isAnother && entry.time.boottime >= last.boottime
            if !isSame {
                last = entry.time
                hasBegun = true
                tell(.began(Holding(value)), at: entry.time)
            }
            return tell(.environment(environment), at: entry.time)
        }
        if isAnother, hasBegun {
            // Nothing tells where it was started: where the one before was.
            last = entry.time
            tell(.began(nil), at: entry.time)
            tell(.environment(environment), at: entry.time)
        }
        switch entry.role {
        case .wifi, .left, .environment:
            apply(value)
            guard begin(at: entry.time), !isContinued(index) else { return }
            var time = entry.time
            if entry.role == .left {
                let told = publication(of: index, after: last.boottime)
                time = time.advanced(by: told - time.boottime)
            }
            tell(.environment(environment), at: time)
        case .decision, .networkLeft:
            guard hasBegun else { return counters.early += 1 }
            if let decision = RecordedDecision(value, at: entry.time) { tell(.decided(decision), at: entry.time) }
        case .other: if hasBegun { tell(.passed, at: entry.time) }
        case .snapshot, .loss: break
        }
    }

    /// - Returns: false as long as a snapshot is still to come that says where everything began.
    private mutating func begin(at time: Timestamp) -> Bool {
        if hasBegun { return true }
        guard !hasSnapshot else {
            counters.early += 1
            return false
        }
        hasBegun = true
        tell(.began(nil), at: time)
        return true
    }

    private mutating func lose(_ entry: Entry) {
        guard hasBegun, let index = entry.interface, environment.interfaces[index]?.wifi?.network != nil else { return }
        environment.interfaces[index]?.wifi = .unknown
        tell(.environment(environment), at: entry.time)
    }

    /// Whether the next line tells of the same moment: the agent decides when all of them are told.
    private func isContinued(_ index: Int) -> Bool {
        guard index + 1 < entries.count else { return false }
        let (entry, next) = (entries[index], entries[index + 1])
        guard [.wifi, .left, .environment].contains(next.role), next.instance == entry.instance else { return false }
        if entry.time.boottime == next.time.boottime { return true }
        // A place that is left is always told of, so what follows at once belongs to the same moment.
        return entry.role == .left && next.role == .wifi && entry.interface == next.interface && hasDecisions
            && (0...FeedReplay.holdingTime).contains(next.time.boottime - entry.time.boottime)
    }

    private mutating func tell(_ event: Event, at moment: Timestamp) {
        if case .began = event { end = moment.boottime + FeedReplay.maximumSpan }
        let time = moment.boottime > end ? moment.advanced(by: end - moment.boottime) : moment
        if time.boottime >= last.boottime {
            last = time
        } else {
            // What is told late is told now.
            last = time.advanced(by: last.boottime - time.boottime)
        }
        waiting.append(Step(time: last, event: event))
    }

    private mutating func apply(_ value: JSONValue) {
        let known = environment.interfaces.count
        environment.apply(value)
        guard environment.interfaces.count > known,
            let index = value["ifindex"]?.integer.flatMap({ Int32(exactly: $0) }),
            environment.interfaces[index]?.kind == .unknown
        else { return }
        counters.unknownInterfaces += 1
    }
}

/// A decision as the feed has it, so far as two of them can be compared.
public struct RecordedDecision: Hashable, Sendable {
    public enum Subject: String, Hashable, Sendable {
        case network, rule
    }

    public var time: Timestamp
    /// Of its line.
    public var type: String
    public var subject: Subject
    public var name: String
    /// Of networks: `unknown` to `proven`.
    public var assurance: String?

    init?(_ value: JSONValue, at time: Timestamp) {
        guard let type = value["type"]?.string else { return nil }
        self.time = time
        self.type = type
        let body: JSONValue?
        if let network = value["network"] {
            subject = .network
            body = network
        } else {
            subject = .rule
            body = value["rule"]
        }
        guard let name = body?["name"]?.string else { return nil }
        self.name = name
        assurance = subject == .network ? body?["assurance"]?.string : nil
    }

    /// Nil for events that are no decisions of rules.
    public init?(_ event: FeedEvent) {
        time = event.time
        type = event.type
        switch event.body {
        case .networkEntered(let network), .networkLeft(let network, _), .networkAssuranceChanged(let network):
            subject = .network
            name = network.name
            assurance = network.assurance
        case .ruleActivated(let rule), .ruleDeactivated(let rule), .ruleSkipped(let rule):
            subject = .rule
            name = rule.name
            assurance = nil
        default: return nil
        }
    }

    /// Whether both say the same, at whatever time.
    public func agrees(with other: RecordedDecision) -> Bool {
        type == other.type && name == other.name && assurance == other.assurance
    }
}

extension FeedReplay.Holding {
    fileprivate init?(_ value: JSONValue) {
        guard let networks = value["networks"]?.array, let rules = value["rules"]?.array else { return nil }
        self.networks = networks.compactMap(\.string)
        self.rules = rules.compactMap(\.string)
        // As `SnapshotFields` cuts them.
        isCut = [self.networks, self.rules].contains { $0.reduce(0) { $0 + $1.utf8.count + 3 } > 900 }
    }
}
