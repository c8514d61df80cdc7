internal import ActionProtocol
internal import Actions
internal import Platform
internal import Rules

/// Does what the agent asks for, after looking up in the rule files what that is.
@ActionActor
final class Performer {
    private let book: RuleBook
    private let reconciler: Reconciler
    private let edges: any EdgePerforming
    /// Whether this process has to do with such places.
    private let isOfUser: Bool
    /// What runs for the agent, by its numbers.
    private var running: [UInt64: (serial: UInt64, task: Task<Void, Never>)] = [:]
    /// What was cancelled when nobody was left to hear of it.
    private var ending: [Task<Void, Never>] = []
    /// How many run, for whomever.
    private var runningCount = 0
    /// Names what runs to the service manager. An agent counts from one, and the next one does so again while what ran
    /// for the last one still ends; this goes on through all lives of this process in a boot.
    private var serial = UInt64(max(Timestamp.now().boottime, 0))
    /// What the agent asked to hold last; nil as long as it has asked for nothing.
    private var agents: (wanted: [Reconciler.Wanted], isKnown: (_ rule: String, _ index: Int) -> Bool)?
    /// What the user's own rules ask for.
    private var users: [Reconciler.Wanted] = []
    private var protection: (timer: EventLoop.Timer, settled: [() -> Void])?
    /// How often protection could not be put in force.
    private var failures = 0

    /// To the agent.
    var tell: (HelperReport) -> Void = { _ in }
    /// The last action is over.
    var onQuiet: () -> Void = {}

    init(book: RuleBook, reconciler: Reconciler, edges: any EdgePerforming, isOfUser: Bool) {
        self.book = book
        self.reconciler = reconciler
        self.edges = edges
        self.isOfUser = isOfUser
        reconciler.onOutcome = { [unowned self] rule, index, outcome in
            if rule.hasPrefix(UserRules.prefix) { return Performer.note(rule, outcome) }
            tell(.state(rule: rule, index: index, StateOutcome(outcome)))
        }
        reconciler.onTrouble = { Log.write(.error, $0) }
    }

    /// Takes up what a former life left.
    func start() async {
        reconciler.start()
        // Nobody would hear how they end, and what they were asked for may be obsolete.
        await edges.stopLeftovers()
        if reconciler.isProtecting { protect(after: Performer.patience) }
    }

    var isIdle: Bool { reconciler.isIdle && isQuiet && protection == nil }
    /// Whether no action is under way.
    var isQuiet: Bool { runningCount == 0 }
    /// Whether nothing of what was done has yet to be undone.
    var isReleased: Bool { reconciler.isReleased }
    /// Whether what lowers protection has yet to be undone.
    var isProtecting: Bool { reconciler.isProtecting }

    /// How long an agent that went away may take to come back (µs).
    static let patience: Int64 = 10_000_000
    /// Protection that failed is tried again after so long, twice as long each time up to the last (µs).
    private static let retryDelays: ClosedRange<Int64> = 5_000_000...300_000_000

    // MARK: Requests

    /// - Parameter answer: to who asks, what concerns nobody else.
    func take(_ request: HelperRequest, _ answer: @escaping (HelperReport) -> Void = { _ in }) {
        switch request {
        case .hold(let pass, let digest, let states): hold(pass, digest, states, answer)
        case .run(let id, let digest, let action): run(id, digest, action)
        case .cancel(let id): running[id]?.task.cancel()
        case .portal(let digest, let state): tellOfPortal(digest, state)
        case .prepare: edges.prepare()
        case .resetProxy(let id): resetProxy(id, answer)
        case .verify(let daemon): reconciler.verify(daemon.forgets)
        case .protect(let delay):
            protect(after: delay * 1_000) { answer(.settled(pass: nil)) }
            if delay > 0 { answer(.noted) }
        case .release:
            (agents, users) = (nil, [])
            reconciler.declare([], then: { answer(.settled(pass: nil)) })
        }
    }

