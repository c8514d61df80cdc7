internal import Feed
internal import Platform
internal import Rules
internal import SystemBus

/// Has second factors asked for.
protocol FactorAsking: AnyObject {
    /// - Parameter done: called once, at a later time.
    func demand(_ demand: FactorDemand, _ done: @escaping (FactorEnd) -> Void)
    /// It is not demanded any more.
    func cancel(_ identifier: UInt64)
    /// What was demanded on that edge of a rule does not matter any more.
    func forget(_ rule: String, _ edge: Rule.Edge)
}

/// Has the person at the screen asked for a second factor, by polkit and its agent in that person's session.
///
/// `FactorDesk` decides; this carries it out, on the loop's thread.
final class SecondFactorBroker: FactorAsking {
    static let action = "io.vicinity.second-factor"
    /// How much later than the person's time polkit's answer is given up (µs).
    private static let slack: Int64 = 5_000_000
    /// What polkit may take where nobody is asked (µs); it may have to be started.
    static let limit: UInt64 = 10_000_000

    private let loop: EventLoop
    private let authority: PolicyAuthority
    private let stackProblem: () -> String?
    private var seats: SeatWatch?
    private var desk = FactorDesk()
    private var done: [UInt64: (FactorEnd) -> Void] = [:]
    private var questions: [FactorDesk.Question: PolicyAuthority.Question] = [:]
    private var timer: (timer: EventLoop.Timer, due: Int64)?

    /// What was demanded on an edge of a rule has been given.
    var onMet: (_ rule: String, _ edge: Rule.Edge) -> Void = { _, _ in }
    /// Tells what happens.
    var publish: (FeedEvent) -> Void = { _ in }

    /// - Parameters:
    ///   - bus: the machine's.
    ///   - stackProblem: why polkit would not ask for a second factor; nil where it would. Asked each time.
    init(
        on loop: EventLoop, _ bus: SystemBus, limit: UInt64 = SecondFactorBroker.limit,
        stackProblem: @escaping () -> String? = FactorStack.problem
    ) {
        self.loop = loop
        self.stackProblem = stackProblem
        authority = PolicyAuthority(bus, limit: limit)
        seats = SeatWatch(bus, on: loop) { [unowned self] seat in perform(desk.seated(seat, at: now)) }
    }

    /// To be called when the bus is there, and when it is again.
    func connected() { seats?.connected() }

    /// Nobody is asked any more, and what was demanded stays open.
    func stop() {
        if let timer { loop.cancel(timer.timer) }
        timer = nil
        for question in questions.values { authority.cancel(question) }
        questions = [:]
        done = [:]
        seats?.isWatching = false
        seats = nil
    }

    /// Whether a demand has not been met: nobody may be let off a second factor meanwhile.
    var hasOpenDemand: Bool { desk.hasOpenDemand }

    /// The rule and the edge of one.
    var openDemand: (rule: String, edge: Rule.Edge)? { desk.openDemand }

    func demand(_ demand: FactorDemand, _ done: @escaping (FactorEnd) -> Void) {
        self.done[demand.identifier] = done
        perform(desk.demand(demand))
    }

    func cancel(_ identifier: UInt64) { perform(desk.cancel(identifier)) }

    func forget(_ rule: String, _ edge: Rule.Edge) { desk.forget(rule, edge) }

    /// What a former agent demanded on that edge of a rule, and nobody gave.
    func remember(_ rule: String, _ edge: Rule.Edge) { desk.remember(rule, edge) }

    private var now: Int64 { Timestamp.now().boottime }

    // MARK: Orders

    private func perform(_ orders: [FactorDesk.Order]) {
        seats?.isWatching = desk.isWaiting
        for order in orders {
            switch order {
            case .look: seats?.look()
            case .probe(let question, let session): probe(question, session)
            case .ask(let question, let session, let message, let limit): ask(question, session, message, limit)
            case .withdraw(let question):
                if let open = questions.removeValue(forKey: question) { authority.cancel(open) }
            case .requested(let demand, let user):
                if let caller = demand.caller {
                    Log.write(.notice, "\(user ?? "?") is asked for a second factor by \(caller.description)")
                    continue
                }
                let fact = FeedEvent.SecondFactorFact(rule: demand.rule, network: demand.network, user: user)
                publish(FeedEvent(.secondFactorRequested(fact), at: .now()))
            case .end(let identifiers, let demand, let end): finish(identifiers, demand, end)
            }
        }
        schedule()
    }

