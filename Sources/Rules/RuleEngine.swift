public import Environment
internal import Netlink
public import Platform

/// Turns environments, as they follow each other, into decisions: each transition is decided exactly once.
///
/// A pure state machine: the caller hands it every new environment, calls `advance(to:)` at `nextDeadline` and carries
/// out what it decides, in order.
///
/// - What lowers protection takes evidence that is certain, and time; what raises it takes neither.
/// - That a network was left is believed at once; that it was entered, by rules, after their `settle` time.
/// - While a link's state is `unknown`, its last known state is kept in its place: nothing is left because of it, and
///   no rule believes that a network was entered by it.
public struct RuleEngine: Sendable {
    public struct Options: Hashable, Sendable {
        /// Every rule only tells what it would do.
        public var isObserving = false
        /// A rule that wants to change more often within a minute is held on the protected side.
        public var changesPerMinute = 6
        /// A rule that changes more often without a rest, however slowly, is held likewise.
        public var changesInRow = 20
        /// The longest that a rule can be held, in microseconds.
        public var maximumHold: Int64 = 28_800_000_000

        public init() {}
    }

    public private(set) var ruleSet: RuleSet
    public private(set) var options: Options

    private var environment: NetworkEnvironment?
    private(set) var place = PlaceTracker()
    private var proofs = ProofBook()
    private(set) var now: Timestamp?
    /// How far civil time was ahead of boot time when rules were looked at last, µs.
    private var clock: Int64?
    var resumedAt: Int64?
    /// Whether every rule was looked at once. Tests keep it false, to see that looking at few of them is enough.
    var hasDecided = false
    /// Whether a link's state is unknown from the beginning: nothing can be said about the place, then.
    private var isBlind = false

    var states: [RuleState]
    /// Rules that hold.
    private(set) var active: Set<Int> = [] {
        didSet { activations += 1 }
    }
    /// Rules that somebody holds.
    var held: Set<Int> = [] {
        didSet { activations += 1 }
    }
    /// Rules whose hold began or ended since rules were decided last.
    var overridden: Set<Int> = []
    /// Whether the rules are others than when rules were decided last.
    var hasOtherRules = false
    /// Changes whenever `activeRules`, `pendingRules` or `holds` do.
    public internal(set) var activations: UInt64 = 0
    /// Rules that time alone may change, and when (µs, boot time).
    private var due = DeadlineQueue()
    /// Rules that hold and wait for the network to be ready.
    private(set) var awaiting: Set<Int> = []
    /// Rules whose edge actions wait for what shows after sleep.
    private var drowsy: Set<Int> = []
    /// What rules want of a target.
    private var claims: [StateAction.Target: Set<Claim>] = [:]
    private var granted: [StateAction.Target: Claim] = [:]

    private struct Claim: Hashable, Comparable {
        let rule: Int
        let index: Int

        static func < (left: Claim, right: Claim) -> Bool {
            (left.rule, left.index) < (right.rule, right.index)
        }
    }

    /// - Parameters:
    ///   - activeRules: the rules that held before the agent was restarted in the same association: they do not enter
    ///     again.
    ///   - pendingRules: those of them whose enter actions had not been started, since the network was not ready.
    ///   - isResuming: whether the agent was restarted in the same association, should no rule have held.
    ///   - holds: the rules that were held, by name. What was asked of them has nothing to do with an association.
    ///   - isElsewhere: whether the association is another one by now: of the rules above only those that are held are
    ///     resumed.
    ///   - places: where the machine was in the same association, by name, and since when (µs, boot time): it does not
    ///     enter them again.
    public init(
        ruleSet: RuleSet, options: Options = Options(), resuming activeRules: some Sequence<String> = [],
        pending pendingRules: some Sequence<String> = [], isResuming: Bool = false, holds: [String: Hold] = [:],
        isElsewhere: Bool = false, places: [String: Int64] = [:]
    ) {
        place.resume(isElsewhere ? [:] : places)
        self.ruleSet = ruleSet
        self.options = options
        states = ruleSet.rules.map { _ in RuleState() }
        let resumed = Set(activeRules)
        let pending = Set(pendingRules)
        for (index, rule) in ruleSet.rules.enumerated() {
            guard let hold = allowed(holds[rule.name], of: rule) else { continue }
            states[index].hold = hold
            states[index].confirmsHoldBy = hold.endsWithPlace ? .max : nil
            held.insert(index)
        }
        guard isResuming || !resumed.isEmpty else { return }
        for (index, rule) in ruleSet.rules.enumerated() where rule.isEnabled {
            if isElsewhere, states[index].hold == nil { continue }
            states[index].before = resumed.contains(rule.name)
            guard resumed.contains(rule.name) else { continue }
            active.insert(index)
            states[index].isEntering = pending.contains(rule.name)
            states[index].wasReady = !isElsewhere && !pending.contains(rule.name)
        }
    }