    private func resetProxy(_ id: UInt64, _ answer: @escaping (HelperReport) -> Void) {
        ActionActor.task {
            var end = ActionEnd(.succeeded)
            do throws(JournalError) {
                let rows = try await reconciler.resetProxy()
                end.output = Array(rows.compactMap(\.line).map { "\($0)\n" }.joined().utf8)
                let problems = rows.compactMap(\.problem)
                if !problems.isEmpty { end = ActionEnd(.failed, because: problems.joined(separator: "; ")) }
            } catch {
                end = ActionEnd(.failed, because: "\(error); what is ours is not known")
            }
            answer(.ended(id: id, end))
        }
    }

    /// The agent has gone: what runs is nobody's any more, and how it ends is told to nobody.
    func cancelAll() {
        for (_, task) in running.values {
            task.cancel()
            ending.append(task)
        }
        running = [:]
    }

    private func hold(
        _ pass: UInt64, _ digest: String, _ states: [NamedState], _ answer: @escaping (HelperReport) -> Void
    ) {
        guard let ruleSet = book.ruleSet(digest) else {
            return answer(.outdated(digest: book.digest, .hold(pass: pass)))
        }
        failures = 0
        // Whoever asked for protection waits for this instead.
        let others = takeProtection()
        var wanted: [Reconciler.Wanted] = []
        for state in states {
            guard let rule = ruleSet.rule(named: state.rule), rule.states.indices.contains(state.index) else {
                tell(.state(rule: state.rule, index: state.index, .failed(because: "the rule has no such action")))
                continue
            }
            guard !rule.isObserving, rule.isEnabled, !book.isObserving else {
                tell(.state(rule: state.rule, index: state.index, .failed(because: "the rule only observes")))
                continue
            }
            let action = rule.states[state.index].value
            do throws(PlaceError) {
                let wishes = try action.wishes(on: state.record.links).filter { $0.place.isOfUser == isOfUser }
                wanted.append(Reconciler.Wanted(rule: rule.name, index: state.index, effect: action.effect, wishes))
            } catch {
                tell(.state(rule: state.rule, index: state.index, .failed(because: error.description)))
            }
        }
        agents = (wanted, { ruleSet.rule(named: $0)?.states.indices.contains($1) ?? false })
        declare {
            answer(.settled(pass: pass))
            for settled in others { settled() }
        }
    }

    /// As long as the agent has said nothing, what it wanted last may stay.
    private func declare(then settled: @escaping () -> Void = {}) {
        guard let agents else { return }
        // Of one place the last one counts, which is the administrator's.
        reconciler.declare(
            users + agents.wanted, isKnown: { $0.hasPrefix(UserRules.prefix) || agents.isKnown($0, $1) }, then: settled)
    }

    private static func note(_ rule: String, _ outcome: Reconciler.Outcome) {
        let name = rule.dropFirst(UserRules.prefix.count)
        switch outcome {
        case .held: Log.write(.information, "rule \(name): what it asks for is in place")
        case .reverted: Log.write(.information, "rule \(name): what was there before is back")
        case .failed(let because): Log.write(.warning, "rule \(name): \(because)")
        }
    }

    private func run(_ id: UInt64, _ digest: String, _ action: NamedAction) {
        guard let ruleSet = book.ruleSet(digest) else { return tell(.outdated(digest: book.digest, .action(id: id))) }
        guard running[id] == nil else { return }
        guard let rule = ruleSet.rule(named: action.rule), rule.isEnabled, !rule.isObserving, !book.isObserving else {
            return tell(.ended(id: id, ActionEnd(.failed, because: "the rule does not act")))
        }
        let actions = rule.actions(on: action.edge == .enter ? .enter : .leave)
        guard actions.indices.contains(action.index) else {
            return tell(.ended(id: id, ActionEnd(.failed, because: "the rule has no such action")))
        }
        var wanted = actions[action.index].value
        if let consequence = action.consequence {
            guard let following = wanted.following(consequence) else {
                return tell(.ended(id: id, ActionEnd(.failed, because: "the second factor has no such consequence")))
            }
            wanted = following
        }
        let performed = wanted
        serial += 1
        let mine = serial
        runningCount += 1
        let former = ending
        let task = ActionActor.task {
            // What another agent had asked for is over before this one's begins.
            for task in former { await task.value }
            let end = await edges.perform(performed, of: rule, action.record, id: mine) {
                if self.running[id]?.serial == mine { self.tell(.started(id: id)) }
            }
            runningCount -= 1
            if running[id]?.serial == mine {
                running[id] = nil
                tell(.ended(id: id, end))
            }
            guard isQuiet else { return }
            ending = []
            onQuiet()
        }
        running[id] = (mine, task)
    }

