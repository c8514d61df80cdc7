internal import ActionProtocol
internal import Actions
internal import Environment
internal import Feed
internal import Platform
internal import Rules

/// Has done what the rules decide, by whoever may do it: root's helper, the helpers in users' sessions, and for
/// commands, where this machine has no helper, this process. Everything that comes of it is told.
final class ActionDispatcher {
    private let loop: EventLoop
    private let root: RootHelper
    private let runner: CommandRunner
    private var sessions: SessionHelpers?
    /// Who keeps what shall hold: root's helper first, then those of the sessions by their user.
    private var rootStates: StateKeeper
    private var sessionStates: [UInt32: StateKeeper] = [:]

    var queue = ActionQueue<Job>()
    private var nextIdentifier: UInt64 = 0
    private var local: [UInt64: CommandRunner.Identifier] = [:]
    /// Who still has to answer for an action, and what they said.
    private var awaited: [UInt64: Awaited] = [:]
    /// Actions that a helper refused since it has read other rule files.
    private var refused: [UInt64: String] = [:]
    /// Who waits for the machine's proxy to be taken away.
    private var resets: [UInt64: (ActionEnd) -> Void] = [:]

    private var digest = ""
    private var ruleSet = RuleSet()
    private var desired: [StateRequest] = []
    private var links: [String] = []
    private var connectivity = Connectivity.none
    private var gate = PortalGate()
    private var isLookedAfter = false
    /// Rules that held for a former agent: what they asked for is in place as far as is known.
    var resumed: Set<String> = []
    private var gateTimer: EventLoop.Timer?

    private var retryTimer: EventLoop.Timer?
    private var failures = 0

    /// µs; each time twice as long.
    private static let firstRetry: Int64 = 5_000_000
    private static let lastRetry: Int64 = 300_000_000

    struct Job {
        let request: ActionRequest
        var fact: FeedEvent.ActionFact
        /// What follows a second factor; nil: the action itself.
        var consequence: NamedConsequence?
    }

    private struct Awaited {
        var helpers: Set<UInt32>
        var isStarted = false
        var best: ActionEnd?
    }

    /// Tells what happens.
    var publish: (FeedEvent) -> Void = { _ in }
    /// A helper has read other rule files than this process: they have to be read again.
    var onOutdated: () -> Void = {}
    /// Has second factors asked for.
    weak var factors: (any FactorAsking)?
    /// Holds a rule, and says why not.
    var holdRule: (_ rule: String, HoldRequest) -> String? = { _, _ in "nobody holds rules" }
    /// What is wrong with the helpers, by what it is about; nil where nothing is any more.
    var report: (_ about: String, _ problem: String?) -> Void = { _, _ in }

    /// Everything that shall hold has been tried by those who keep it.
    var onSettled: () -> Void = {}
    var hasSettled: Bool { rootStates.isSettled && sessionStates.values.allSatisfy(\.isSettled) }

    /// - Parameter path: of root's helper.
    init(helper path: String, on loop: EventLoop) {
        self.loop = loop
        root = RootHelper(at: path, on: loop)
        runner = CommandRunner(loop: loop)
        rootStates = StateKeeper(user: nil)
        root.onReport = { [unowned self] in took($0, from: root, ActionDispatcher.rootNumber) }
        root.onLoss = { [unowned self] in lost(ActionDispatcher.rootNumber, "vicinity-act ended") }
        root.onReturn = { [unowned self] in
            rootStates.forgetSaid()
            declare(toRoot: true)
        }
    }

    private static let rootNumber: UInt32 = 0

