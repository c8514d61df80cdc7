internal import Platform

/// A value that comes later, once, for one who waits for it.
@ActionActor
final class Promise<Value: Sendable> {
    enum Outcome: Sendable {
        case value(Value)
        /// It did not come in time.
        case late
        /// Whoever waited was cancelled.
        case cancelled
    }

    private var outcome: Outcome?
    private var waiting: CheckedContinuation<Outcome, Never>?
    private var timer: EventLoop.Timer?

    /// The first word counts.
    func fulfil(_ value: Value) { settle(.value(value)) }

    private func settle(_ outcome: Outcome) {
        guard self.outcome == nil else { return }
        self.outcome = outcome
        if let timer { ActionActor.shared.loop.cancel(timer) }
        timer = nil
        waiting?.resume(returning: outcome)
        waiting = nil
    }

    /// To be called once.
    ///
    /// - Parameter deadline: µs of boot time; nil: waits as long as it takes.
    func value(until deadline: Int64?) async -> Outcome {
        let loop = ActionActor.shared.loop
        if let deadline, outcome == nil {
            timer = loop.schedule(at: deadline) { [weak self] in
                ActionActor.assumeIsolated { self?.settle(.late) }
            }
        }
        return await withTaskCancellationHandler {
            if let outcome { return outcome }
            if Task.isCancelled { settle(.cancelled) }
            if let outcome { return outcome }
            return await withCheckedContinuation { waiting = $0 }
        } onCancel: {
            loop.perform { ActionActor.assumeIsolated { self.settle(.cancelled) } }
        }
    }
}
