internal import Rules

/// Decides who is asked for a second factor, when, and what an answer is worth: one prompt at a time, not too often, none
/// while the screen is locked. Values in, orders out; who carries those out says what came of it.
///
/// Whatever is no clear yes of a person who was asked is a failure.
struct FactorDesk {
    typealias Question = UInt64

    enum Order: Hashable {
        /// Say who sits at the machine, `seated`; and from then on, whenever that changes.
        case look
        /// Say whether a person would be asked, and for a second factor: `probed`.
        case probe(Question, Seat.Session)
        /// Have the person asked, for so many µs: `answered`.
        case ask(Question, Seat.Session, message: String, limit: Int64)
        /// The question is not to be answered any more: the dialogue goes.
        case withdraw(Question)
        /// The person is being asked.
        case requested(FactorDemand, user: String?)
        case end([UInt64], FactorDemand, FactorEnd)
    }

    /// What became of a question that a person was asked.
    enum Answer: Hashable {
        case right, wrong
        /// Nothing that asking again would help.
        case failed(because: String)
        /// There was nobody who could have been asked.
        case unasked(because: String)
    }

    /// Prompts within `window` (µs); those beyond wait.
    static let maximumPrompts = 5
    static let window: Int64 = 600_000_000

    private enum Stage: Hashable {
        case looking
        /// Until the screen is unlocked.
        case deferred
        /// There were too many prompts.
        case throttled(until: Int64)
        case probing(Question, Seat.Session)
        case asking(Question, Seat.Session)
    }

    /// The one that is at its turn.
    private struct Front {
        var demand: FactorDemand
        /// Of those that are the same.
        var identifiers: [UInt64]
        var stage = Stage.looking
        var isRequested = false
        var attempts: Int
        /// How long the person may still take (µs), and until when while the time runs.
        var left: Int64
        var due: Int64?
        var user: String?

        init(_ demand: FactorDemand) {
            self.demand = demand
            identifiers = [demand.identifier]
            attempts = demand.factor.attempts
            left = demand.factor.timeout
        }

        /// The time stands still.
        mutating func pause(at now: Int64) {
            if let due { left = max(due - now, 0) }
            due = nil
        }
    }

    private struct Pass {
        var rule: String
        var place: String
        var session: Seat.Session
        var moment: Int64
    }

    private struct Unmet: Hashable {
        var rule: String
        var edge: Rule.Edge
    }

    private var waiting: [FactorDemand] = []
    private var front: Front?
    private var passes: [Pass] = []
    /// When somebody was asked.
    private var prompts: [Int64] = []
    /// The same for programs: what they ask for takes nothing from the rules.
    private var programPrompts: [Int64] = []
    private var unmet: Set<Unmet> = []
    private var lastQuestion: Question = 0

    /// Whether a demand has not been met: it waits, is being asked for, or came to nothing and its rule still holds.
    /// What a program asks for is nobody's duty.
    var hasOpenDemand: Bool { openDemand != nil }

    /// The rule and the edge of one that has not been met.
    var openDemand: (rule: String, edge: Rule.Edge)? {
        let demands = (front.map { [$0.demand] } ?? []) + waiting
        if let demand = demands.first(where: { !$0.isProgram }) { return (demand.rule, demand.edge) }
        return unmet.first.map { ($0.rule, $0.edge) }
    }

    /// Whether it has to be told who sits at the machine.
    var isWaiting: Bool { front != nil }

    /// When `advance` has to be called, µs.
    var nextDeadline: Int64? {
        if case .throttled(let until)? = front?.stage { return until }
        return front?.due
    }

    // MARK: What is demanded

    mutating func demand(_ demand: FactorDemand) -> [Order] {
        if front?.demand.isSame(as: demand) ?? false {
            front?.identifiers.append(demand.identifier)
            return []
        }
        waiting.append(demand)
        return displacement(by: demand) + begin()
    }

