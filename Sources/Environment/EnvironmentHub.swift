internal import Platform

/// Hands every change to every subscriber, each through a bounded queue of its own.
package final class EnvironmentHub: Sendable {
    private typealias Continuation = CheckedContinuation<EnvironmentUpdate?, Never>

    private struct Queue {
        var updates: [EnvironmentUpdate] = []
        var missed = 0
        /// The snapshot is taken when it is read, so that it is as fresh as can be.
        var needsSnapshot = true
        /// One for each task that reads the stream, mostly a single one.
        var waiters: [Continuation] = []

        mutating func renew(missed count: Int) {
            // One who has not begun has missed nothing.
            if missed > 0 || !needsSnapshot { missed += updates.count + count }
            updates = []
            needsSnapshot = true
        }
    }

    private struct State {
        var environment: NetworkEnvironment
        var queues: [UInt64: Queue] = [:]
        var nextIdentifier: UInt64 = 0
        var isFinished = false
        /// Whether the environment is known; until then nobody gets any.
        var isKnown = true
    }

    /// One lock for all: a snapshot and the changes after it have to meet exactly.
    private let state: Lock<State>
    private let capacity: Int

    /// - Parameter isKnown: false where the environment is still to come, with `renew`.
    package init(_ environment: NetworkEnvironment, capacity: Int, isKnown: Bool = true) {
        state = Lock(State(environment: environment, isKnown: isKnown))
        self.capacity = max(capacity, 1)
    }

    package var environment: NetworkEnvironment { state.withLock { $0.environment } }
    var subscriptionCount: Int { state.withLock { $0.queues.count } }
    /// Tasks that wait for the next change.
    var waiterCount: Int { state.withLock { $0.queues.values.reduce(0) { $0 + $1.waiters.count } } }

    package func publish(_ changes: [EnvironmentChange], _ environment: NetworkEnvironment) {
        let resumptions = state.withLock { state in
            state.environment = environment
            var resumptions: [(Continuation, EnvironmentUpdate)] = []
            for identifier in state.queues.keys {
                append(changes, to: &state.queues[identifier, default: Queue()])
                while state.queues[identifier]?.waiters.isEmpty == false,
                    let update = pop(&state.queues[identifier, default: Queue()], environment),
                    let waiter = state.queues[identifier]?.waiters.removeFirst()
                {
                    resumptions.append((waiter, update))
                }
            }
            return resumptions
        }
        // Outside the lock: whoever is resumed may come straight back.
        for (waiter, update) in resumptions { waiter.resume(returning: update) }
    }

    /// The environment is another one, and how it came to be is not known: every subscriber gets it as a snapshot.
    ///
    /// - Parameter missed: how many changes nobody can tell.
    package func renew(_ environment: NetworkEnvironment, missed: Int) {
        let resumptions = state.withLock { state in
            state.environment = environment
            state.isKnown = true
            var resumptions: [(Continuation, EnvironmentUpdate)] = []
            for identifier in state.queues.keys {
                state.queues[identifier]?.renew(missed: missed)
                while state.queues[identifier]?.waiters.isEmpty == false,
                    let update = pop(&state.queues[identifier, default: Queue()], environment),
                    let waiter = state.queues[identifier]?.waiters.removeFirst()
                {
                    resumptions.append((waiter, update))
                }
            }
            return resumptions
        }
        for (waiter, update) in resumptions { waiter.resume(returning: update) }
    }

    /// Ends every stream.
    package func finish() {
        let waiters = state.withLock { state in
            state.isFinished = true
            defer { state.queues = [:] }
            return state.queues.values.flatMap(\.waiters)
        }
        for waiter in waiters { waiter.resume(returning: nil) }
    }

    /// A new subscription; it ends with the stream.
    package func stream() -> AsyncStream<EnvironmentUpdate> {
        let subscription = Subscription(hub: self, identifier: subscribe())
        return AsyncStream(
            unfolding: { await subscription.hub.next(subscription.identifier) },
            onCancel: { subscription.hub.cancel(subscription.identifier) })
    }

    /// Kept by the stream alone: dropped without a word, the stream takes the subscription along.
    private final class Subscription: Sendable {
        let hub: EnvironmentHub
        let identifier: UInt64

        init(hub: EnvironmentHub, identifier: UInt64) {
            self.hub = hub
            self.identifier = identifier
        }

        deinit { hub.cancel(identifier) }
    }

    private func subscribe() -> UInt64 {
        state.withLock { state in
            state.nextIdentifier += 1
            if !state.isFinished { state.queues[state.nextIdentifier] = Queue() }
            return state.nextIdentifier
        }
    }

    private func cancel(_ identifier: UInt64) {
        let waiters = state.withLock { $0.queues.removeValue(forKey: identifier)?.waiters ?? [] }
        for waiter in waiters { waiter.resume(returning: nil) }
    }

    private func next(_ identifier: UInt64) async -> EnvironmentUpdate? {
        await withCheckedContinuation { continuation in
            let ready = state.withLock { state in
                guard state.queues[identifier] != nil else { return .some(nil) as EnvironmentUpdate?? }
                if state.isKnown,
                    let update = pop(&state.queues[identifier, default: Queue()], state.environment)
                {
                    return update
                }
                state.queues[identifier]?.waiters.append(continuation)
                return nil
            }
            if let update = ready { continuation.resume(returning: update) }
        }
    }

    private func append(_ changes: [EnvironmentChange], to queue: inout Queue) {
        // Covered by the snapshot that is still to be read.
        guard !queue.needsSnapshot else {
            if queue.missed > 0 { queue.missed += changes.count }
            return
        }
        if queue.updates.count + changes.count > capacity {
            queue.missed = queue.updates.count + changes.count
            queue.updates = []
            queue.needsSnapshot = true
        } else {
            queue.updates += changes.map { .change($0) }
        }
    }

    private func pop(_ queue: inout Queue, _ environment: NetworkEnvironment) -> EnvironmentUpdate? {
        if queue.missed > 0 {
            defer { queue.missed = 0 }
            return .missed(queue.missed)
        }
        if queue.needsSnapshot {
            queue.needsSnapshot = false
            return .snapshot(environment)
        }
        return queue.updates.isEmpty ? nil : queue.updates.removeFirst()
    }
}