    /// Serves the helpers of sessions.
    func listen(_ listener: consuming FileDescriptor) throws(SystemError) {
        let sessions = try SessionHelpers(listener, on: loop)
        sessions.onStart = { [unowned self] session in
            sessionStates[session.identifier] = StateKeeper(user: session.user)
            declare(admitted(), to: session)
        }
        sessions.onReport = { [unowned self] session, report in took(report, from: session, session.identifier) }
        sessions.onEnd = { [unowned self] session in
            let because = "the session of \(session.user ?? "?") ended"
            let keeper = sessionStates.removeValue(forKey: session.identifier)
            for event in keeper?.end(because, at: .now()) ?? [] { publish(event) }
            lost(session.identifier, because)
            settle()
            retryFailed()
        }
        self.sessions = sessions
    }

    /// Ends what runs; what shall hold stays, since a successor will say so too.
    func stop() {
        runner.cancelAll()
        root.close()
        sessions?.stop()
    }

    /// Does something at a later turn of the loop.
    func schedule(_ body: @escaping () -> Void) { loop.schedule(at: Timestamp.now().boottime, body) }

    var isIdle: Bool { runner.runningCount == 0 }

    /// What runs now, for people.
    var running: [String] {
        queue.runningJobs.map { "\($0.job.request.rule.name) \($0.job.request.edge.rawValue)" }.sorted()
    }

    // MARK: What shall hold

    /// Takes other rules; what was refused for them is tried again.
    func use(_ ruleSet: RuleSet, digest: String) {
        let isOther = digest != self.digest
        (self.ruleSet, self.digest) = (ruleSet, digest)
        let refused = refused
        self.refused = [:]
        for (identifier, theirs) in refused { retry(identifier, theirs, isOther: isOther) }
    }

    /// What shall hold from now on, where the machine is now.
    ///
    /// - Parameter isLookedAfter: whether somebody finds out how far packets get.
    func hold(
        _ desired: [StateRequest], in environment: NetworkEnvironment, isLookedAfter: Bool = false, always: Bool = false
    ) {
        let isFirstLook = isLookedAfter != self.isLookedAfter
        self.isLookedAfter = isLookedAfter
        let links = environment.interfaces.values.filter { $0.isPhysical && $0.isUsable }.map(\.name).sorted()
        let isOnline = environment.connectivity == .internet && connectivity != .internet
        guard
            always || isFirstLook || desired != self.desired || links != self.links
                || environment.connectivity != connectivity
                || isUnsaid
        else { return }
        (self.desired, self.links, connectivity) = (desired, links, environment.connectivity)
        // What needs the internet may be possible now.
        if isOnline { forgetFailed() }
        declare(toRoot: always)
    }

    /// A daemon was started anew: root's helper sets again what that has forgotten.
    func verify(_ daemon: HelperRequest.Daemon) {
        guard !rootStates.states.isEmpty, root.isInstalled else { return }
        // One that starts by this has to learn first what shall hold.
        declareToRoot()
        root.send(.verify(daemon))
    }

    /// Has root's helper take away what rules have set of the machine's proxy.
    ///
    /// - Parameter done: called once, at a later time.
    func resetProxy(_ done: @escaping (ActionEnd) -> Void) {
        guard root.isInstalled, root.wake() else {
            let problem = root.isInstalled ? root.problem : "without vicinity-act nothing of the machine's is ours"
            return schedule { done(ActionEnd(.failed, because: problem)) }
        }
        nextIdentifier += 1
        resets[nextIdentifier] = done
        root.setBusy(true)
        root.send(.resetProxy(id: nextIdentifier))
    }

    /// Something is about to happen: root's helper, which will be needed then, may start already
    /// and ask what it will have to know.
    func prepare() {
        if !ruleSet.rules.isEmpty, root.isInstalled, root.wake() { root.send(.prepare) }
    }

    /// Whether somebody has not been told by the present rules, which may ask for the same as the last.
    private var isUnsaid: Bool {
        let isOfNobody = rootStates.states.isEmpty && !root.isInstalled
        return rootStates.isUnsaid(digest) && !isOfNobody || sessionStates.values.contains { $0.isUnsaid(digest) }
    }