    /// The rules that hold as far as their edge actions are concerned, in the order of the files: those to resume with.
    public var resumableRules: [String] {
        states.indices.filter { states[$0].before ?? active.contains($0) }.map { ruleSet.rules[$0].name }
    }

    /// The rules that hold and whose enter actions wait for the network, in the order of the files.
    public var pendingRules: [String] {
        awaiting.sorted().filter { states[$0].isEntering }.map { ruleSet.rules[$0].name }
    }

    /// The rules that hold now, in the order of the files.
    public var activeRules: [String] { active.sorted().map { ruleSet.rules[$0].name } }

    /// The networks the machine is on, in the order in which it came there; built-in ones included.
    public var networks: [NetworkMatch] { place.networks }

    /// Where the machine is, by the names of networks, and since when (µs, boot time): what a restarted agent resumes
    /// with.
    public var places: [String: Int64] { place.places }

    /// What the environment came to last, networks that have not been there long enough set aside.
    public var judgement: Judgement { place.judgement }

    /// What shall hold now, by target.
    public var desiredStates: [StateRequest] {
        granted.values.sorted { ($0.rule, $0.index) < ($1.rule, $1.index) }.map { request($0) }
    }

    /// When to call `advance(to:)` at the latest, in microseconds of boot time.
    public var nextDeadline: Int64? {
        if isBlind { return nil }
        // While a link is unknown nothing is proven, nor is it any longer in doubt what was.
        let others = place.isBlurred ? [] : [proofs.deadline, place.deadline(in: ruleSet)]
        return ([due.first] + others).compactMap { $0 }.min()
    }

    /// Takes in a new environment, which was the case at `time`.
    public mutating func update(_ environment: NetworkEnvironment, at time: Timestamp) -> [Decision] {
        self.environment = environment
        return decide(at: time)
    }

    /// Lets time pass; also to be called when the civil time has been set.
    public mutating func advance(to time: Timestamp) -> [Decision] {
        decide(at: time)
    }

    /// Takes in what came of a probe.
    public mutating func take(_ isProven: Bool, for identifier: UInt64, at time: Timestamp) -> [Decision] {
        proofs.take(isProven, for: identifier, at: time.boottime)
        return decide(at: time)
    }

    /// Puts other rules in place. Those that still exist keep holding without entering again; those that are gone or
    /// disabled stop, and their `leave` actions are not run, since they are the administrator's no longer.
    public mutating func replace(with ruleSet: RuleSet, options: Options? = nil, at time: Timestamp) -> [Decision] {
        var decisions: [Decision] = []
        let successors = Dictionary(
            ruleSet.rules.enumerated().map { ($1.name, $0) }, uniquingKeysWith: { first, _ in first })
        var states = ruleSet.rules.map { _ in RuleState() }
        var active: Set<Int> = []
        self.options = options ?? self.options
        for (index, rule) in self.ruleSet.rules.enumerated() {
            if let successor = successors[rule.name], ruleSet.rules[successor].isEnabled {
                states[successor] = self.states[index]
                let new = ruleSet.rules[successor]
                states[successor].hold = allowed(self.states[index].hold, of: new)
                if states[successor].hold == nil { states[successor].formerHold = self.states[index].hold }
                // It was ready for less than is demanded now, or something else of it was overruled.
                if new.readiness != rule.readiness { states[successor].wasReady = false }
                if new.states.map(\.value) != rule.states.map(\.value) { states[successor].overruled = [] }
                if self.active.contains(index) { active.insert(successor) }
                continue
            }
            if let edge = self.states[index].lastRun { decisions.append(.cancel(rule: rule.name, edge: edge)) }
            if self.active.contains(index) {
                let because = successors[rule.name] == nil ? "removed from the rule files" : "disabled"
                decisions.append(.ruleDeactivated(rule, because: because))
            }
        }
        let before = granted.mapValues { request($0) }
        self.ruleSet = ruleSet
        self.states = states
        self.active = active
        held = Set(states.indices.filter { states[$0].hold != nil })
        overridden = []
        hasOtherRules = true
        due = DeadlineQueue()
        awaiting = []
        drowsy = []
        claims = [:]
        granted = [:]
        hasDecided = false
        decisions += decide(at: time)
        // What is asked of a target may have changed with its rule, or have no rule any more.
        decisions.removeAll { if case .stateChanged = $0 { true } else { false } }
        for target in Set(before.keys).union(granted.keys).sorted() {
            let request = granted[target].map { self.request($0) }
            if request?.action != before[target]?.action { decisions.append(.stateChanged(target, request)) }
        }
        return decisions
    }

