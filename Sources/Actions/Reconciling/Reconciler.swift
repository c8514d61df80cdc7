internal import Platform
public import Rules

/// Keeps places as the agent wants them: reads, notes in the journal, writes, reads back, and puts back what was there
/// when nothing is asked of a place any more.
///
/// Only what is wanted last counts. Rules do not wait for each other; the places of one are put right in their order
/// and put back in the reverse one. Killed at any moment, the next one goes on from the journal.
@ActionActor
public final class Reconciler {
    /// A state action of a rule that holds.
    public struct Wanted: Hashable, Sendable {
        public var rule: String
        /// Among the rule's state actions.
        public var index: Int
        public var effect: Effect
        /// In the order in which they are put right.
        public var places: [PlaceName]
        public var settings: [PlaceName: Settings]

        public init(rule: String, index: Int, effect: Effect, _ wishes: [(place: PlaceName, settings: Settings)]) {
            self.rule = rule
            self.index = index
            self.effect = effect
            places = wishes.map(\.place)
            settings = Dictionary(wishes.map { ($0.place, $0.settings) }, uniquingKeysWith: { $1 })
        }
    }

    public enum Outcome: Hashable, Sendable {
        case held
        case reverted
        /// What failed, in words.
        case failed(String)
    }

    private struct Action: Hashable {
        let rule: String
        let index: Int
    }

    private let places: any Places
    private var journal: Journal
    private let boot: String
    private var ledger = Ledger()
    private var wishes: [PlaceName: Ledger.Wish] = [:]
    private var busy: [PlaceName: Task<Attempt, Never>] = [:]
    /// Places that hold what is wanted as far as is known, and may not any more.
    private var doubted: Set<PlaceName> = []
    /// Counts what was asked for; who works for an earlier one has nothing to tell.
    private var generation: UInt64 = 0
    private var unfinished = 0
    /// Until then (µs of boot time) whatever a place loses was lost by a daemon that begins.
    private var beginsUntil: Int64 = 0

    /// µs; NetworkManager tells firewalld its zones again when that is back.
    private static let beginning: Int64 = 15_000_000
    /// Who waits until everything that was asked for has been tried.
    private var waiting: [() -> Void] = []

    /// What became of a state action, told after each `declare` and whenever it changes.
    public var onOutcome: (_ rule: String, _ index: Int, Outcome) -> Void = { _, _, _ in }
    /// What went wrong with the journal itself.
    public var onTrouble: (String) -> Void = { _ in }

    /// - Parameters:
    ///   - path: of the journal.
    ///   - boot: what volatile places last for.
    public init(places: any Places, journal path: String, boot: String) {
        self.places = places
        journal = Journal(path: path)
        self.boot = boot
    }

    /// Takes up what a former life left; to be called once, first.
    public func start() {
        do throws(JournalError) {
            ledger = try journal.load(boot: boot)
        } catch {
            Files.keepAside(error.path)
            onTrouble("\(error)")
        }
    }

    public var isIdle: Bool { unfinished == 0 }

    /// Whether something was put there that has to be undone some day.
    public func holds(_ place: PlaceName) -> Bool { ledger[place] != nil }

    /// Whether nothing is left that has to be undone some day.
    public var isReleased: Bool { ledger.order.isEmpty }

    /// Whether something has to be undone unless the agent says that it may stay.
    public var isProtecting: Bool { ledger.isProtecting }

    // MARK: What is wanted

    /// From now on these shall hold, and nothing else.
    ///
    /// - Parameters:
    ///   - isKnown: whether a rule of that name still has such an action; what it once did is forgotten otherwise.
    ///   - settled: called once when all of it, or what is asked for instead by then, has been tried.
    public func declare(
        _ wanted: [Wanted], isKnown: (_ rule: String, _ index: Int) -> Bool = { _, _ in true },
        then settled: @escaping () -> Void = {}
    ) {
        generation += 1
        let before = ledger
        waiting.append(settled)
        ledger.isProtecting = false
        ledger.lifted = ledger.lifted.filter { isKnown($0.value.rule, $0.value.index) }
        // A successor must not protect from what an agent has answered for since.
        if ledger != before { save() }
        var next: [PlaceName: Ledger.Wish] = [:]
        for action in wanted {
            for (place, settings) in action.settings {
                next[place] = Ledger.Wish(
                    rule: action.rule, index: action.index, effect: action.effect, settings: settings)
            }
        }
        let former = wishes
        wishes = next
        for (place, task) in busy where former[place] != next[place] { task.cancel() }
        for place in next.keys where place.isForgotten { doubted.insert(place) }
        work(on: plan(wanted))
    }