    private func finish(_ identifiers: [UInt64], _ demand: FactorDemand, _ end: FactorEnd) {
        if let caller = demand.caller {
            Log.write(.notice, "second factor for \(caller.description): \(end.description)")
        } else {
            tell(demand, end)
        }
        let waiting = identifiers.compactMap { done.removeValue(forKey: $0) }
        // Whoever is told may have something else demanded at once.
        loop.schedule(at: now) { for tell in waiting { tell(end) } }
    }

    /// The feed tells of what rules demand.
    private func tell(_ demand: FactorDemand, _ end: FactorEnd) {
        let fact = FeedEvent.SecondFactorFact(
            rule: demand.rule, network: demand.network, user: end.user, because: end.because)
        switch end.outcome {
        case .passed:
            onMet(demand.rule, demand.edge)
            publish(FeedEvent(.secondFactorPassed(fact), at: .now()))
        case .failed: publish(FeedEvent(.secondFactorFailed(fact), at: .now()))
        case .expired: publish(FeedEvent(.secondFactorExpired(fact), at: .now()))
        // The action's end says so.
        case .cancelled: break
        }
    }

    private func schedule() {
        let due = desk.nextDeadline
        guard due != timer?.due else { return }
        if let timer { loop.cancel(timer.timer) }
        timer = due.map { due in
            let scheduled = loop.schedule(at: due) { [unowned self] in
                timer = nil
                perform(desk.advance(to: max(now, due)))
            }
            return (scheduled, due)
        }
    }

    // MARK: polkit

    /// Who is let through without a person, is let through without a second factor.
    private func probe(_ question: FactorDesk.Question, _ session: Seat.Session) {
        authority.check(SecondFactorBroker.subject(session), SecondFactorBroker.action, [:], mayAsk: false) {
            [weak self] verdict in
            guard let self else { return }
            let problem = SecondFactorBroker.problem(ofUnasked: verdict) ?? stackProblem()
            perform(desk.probed(question, problem, at: now))
        }
    }

    private func ask(
        _ question: FactorDesk.Question, _ session: Seat.Session, _ message: String, _ limit: Int64
    ) {
        questions[question] = authority.check(
            SecondFactorBroker.subject(session), SecondFactorBroker.action, ["polkit.message": message], mayAsk: true,
            limit: UInt64(clamping: limit + SecondFactorBroker.slack)
        ) { [weak self] verdict in
            guard let self else { return }
            questions[question] = nil
            perform(desk.answered(question, SecondFactorBroker.answer(verdict), at: now))
        }
    }

    private static func subject(_ session: Seat.Session) -> PolicyAuthority.Subject {
        .process(session.leader, user: session.user)
    }

    /// Why a person would not be asked.
    static func problem(ofUnasked verdict: PolicyAuthority.Verdict) -> String? {
        switch verdict {
        case .needsPerson: nil
        case .authorized:
            "polkit lets \(action) pass without asking anybody: a rule in polkit-1/rules.d says so, or the person is "
                + "root; take that away"
        case .denied:
            "polkit refuses \(action) without asking anybody: is io.vicinity.policy installed, and the session active?"
        case .nobodyToAsk, .dismissed: "polkit gives an answer that nobody asked for"
        case .absent: "polkit does not run, so nobody can be asked; install polkitd"
        case .failed(let error): "polkit gives no answer\(error.map { " (\($0))" } ?? "")"
        }
    }

    static func answer(_ verdict: PolicyAuthority.Verdict) -> FactorDesk.Answer {
        switch verdict {
        case .authorized: .right
        case .denied: .wrong
        case .dismissed: .failed(because: "the person dismissed the question")
        case .nobodyToAsk, .needsPerson:
            .unasked(because: "no authentication agent of polkit's runs in the session, so nobody can be asked")
        case .absent: .unasked(because: "polkit does not run, so nobody can be asked")
        case .failed(let error): .failed(because: "polkit gives no answer\(error.map { " (\($0))" } ?? "")")
        }
    }
}