    /// The words are ours, not the agent's.
    private func tellOfPortal(_ digest: String, _ state: NamedState) {
        guard isOfUser, let ruleSet = book.ruleSet(digest), let rule = ruleSet.rule(named: state.rule),
            !rule.isObserving, rule.isEnabled, !book.isObserving, rule.states.indices.contains(state.index),
            case .vpn(let vpn) = rule.states[state.index].value, vpn.waitsForPortal
        else { return }
        let notification = EdgeAction.Notification(
            summary: "Sign in to this network",
            body: "It lets nothing through before. \(vpn.connection.name) starts when that is done.", urgency: .normal)
        ActionActor.task {
            _ = await edges.perform(.notify(notification), of: rule, state.record, id: 0) {}
        }
    }

    private func protect(after delay: Int64, then settled: @escaping () -> Void = {}) {
        let waiting = takeProtection() + [settled]
        reconciler.announceProtection()
        guard delay > 0 else { return protectNow(waiting) }
        let timer = ActionActor.shared.loop.schedule(at: Timestamp.now().boottime + delay) { [unowned self] in
            ActionActor.assumeIsolated {
                self.protection = nil
                self.protectNow(waiting)
            }
        }
        protection = (timer, waiting)
    }

    private func protectNow(_ waiting: [() -> Void]) {
        reconciler.protect { [unowned self] in
            protectAgain()
            for settled in waiting { settled() }
        }
    }

    /// What failed stands in the journal, and is tried again.
    private func protectAgain() {
        guard reconciler.isProtecting, protection == nil else { return failures = 0 }
        let delays = Performer.retryDelays
        let delay = min(delays.lowerBound << min(failures, 16), delays.upperBound)
        failures += 1
        protect(after: delay)
    }

    /// Who waits for a protection that is not to be as it was asked for.
    private func takeProtection() -> [() -> Void] {
        guard let protection else { return [] }
        ActionActor.shared.loop.cancel(protection.timer)
        self.protection = nil
        return protection.settled
    }
}

extension Performer: UserRulePerforming {
    func hold(_ wanted: [Reconciler.Wanted]) {
        guard wanted != users else { return }
        users = wanted
        declare()
    }

    func perform(_ action: EdgeAction, of rule: Rule, _ record: EventRecord) async -> ActionEnd {
        serial += 1
        runningCount += 1
        let end = await edges.perform(action, of: rule, record, id: serial) {}
        runningCount -= 1
        if isQuiet { onQuiet() }
        return end
    }
}

extension HelperRequest.Daemon {
    /// Whether it is what holds the place.
    fileprivate func forgets(_ place: PlaceName) -> Bool {
        switch (self, place) {
        case (.firewalld, .zone), (.networkManager, .networkManager): true
        default: false
        }
    }
}

extension EdgeAction {
    /// What follows it where it is a second factor, and this process may be asked for that.
    fileprivate func following(_ consequence: NamedConsequence) -> EdgeAction? {
        guard case .secondFactor(let factor) = self else { return nil }
        let consequences =
            switch consequence.outcome {
            case .success: factor.onSuccess
            case .failure: factor.onFailure
            }
        return consequences.indices.contains(consequence.index) ? consequences[consequence.index].action : nil
    }
}

extension StateOutcome {
    init(_ outcome: Reconciler.Outcome) {
        switch outcome {
        case .held: self = .held
        case .reverted: self = .reverted
        case .failed(let because): self = .failed(because: because)
        }
    }
}

/// Carries out what happens once.
@ActionActor
protocol EdgePerforming: AnyObject {
    /// Where its task is cancelled, ends what runs with everything that it started.
    func perform(
        _ action: EdgeAction, of rule: Rule, _ record: EventRecord, id: UInt64, started: @escaping () -> Void
    ) async -> ActionEnd

    /// Ends what a killed predecessor left running.
    func stopLeftovers() async

    /// Asks beforehand what has to be asked anyway.
    func prepare()
}
