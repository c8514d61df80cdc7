public import Netlink
public import Platform

/// The kernel's edge and the reducer, joined: keeps the environment up to date and tells each difference.
///
/// Everything happens on the thread of its event loop. Programs use `EnvironmentMonitor`; the agent, which lives on
/// the loop itself, uses this.
public final class EnvironmentWatcher: @unchecked Sendable {
    private let loop: EventLoop
    private var reducer = EnvironmentReducer()
    private var observer: KernelObserver?
    private var dns: ResolverConfiguration?
    private var bus: SystemBusObserver?
    private var timer: (timer: EventLoop.Timer, due: Int64)?

    /// Called at once with the differences that one observation made; the environment is already the new one.
    public var onChange: (([EnvironmentChange]) -> Void)?
    /// Called after that, when the kernel has been asked what there is to ask: for what may take longer.
    public var afterChange: (() -> Void)?

    /// To be set before `start`.
    package var replayed: ReplayedEvents?

    public init(on loop: EventLoop) {
        self.loop = loop
    }

    public var environment: NetworkEnvironment { reducer.environment }
    public var counters: ReceptionCounters { observer?.counters ?? ReceptionCounters() }
    /// Whether this kernel has nl80211.
    public var hasWireless: Bool { observer?.hasWireless ?? false }

    /// Reads everything, and from then on follows the kernel.
    ///
    /// - Parameter recorder: shown every fact that becomes an observation.
    public func start(recorder: ((Timestamp, Recording.Fact) -> Void)? = nil) throws(NetlinkError) {
        let observer = try KernelObserver(on: loop, replayed: replayed) { [unowned self] in observe($0, at: $1) }
        observer.tap = recorder
        self.observer = observer
        let dns = ResolverConfiguration(on: loop) { [unowned self] in observe(.dns($0), at: .now()) }
        observe(.dns(dns.current), at: .now())
        self.dns = dns
        try observer.start()
        bus = SystemBusObserver(on: loop) { [unowned self] in observe($0, at: .now()) }
    }

    /// Follows no longer; nothing of it is called by the loop after this.
    func stop() {
        onChange = nil
        afterChange = nil
        observer = nil
        dns = nil
        if let timer { loop.cancel(timer.timer) }
        timer = nil
    }

    /// The environment as the kernel tells it now; nothing is followed.
    public static func read() throws(NetlinkError) -> NetworkEnvironment {
        let loop: EventLoop
        do { loop = try EventLoop() } catch { throw .system(error) }
        let watcher = EnvironmentWatcher(on: loop)
        try watcher.start()
        return watcher.environment
    }

    private func observe(_ observation: Observation, at time: Timestamp) {
        let reduction = reducer.reduce(observation, at: time)
        // A question wakes another thread, which is not to take the processor from a line that can be told already.
        if !reduction.changes.isEmpty { onChange?(reduction.changes) }
        for query in reduction.queries { observer?.answer(query) }
        schedule()
        if !reduction.changes.isEmpty { afterChange?() }
    }

    private func schedule() {
        let due = reducer.deadline
        guard due != timer?.due else { return }
        if let timer { loop.cancel(timer.timer) }
        timer = due.map { due in
            let scheduled = loop.schedule(at: due) { [weak self] in
                guard let self else { return }
                timer = nil
                observe(.deadline, at: .now())
            }
            return (scheduled, due)
        }
    }
}