    /// Notes that what lowers protection has to be undone soon, so that a successor of this process knows.
    public func announceProtection() {
        guard !ledger.protectedWishes.isEmpty else { return }
        ledger.isProtecting = true
        save()
    }

    /// Undoes what lowers protection, and puts back in force what raised it and was ended.
    ///
    /// - Parameter settled: called once when that, or what is asked for instead by then, has been tried.
    public func protect(then settled: @escaping () -> Void = {}) {
        generation += 1
        waiting.append(settled)
        let protected = ledger.protectedWishes
        for (place, wish) in protected { wishes[place] = wish }
        for place in protected.keys { busy[place]?.cancel() }
        ledger.isProtecting = true
        work(on: [plan(for: protected.keys)]) { [self] isComplete in
            // What could not be undone still has to be, if need be by a successor.
            guard ledger.isProtecting, isComplete else { return }
            ledger.isProtecting = false
            save()
        }
    }

    /// Somebody else changed what a place holds. What a protective rule had set is set again, and for other rules what
    /// was forgotten; whatever else somebody chose instead stays, unless it was a daemon that begins.
    public func reassert(_ place: PlaceName) {
        guard let wish = wishes[place], ledger[place] != nil else { return }
        if wish.effect == .tightening || Timestamp.now().boottime < beginsUntil {
            lookAgain(at: [place])
        } else {
            doubted.insert(place)
            work(on: [plan(for: [place])])
        }
    }

    /// The daemon that holds these places was started anew: what it has forgotten is set again, whatever for.
    public func verify(_ isConcerned: (PlaceName) -> Bool) {
        beginsUntil = Timestamp.now().boottime + Reconciler.beginning
        let places = ledger.order.filter { wishes[$0] != nil && isConcerned($0) }
        if !places.isEmpty { lookAgain(at: places) }
    }

    private func lookAgain(at places: [PlaceName]) {
        for place in places where ledger[place] != nil { ledger[place]?.isSettled = false }
        work(on: [plan(for: places)])
    }

    /// Takes away what was set of the proxy, though it may be wanted: somebody sits there without a way out. What is
    /// wanted is set anew when it is asked for anew.
    public func resetProxy() async throws(JournalError) -> [ProxyReset.Row] {
        for place in ProxySurvey.machine { while let other = busy[place] { _ = await other.value } }
        return try await ProxyReset.run(ProxySurvey.machine, in: places, journal: journal.path)
    }

    // MARK: Order

    /// What is done one after the other.
    private struct Step {
        let action: Action
        let places: [PlaceName]
        let isEnd: Bool
    }

    /// A row of steps for each rule: first what ends, the last first.
    private func plan(_ wanted: [Wanted]) -> [[Step]] {
        var rows: [String: [Step]] = [:]
        var order: [String] = []
        func add(_ step: Step) {
            if rows[step.action.rule] == nil { order.append(step.action.rule) }
            var row = rows[step.action.rule] ?? []
            if let last = row.last, last.action == step.action, last.isEnd, step.isEnd {
                // What lies between them is of other rules. Its end is told once, when all of it is done.
                row[row.count - 1] = Step(action: last.action, places: last.places + step.places, isEnd: true)
            } else {
                row.append(step)
            }
            rows[step.action.rule] = row
        }
        for step in plan(for: ledger.order.filter { wishes[$0] == nil }) { add(step) }
        for action in wanted {
            // A place that another one has by now is its business.
            let places = action.places.filter {
                wishes[$0]?.rule == action.rule && wishes[$0]?.index == action.index
            }
            add(Step(action: Action(rule: action.rule, index: action.index), places: places, isEnd: false))
        }
        return order.compactMap { rows[$0] }
    }

    private func plan(for places: some Collection<PlaceName>) -> [Step] {
        var steps: [Step] = []
        let known = ledger.order + places.filter { ledger[$0] == nil }
        for place in known.reversed() where places.contains(place) {
            guard
                let origin = ledger[place].map({ Action(rule: $0.rule, index: $0.index) })
                    ?? wishes[place].map({ Action(rule: $0.rule, index: $0.index) })
            else { continue }
            let isEnd = wishes[place] == nil
            if let last = steps.last, last.action == origin, last.isEnd == isEnd {
                steps[steps.count - 1] = Step(action: origin, places: last.places + [place], isEnd: isEnd)
            } else {
                steps.append(Step(action: origin, places: [place], isEnd: isEnd))
            }
        }
        return steps
    }