    private func declare(toRoot always: Bool) {
        let desired = admitted()
        let orders = desired.filter { AgentAbilities.isOfMachine($0.action) }.map(order)
        for event in rootStates.declare(orders, at: .now(), facts: newFact) { publish(event) }
        if always || rootStates.isUnsaid(digest), root.isInstalled || !orders.isEmpty { declareToRoot() }
        for session in sessions?.sessions.values.map({ $0 }) ?? [] { declare(desired, to: session) }
    }

    /// What is not put off at a captive portal; whose start is put off is told.
    private func admitted() -> [StateRequest] {
        let now = Timestamp.now()
        let (admitted, notices) = gate.admit(
            desired, connectivity, isLookedAfter: isLookedAfter,
            isUnderWay: { resumed.contains($0.rule.name) || rootStates.isUnderWay($0.rule.name, $0.index) },
            at: now.boottime)
        resumed.formIntersection(desired.map(\.rule.name))
        for notice in notices {
            Log.write(.notice, "rule \(notice.rule.name): \(notice.action.target) waits at a captive portal")
            for session in sessions?.sessions.values.map({ $0 }) ?? [] {
                session.send(.portal(digest: digest, order(notice).state))
            }
        }
        let late = desired.filter { !admitted.contains($0) }.map { "\($0.action.target)" }
        report("portal", late.isEmpty ? nil : "\(late.joined(separator: ", ")): waits at a captive portal")
        if let gateTimer { loop.cancel(gateTimer) }
        gateTimer = gate.nextDeadline.map { due in
            loop.schedule(at: due) { [unowned self] in
                gateTimer = nil
                declare(toRoot: false)
            }
        }
        return admitted
    }

    private func declareToRoot() {
        if root.wake() {
            root.send(rootStates.say(digest))
            root.setBusy(true)
            return report("vicinity-act", nil)
        }
        rootStates.forgetSaid()
        let problem = root.problem ?? "vicinity-act cannot be reached"
        for event in rootStates.failAll(problem, at: .now()) { publish(event) }
        report("vicinity-act", rootStates.states.isEmpty ? nil : problem)
        if !rootStates.states.isEmpty { root.tryAgain() }
    }

    private func declare(_ desired: [StateRequest], to session: SessionHelpers.Session) {
        guard let keeper = sessionStates[session.identifier] else { return }
        let orders = desired.filter { AgentAbilities.isOfSession($0.action) }.map(order)
        for event in keeper.declare(orders, at: .now(), facts: newFact) { publish(event) }
        guard keeper.isUnsaid(digest) else { return }
        session.send(keeper.say(digest))
    }

    private func order(_ request: StateRequest) -> StateKeeper.Order {
        StateKeeper.Order(
            state: NamedState(rule: request.rule.name, index: request.index, record: record(request.network, .enter)),
            kind: request.action.kind)
    }

    private func record(_ network: NetworkMatch?, _ edge: Rule.Edge) -> EventRecord {
        var record = EventRecord(edge == .enter ? "rule.activated" : "rule.deactivated", on: network)
        // A rule that holds off networks is about every link.
        if record.links.isEmpty { record.links = links.filter(EventRecord.isInterface) }
        record.links = Array(record.links.prefix(EventRecord.maximumLinks))
        return record
    }

    // MARK: What happens once

    func run(_ request: ActionRequest) {
        let fact = newFact(request.rule.name, request.index, request.action.kind)
        queue.add(Job(request: request, fact: fact), as: fact.id, to: request.rule.name)
        startNext()
    }

