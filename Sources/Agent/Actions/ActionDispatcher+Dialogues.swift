internal import ActionProtocol
internal import Rules

/// A question for a person: root's helper asks it, and where it takes a window, that user's helper shows it. What the
/// person answers comes by neither this process nor that.
extension ActionDispatcher: FactorDialogues {
    struct Dialogue {
        let user: UInt32
        let done: (FactorDesk.Answer) -> Void
    }

    func ask(
        _ question: FactorDesk.Question, _ demand: FactorDemand, _ session: Seat.Session, limit: Int64,
        _ done: @escaping (FactorDesk.Answer) -> Void
    ) {
        dialogues[question] = Dialogue(user: session.user, done: done)
        guard root.wake() else {
            return end(question, .failed(because: root.problem ?? "vicinity-act cannot be reached"))
        }
        root.setBusy(true)
        let factor = NamedFactor(
            rule: demand.rule, edge: demand.edge == .enter ? .enter : .leave, index: demand.index,
            network: demand.place, session: session.id,
            limit: min(max(limit / 1_000, 1), NamedFactor.maximumLimit))
        root.send(.ask(id: question, digest: digest, factor))
    }

    func withdraw(_ question: FactorDesk.Question) {
        guard dialogues.removeValue(forKey: question) != nil else { return }
        root.send(.withdraw(id: question))
        settle()
    }

    /// What root's helper says of one; nobody else has anything to say of it.
    func took(_ report: HelperReport) {
        switch report {
        case .dialogue(let question, let user): show(question, user)
        case .answered(let question, .right): end(question, .right)
        case .answered(let question, .wrong): end(question, .wrong)
        case .answered(let question, .failed(let because)): end(question, .failed(because: because))
        default: break
        }
    }

    private func show(_ question: FactorDesk.Question, _ user: UInt32) {
        guard let dialogue = dialogues[question] else { return }
        guard dialogue.user == user, let session = sessions?.sessions[user] else {
            return giveUp(question, "no vicinity-session runs for who sits at the screen, so nobody can be asked")
        }
        session.send(.dialogue)
    }

    /// A helper has ended. Who would show the question is not needed once it is shown, but knows when it has to go.
    func endDialogues(of helper: UInt32, _ because: String) {
        if helper == ActionDispatcher.rootNumber {
            for question in dialogues.keys.sorted() { end(question, .failed(because: because)) }
        } else {
            for (question, dialogue) in dialogues where dialogue.user == helper { giveUp(question, because) }
        }
    }

    private func giveUp(_ question: FactorDesk.Question, _ because: String) {
        root.send(.withdraw(id: question))
        end(question, .failed(because: because))
    }

    private func end(_ question: FactorDesk.Question, _ answer: FactorDesk.Answer) {
        guard let dialogue = dialogues.removeValue(forKey: question) else { return }
        settle()
        // Whoever asks may have something else asked at once.
        schedule { dialogue.done(answer) }
    }
}
