package import ActionProtocol
internal import Actions
internal import Analytics
package import Environment
internal import Feed
internal import Glibc
internal import Hashing
internal import InstalledRules
internal import JSON
internal import Netlink
package import Platform
internal import ProbeProtocol
internal import Probing
package import Rules
internal import SystemBus
internal import WiFi

/// The agent: environment → rules → actions, and everything that happens on the feed.
///
/// One thread, its event loop's; the kernel's slow answers come from another.
package final class Agent {
    private let loop: EventLoop
    private let paths: AgentPaths
    package let watcher: EnvironmentWatcher
    private let dispatcher: ActionDispatcher
    private let prober: Prober
    private var probes: [UInt64: Prober.Identifier] = [:]
    private let checker: ConnectivityChecker
    private var connectivityCheck: ConnectivityCheck?
    private var analytics: AnalyticsKeeper?
    private var history: HistoryLog?
    private var strangers = StrangersShare()
    private var rulesDigest = ""
    private var encoder = FeedEncoder()
    private let store = EventStore()
    private var owed = FactorDebts()
    private var server: FeedServer?
    private var engine = RuleEngine(ruleSet: RuleSet())
    private var timer: (timer: EventLoop.Timer, due: Int64)?
    private var saved: ActivationState?
    private var savedActivations: UInt64?
    private var source: RuleSource?
    private var control: ControlService?
    private var permissions: PermissionBook?
    private var clock: ClockWatch?
    private let bus: SystemBus
    private let broker: SecondFactorBroker
    private var sleepLock: SleepLock?
    private var heartbeat: Heartbeat?
    private var secondFactorQueries: SecondFactorQueries?
    private var lastProgramFactor: UInt64 = 0
    private var ruleProblems: [String] = []
    private var problems: [String: String] = [:]

    package init(on loop: EventLoop, paths: AgentPaths) {
        self.loop = loop
        self.paths = paths
        watcher = EnvironmentWatcher(on: loop)
        dispatcher = ActionDispatcher(helper: paths.rootHelper, on: loop)
        bus = SystemBus(on: loop)
        broker = SecondFactorBroker(on: loop, bus)
        prober = Prober(on: loop)
        checker = ConnectivityChecker(on: loop, with: prober)
        analytics = AnalyticsKeeper(on: loop, bus, paths) { [unowned self] subject, problem in
            if let problem { report(subject, problem) } else { problems[subject] = nil }
        }
        history = HistoryLog(path: paths.history) { [unowned self] error in
            report("history", "\(error): the history misses lines")
        }
        dispatcher.publish = { [unowned self] in publish($0) }
        broker.onMet = { [unowned self] in
            owed.settle($0, $1)
            remember()
        }
        broker.publish = { [unowned self] in publish($0) }
        dispatcher.factors = broker
        broker.dialogues = dispatcher
        dispatcher.holdRule = { [unowned self] in holdFollowingFactor($0, $1) }
        dispatcher.onOutdated = { [unowned self] in reload() }
        dispatcher.report = { [unowned self] in if let problem = $1 { report($0, problem) } else { problems[$0] = nil }
        }
    }

    package func start() throws {
        saved = ActivationState(readingFrom: paths.activations)
        var rules: InstalledRules?
        let source = RuleSource(paths, on: loop) { [unowned self] in reloaded($0) }
        self.source = source
        do throws(SystemError) {
            try source.start { rules = $0 }
        } catch {
            report("watch", "\(error): changed rule files take effect when they are read again, not by themselves")
        }
        complain(rules?.problems ?? [])
        history?.retention = rules?.configuration?.historyRetention
        try watcher.start()
        let permissions = try serve(rules)
        publish(FeedEvent(.agentStarted(version: AgentVersion.current), at: .now()))
        rulesDigest = rules?.digest ?? ""
        dispatcher.use(rules?.ruleSet ?? RuleSet(), digest: rulesDigest)
        try listenForSessions()
        secondFactorQueries = try SecondFactorQueries(
            try ServiceManager.listener(at: paths.secondFactorSocket), on: loop,
            verify: { [unowned self] in watcher.verify($0) }, maySkip: { [unowned self] in maySkipSecondFactor })
        let former = saved.flatMap { $0.isOfThisBoot ? $0 : nil }
        dispatcher.resumed = Set(former?.rules ?? [])
        owed = former?.owed.demanded(by: rules?.ruleSet) ?? FactorDebts()
        for debt in owed.all { broker.remember(debt.rule, debt.edge) }
        let isResuming = former?.isResumable(in: watcher.environment) ?? false
        engine = RuleEngine(
            ruleSet: rules?.ruleSet ?? RuleSet(),
            options: (rules?.configuration ?? AgentConfiguration()).engineOptions, resuming: former?.rules ?? [],
            pending: former?.pending ?? [], isResuming: isResuming, holds: former?.holds ?? [:],
            isElsewhere: !isResuming, places: former?.places ?? [:])
        perform(engine.update(watcher.environment, at: .now()))
        // Whatever a former agent had put in place and nobody wants any more ends now.
        hold(always: true)
        watcher.onChange = { [unowned self] in
            for change in $0 {
                publish(FeedEvent(change, in: watcher.environment))
                // By the time that the link is authorised root's helper has been started.
                if case .associating = change.kind { dispatcher.prepare() }
            }
        }
        watcher.afterChange = { [unowned self] in
            perform(engine.update(watcher.environment, at: .now()))
            followSleep()
            lookFarther()
        }
        dispatcher.onSettled = { [unowned self] in followSleep() }
        connectivityCheck = rules?.configuration?.connectivity
        checker.onResult = { [unowned self] in watcher.checked($0) }
        lookFarther()
        followBus()
        // Rules can have times.
        clock = try? ClockWatch(on: loop) { [unowned self] in
            advance()
            analytics?.clockChanged()
        }
        let control = ControlService(of: self, permissions, on: loop) { [unowned self] problem in
            // Whoever tries an agent out asks for nothing by hand, and may not have its name.
            guard paths.isSystem else { return }
            if let problem { report("bus", problem) } else { problems["bus"] = nil }
        }
        control.analytics = analytics
        control.purgeHistory = { [unowned self] () throws(SystemError) in try history?.purge() ?? 0 }
        self.control = control
        control.start()
        heartbeat = Heartbeat(on: loop, watcher)
        heartbeat?.start()
        ServiceManager.ready(status)
    }

    /// Opens the feed.
    private func serve(_ rules: InstalledRules?) throws -> PermissionBook {
        let held = store.left()
        if let held { encoder = FeedEncoder(continuing: held) }
        analytics?.start(rules?.configuration?.analytics, rules?.ruleSet ?? RuleSet())
        analytics?.onKey = { [unowned self] in
            disclose(engine.ruleSet, hasOtherKey: true)
            // What a former key made stays nowhere, and least of all for the next agent.
            if let server { store.begin(with: server.held()) }
        }
        disclose(rules?.ruleSet ?? RuleSet())
        let permissions = PermissionBook(at: paths.permissions, on: loop) { [unowned self] problem in
            if let problem { report("permission", problem) } else { problems["permission"] = nil }
        }
        permissions.start(rules?.configuration?.permission)
        server = try FeedServer(
            try ServiceManager.listener(at: paths.socket), on: loop, held: held,
            permission: { permissions.level(of: $0) },
            encoder: { [unowned self] in encoder }, snapshot: { [unowned self] in snapshot($0) },
            explain: { [unowned self] in explain($0) })
        if let server { store.begin(with: server.held()) }
        permissions.onChange = { [unowned self] in server?.recheck() }
        self.permissions = permissions
        return permissions
    }

    /// Says which names readers are told who may not see where the machine is.
    private func disclose(_ ruleSet: RuleSet, hasOtherKey: Bool = false) {
        encoder.disclosure = analytics.map { FeedDisclosure(ruleSet, $0.hashing) } ?? FeedDisclosure()
        server?.disclosureChanged(hasOtherKey: hasOtherKey)
    }

    /// Helpers of users' sessions come to us: who serves them can be seen from the socket, and root's helper needs no
    /// list of who is logged in.
    private func listenForSessions() throws {
        try dispatcher.listen(try ServiceManager.listener(at: paths.sessionSocket))
    }

    private func followBus() {
        let daemons = DaemonWatch(bus) { [unowned self] in dispatcher.verify($0) }
        let sleepLock = SleepLock(bus, on: loop)
        bus.onConnect = { [unowned self] in
            daemons.connected()
            sleepLock.connected()
            broker.connected()
            analytics?.connected()
        }
        bus.onReturn = { daemons.returned() }
        bus.connect()
        self.sleepLock = sleepLock
    }

    /// The machine may sleep when what lowers protection has been undone.
    private func followSleep() {
        sleepLock?.isWanted = !watcher.environment.isSuspended || !dispatcher.hasSettled
    }

    /// Reads the rule files again; files with errors leave the last good rules in force.
    package func reload() {
        ServiceManager.reloading()
        source?.reload()
    }

    private func reloaded(_ rules: InstalledRules) {
        complain(rules.problems)
        if let ruleSet = rules.ruleSet, let configuration = rules.configuration {
            rulesDigest = rules.digest
            let formerKey = analytics?.hashing.key.identifier
            analytics?.use(configuration.analytics, ruleSet)
            disclose(ruleSet, hasOtherKey: analytics?.hashing.key.identifier != formerKey)
            permissions?.use(configuration.permission)
            history?.retention = configuration.historyRetention
            dispatcher.use(ruleSet, digest: rules.digest)
            perform(engine.replace(with: ruleSet, options: configuration.engineOptions, at: .now()))
            connectivityCheck = configuration.connectivity
            lookFarther()
        } else {
            // Whoever waits for other rules waits in vain.
            dispatcher.use(engine.ruleSet, digest: rulesDigest)
            hold()
        }
        ServiceManager.ready(status)
        publish(FeedEvent(.agentReloaded(problems: ruleProblems.count), at: .now()))
    }

    /// Ends what runs, and calls `done` when that is over, at the latest after 0.8 s: the service manager ends the rest.
    package func stop(_ done: @escaping () -> Void) {
        ServiceManager.stopping()
        watcher.onChange = nil
        watcher.afterChange = nil
        broker.stop()
        bus.close()
        heartbeat?.stop()
        secondFactorQueries?.stop()
        if let timer { loop.cancel(timer.timer) }
        dispatcher.stop()
        checker.stop()
        analytics?.stop()
        prober.cancelAll()
        control?.stop()
        whenIdle(until: Timestamp.now().boottime + 800_000) { [self] in
            publish(FeedEvent(.agentStopped, at: .now()))
            server?.stop()
            done()
        }
    }

    private func whenIdle(until deadline: Int64, _ body: @escaping () -> Void) {
        let now = Timestamp.now().boottime
        guard !dispatcher.isIdle, now < deadline else { return body() }
        loop.schedule(at: now + 10_000) { [self] in whenIdle(until: deadline, body) }
    }

    // MARK: Rules

    private func complain(_ problems: [String]) {
        ruleProblems = problems
        // The line of the file that is shown below the problem may have the name of a private network in it.
        for problem in problems.prefix(Agent.loggedProblems) {
            Log.write(.error, problem.split(separator: "\n").first.map(String.init) ?? "")
        }
        let more = problems.count - Agent.loggedProblems
        if more > 0 { Log.write(.error, "and \(more) more; `vicinity check` shows them") }
    }

    /// The journal is no place for thousands of lines, and whoever reads it slowly must not keep the agent.
    private static let loggedProblems = 20

    private func perform(_ decisions: [Decision]) {
        let now = Timestamp.now()
        // First of all: an agent that is killed between the two runs nothing twice, and lets nobody off.
        owed.note(decisions)
        remember()
        for decision in decisions {
            switch decision {
            case .networkEntered, .networkLeft, .assuranceChanged, .ruleActivated, .ruleDeactivated, .ruleSkipped:
                FeedEvent(decision, at: now).map(publish)
                analytics?.record(decision, at: now)
                if case .networkLeft(let match, _) = decision { problems["probe \(match.name)"] = nil }
                remember(HistoryRecord(decision, at: now, rulesDigest: rulesDigest))
            case .cancel(let rule, let edge): dispatcher.cancel(rule: rule, edge: edge)
            case .run(let request): dispatcher.run(request)
            // What shall hold is said as a whole.
            case .stateChanged: break
            case .probe(let request): probe(request)
            case .cancelProbe(let identifier):
                if let probe = probes.removeValue(forKey: identifier) { prober.cancel(probe) }
            }
        }
        hold()
        schedule()
    }

    /// Says what shall hold. As long as nobody knows, what a former agent said does: to say that nothing shall hold would
    /// end what raises protection.
    private func hold(always: Bool = false) {
        guard engine.knowsWhatShallHold else { return }
        dispatcher.hold(
            engine.desiredStates, in: watcher.environment,
            isLookedAfter: watcher.isConnectivityLookedAfter || connectivityCheck != nil, always: always)
    }

    private func schedule() {
        let due = engine.nextDeadline
        guard due != timer?.due else { return }
        if let timer { loop.cancel(timer.timer) }
        timer = due.map { due in
            let scheduled = loop.schedule(at: due) { [unowned self] in
                timer = nil
                advance()
            }
            return (scheduled, due)
        }
    }

    private func advance() {
        // The time zone may be another one by now; localtime_r(3) does not look by itself.
        tzset()
        perform(engine.advance(to: .now()))
    }

    private func remember() {
        // Thousands of rules can hold, and most changes concern none of them.
        let links = ActivationState.links(of: watcher.environment)
        let places = engine.places
        guard
            engine.activations != savedActivations || links != saved?.links || owed != saved?.owed ?? FactorDebts()
                || places != saved?.places
        else {
            return
        }
        let state = ActivationState(
            watcher.environment, rules: engine.resumableRules, pending: engine.pendingRules,
            holds: Dictionary(engine.holds.map { ($0.rule, $0.hold) }, uniquingKeysWith: { first, _ in first }),
            owed: owed, places: places)
        guard state != saved else { return savedActivations = engine.activations }
        do throws(SystemError) {
            try state.write(to: paths.activations)
            saved = state
            savedActivations = engine.activations
            problems["state"] = nil
        } catch {
            report("state", "\(error): after a restart, rules that hold would be entered again")
        }
    }

    // MARK: Proofs

    private func lookFarther() {
        checker.follow(watcher.environment, connectivityCheck, isManaged: watcher.isConnectivityManaged)
    }

    private func probe(_ request: ProofRequest) {
        let definition = request.probe
        let question = ProbeQuestion(
            interfaceIndex: UInt32(request.interfaceIndex), interfaceName: request.interfaceName,
            serverName: definition.host, port: definition.port, address: definition.address,
            purpose: .key(definition.pins))
        probes[request.identifier] = prober.probe(question) { [unowned self] outcome in
            // One that was cancelled is no longer awaited.
            guard probes.removeValue(forKey: request.identifier) != nil else { return }
            let key = "probe \(request.network)"
            if case .proven = outcome {
                problems[key] = nil
                perform(engine.take(true, for: request.identifier, at: .now()))
            } else {
                report(
                    key,
                    "network \(request.network) is not proven over \(request.interfaceName): \(outcome.explanation)")
                perform(engine.take(false, for: request.identifier, at: .now()))
            }
        }
    }

    // MARK: Second factors

    private var maySkipSecondFactor: Bool { !factorStanding.isNeeded }

    private var factorStanding: FactorStanding {
        if let open = broker.openDemand ?? dispatcher.dueFactor { return engine.demand(of: open.rule, on: open.edge) }
        return engine.factorStanding
    }

    /// - Returns: why not.
    private func holdFollowingFactor(_ rule: String, _ request: HoldRequest) -> String? {
        do throws(OverrideError) {
            _ = try hold(rule, request)
            return nil
        } catch {
            return error.description
        }
    }

    // MARK: Feed

    private func publish(_ event: FeedEvent) {
        let line = encoder.line(for: event)
        store.append(line, disclosing: encoder.disclosure)
        server?.publish(line)
        if store.isLarge, let server { store.begin(with: server.held()) }
        EventJournal.note(event, sequence: line.sequence)
        remember(HistoryRecord(event, rulesDigest: rulesDigest, environment: encoder.disclosure.environment))
    }

    private func remember(_ record: HistoryRecord?) {
        guard let record, let record = strangers.admitted(record) else { return }
        if history?.append(record) == true { problems["history"] = nil }
    }

    private func snapshot(_ permission: FeedPermission) -> FeedLine {
        encoder.snapshotLine(of: watcher.environment, permission: permission) { [self] fields in
            fields.names("networks", engine.networks.map(\.name))
            fields.names("rules", engine.activeRules)
            fields.names("actions", dispatcher.running)
            let now = Timestamp.now()
            fields.names("holds", engine.holds.map { "\($0.rule) \($0.hold.words(at: now))" })
            fields.held(engine.holds.map { SnapshotFields.HeldRule($0, at: now) })
            let counters = watcher.counters
            fields.counters([
                ("messages", counters.messages), ("ignored", counters.ignored), ("malformed", counters.malformed),
                ("foreign", counters.foreign), ("overruns", counters.overruns),
            ])
            fields.problems(ruleProblems + problems.values.sorted())
        }
    }

    private func explain(_ name: String) -> [FeedLine] {
        let now = Timestamp.now()
        return Explanations.of(name, by: engine, hasBrokenFiles: !ruleProblems.isEmpty, at: now).map {
            encoder.explanationLine(of: $0, at: now)
        }
    }

    private func report(_ key: String, _ problem: String) {
        guard problems.updateValue(problem, forKey: key) != problem else { return }
        Log.write(.error, problem)
    }

    private var status: String {
        let wireless = watcher.hasWireless ? "" : "; this kernel has no nl80211"
        let broken = ruleProblems.isEmpty ? "" : "; \(ruleProblems.count) errors in rule files"
        return "\(engine.ruleSet.networks.count) networks, \(engine.ruleSet.rules.count) rules\(broken)\(wireless)"
    }
}

