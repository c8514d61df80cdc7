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
    /// How many run, for whomever.
    private var runningCount = 0
    /// Names what runs to the service manager. An agent counts from one, and the next one does so again while what ran
    /// for the last one still ends; this goes on through all lives of this process in a boot.
    private var serial = UInt64(max(Timestamp.now().boottime, 0))
    private var protection: (timer: EventLoop.Timer, settled: [() -> Void])?

    /// To the agent.
    var tell: (HelperReport) -> Void = { _ in }

    init(book: RuleBook, reconciler: Reconciler, edges: any EdgePerforming, isOfUser: Bool) {
        self.book = book
        self.reconciler = reconciler
        self.edges = edges
        self.isOfUser = isOfUser
        reconciler.onOutcome = { [unowned self] rule, index, outcome in
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

    var isIdle: Bool { reconciler.isIdle && runningCount == 0 && protection == nil }

    /// How long an agent that went away may take to come back (µs).
    static let patience: Int64 = 10_000_000

    // MARK: Requests

    /// - Parameter answer: to who asks, what concerns nobody else.
    func take(_ request: HelperRequest, _ answer: @escaping (HelperReport) -> Void = { _ in }) {
        switch request {
        case .hold(let pass, let digest, let states): hold(pass, digest, states, answer)
        case .run(let id, let digest, let action): run(id, digest, action)
        case .cancel(let id): running[id]?.task.cancel()
        case .protect(let delay): protect(after: delay * 1_000) { answer(.settled(pass: nil)) }
        case .release: reconciler.declare([], then: { answer(.settled(pass: nil)) })
        }
    }

    /// The agent has gone: what runs is nobody's any more, and how it ends is told to nobody.
    func cancelAll() {
        for (_, task) in running.values { task.cancel() }
        running = [:]
    }

    private func hold(
        _ pass: UInt64, _ digest: String, _ states: [NamedState], _ answer: @escaping (HelperReport) -> Void
    ) {
        guard let ruleSet = book.ruleSet(digest) else {
            return answer(.outdated(digest: book.digest, .hold(pass: pass)))
        }
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
        reconciler.declare(
            wanted, isKnown: { ruleSet.rule(named: $0)?.states.indices.contains($1) ?? false },
            then: {
                answer(.settled(pass: pass))
                for settled in others { settled() }
            })
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
        let wanted = actions[action.index].value
        serial += 1
        let mine = serial
        runningCount += 1
        let task = ActionActor.task {
            let end = await edges.perform(wanted, of: rule, action.record, id: mine) {
                if self.running[id]?.serial == mine { self.tell(.started(id: id)) }
            }
            runningCount -= 1
            guard running[id]?.serial == mine else { return }
            running[id] = nil
            tell(.ended(id: id, end))
        }
        running[id] = (mine, task)
    }

    private func protect(after delay: Int64, then settled: @escaping () -> Void = {}) {
        let waiting = takeProtection() + [settled]
        reconciler.announceProtection()
        let timer = ActionActor.shared.loop.schedule(at: Timestamp.now().boottime + delay) { [unowned self] in
            ActionActor.assumeIsolated {
                self.protection = nil
                self.reconciler.protect { for settled in waiting { settled() } }
            }
        }
        protection = (timer, waiting)
    }

    /// Who waits for a protection that is not to be as it was asked for.
    private func takeProtection() -> [() -> Void] {
        guard let protection else { return [] }
        ActionActor.shared.loop.cancel(protection.timer)
        self.protection = nil
        return protection.settled
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
}