    /// Programs wait for rules, never rules for programs: else any program could put off what follows a failure.
    private mutating func displacement(by demand: FactorDemand) -> [Order] {
        guard !demand.isProgram, let open = front, open.demand.isProgram else { return [] }
        let withdrawal = withdrawal()
        front = nil
        let end = FactorEnd(
            outcome: .cancelled, user: open.user, because: "a rule demands a second factor now; try again after that")
        return withdrawal + [.end(open.identifiers, open.demand, end)]
    }

    /// What is demanded no longer ends without a grace.
    mutating func cancel(_ identifier: UInt64) -> [Order] {
        if let index = waiting.firstIndex(where: { $0.identifier == identifier }) {
            let demand = waiting.remove(at: index)
            return [.end([identifier], demand, FactorEnd(outcome: .cancelled))]
        }
        guard let open = front, open.identifiers.contains(identifier) else { return [] }
        front?.identifiers.removeAll { $0 == identifier }
        let end = Order.end([identifier], open.demand, FactorEnd(outcome: .cancelled, user: open.user))
        guard open.identifiers == [identifier] else { return [end] }
        let withdrawal = withdrawal()
        front = nil
        return withdrawal + [end] + begin()
    }

    /// The rule holds no longer, or holds again: what was demanded of that edge does not matter any more.
    mutating func forget(_ rule: String, _ edge: Rule.Edge) { unmet.remove(Unmet(rule: rule, edge: edge)) }

    /// A demand that came to nothing before this was there to see it.
    mutating func remember(_ rule: String, _ edge: Rule.Edge) { unmet.insert(Unmet(rule: rule, edge: edge)) }

    private mutating func begin() -> [Order] {
        guard front == nil, !waiting.isEmpty else { return [] }
        let demand = waiting.remove(at: waiting.firstIndex { !$0.isProgram } ?? 0)
        var next = Front(demand)
        next.identifiers += waiting.filter { $0.isSame(as: demand) }.map(\.identifier)
        waiting.removeAll { $0.isSame(as: demand) }
        front = next
        return [.look]
    }

    // MARK: Who sits there

    mutating func seated(_ seat: Seat, at now: Int64) -> [Order] {
        guard let stage = front?.stage else { return [] }
        let asked: Seat.Session? =
            switch stage {
            case .probing(_, let session), .asking(_, let session): session
            case .looking, .deferred, .throttled: nil
            }
        switch seat {
        case .nobody(let because): return fail(because, at: now)
        case .session(let session):
            if let problem = front?.demand.caller?.problem(with: session) { return fail(problem, at: now) }
            if let asked {
                guard session.isSame(as: asked) else {
                    return fail("the session that was asked is not at the screen any more", at: now)
                }
                guard session.isLocked else { return [] }
            }
            front?.user = session.name ?? "uid \(session.user)"
            return session.isLocked ? deferUntilUnlocked(at: now) : proceed(session, at: now)
        }
    }

    private mutating func deferUntilUnlocked(at now: Int64) -> [Order] {
        let withdrawal = withdrawal()
        front?.pause(at: now)
        front?.stage = .deferred
        return withdrawal
    }

    private mutating func proceed(_ session: Seat.Session, at now: Int64) -> [Order] {
        guard let open = front else { return [] }
        if let moment = grace(for: open.demand, session, at: now) {
            let minutes = (now - moment) / 60_000_000
            return end(.passed, "within the grace of a pass \(minutes) min ago", at: now)
        }
        prompts.removeAll { $0 <= now - FactorDesk.window }
        programPrompts.removeAll { $0 <= now - FactorDesk.window }
        if open.demand.isProgram {
            guard open.isRequested || programPrompts.count < FactorDesk.maximumPrompts else {
                return end(.cancelled, "programs have asked too often; try again in some minutes", at: now)
            }
        } else if !open.isRequested, prompts.count >= FactorDesk.maximumPrompts, let first = prompts.first {
            front?.stage = .throttled(until: first + FactorDesk.window)
            return []
        }
        let question = nextQuestion()
        front?.stage = .probing(question, session)
        return [.probe(question, session)]
    }

