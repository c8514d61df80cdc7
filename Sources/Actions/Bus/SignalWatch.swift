internal import SystemBus

/// Signals from a moment on, in their order, for one who waits for a certain one.
@ActionActor
final class SignalWatch {
    struct Signal: Sendable {
        let path: String
        let values: [BusValue]
    }

    /// Nobody who waits is that far behind; a daemon that sends more than that is not believed to be well.
    private static let limit = 4_096

    private var signals: [Signal] = []
    private var arrival: Promise<Void>?
    private var reason: BusError?
    var onEnd: () -> Void = {}
    /// Called for each signal instead of keeping it.
    var onSignal: ((Signal) -> Void)?

    func take(_ signal: Signal) {
        if let onSignal { return onSignal(signal) }
        guard signals.count < SignalWatch.limit else { return end(.noAnswer) }
        signals.append(signal)
        arrival?.fulfil(())
    }

    /// No signal comes any more, and who waits learns why.
    func end(_ because: BusError = .cancelled) {
        guard reason == nil else { return }
        reason = because
        onEnd()
        onEnd = {}
        arrival?.fulfil(())
    }

    /// The first signal that `meaning` makes something of; the others before it are forgotten.
    ///
    /// - Parameter deadline: µs of boot time.
    func first<Value>(
        until deadline: Int64?, _ meaning: (Signal) -> Value?
    ) async throws(BusError) -> Value {
        while true {
            while !signals.isEmpty {
                if let value = meaning(signals.removeFirst()) { return value }
            }
            if let reason { throw reason }
            let promise = Promise<Void>()
            arrival = promise
            switch await promise.value(until: deadline) {
            case .value: continue
            case .late: throw .noAnswer
            case .cancelled: throw .cancelled
            }
        }
    }
}
