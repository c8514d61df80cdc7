internal import Actions
internal import Analytics
package import Environment
internal import Feed
internal import Glibc
internal import JSON
internal import Netlink
package import Platform
internal import Rules
internal import WiFi

/// The agent: environment → rules → actions, and everything that happens on the feed.
///
/// One thread, its event loop's; the kernel's slow answers come from another.
package final class Agent {
    private let loop: EventLoop
    private let paths: AgentPaths
    package let watcher: EnvironmentWatcher
    private let runner: CommandRunner
    private var analytics: AnalyticsLog?
    private var encoder = FeedEncoder()
    private var server: FeedServer?
    private var engine = RuleEngine(ruleSet: RuleSet())
    private var timer: (timer: EventLoop.Timer, due: Int64)?
    private var saved: ActivationState?
    private var nextAction: UInt64 = 0
    private var running: [RuleEdge: Set<CommandRunner.Identifier>] = [:]
    private var ruleProblems: [String] = []
    private var problems: [String: String] = [:]

    private struct RuleEdge: Hashable {
        let rule: String
        let edge: Rule.Edge
    }

    package init(on loop: EventLoop, paths: AgentPaths) {
        self.loop = loop
        self.paths = paths
        watcher = EnvironmentWatcher(on: loop)
        runner = CommandRunner(loop: loop)
        analytics = AnalyticsLog(path: paths.analytics) { [unowned self] error in
            report("analytics", "\(error): the analytics log misses lines")
        }
    }

    package func start() throws {
        saved = ActivationState(readingFrom: paths.activations)
        let ruleSet = readRules() ?? RuleSet()
        try watcher.start()
        server = try FeedServer(
            at: paths.socket, on: loop, permission: Agent.permission,
            encoder: { [unowned self] in encoder }, snapshot: { [unowned self] in snapshot($0) },
            explain: { [unowned self] in explain($0) })
        publish(FeedEvent(.agentStarted(version: AgentVersion.current), at: .now()))
        let resumable = saved?.rules(resumableIn: watcher.environment) ?? []
        engine = RuleEngine(ruleSet: ruleSet, resuming: resumable)
        perform(engine.update(watcher.environment, at: .now()))
        watcher.onChange = { [unowned self] in
            for change in $0 { publish(FeedEvent(change, in: watcher.environment)) }
        }
        watcher.afterChange = { [unowned self] in perform(engine.update(watcher.environment, at: .now())) }
        ServiceManager.ready(status)
    }

    /// Reads the rule files again; files with errors leave the last good rules in force.
    func reload() {
        if let ruleSet = readRules() { perform(engine.replace(with: ruleSet, at: .now())) }
        ServiceManager.status(status)
        publish(FeedEvent(.agentReloaded(problems: ruleProblems.count), at: .now()))
    }

    /// Ends what runs, and calls `done` when that is over, at the latest after 0.8 s: the service manager ends the rest.
    func stop(_ done: @escaping () -> Void) {
        ServiceManager.stopping()
        watcher.onChange = nil
        watcher.afterChange = nil
        if let timer { loop.cancel(timer.timer) }
        runner.cancelAll()
        whenIdle(until: Timestamp.now().boottime + 800_000) { [self] in
            publish(FeedEvent(.agentStopped, at: .now()))
            server?.stop()
            done()
        }
    }

    private func whenIdle(until deadline: Int64, _ body: @escaping () -> Void) {
        let now = Timestamp.now().boottime
        guard runner.runningCount > 0, now < deadline else { return body() }
        loop.schedule(at: now + 10_000) { [self] in whenIdle(until: deadline, body) }
    }

    // MARK: Rules

    /// The rules in the files, nil where there is an error in any of them.
    private func readRules() -> RuleSet? {
        let result = RuleSet.load(RuleFiles(directories: paths.rules, trust: .root))
        ruleProblems = result.diagnostics.filter { $0.severity == .error }.map(\.description)
        for problem in ruleProblems { Journal.write(.error, problem) }
        return result.ruleSet
    }

    private func perform(_ decisions: [Decision]) {
        let now = Timestamp.now()
        // First of all: an agent that is killed between the two runs nothing twice.
        remember()
        for decision in decisions {
            switch decision {
            case .networkEntered, .networkLeft, .assuranceChanged, .ruleActivated, .ruleDeactivated, .ruleSkipped:
                FeedEvent(decision, at: now).map(publish)
                record(decision, at: now)
            case .cancel(let rule, let edge):
                for identifier in running[RuleEdge(rule: rule, edge: edge)] ?? [] { runner.cancel(identifier) }
            case .run(let request): run(request)
            case .stateChanged(_, let request):
                if let request { refuse(request.rule, request.index, request.action.kind) }
            case .probe, .cancelProbe: break
            }
        }
        schedule()
    }

    private func schedule() {
        let due = engine.nextDeadline
        guard due != timer?.due else { return }
        if let timer { loop.cancel(timer.timer) }
        timer = due.map { due in
            let scheduled = loop.schedule(at: due) { [unowned self] in
                timer = nil
                perform(engine.advance(to: .now()))
            }
            return (scheduled, due)
        }
    }

    private func remember() {
        let state = ActivationState(watcher.environment, rules: engine.activeRules)
        guard state != saved else { return }
        do throws(SystemError) {
            try state.write(to: paths.activations)
            saved = state
            problems["state"] = nil
        } catch {
            report("state", "\(error): after a restart, rules that hold would be entered again")
        }
    }

    private func record(_ decision: Decision, at time: Timestamp) {
        switch decision {
        case .networkEntered(let match): record(.entered, match, at: time)
        case .networkLeft(let match, let stay): record(.left(minutes: stay.minutes), match, at: time)
        default: break
        }
    }

    /// Places only: that a machine is on Wi-Fi at all is nothing to count.
    private func record(_ transition: AnalyticsRecord.Transition, _ match: NetworkMatch, at time: Timestamp) {
        guard match.isPlace else { return }
        guard let analytics else { return }
        let isListed = match.builtIn == nil && !match.isPrivate
        let failures = analytics.failures
        analytics.append(
            AnalyticsRecord(
                time: time, transition: transition, network: match.name,
                networkType: NetworkType(match.links.first?.kind),
                listedSSID: isListed ? match.links.first?.wifi?.ssid : nil))
        if analytics.failures == failures { problems["analytics"] = nil }
    }

    // MARK: Actions

    private func run(_ request: ActionRequest) {
        guard case .command(let command) = request.action else {
            return refuse(request.rule, request.index, request.action.kind)
        }
        let key = RuleEdge(rule: request.rule.name, edge: request.edge)
        let fact = newFact(request.rule, request.index, request.action.kind)
        var identifier: CommandRunner.Identifier?
        identifier = runner.run(
            Command(command, request),
            started: { [unowned self] in publish(FeedEvent(.actionStarted(fact), at: .now())) },
            completion: { [unowned self] result in
                if let identifier { running[key]?.remove(identifier) }
                finished(fact, result)
            })
        if let identifier { running[key, default: []].insert(identifier) }
    }

    /// Whoever wrote the rule has to learn that it is not in force.
    private func refuse(_ rule: Rule, _ index: Int, _ kind: String) {
        var fact = newFact(rule, index, kind)
        fact.because = "this version carries out commands only"
        publish(FeedEvent(.actionFailed(fact), at: .now()))
    }

    private func newFact(_ rule: Rule, _ index: Int, _ kind: String) -> FeedEvent.ActionFact {
        nextAction += 1
        return FeedEvent.ActionFact(id: nextAction, rule: rule.name, index: index, kind: kind)
    }

    private func finished(_ fact: FeedEvent.ActionFact, _ result: CommandResult) {
        var fact = fact
        fact.durationMilliseconds = result.duration / 1_000
        switch result.end {
        case .exited(let code):
            fact.exit = code
            publish(FeedEvent(code == 0 ? .actionSucceeded(fact) : .actionFailed(fact), at: .now()))
        case .killed(let signal):
            fact.because = "ended by signal \(signal)"
            publish(FeedEvent(.actionFailed(fact), at: .now()))
        case .timedOut:
            fact.because = "timed out"
            publish(FeedEvent(.actionFailed(fact), at: .now()))
        case .failedToStart(let error):
            fact.because = error.description
            publish(FeedEvent(.actionFailed(fact), at: .now()))
        case .cancelled, .dropped:
            fact.because = "obsolete"
            publish(FeedEvent(.actionCancelled(fact), at: .now()))
        }
    }

    // MARK: Feed

    private func publish(_ event: FeedEvent) {
        server?.publish(encoder.line(for: event))
    }

    private func snapshot(_ permission: FeedPermission) -> FeedLine {
        encoder.snapshotLine(of: watcher.environment, permission: permission) { [self] fields in
            fields.names("networks", engine.networks.map(\.name))
            fields.names("rules", engine.activeRules)
            fields.names(
                "actions", running.filter { !$0.value.isEmpty }.keys.map { "\($0.rule) \($0.edge.rawValue)" }.sorted())
            // Nobody can hold a rule yet.
            fields.names("holds", [])
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
        Journal.write(.error, problem)
    }

    private var status: String {
        let wireless = watcher.hasWireless ? "" : "; this kernel has no nl80211"
        let broken = ruleProblems.isEmpty ? "" : "; \(ruleProblems.count) errors in rule files"
        return "\(engine.ruleSet.networks.count) networks, \(engine.ruleSet.rules.count) rules\(broken)\(wireless)"
    }

    /// Root, the agent's own user and the members of the group `vicinity` see everything, others nothing.
    private static func permission(_ peer: UnixSocket.Peer) -> FeedPermission {
        if peer.user == 0 || peer.user == geteuid() { return .full }
        return vicinityGroup.map { peer.groups.contains($0) } == true ? .full : .denied
    }

    private static let vicinityGroup: UInt32? = {
        guard let entry = unsafe getgrnam("vicinity") else { return nil }
        return unsafe entry.pointee.gr_gid
    }()
}