    static let outsideOfTime = "outside of its time"

    /// Whether anything can be said of what shall hold: not while nothing is known of a link from the beginning.
    public var knowsWhatShallHold: Bool { hasDecided }

    var situation: Situation? {
        guard let now else { return nil }
        return place.situation(at: now.boottime)
    }

    /// Why a rule is not what its condition says.
    func text(of oscillation: OscillationGuard) -> String {
        let problem =
            oscillation.isCircling
            ? "changed more than \(options.changesInRow) times in a row; do its own actions change the network?"
            : "changed more than \(options.changesPerMinute) times within a minute"
        let quiet = oscillation.quietMinutes
        return "\(problem); held until that has stopped for \(quiet == 1 ? "a minute" : "\(quiet) minutes")"
    }

    // MARK: Deciding

    mutating func decide(at time: Timestamp) -> [Decision] {
        now = time
        let now = time.boottime
        guard let environment, let known = place.resolve(environment, at: now) else {
            isBlind = true
            return []
        }
        isBlind = false
        var decisions: [Decision] = []
        let judged = prove(known, at: now, &decisions)
        let earlier = (standings: place.standings, place: judgement.place)
        let changed = place.move(to: judged, in: ruleSet, at: now, &decisions)

        var affected = due.expired(at: now)
        // Whoever waits for the internet is not looked at before it is there.
        let isOnline = environment.connectivity == .internet
        for index in awaiting where isOnline || ruleSet.rules[index].readiness != .internet { affected.insert(index) }
        affected.formUnion(drowsy)
        if hasDecided {
            for name in changed.networks { affected.formUnion(ruleSet.rulesByNetwork[name] ?? []) }
            if changed.hasTrust { affected.formUnion(placeSensitive) }
        } else {
            affected = Set(ruleSet.rules.indices)
        }
        // The clock was set.
        if let clock, abs(time.wall - now - clock) > 1_000_000 { affected.formUnion(ruleSet.timedRules) }
        clock = time.wall - now
        hasDecided = true
        guard let situation else { return decisions }
        affected.formUnion(settleHolds(situation))
        guard !affected.isEmpty else { return decisions }
        var targets: Set<StateAction.Target> = []
        let weekTime = WeekTime(CivilTime(local: time.wall))
        for index in affected.sorted() where ruleSet.rules[index].isEnabled {
            decide(index, situation, earlier, weekTime, time, &decisions)
            claim(index, &targets)
        }
        for target in targets.sorted() { grant(target, &decisions) }
        return decisions
    }

    /// Judges with what has been proven, and says what has to be.
    private mutating func prove(
        _ environment: NetworkEnvironment, at now: Int64, _ decisions: inout [Decision]
    ) -> Judgement {
        proofs.interrupt(place.unknownLinks, isSuspended: environment.isSuspended)
        let judgement = ruleSet.judge(environment, proofs: proofs.proofs)
        guard !place.isBlurred else { return judgement }
        let before = proofs.proofs
        for step in proofs.update(judgement, environment, in: ruleSet, at: now) {
            switch step {
            case .ask(let request): decisions.append(.probe(request))
            case .forget(let identifier): decisions.append(.cancelProbe(identifier: identifier))
            }
        }
        // A proof was made on another association or is too old.
        return proofs.proofs == before ? judgement : ruleSet.judge(environment, proofs: proofs.proofs)
    }