    func cancel(rule: String, edge: Rule.Edge) {
        let (dropped, running) = queue.cancel {
            // What a failure leads to is often that the rule ceases to hold; that saves nobody from the rest.
            $0.request.rule.name == rule && $0.request.edge == edge && $0.consequence?.outcome != .failure
        }
        factors?.forget(rule, edge)
        for (_, job) in dropped {
            var fact = job.fact
            fact.because = "obsolete"
            publish(FeedEvent(.actionCancelled(fact), at: .now()))
        }
        for identifier in running {
            if let command = local[identifier] { runner.cancel(command) }
            if queue.job(identifier)?.isFactor == true { factors?.cancel(identifier) }
            for helper in awaited[identifier]?.helpers ?? [] { self.helper(helper)?.send(.cancel(id: identifier)) }
        }
    }

    func startNext() {
        while let (identifier, job) = queue.next() { start(identifier, job) }
    }

    private func start(_ identifier: UInt64, _ job: Job) {
        let request = job.request
        let record = record(request.network, request.edge)
        let named = NamedAction(
            rule: request.rule.name, edge: request.edge == .enter ? .enter : .leave, index: request.index,
            consequence: job.consequence, record: record)
        let order = HelperRequest.run(id: identifier, digest: digest, named)
        guard let action = job.action else { return holdRule(identifier, job) }
        switch AgentAbilities.performer(of: action) {
        case .agent: demandFactor(identifier, job)
        case .sessions:
            let sessions = sessions?.sessions.values.map { $0 } ?? []
            guard !sessions.isEmpty else {
                return finish(identifier, ActionEnd(.failed, because: "nobody is logged in"))
            }
            awaited[identifier] = Awaited(helpers: Set(sessions.map(\.identifier)))
            for session in sessions { session.send(order) }
        case .root:
            if case .command(let command) = action, !root.isInstalled {
                return runHere(command, identifier, request, record)
            }
            guard root.wake() else {
                return finish(identifier, ActionEnd(.failed, because: root.problem))
            }
            awaited[identifier] = Awaited(helpers: [ActionDispatcher.rootNumber])
            root.setBusy(true)
            root.send(order)
        }
    }

    /// As this process's own user, in a process group.
    private func runHere(
        _ command: EdgeAction.Command, _ identifier: UInt64, _ request: ActionRequest, _ record: EventRecord
    ) {
        guard command.user == nil else {
            return finish(
                identifier, ActionEnd(.failed, because: "without vicinity-act no command runs as another user"))
        }
        local[identifier] = runner.run(
            Command(command, of: request.rule, record),
            started: { [unowned self] in begin(identifier) },
            completion: { [unowned self] result in
                local[identifier] = nil
                finish(identifier, ActionEnd(result))
            })
    }

    func begin(_ identifier: UInt64) {
        guard let job = queue.job(identifier) else { return }
        publish(FeedEvent(.actionStarted(job.fact), at: .now()))
    }

    func finish(_ identifier: UInt64, _ end: ActionEnd) {
        awaited[identifier] = nil
        guard let job = queue.finish(identifier) else { return }
        publish(FeedEvent(job.fact, end, at: .now()))
        complain(of: job, end)
        settle()
        startNext()
    }

    // MARK: What helpers say

    private func helper(_ number: UInt32) -> (any Helper)? {
        number == ActionDispatcher.rootNumber ? root : sessions?.sessions[number]
    }

    private func keeper(_ number: UInt32) -> StateKeeper? {
        number == ActionDispatcher.rootNumber ? rootStates : sessionStates[number]
    }

    private func took(_ report: HelperReport, from helper: any Helper, _ number: UInt32) {
        switch report {
        case .outdated(_, .hold(let pass)): refusedStates(number, pass)
        case .outdated(let theirs, .action(let identifier)):
            guard awaited[identifier] != nil else { return }
            refused[identifier] = theirs
            onOutdated()
        case .started(let identifier):
            guard awaited[identifier]?.isStarted == false else { return }
            awaited[identifier]?.isStarted = true
            begin(identifier)
        case .ended(let identifier, let end):
            if number == ActionDispatcher.rootNumber, let done = resets.removeValue(forKey: identifier) {
                settle()
                return done(end)
            }
            took(end, for: identifier, number)
        case .state(let rule, let index, let outcome):
            guard let event = keeper(number)?.took(outcome, rule: rule, index: index, at: .now()) else { break }
            publish(event)
            // A start that failed at a captive portal is not tried again there.
            if case .failed = outcome, gateTimer != nil { declare(toRoot: false) }
        case .settled(let pass):
            guard let keeper = keeper(number) else { return }
            keeper.settled(pass)
            settle()
            if keeper.isSettled { retryFailed() }
        // Only root asks for what is done later.
        case .noted: break
        }
    }

