internal import ActionProtocol
internal import Actions
internal import PAM
internal import Platform
internal import Rules

/// Second factors that the agent wants asked for where polkit cannot. Which rule that is, what PAM's stack demands and who
/// sits at the screen is looked at here: of the agent's words none reaches a person.
///
/// One question at a time, and the last one counts.
@ActionActor
final class FactorQuestions {
    private let book: RuleBook
    private let bus: Bus
    private let paths: ActingPaths
    private let stackProblem: () -> String?
    private var open: (id: UInt64, task: Task<Void, Never>?, question: FactorQuestion?)?

    /// To the agent.
    var tell: (HelperReport) -> Void = { _ in }

    /// - Parameters:
    ///   - bus: the machine's.
    ///   - stackProblem: why PAM would not ask for a second factor; nil where it would. Asked each time.
    init(
        book: RuleBook, bus: Bus, paths: ActingPaths,
        stackProblem: @escaping () -> String? = { FactorStack.problem(in: FactorStack.own) }
    ) {
        self.book = book
        self.bus = bus
        self.paths = paths
        self.stackProblem = stackProblem
    }

    var isIdle: Bool { open == nil }

    /// False where the request is about something else.
    func take(_ request: HelperRequest) -> Bool {
        switch request {
        case .ask(let id, let digest, let factor): ask(id, digest, factor)
        case .withdraw(let id): if open?.id == id { withdraw() }
        default: return false
        }
        return true
    }

    /// Nobody would hear the answer.
    func withdraw() {
        open?.task?.cancel()
        open?.question?.withdraw()
        open = nil
    }

    private func ask(_ id: UInt64, _ digest: String, _ factor: NamedFactor) {
        if let former = open?.id { answer(former, .failed(because: "another second factor is asked for instead")) }
        open = (id, nil, nil)
        do throws(Unaskable) {
            let message = try message(digest, factor)
            if let problem = stackProblem() { throw Unaskable(problem) }
            open?.task = ActionActor.task {
                do throws(Unaskable) {
                    let session = try await self.session(factor)
                    // It may have been withdrawn meanwhile, and another one asked.
                    if self.open?.id == id, !Task.isCancelled { try self.ask(id, session, message, factor.limit) }
                } catch {
                    self.answer(id, .failed(because: error.because))
                }
            }
        } catch {
            answer(id, .failed(because: error.because))
        }
    }

    private struct Unaskable: Error {
        let because: String

        init(_ because: String) { self.because = because }
    }

    /// By the rule files as they are read here.
    private func message(_ digest: String, _ factor: NamedFactor) throws(Unaskable) -> String {
        guard let ruleSet = book.ruleSet(digest) else {
            throw Unaskable("vicinity-act reads other rule files than the agent; see `vicinity check`")
        }
        guard let rule = ruleSet.rule(named: factor.rule), rule.isEnabled, !rule.isObserving, !book.isObserving else {
            throw Unaskable("the rule does not act")
        }
        let actions = rule.actions(on: factor.edge == .enter ? .enter : .leave)
        guard actions.indices.contains(factor.index), case .secondFactor(let asked) = actions[factor.index].value else {
            throw Unaskable("the rule has no such second factor")
        }
        if let network = factor.network, ruleSet.network(named: network) == nil {
            throw Unaskable("no rule file has the network that the agent says")
        }
        return asked.words(at: factor.network)
    }

    /// The agent looks there as well, and is not believed.
    private func session(_ factor: NamedFactor) async throws(Unaskable) -> ScreenSession {
        do throws(PlaceError) {
            let session = try await ScreenSession.current(bus)
            guard session.id == factor.session else {
                throw .failed("the session that was to be asked is not at the screen any more")
            }
            guard !session.isLocked else { throw .failed("the screen is locked") }
            return session
        } catch {
            throw Unaskable(error.description)
        }
    }

    private func ask(
        _ id: UInt64, _ session: ScreenSession, _ message: String, _ limit: Int64
    ) throws(Unaskable) {
        do throws(SystemError) {
            let question = try FactorQuestion(message, to: session, limit: limit, paths) { [weak self] in
                self?.answer(id, $0)
            }
            open?.question = question
            if session.isGraphical { tell(.dialogue(id: id, user: session.user)) }
        } catch {
            throw Unaskable("\(error)")
        }
    }

    private func answer(_ id: UInt64, _ answer: FactorAnswer) {
        guard open?.id == id else { return }
        withdraw()
        tell(.answered(id: id, answer))
    }
}