    /// Rules that a network they are off may keep as they are, by how sure the place is.
    private var placeSensitive: [Int] {
        active.filter { ruleSet.rules[$0].leaning == .tightening } + ruleSet.relaxingOffNetworks
    }

    private mutating func decide(
        _ index: Int, _ situation: Situation, _ earlier: (standings: [String: Standing], place: NetworkMatch?),
        _ weekTime: WeekTime, _ time: Timestamp, _ decisions: inout [Decision]
    ) {
        let rule = ruleSet.rules[index]
        var state = states[index]
        defer { states[index] = state }
        let now = time.boottime
        let wasActive = active.contains(index)
        let hold = state.hold
        let former = state.formerHold
        state.formerHold = nil
        var next: Int64?
        let isInTime = rule.isInTime(weekTime)
        let isActive: Bool
        let isResumed: Bool
        if let hold {
            isActive = hold.isOn
            next = min(hold.until, state.confirmsHoldBy ?? .max)
            state.oscillation.pause()
            isResumed = stillResumes(rule, &state, isActive, isInTime, situation, now, &next)
        } else {
            let present = wants(rule, state, isActive: wasActive, isInTime, situation, &next)
            isResumed = stillResumes(rule, &state, present, isInTime, situation, now, &next)
            // The machine has not moved: what the agent before this one vouched for, this one does until it knows more.
            let wanted =
                present || isResumed && rule.leaning == .relaxing && !situation.judgement.isSuspended
            if !rule.times.isEmpty {
                let elapsed = time.wall % 60_000_000
                next = min(next ?? .max, now + Int64(rule.minutesUntilChange(from: weekTime)) * 60_000_000 - elapsed)
            }
            let wasHeld = state.oscillation.isHeld
            // That a hold is over is no change of the rule's.
            isActive = state.oscillation.admit(
                wanted, isActive: former == nil ? wasActive : wanted, protected: rule.leaning == .tightening,
                limits: .init(perMinute: options.changesPerMinute, inRow: options.changesInRow), at: now)
            if let end = state.oscillation.heldUntil { next = min(next ?? .max, end) }
            if state.oscillation.isHeld, !wasHeld {
                decisions.append(.ruleSkipped(rule, because: text(of: state.oscillation)))
            }
        }

        // The place on which the rule holds, as long as it does so undisputed; a rule off networks is not looked at
        // whenever that changes, but when it becomes disputed or ends.
        let match = rule.match(in: situation)
        let isUndisputed = situation.isUndisputed(rule)
        if wasActive, !isUndisputed || !isActive, state.isPlaced {
            state.subject = earlier.place
            state.isPlaced = false
        }
        let subject = state.subject
        if isActive, isUndisputed {
            state.subject = rule.subject(in: situation)
            state.isPlaced = match == nil
        } else if isActive, !wasActive, hold != nil {
            // Held where its condition says nothing of the kind.
            state.subject = rule.subject(in: situation)
            state.isPlaced = false
        }
        let isDrowsy = isDrowsy(rule, &state, isActive, situation, now, &next)
        if isDrowsy { drowsy.insert(index) } else { drowsy.remove(index) }
        due[index] = next
        if isActive != wasActive {
            if isActive { active.insert(index) } else { active.remove(index) }
            state.changedAt = now
            let condition = isInTime ? situation.summary(for: rule) : RuleEngine.outsideOfTime
            let because = hold?.text(at: time) ?? former.map { "no longer \($0.claim): \(condition)" } ?? condition
            if !isDrowsy { cancelObsolete(rule, &state, isActive, &decisions) }
            decisions.append(
                isActive ? .ruleActivated(rule, because: because) : .ruleDeactivated(rule, because: because))
        }
        if !isResumed, !isDrowsy, isActive != state.isEntered {
            cancelObsolete(rule, &state, isActive, &decisions)
            state.isEntered = isActive
            state.isEntering = isActive
            if !isActive, !isObserving(rule), !rule.leave.isEmpty {
                // The access point may be another one than when the rule began to hold.
                let last = subject.flatMap { earlier.standings[$0.name]?.match } ?? subject
                run(rule, .leave, last, &decisions)
                state.lastRun = .leave
            }
        }
        let isReady = isActive && environment.map { rule.isReady(on: match, $0) } ?? false
        if isActive, state.isEntering, isReady, !isResumed {
            state.isEntering = false
            activations += 1
            if !isObserving(rule), !rule.enter.isEmpty {
                run(rule, .enter, state.subject, &decisions)
                state.lastRun = .enter
            }
        }
        if isReady { state.wasReady = true } else if !isActive { state.wasReady = false }
        let waits = isActive && !state.wasReady
        if waits { awaiting.insert(index) } else { awaiting.remove(index) }
    }