extension Agent: Controlled {
    package func mayUsersHold(_ rule: String) -> Bool {
        // What an administrator holds is not a user's to let go.
        engine.ruleSet.rule(named: rule)?.mayBeHeldByUser ?? false && engine.hold(ofRule: rule)?.isUsers ?? true
    }

    package func hold(_ rule: String, _ request: HoldRequest) throws(OverrideError) -> Int64 {
        let now = Timestamp.now()
        let decisions = try engine.hold(rule, request, at: now)
        guard let hold = engine.hold(ofRule: rule) else { return now.wall }
        Log.write(.notice, "rule \(rule) \(hold.text(at: now))")
        perform(decisions)
        return hold.end(from: now)
    }

    package func release(_ rule: String, by user: String) throws(OverrideError) {
        let decisions = try engine.release(rule, at: .now())
        Log.write(.notice, "rule \(rule) released by \(user)")
        perform(decisions)
    }

    package func run(_ rule: String, by user: String) throws(OverrideError) {
        let decisions = try engine.run(rule)
        Log.write(.notice, "actions of rule \(rule) run by \(user)")
        perform(decisions)
    }

    package func reload(_ done: @escaping (Int) -> Void) {
        source?.reload { [unowned self] in done(ruleProblems.count) }
    }

    package func resetProxy(by user: String, _ done: @escaping (ActionEnd) -> Void) {
        Log.write(.notice, "the machine's proxy is taken away by \(user)")
        dispatcher.resetProxy(done)
    }

    package func factorStatus(_ done: @escaping (FactorStatus) -> Void) {
        guard let secondFactorQueries else { return done(FactorStatus(FactorStanding(.unknown))) }
        secondFactorQueries.read { [unowned self] isCurrent in
            let standing = isCurrent ? factorStanding : FactorStanding(.unknown)
            let rule = standing.rule.flatMap { engine.ruleSet.rule(named: $0) }
            done(FactorStatus(standing, because: rule.map { engine.because(of: $0) }))
        }
    }

    package func requireFactor(_ caller: FactorCaller, _ done: @escaping (FactorEnd) -> Void) -> UInt64 {
        lastProgramFactor += 1
        let demand = FactorDemand(lastProgramFactor, by: caller)
        broker.demand(demand, done)
        return demand.identifier
    }

    package func withdrawFactor(_ identifier: UInt64) { broker.cancel(identifier) }
}