    /// - Parameter done: told whether nothing went wrong; not called where something else has been asked for since.
    private func work(on rows: [[Step]], then done: @escaping (_ isComplete: Bool) -> Void = { _ in }) {
        let mine = generation
        unfinished += 1
        let tasks = rows.map { row in
            ActionActor.task {
                var isComplete = true
                for step in row {
                    var problems: [String] = []
                    for place in step.places {
                        if let problem = await settle(place) { problems.append(problem) }
                    }
                    guard mine == generation else { return false }
                    isComplete = isComplete && problems.isEmpty
                    let outcome: Outcome = step.isEnd ? .reverted : .held
                    onOutcome(
                        step.action.rule, step.action.index,
                        problems.isEmpty ? outcome : .failed(problems.joined(separator: "; ")))
                }
                return isComplete
            }
        }
        ActionActor.task {
            var isComplete = true
            for task in tasks { isComplete = await task.value && isComplete }
            unfinished -= 1
            if mine == generation { done(isComplete) }
            guard unfinished == 0 else { return }
            let waiting = waiting
            self.waiting = []
            for settled in waiting { settled() }
        }
    }

    // MARK: One place

    private enum Attempt {
        case done
        case failed(String)
        /// Something else is wanted by now.
        case outdated
    }

    /// Puts a place as it is wanted now, when whoever works on it is done.
    ///
    /// - Returns: what went wrong.
    private func settle(_ place: PlaceName) async -> String? {
        while let other = busy[place] { _ = await other.value }
        while !isRight(place) {
            let task = ActionActor.task {
                // Free before anybody who waits goes on: a task that has ended suspends nobody.
                defer { self.busy[place] = nil }
                return await self.put(place, self.wishes[place])
            }
            busy[place] = task
            switch await task.value {
            case .done: return nil
            case .failed(let problem): return problem
            // A task that was told to stop does not start again.
            case .outdated: continue
            }
        }
        return nil
    }

    private func isRight(_ place: PlaceName) -> Bool {
        ledger.isDone(place, wishes[place]) && (wishes[place] == nil || !doubted.contains(place))
    }

    private func put(_ place: PlaceName, _ wish: Ledger.Wish?) async -> Attempt {
        guard let target = places.place(place) else { return .done }
        do throws(PlaceError) {
            if let entry = ledger[place], !entry.isSettled { try target.tidy() }
            let names = ledger.names(place, wish)
            guard let current = try await target.read(names) else {
                // There is no such thing here, and nothing to put back.
                if ledger[place] != nil {
                    ledger.forget(place)
                    save()
                }
                return .done
            }
            guard wish == wishes[place] else { return .outdated }
            if doubted.remove(place) != nil, let wish, ledger.isDone(place, wish), !isLost(wish, in: current) {
                return .done
            }
            let changes: Settings
            switch note(place, wish, current) {
            case .success(let noted): changes = noted
            case .failure(let error): return .failed(error.description)
            }
            if !changes.isEmpty { try await target.write(changes) }
            let after = try await target.read(names) ?? [:]
            let wrong = ledger.finish(place, current: after)
            save()
            guard wish == wishes[place] else { return .outdated }
            return wrong.isEmpty
                ? .done : .failed("\(place) does not hold what was written to it: \(wrong.joined(separator: ", "))")
        } catch {
            return wish == wishes[place] ? .failed(error.description) : .outdated
        }
    }

    /// Whether a place that held what is wanted has to be put right.
    private func isLost(_ wish: Ledger.Wish, in current: Settings) -> Bool {
        wish.settings.contains { name, value in
            let now = current[name] ?? .unset
            return now != value && (wish.effect == .tightening || now == .unset)
        }
    }

    /// Notes what is about to be written, and says what that is.
    ///
    /// - Returns: a failure where it must not be: only what raises protection, or puts back what was there, may go on
    ///   without a note on disk.
    private func note(_ place: PlaceName, _ wish: Ledger.Wish?, _ current: Settings) -> Result<Settings, PlaceError> {
        let before = ledger
        ledger.lift(place, for: wish)
        let changes = ledger.begin(place, wish, current: current)
        do throws(SystemError) {
            try journal.save(ledger, boot: boot)
        } catch {
            if let wish, wish.effect != .tightening {
                ledger = before
                return .failure(.failed("\(error): nothing was changed, since it could not be put back"))
            }
            onTrouble("\(error): after an accident \(place) could not be put back")
        }
        return .success(changes)
    }

    private func save() {
        do throws(SystemError) {
            try journal.save(ledger, boot: boot)
        } catch {
            onTrouble("\(error): after an accident places would be looked at again")
        }
    }
}