    /// For a moment after rule files have changed that is so, and they are read again.
    private func refusedStates(_ number: UInt32, _ pass: UInt64) {
        // What replaced an earlier one may be by other files.
        guard let keeper = keeper(number), keeper.isLast(pass) else { return }
        guard keeper.isRefusedAgain(digest) else {
            keeper.forgetSaid()
            return onOutdated()
        }
        for event in keeper.failAll(ActionDispatcher.otherFiles, at: .now()) { publish(event) }
        settle()
        retryFailed()
    }

    private static let otherFiles = "a helper reads other rule files than the agent; see `vicinity check`"

    /// Of several helpers, one that succeeded is enough.
    private func took(_ end: ActionEnd, for identifier: UInt64, _ number: UInt32) {
        guard var wait = awaited[identifier], wait.helpers.remove(number) != nil else { return }
        if wait.best?.result != .succeeded { wait.best = end }
        awaited[identifier] = wait
        if wait.helpers.isEmpty { finish(identifier, wait.best ?? end) }
    }

    private func lost(_ number: UInt32, _ because: String) {
        for identifier in awaited.keys.sorted() {
            took(ActionEnd(.failed, because: because), for: identifier, number)
        }
        guard number == ActionDispatcher.rootNumber else { return }
        let waiting = resets
        resets = [:]
        for done in waiting.values { done(ActionEnd(.failed, because: because)) }
    }

    /// What could not be done may be possible by now, as when a daemon starts later than the agent.
    private func retryFailed() {
        let keepers = [rootStates] + sessionStates.values
        guard keepers.contains(where: \.hasFailures) else { return failures = 0 }
        guard retryTimer == nil else { return }
        let delay = min(ActionDispatcher.firstRetry << min(failures, 6), ActionDispatcher.lastRetry)
        failures += 1
        retryTimer = loop.schedule(at: Timestamp.now().boottime + delay) { [unowned self] in
            retryTimer = nil
            forgetFailed()
            declare(toRoot: false)
        }
    }

    private func forgetFailed() {
        for keeper in [rootStates] + sessionStates.values where keeper.hasFailures { keeper.forgetSaid() }
    }

    /// Lets root's helper go where nothing is awaited of it.
    private func settle() {
        let isAwaited = awaited.values.contains { $0.helpers.contains(ActionDispatcher.rootNumber) }
        root.setBusy(isAwaited || !resets.isEmpty || !rootStates.isSettled)
        if hasSettled { onSettled() }
    }

    private func retry(_ identifier: UInt64, _ theirs: String, isOther: Bool) {
        guard let job = queue.job(identifier) else { return }
        let request = job.request
        let rule = ruleSet.rule(named: request.rule.name)
        let actions = rule?.actions(on: request.edge) ?? []
        guard isOther, theirs == digest, actions.indices.contains(request.index),
            actions[request.index].value == request.action
        else {
            return finish(
                identifier,
                ActionEnd(
                    .failed,
                    because: isOther
                        ? "the rule files have changed in the meantime" : ActionDispatcher.otherFiles))
        }
        start(identifier, job)
    }

    func newFact(_ rule: String, _ index: Int, _ kind: String) -> FeedEvent.ActionFact {
        nextIdentifier += 1
        return FeedEvent.ActionFact(id: nextIdentifier, rule: rule, index: index, kind: kind)
    }
}
