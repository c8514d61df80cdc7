internal import ActionProtocol
internal import Feed
internal import Platform
internal import Rules

/// Second factors, and what follows them: each consequence is an action of its own, with its own end on the feed.
extension ActionDispatcher {
    /// Whether one is demanded, be it that it has not come to its turn yet.
    var isFactorDue: Bool { dueFactor != nil }

    /// The rule and the edge of one.
    var dueFactor: (rule: String, edge: Rule.Edge)? {
        queue.first(where: \.isFactor).map { ($0.request.rule.name, $0.request.edge) }
    }

    func demandFactor(_ identifier: UInt64, _ job: Job) {
        guard case .secondFactor(let factor) = job.request.action else { return }
        guard let factors else {
            return finish(identifier, ActionEnd(.failed, because: "nobody asks for second factors"))
        }
        begin(identifier)
        let since = Timestamp.now().boottime
        let demand = FactorDemand(
            identifier: identifier, rule: job.request.rule.name, edge: job.request.edge,
            network: job.request.network?.name,
            isPlace: job.request.network?.builtIn == nil, factor: factor)
        factors.demand(demand) { [weak self] in self?.take($0, identifier, job, since) }
    }

    private func take(_ end: FactorEnd, _ identifier: UInt64, _ job: Job, _ since: Int64) {
        guard case .secondFactor(let factor) = job.request.action else { return }
        var actionEnd: ActionEnd
        switch end.outcome {
        case .passed:
            report(ActionDispatcher.subject(job), nil)
            follow(job, factor.onSuccess, .success)
            actionEnd = ActionEnd(.succeeded)
        case .failed:
            follow(job, factor.onFailure, .failure)
            actionEnd = ActionEnd(.failed, because: end.because)
        case .expired:
            follow(job, factor.onFailure, .failure)
            actionEnd = ActionEnd(.failed, because: "nobody answered in time")
        case .cancelled: actionEnd = ActionEnd(.cancelled, because: "obsolete")
        }
        actionEnd.duration = Timestamp.now().boottime - since
        finish(identifier, actionEnd)
    }

    /// Before whatever else the rule has to do.
    private func follow(
        _ job: Job, _ consequences: [EdgeAction.SecondFactor.Consequence], _ outcome: NamedConsequence.Outcome
    ) {
        let jobs = consequences.enumerated().map { index, consequence in
            let fact = newFact(job.request.rule.name, job.request.index, consequence.kind)
            return (
                identifier: fact.id,
                job: Job(
                    request: job.request, fact: fact, consequence: NamedConsequence(outcome, index: index))
            )
        }
        queue.addFirst(jobs, to: job.request.rule.name)
    }

    /// Of a success until the machine is elsewhere: what was shown was shown here. Of a failure as long as can be.
    func holdRule(_ identifier: UInt64, _ job: Job) {
        guard case .hold(let rule)? = job.following else {
            return finish(identifier, ActionEnd(.failed, because: "the second factor has no such consequence"))
        }
        begin(identifier)
        var request = HoldRequest(isOn: true, by: "second factor of rule \(job.request.rule.name)")
        request.endsWithPlace = job.consequence?.outcome == .success
        // Not in the middle of what the rules have just decided.
        schedule { [weak self] in
            guard let self else { return }
            let problem = holdRule(rule, request)
            finish(identifier, ActionEnd(problem == nil ? .succeeded : .failed, because: problem))
        }
    }

    /// A failure that led to nothing must not go unnoticed.
    func complain(of job: Job, _ end: ActionEnd) {
        guard let consequence = job.consequence, consequence.outcome == .failure else { return }
        let subject = "\(ActionDispatcher.subject(job)) \(consequence.index)"
        guard end.result != .succeeded else { return report(subject, nil) }
        report(
            subject,
            "rule \(job.request.rule.name): its second factor failed, and what follows (\(job.fact.kind)) could not be "
                + "carried out: \(end.because ?? end.result.rawValue)")
    }

    private static func subject(_ job: Job) -> String {
        "second factor of \(job.request.rule.name) \(job.request.edge.rawValue) \(job.request.index)"
    }
}

extension ActionDispatcher.Job {
    /// Nil for a hold, which is the agent's own.
    var action: EdgeAction? { consequence == nil ? request.action : following?.action }

    /// What follows the second factor, if it is that.
    var following: EdgeAction.SecondFactor.Consequence? {
        guard let consequence, case .secondFactor(let factor) = request.action else { return nil }
        let consequences = consequence.outcome == .success ? factor.onSuccess : factor.onFailure
        return consequences.indices.contains(consequence.index) ? consequences[consequence.index] : nil
    }

    /// Whether it is a second factor itself.
    var isFactor: Bool {
        guard consequence == nil, case .secondFactor = request.action else { return false }
        return true
    }
}
