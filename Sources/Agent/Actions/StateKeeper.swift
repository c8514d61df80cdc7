internal import ActionProtocol
internal import Feed
internal import Platform

/// What one helper was asked to keep, and what it said of that: one started, then one succeeded, failed or reverted for
/// each state, however often it is asked.
final class StateKeeper {
    struct Order: Equatable {
        var state: NamedState
        /// The action's, for the feed.
        var kind: String
    }

    private enum Phase: Equatable {
        case begun
        case held
        case failed(String)
        case ending
    }

    private struct Key: Hashable {
        let rule: String
        let index: Int
    }

    private struct Tracked {
        var fact: FeedEvent.ActionFact
        var phase: Phase
        var since: Int64
        /// Whether it has been told how it went.
        var isTold = false
    }

    private let user: String?
    private var orders: [Order] = []
    private var tracked: [Key: Tracked] = [:]
    private var said: (digest: String, states: [NamedState])?
    /// Of the rules for which it refused what was said last.
    private var refused: String?

    /// Everything that was asked last has been tried.
    private(set) var isSettled = true
    /// Counts what was asked.
    private var pass: UInt64 = 0

    /// - Parameter user: whose session it is; nil for the machine.
    init(user: String?) {
        self.user = user
    }

    var states: [NamedState] { orders.map(\.state) }

    /// Whether something was asked that could not be done.
    var hasFailures: Bool {
        tracked.values.contains { if case .failed = $0.phase { true } else { false } }
    }

    /// Whether it is in place, as far as is known, or being put there.
    func isUnderWay(_ rule: String, _ index: Int) -> Bool {
        switch tracked[Key(rule: rule, index: index)]?.phase {
        case .begun, .held: true
        case .failed, .ending, nil: false
        }
    }

    /// Notes what is wanted from now on.
    ///
    /// - Returns: what has begun by that.
    func declare(
        _ orders: [Order], at now: Timestamp,
        facts: (_ rule: String, _ index: Int, _ kind: String) -> FeedEvent.ActionFact
    ) -> [FeedEvent] {
        self.orders = orders
        let wanted = Dictionary(
            orders.map { (Key(rule: $0.state.rule, index: $0.state.index), $0.kind) }, uniquingKeysWith: { $1 })
        for key in tracked.keys where wanted[key] == nil {
            tracked[key]?.phase = .ending
            tracked[key]?.since = now.boottime
        }
        return orders.flatMap { order -> [FeedEvent] in
            let key = Key(rule: order.state.rule, index: order.state.index)
            let former = tracked[key]
            if let former, former.phase != .ending { return [] }
            var fact = facts(key.rule, key.index, order.kind)
            fact.user = user
            tracked[key] = Tracked(fact: fact, phase: .begun, since: now.boottime)
            let start = FeedEvent(.actionStarted(fact), at: now)
            guard let former, !former.isTold else { return [start] }
            // How that would have gone nobody will say.
            var end = former.fact
            end.because = "obsolete"
            return [FeedEvent(.actionCancelled(end), at: now), start]
        }
    }

    /// Whether the helper has not been asked for just this yet.
    func isUnsaid(_ digest: String) -> Bool { said.map { $0.digest != digest || $0.states != states } ?? true }

    /// What the helper is to be asked now.
    func say(_ digest: String) -> HelperRequest {
        said = (digest, states)
        isSettled = false
        pass += 1
        return .hold(pass: pass, digest: digest, states)
    }

    /// Notes that the helper has tried everything of a pass: of an earlier one than was asked last that means nothing.
    func settled(_ pass: UInt64?) {
        if isLast(pass) { isSettled = true }
    }

    func isLast(_ pass: UInt64?) -> Bool { pass == self.pass }

    /// The helper is another one, or has not taken it.
    func forgetSaid() {
        said = nil
        isSettled = true
    }

    /// Notes that the helper has read other rule files. Whether it has before, of these very rules: then to read them
    /// again helps nobody.
    func isRefusedAgain(_ digest: String) -> Bool {
        defer { refused = digest }
        return refused == digest
    }

    /// What becomes of what a helper reports.
    func took(_ outcome: StateOutcome, rule: String, index: Int, at now: Timestamp) -> FeedEvent? {
        let key = Key(rule: rule, index: index)
        guard var entry = tracked[key] else { return nil }
        var fact = entry.fact
        fact.durationMilliseconds = (now.boottime - entry.since) / 1_000
        switch (outcome, entry.phase) {
        case (.held, .ending), (.held, .held): return nil
        case (.held, _):
            entry.phase = .held
            entry.isTold = true
            tracked[key] = entry
            return FeedEvent(.actionSucceeded(fact), at: now)
        case (.reverted, .ending):
            tracked[key] = nil
            return FeedEvent(.actionReverted(fact), at: now)
        case (.reverted, _): return nil
        case (.failed(let because), .ending):
            tracked[key] = nil
            fact.because = "what was there before is not back: \(because)"
            return FeedEvent(.actionFailed(fact), at: now)
        case (.failed(let because), let phase):
            guard phase != .failed(because) else { return nil }
            entry.phase = .failed(because)
            entry.isTold = true
            tracked[key] = entry
            fact.because = because
            return FeedEvent(.actionFailed(fact), at: now)
        }
    }

    /// There is no helper any more that could keep anything, as after the end of a session: of nothing that was told to
    /// hold, or to end, is it known whether it does.
    func end(_ because: String, at now: Timestamp) -> [FeedEvent] {
        let open = tracked.sorted { $0.value.fact.id < $1.value.fact.id }
        (orders, tracked) = ([], [:])
        forgetSaid()
        return open.compactMap { _, entry in
            var fact = entry.fact
            fact.durationMilliseconds = (now.boottime - entry.since) / 1_000
            switch entry.phase {
            // That is known to have failed already.
            case .failed: return nil
            case .begun, .held: fact.because = because
            case .ending: fact.because = "what was there before is not back: \(because)"
            }
            return FeedEvent(.actionFailed(fact), at: now)
        }
    }

    /// The helper cannot be reached.
    func failAll(_ because: String, at now: Timestamp) -> [FeedEvent] {
        isSettled = true
        return orders.compactMap {
            took(.failed(because: because), rule: $0.state.rule, index: $0.state.index, at: now)
        }
    }
}
