internal import Environment
internal import Platform

/// Tells the service manager's watchdog, sd_watchdog_enabled(3), that this process is alive: that its loop goes round,
/// and that the thread that asks the kernel comes back. An agent that hangs is killed and started anew.
final class Heartbeat {
    private let loop: EventLoop
    private let watcher: EnvironmentWatcher
    private let interval: Int64
    private var timer: EventLoop.Timer?

    /// Nil where nobody watches.
    ///
    /// - Parameter limit: how long the service manager waits (µs).
    init?(on loop: EventLoop, _ watcher: EnvironmentWatcher, limit: Int64? = ServiceManager.watchdogLimit) {
        guard let limit else { return nil }
        self.loop = loop
        self.watcher = watcher
        // Half of it, as sd_watchdog_enabled(3) has it.
        interval = limit / 2
    }

    func start() {
        timer = loop.schedule(at: Timestamp.now().boottime + interval) { [unowned self] in
            watcher.whenQueriesAreAnswered {
                ServiceManager.isAlive()
            }
            start()
        }
    }

    func stop() {
        if let timer { loop.cancel(timer) }
        timer = nil
    }
}
