internal import Feed
internal import PAM
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

/// Has the person at the screen asked for a second factor, by polkit and its agent in that person's session; where polkit
/// cannot ask at all, by a dialogue of ours.
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
    private let stackProblem: (_ service: String) -> String?
    private var seats: SeatWatch?
    private var desk = FactorDesk()
    private var done: [UInt64: (FactorEnd) -> Void] = [:]
    private var questions: [FactorDesk.Question: PolicyAuthority.Question] = [:]
    private var timer: (timer: EventLoop.Timer, due: Int64)?

    /// What was demanded on an edge of a rule has been given.
    var onMet: (_ rule: String, _ edge: Rule.Edge) -> Void = { _, _ in }
    /// Asks where polkit cannot.
    weak var dialogues: (any FactorDialogues)?
    /// Tells what happens.
    var publish: (FeedEvent) -> Void = { _ in }

    /// - Parameters:
    ///   - bus: the machine's.
    ///   - stackProblem: why a PAM service would not ask for a second factor; nil where it would. Asked each time.
    init(
        on loop: EventLoop, _ bus: SystemBus, limit: UInt64 = SecondFactorBroker.limit,
        stackProblem: @escaping (_ service: String) -> String? = { FactorStack.problem(in: $0) }
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
                dialogues?.withdraw(question)
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
            let problem =
                verdict == .absent
                ? problemWithDialogues("polkit does not run")
                : SecondFactorBroker.problem(ofUnasked: verdict) ?? stackProblem(FactorStack.polkit)
            perform(desk.probed(question, problem, at: now))
        }
    }

    private func ask(
        _ question: FactorDesk.Question, _ session: Seat.Session, _ message: String, _ limit: Int64
    ) {
        let deadline = now + limit
        questions[question] = authority.check(
            SecondFactorBroker.subject(session), SecondFactorBroker.action, ["polkit.message": message], mayAsk: true,
            limit: UInt64(clamping: limit + SecondFactorBroker.slack)
        ) { [weak self] verdict in
            guard let self else { return }
            // Withdrawn meanwhile.
            guard questions.removeValue(forKey: question) != nil else { return }
            switch verdict {
            case .nobodyToAsk:
                let because = "no authentication agent of polkit's runs in the session"
                askOtherwise(question, session, until: deadline, because)
            case .absent: askOtherwise(question, session, until: deadline, "polkit does not run")
            default: perform(desk.answered(question, SecondFactorBroker.answer(verdict), at: now))
            }
        }
    }

    private static func subject(_ session: Seat.Session) -> PolicyAuthority.Subject {
        .process(session.leader, user: session.user)
    }

    // MARK: Dialogues of our own

    /// Only where polkit has asked nobody: what it says is not corrected.
    private func askOtherwise(
        _ question: FactorDesk.Question, _ session: Seat.Session, until deadline: Int64, _ because: String
    ) {
        guard let dialogues, let demand = desk.current, problemWithDialogues(because) == nil else {
            let problem = problemWithDialogues(because) ?? because
            return perform(desk.answered(question, .unasked(because: problem), at: now))
        }
        dialogues.ask(question, demand, session, limit: deadline - now) { [weak self] answer in
            guard let self else { return }
            perform(desk.answered(question, answer, at: now))
        }
    }

    /// Why a person could not be asked by them either.
    private func problemWithDialogues(_ because: String) -> String? {
        // What a program says of itself stands in no rule file, so root's helper would have to believe it.
        guard dialogues != nil, desk.current?.isProgram != true else { return "\(because), so nobody can be asked" }
        return stackProblem(FactorStack.own).map { "\(because), and nobody can be asked otherwise: \($0)" }
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
        case .absent: "polkit does not run"
        case .failed(let error): "polkit gives no answer\(error.map { " (\($0))" } ?? "")"
        }
    }

    static func answer(_ verdict: PolicyAuthority.Verdict) -> FactorDesk.Answer {
        switch verdict {
        case .authorized: .right
        case .denied: .wrong
        case .dismissed: .failed(because: "the person dismissed the question")
        case .nobodyToAsk, .needsPerson, .absent: .unasked(because: "polkit can ask nobody")
        case .failed(let error): .failed(because: "polkit gives no answer\(error.map { " (\($0))" } ?? "")")
        }
    }
}
