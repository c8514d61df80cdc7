import Actions
import Platform

/// The thread on which places live in tests.
enum LoopThread {
    private static let isStarted: Bool = (try? ActionActor.shared.loop.start()) != nil

    static func start() { precondition(isStarted, "no thread to be had") }
}
