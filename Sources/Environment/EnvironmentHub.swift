internal import Platform

/// Hands every change to every subscriber, each through a bounded queue of its own.
final class EnvironmentHub: Sendable {
    private typealias Continuation = CheckedContinuation<EnvironmentUpdate?, Never>

    private struct Queue {
        var updates: [EnvironmentUpdate] = []
        var missed = 0
        /// The snapshot is taken when it is read, so that it is as fresh as can be.
        var needsSnapshot = true
        /// One for each task that reads the stream, mostly a single one.
        var waiters: [Continuation] = []
    }

    private struct State {
        var environment: NetworkEnvironment
        var queues: [UInt64: Queue] = [:]
        var nextIdentifier: UInt64 = 0
        var isFinished = false
    }

    /// One lock for all: a snapshot and the changes after it have to meet exactly.
    private let state: Lock<State>
    private let capacity: Int

    init(_ environment: NetworkEnvironment, capacity: Int) {
        state = Lock(State(environment: environment))
        self.capacity = max(capacity, 1)
    }

    var environment: NetworkEnvironment { state.withLock { $0.environment } }
    var subscriptionCount: Int { state.withLock { $0.queues.count } }
    /// Tasks that wait for the next change.
    var waiterCount: Int { state.withLock { $0.queues.values.reduce(0) { $0 + $1.waiters.count } } }

    func publish(_ changes: [EnvironmentChange], _ environment: NetworkEnvironment) {
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

    /// Ends every stream.
    func finish() {
        let waiters = state.withLock { state in
            state.isFinished = true
            defer { state.queues = [:] }
            return state.queues.values.flatMap(\.waiters)
        }
        for waiter in waiters { waiter.resume(returning: nil) }
    }

    /// A new subscription; it ends with the stream.
    func stream() -> AsyncStream<EnvironmentUpdate> {
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
                if let update = pop(&state.queues[identifier, default: Queue()], state.environment) { return update }
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