    /// When the same person passed here, at the same session, not too long ago.
    private func grace(for demand: FactorDemand, _ session: Seat.Session, at now: Int64) -> Int64? {
        passes.last {
            $0.rule == demand.rule && $0.place == demand.place && $0.session.isSame(as: session)
                && now - $0.moment < demand.factor.grace
        }?.moment
    }

    // MARK: Asking

    /// - Parameter problem: why nobody would be asked, or not for a second factor.
    mutating func probed(_ question: Question, _ problem: String?, at now: Int64) -> [Order] {
        guard var open = front, case .probing(question, let session) = open.stage else { return [] }
        if let due = open.due, now >= due { return end(.expired, nil, at: now) }
        if let problem { return fail(problem, at: now) }
        let asked = nextQuestion()
        open.stage = .asking(asked, session)
        open.due = open.due ?? now + open.left
        let isFirst = !open.isRequested
        open.isRequested = true
        front = open
        if isFirst {
            if open.demand.isProgram { programPrompts.append(now) } else { prompts.append(now) }
        }
        return (isFirst ? [.requested(open.demand, user: open.user)] : [])
            + [.ask(asked, session, message: open.demand.message, limit: (open.due ?? now) - now)]
    }

    mutating func answered(_ question: Question, _ answer: Answer, at now: Int64) -> [Order] {
        guard var open = front, case .asking(question, let session) = open.stage else { return [] }
        // What was right too late was not right.
        if let due = open.due, now >= due { return end(.expired, nil, at: now) }
        switch answer {
        case .right:
            passes.removeAll { $0.rule == open.demand.rule && $0.place == open.demand.place }
            if let place = open.demand.place, open.demand.factor.grace > 0 {
                passes.append(Pass(rule: open.demand.rule, place: place, session: session, moment: now))
            }
            return end(.passed, nil, at: now)
        case .wrong:
            open.attempts -= 1
            guard open.attempts > 0 else {
                let count = open.demand.factor.attempts
                return fail(count == 1 ? "a wrong answer" : "\(count) wrong answers", at: now)
            }
            // It may be otherwise by now whether a person is asked at all.
            let next = nextQuestion()
            open.stage = .probing(next, session)
            front = open
            return [.probe(next, session)]
        case .failed(let because): return fail(because, at: now)
        case .unasked(let because): return end(.failed, because, at: now, wasAsked: false)
        }
    }

    mutating func advance(to now: Int64) -> [Order] {
        guard let open = front else { return [] }
        if case .throttled(let until) = open.stage, now >= until {
            front?.stage = .looking
            return [.look]
        }
        guard let due = open.due, now >= due else { return [] }
        return end(.expired, nil, at: now)
    }

    // MARK: The end

    private mutating func fail(_ because: String, at now: Int64) -> [Order] { end(.failed, because, at: now) }

    private mutating func end(
        _ outcome: FactorEnd.Outcome, _ because: String?, at now: Int64, wasAsked: Bool = true
    ) -> [Order] {
        guard let open = front else { return [] }
        let withdrawal = outcome == .expired || outcome == .failed ? withdrawal() : []
        front = nil
        let key = Unmet(rule: open.demand.rule, edge: open.demand.edge)
        if outcome == .passed {
            unmet.remove(key)
        } else if !open.demand.isProgram {
            unmet.insert(key)
            passes.removeAll { $0.rule == open.demand.rule && $0.place == open.demand.place }
        }
        let end = FactorEnd(
            outcome: outcome, user: open.user, because: because, wasAsked: wasAsked && open.isRequested)
        return withdrawal + [.end(open.identifiers, open.demand, end)] + begin()
    }

    private func withdrawal() -> [Order] {
        if case .asking(let question, _)? = front?.stage { [.withdraw(question)] } else { [] }
    }

    private mutating func nextQuestion() -> Question {
        lastQuestion += 1
        return lastQuestion
    }
}
