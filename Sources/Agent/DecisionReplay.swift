internal import Environment
package import Feed
internal import Netlink
internal import Platform
package import Rules
internal import WiFi

/// What rules decide on a recorded feed, and whether that is what was recorded.
///
/// The recording's own decisions are used for three things only: they are compared with, they tell how far time had
/// come, and of a network that was proven they say what its probe answered.
package struct DecisionReplay {
    private let ruleSet: RuleSet
    /// Whether a place in which a recording begins is taken to have been so for long; otherwise the machine has just
    /// come there. Nothing in the recording tells, but one of both agrees better with the rest of it.
    private let isSettled: Bool
    /// Whether that made a difference.
    private var wasAssumed = false
    /// Whether the recording is an agent's.
    private var isOfAgent = false
    private var engine: RuleEngine?
    private var environment = NetworkEnvironment()
    private var last = Timestamp(wall: 0, boottime: 0)
    /// Nil where the first environment has still to come.
    private var beginning: Beginning?
    private var recorded: [RecordedDecision] = []
    private var replayed: [RecordedDecision] = []
    private var early: [ReplaySummary.Difference] = []
    private var nextAction: UInt64 = 0

    /// Probes that are not answered yet, by network.
    private var awaited: [String: [UInt64]] = [:]
    /// When the recording found each network proven, or not proven any more.
    private var proofs: [String: [(time: Int64, isProven: Bool)]] = [:]

    private struct Beginning {
        var holding: FeedReplay.Holding?
        /// What held before, if this is the same association.
        var resumable: [String]
        var place: [Int32: Place]
    }

    private struct Place: Hashable {
        let ssid: SSID?
        let bssid: BSSID?
    }

    /// How long a place in which a recording begins is taken to have been so before, µs: everything has settled.
    private static let before: Int64 = 7_200_000_000

    private init(_ ruleSet: RuleSet, isSettled: Bool) {
        self.ruleSet = ruleSet
        self.isSettled = isSettled
    }

    /// - Parameter tell: given each decision, in order.
    package static func run(
        _ lines: [UInt8], by ruleSet: RuleSet, _ tell: (FeedEvent) -> Void
    ) -> ReplaySummary {
        let feed = FeedReplay(lines)
        var told: [FeedEvent] = []
        var replay = DecisionReplay(ruleSet, isSettled: true)
        var summary = replay.run(feed) { told.append($0) }
        if !summary.differences.isEmpty, replay.wasAssumed {
            var other: [FeedEvent] = []
            replay = DecisionReplay(ruleSet, isSettled: false)
            let fresh = replay.run(feed) { other.append($0) }
            if fresh.differences.count < summary.differences.count { (summary, told) = (fresh, other) }
        }
        for event in told { tell(event) }
        return summary
    }

    private mutating func run(_ recording: FeedReplay, _ tell: (FeedEvent) -> Void) -> ReplaySummary {
        var feed = recording
        look(at: feed)
        while let step = feed.next() {
            switch step.event {
            case .began(let holding):
                isOfAgent = isOfAgent || holding != nil
                let resumable = engine?.resumableRules ?? []
                beginning = Beginning(holding: holding, resumable: resumable, place: place(environment))
                engine = nil
                awaited = [:]
            case .environment(let new):
                if beginning != nil {
                    environment = new
                    begin(at: step.time, tell)
                } else {
                    pass(to: step.time, tell)
                    environment = new
                    decide(at: step.time, tell) { $0.update(new, at: step.time) }
                }
            case .decided(let decision):
                pass(to: step.time, tell)
                recorded.append(decision)
                answer(decision, at: step.time, tell)
            case .passed: pass(to: step.time, tell)
            }
            last = step.time
        }
        var summary = ReplaySummary()
        summary.counters = feed.counters
        summary.decisions = replayed.count
        summary.recorded = recorded.count
        guard isOfAgent || !recorded.isEmpty else {
            summary.isComparable = false
            return summary
        }
        summary.differences = (early + differences()).sorted { $0.time.boottime < $1.time.boottime }
        return summary
    }

    /// What has to be known before the time comes.
    private mutating func look(at feed: FeedReplay) {
        var feed = feed
        while let step = feed.next() {
            guard case .decided(let decision) = step.event else { continue }
            if decision.subject == .network {
                let isProven = decision.assurance == Assurance.proven.description && decision.type != "network.left"
                if isProven || proofs[decision.name]?.last?.isProven == true {
                    proofs[decision.name, default: []].append((step.time.boottime, isProven))
                }
            }
        }
    }

    // MARK: Beginning

    /// A recording begins anywhere in an agent's life: what held already is none of the decisions.
    private mutating func begin(at time: Timestamp, _ tell: (FeedEvent) -> Void) {
        guard let beginning else { return }
        self.beginning = nil
        guard let holding = beginning.holding else {
            let isSame = !beginning.place.isEmpty && place(environment) == beginning.place
            engine = RuleEngine(ruleSet: ruleSet, resuming: isSame ? beginning.resumable : [], isResuming: isSame)
            return decide(at: time, tell) { [environment] in $0.update(environment, at: time) }
        }
        wasAssumed = true
        if isSettled {
            settle(until: time)
        } else {
            enter(holding, at: time, tell)
        }
        let held = Set(holding.rules)
        let active = Set(engine?.activeRules ?? [])
        guard isSettled, !holding.isCut else { return }
        let words = ["does not hold in the beginning", "holds in the beginning"]
        for rule in ruleSet.rules where active.contains(rule.name) != held.contains(rule.name) {
            early.append(
                ReplaySummary.Difference(
                    time: time, subject: .rule, name: rule.name, recorded: words[held.contains(rule.name) ? 1 : 0],
                    replayed: words[active.contains(rule.name) ? 1 : 0]))
        }
    }

    /// The machine has just come here, and what holds, holds.
    private mutating func enter(_ holding: FeedReplay.Holding, at time: Timestamp, _ tell: (FeedEvent) -> Void) {
        engine = RuleEngine(ruleSet: ruleSet, resuming: holding.rules)
        let known = Set(holding.networks)
        let count = replayed.count
        decide(
            at: time,
            { event in
                if case .networkEntered(let network) = event.body, known.contains(network.name) { return }
                tell(event)
            },
            { [environment] in $0.update(environment, at: time) })
        let first = replayed[count...].filter { $0.type != "network.entered" || !known.contains($0.name) }
        replayed.replaceSubrange(count..., with: first)
    }

    /// Lets the present environment be there for long enough.
    private mutating func settle(until time: Timestamp) {
        let start = time.advanced(by: -DecisionReplay.before)
        engine = RuleEngine(ruleSet: ruleSet)
        last = start
        decide(at: start, { _ in }, isTold: false) { [environment] in $0.update(environment, at: start) }
        pass(to: time, { _ in }, isTold: false)
        last = time
    }

    private func place(_ environment: NetworkEnvironment) -> [Int32: Place] {
        environment.interfaces.compactMapValues { interface in
            interface.wifi?.network.map { Place(ssid: $0.ssid, bssid: $0.bssid) }
        }
    }

    // MARK: Deciding

    /// Lets time pass as the agent's timer does.
    private mutating func pass(to time: Timestamp, _ tell: (FeedEvent) -> Void, isTold: Bool = true) {
        while let due = engine?.nextDeadline, due <= time.boottime {
            let moment = last.advanced(by: max(due - last.boottime, 0))
            let isStuck = due <= last.boottime
            last = moment
            decide(at: moment, tell, isTold: isTold) { $0.advance(to: moment) }
            // A deadline that is not met by advancing to it would be met by no agent either.
            if isStuck, engine?.nextDeadline == due { return }
        }
    }

    private mutating func decide(
        at time: Timestamp, _ tell: (FeedEvent) -> Void, isTold: Bool = true, _ body: (inout RuleEngine) -> [Decision]
    ) {
        guard var engine else { return }
        var decisions = body(&engine)
        self.engine = engine
        // An answer may be followed by another probe, though not at the same moment for ever.
        for _ in 0..<16 where !decisions.isEmpty {
            var answers: [UInt64] = []
            for decision in decisions {
                switch decision {
                case .probe(let request):
                    if isAnsweredAtOnce(request, at: time) {
                        answers.append(request.identifier)
                    } else {
                        awaited[request.network, default: []].append(request.identifier)
                    }
                case .cancelProbe(let identifier):
                    for network in awaited.keys { awaited[network]?.removeAll { $0 == identifier } }
                default:
                    guard isTold, let event = event(of: decision, at: time) else { continue }
                    if let comparable = RecordedDecision(event) { replayed.append(comparable) }
                    tell(event)
                }
            }
            decisions = []
            for identifier in answers { decisions += self.engine?.take(true, for: identifier, at: time) ?? [] }
        }
    }

    private mutating func event(of decision: Decision, at time: Timestamp) -> FeedEvent? {
        switch decision {
        case .run(let request):
            return FeedEvent(.actionStarted(action(request.rule, request.index, request.action.kind)), at: time)
        case .stateChanged(_, let request):
            return request.map { request in
                FeedEvent(.actionStarted(action(request.rule, request.index, request.action.kind)), at: time)
            }
        default: return FeedEvent(decision, at: time)
        }
    }

    private mutating func action(_ rule: Rule, _ index: Int, _ kind: String) -> FeedEvent.ActionFact {
        nextAction += 1
        return FeedEvent.ActionFact(id: nextAction, rule: rule.name, index: index, kind: kind)
    }

    // MARK: Probes

    /// While the recording has the network proven, its probe succeeds, unless that is about to end.
    private func isAnsweredAtOnce(_ request: ProofRequest, at time: Timestamp) -> Bool {
        guard let changes = proofs[request.network] else { return false }
        let next = changes.first { $0.time > time.boottime }
        let isProven = changes.last { $0.time <= time.boottime }?.isProven ?? (next?.isProven == false)
        guard isProven else { return false }
        // Between the repetition and the end of a proof is a fifth of its lifetime.
        guard let next, !next.isProven else { return true }
        return next.time > time.boottime + request.probe.lifetime / 5
    }

    private mutating func answer(_ decision: RecordedDecision, at time: Timestamp, _ tell: (FeedEvent) -> Void) {
        guard decision.subject == .network, proofs[decision.name] != nil, decision.type != "network.left" else {
            return
        }
        let isProven = decision.assurance == Assurance.proven.description
        // A probe that has failed is repeated later; before anything was proven nothing depends on its answer.
        guard isProven || engine?.networks.first(where: { $0.name == decision.name })?.assurance == .proven else {
            return
        }
        for identifier in awaited.removeValue(forKey: decision.name) ?? [] {
            decide(at: time, tell) { $0.take(isProven, for: identifier, at: time) }
        }
    }

    // MARK: Comparing

    /// Rules and networks are compared one by one: which of two came first within a moment says nothing.
    private func differences() -> [ReplaySummary.Difference] {
        struct Key: Hashable {
            let subject: RecordedDecision.Subject
            let name: String
        }
        let left = Dictionary(grouping: recorded) { Key(subject: $0.subject, name: $0.name) }
        let right = Dictionary(grouping: replayed) { Key(subject: $0.subject, name: $0.name) }
        return Set(left.keys).union(right.keys).compactMap { key in
            let (recorded, replayed) = (left[key] ?? [], right[key] ?? [])
            for index in 0..<max(recorded.count, replayed.count) {
                let first = index < recorded.count ? recorded[index] : nil
                let second = index < replayed.count ? replayed[index] : nil
                if let first, let second, first.agrees(with: second) { continue }
                let time = [first?.time, second?.time].compactMap { $0 }.min { $0.boottime < $1.boottime }
                return ReplaySummary.Difference(
                    time: time ?? last, subject: key.subject, name: key.name, recorded: first?.text ?? "nothing more",
                    replayed: second?.text ?? "nothing more")
            }
            return nil
        }
    }
}

extension RecordedDecision {
    fileprivate var text: String { assurance.map { "\(type) (\($0))" } ?? type }
}