    func run(_ rule: Rule, _ edge: Rule.Edge, _ network: NetworkMatch?, _ decisions: inout [Decision]) {
        for index in rule.actions(on: edge).indices {
            decisions.append(.run(ActionRequest(rule: rule, edge: edge, index: index, network: network)))
        }
    }

    func isObserving(_ rule: Rule) -> Bool { rule.isObserving || options.isObserving }

    // MARK: What shall hold

    /// Notes what a rule wants of its targets now.
    private mutating func claim(_ index: Int, _ targets: inout Set<StateAction.Target>) {
        let rule = ruleSet.rules[index]
        for (place, action) in rule.states.enumerated() {
            let claim = Claim(rule: index, index: place)
            let target = action.value.target
            let isWanted =
                active.contains(index) && !isObserving(rule)
                && (action.value.effect != .relaxing || states[index].wasReady)
            let isNoted = claims[target]?.contains(claim) ?? false
            guard isWanted != isNoted else { continue }
            if isWanted { claims[target, default: []].insert(claim) } else { claims[target]?.remove(claim) }
            targets.insert(target)
        }
    }

    /// Gives a target to one of the rules that want something of it: what is undeniable, the highest priority, then the
    /// last in the files.
    private mutating func grant(_ target: StateAction.Target, _ decisions: inout [Decision]) {
        let candidates = (claims[target] ?? []).sorted()
        let best = candidates.max { left, right in
            let (first, second) = (weight(left), weight(right))
            return (first.0, first.1, left.rule, left.index) < (second.0, second.1, right.rule, right.index)
        }
        let wish = best.map { request($0) }
        for claim in candidates where claim != best {
            let rule = ruleSet.rules[claim.rule]
            let isOverruled = rule.states[claim.index].value != wish?.action
            let wasOverruled = states[claim.rule].overruled.contains(claim.index)
            if isOverruled, !wasOverruled, let wish {
                decisions.append(
                    .ruleSkipped(
                        rule, because: "\(target) is up to rule \(wish.rule.name) (\(wish.rule.location))"))
            }
            if isOverruled {
                states[claim.rule].overruled.insert(claim.index)
            } else {
                states[claim.rule].overruled.remove(claim.index)
            }
        }
        if let best { states[best.rule].overruled.remove(best.index) }
        let previous = granted[target].map { request($0) }
        granted[target] = best
        if previous?.action != wish?.action { decisions.append(.stateChanged(target, wish)) }
    }

    private func weight(_ claim: Claim) -> (Int, Int) {
        let rule = ruleSet.rules[claim.rule]
        return (rule.states[claim.index].value.isUndeniable ? 1 : 0, rule.priority)
    }

    private func request(_ claim: Claim) -> StateRequest {
        StateRequest(rule: ruleSet.rules[claim.rule], index: claim.index, network: states[claim.rule].subject)
    }
}

extension Rule {
    /// The first network that makes it hold.
    fileprivate func match(in situation: Situation) -> NetworkMatch? {
        for mention in condition.mentions where !mention.isNegated {
            if let standing = situation.standings[mention.network.name] { return standing.match }
        }
        return nil
    }

    /// Where it holds, should it do so: that network, or wherever the machine is.
    func subject(in situation: Situation) -> NetworkMatch? { match(in: situation) ?? situation.judgement.place }

    /// Whether what waits may start. A rule that holds off networks has no link to wait for.
    fileprivate func isReady(on match: NetworkMatch?, _ environment: NetworkEnvironment) -> Bool {
        switch readiness {
        case .link: true
        case .address:
            match.map { match in
                match.links.isEmpty
                    || match.links.contains { link in
                        environment.interfaces[link.interfaceIndex]?.addresses.contains { !$0.address.isLinkLocal }
                            ?? false
                    }
            } ?? true
        case .internet: environment.connectivity == .internet
        }
    }
}

extension StateAction.Target: Comparable {
    public static func < (left: Self, right: Self) -> Bool { (left.kind, left.name) < (right.kind, right.name) }
}
