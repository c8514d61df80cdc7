internal import ActionProtocol
internal import Actions
internal import Environment
internal import Glibc
internal import Platform
internal import Rules

/// A user's own rules: judged here, by what the agent tells this user, and carried out in this session and as this user
/// alone. What the administrator's rules ask of the same place goes before.
@ActionActor
final class UserRules {
    /// What stands before the name of a user's rule wherever both kinds meet.
    nonisolated static let prefix = "user:"

    private let directory: String
    private let memory: UserRuleMemory
    private let performer: any UserRulePerforming
    private let loop = ActionActor.shared.loop
    private var engine = RuleEngine(ruleSet: RuleSet())
    /// Nil while nobody says where the machine is, or this user may not know.
    private var environment: NetworkEnvironment?
    /// The last ones without errors.
    private var ruleSet = RuleSet()
    private var timer: (timer: EventLoop.Timer, due: Int64)?
    private var reload: EventLoop.Timer?
    private var watch: DirectoryWatch?
    private var clock: ClockWatch?
    private var running: [(rule: String, edge: Rule.Edge, task: Task<Void, Never>)] = []

    /// Editors write a file in several steps (µs).
    private static let quiet: Int64 = 200_000

    /// - Parameters:
    ///   - directory: of the rule files; it need not exist.
    ///   - state: where to remember which rules hold.
    init(in directory: String, state: String, performer: any UserRulePerforming) {
        self.directory = directory
        self.performer = performer
        memory = UserRuleMemory(path: "\(state)/user-rules.json")
    }

    /// Reads the files, and follows them from now on.
    func start() {
        read()
        do throws(SystemError) {
            watch = try DirectoryWatch([directory], on: loop) { [unowned self] in
                ActionActor.assumeIsolated { changed() }
            }
        } catch {
            Log.write(.warning, "\(error): changed rules of yours count when you log in again")
        }
        // Rules can have times.
        clock = try? ClockWatch(on: loop) { [unowned self] in ActionActor.assumeIsolated { advance() } }
    }

    /// The machine is there now; nil: nobody says, or this user may not know. What holds then ends, but for what waits
    /// for an agent to come back.
    func follow(_ new: NetworkEnvironment?) {
        guard let new else {
            environment = nil
            return perform(engine.replace(with: RuleSet(), at: .now()))
        }
        let isFirst = environment == nil
        environment = new
        guard isFirst else { return perform(engine.update(new, at: .now())) }
        let resumed = memory.rules(in: new)
        engine = RuleEngine(
            ruleSet: ruleSet, resuming: resumed ?? [], isResuming: resumed != nil,
            isElsewhere: resumed == nil)
        perform(engine.update(new, at: .now()))
    }

    // MARK: Files

    private func changed() {
        if let reload { loop.cancel(reload) }
        reload = loop.schedule(at: Timestamp.now().boottime + UserRules.quiet) { [unowned self] in
            ActionActor.assumeIsolated {
                reload = nil
                read()
                if environment != nil { perform(engine.replace(with: ruleSet, at: .now())) }
            }
        }
    }

    /// Files with errors leave the last good rules in force.
    private func read() {
        let result = RuleSet.loadOfUser(RuleFiles(directories: [directory], trust: .user(geteuid())))
        for problem in result.diagnostics where problem.severity == .error { Log.write(.error, problem.description) }
        if let new = result.ruleSet { ruleSet = new }
    }

    // MARK: Decisions

    private func advance() {
        tzset()
        if environment != nil { perform(engine.advance(to: .now())) }
    }

    private func perform(_ decisions: [Decision]) {
        // First of all: who is killed between the two runs nothing twice.
        if let environment { memory.remember(engine.resumableRules, in: environment) }
        var unproven: [UInt64] = []
        for decision in decisions {
            switch decision {
            case .ruleActivated(let rule, let because): Log.write(.information, "rule \(rule.name) holds: \(because)")
            case .ruleDeactivated(let rule, let because):
                Log.write(.information, "rule \(rule.name) holds no longer: \(because)")
            case .ruleSkipped(let rule, let because):
                Log.write(.warning, "rule \(rule.name) is skipped: \(because)")
            case .cancel(let rule, let edge):
                for entry in running where entry.rule == rule && entry.edge == edge { entry.task.cancel() }
            case .run(let request): run(request)
            // Nothing in a session looks for servers: a network with a probe is never proven here.
            case .probe(let request): unproven.append(request.identifier)
            case .networkEntered, .networkLeft, .assuranceChanged, .stateChanged, .cancelProbe: break
            }
        }
        performer.hold(engine.desiredStates.compactMap(wanted))
        schedule()
        for identifier in unproven { perform(engine.take(false, for: identifier, at: .now())) }
    }

    private func wanted(_ request: StateRequest) -> Reconciler.Wanted? {
        let links = request.network?.links.map(\.interfaceName) ?? []
        do throws(PlaceError) {
            let wishes = try request.action.wishes(on: links).filter(\.place.isOfUser)
            return Reconciler.Wanted(
                rule: UserRules.prefix + request.rule.name, index: request.index, effect: request.action.effect,
                wishes)
        } catch {
            Log.write(.error, "rule \(request.rule.name): \(error)")
            return nil
        }
    }

    private func run(_ request: ActionRequest) {
        let record = EventRecord(request.edge == .enter ? "rule.activated" : "rule.deactivated", on: request.network)
        let name = request.rule.name
        // One after the other, as everywhere within a rule.
        let former = running.last { $0.rule == name }?.task
        let task = ActionActor.task {
            await former?.value
            guard !Task.isCancelled else { return }
            let end = await performer.perform(request.action, of: request.rule, record)
            let because = end.because.map { ": \($0)" } ?? ""
            switch end.result {
            case .succeeded: Log.write(.information, "rule \(name): \(request.action.kind) succeeded")
            case .failed: Log.write(.warning, "rule \(name): \(request.action.kind) failed\(because)")
            case .cancelled: Log.write(.information, "rule \(name): \(request.action.kind) cancelled\(because)")
            }
        }
        running.append((name, request.edge, task))
        ActionActor.task {
            await task.value
            self.running.removeAll { $0.task == task }
        }
    }

    private func schedule() {
        let due = engine.nextDeadline
        guard due != timer?.due else { return }
        if let timer { loop.cancel(timer.timer) }
        timer = due.map { due in
            let scheduled = loop.schedule(at: due) { [unowned self] in
                ActionActor.assumeIsolated {
                    timer = nil
                    advance()
                }
            }
            return (scheduled, due)
        }
    }
}

/// Carries out what a user's rules decide.
@ActionActor
protocol UserRulePerforming: AnyObject {
    /// These shall hold, and nothing else of a user's rules.
    func hold(_ wanted: [Reconciler.Wanted])
    func perform(_ action: EdgeAction, of rule: Rule, _ record: EventRecord) async -> ActionEnd
}
