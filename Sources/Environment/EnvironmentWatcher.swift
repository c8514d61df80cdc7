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
    private var recorder: ((Timestamp, Recording.Fact) -> Void)?
    private var timer: (timer: EventLoop.Timer, due: Int64)?
    private var failedAnswers = 0

    /// Called at once with the differences that one observation made; the environment is already the new one.
    public var onChange: (([EnvironmentChange]) -> Void)?
    /// Called after that, when the kernel has been asked what there is to ask: for what may take longer. Also when a
    /// link's state is not known any more, which is no difference to tell.
    public var afterChange: (() -> Void)?

    /// To be set before `start`.
    package var replayed: ReplayedEvents?

    public init(on loop: EventLoop) {
        self.loop = loop
    }

    public var environment: NetworkEnvironment { reducer.environment }
    public var counters: ReceptionCounters { observer?.counters ?? ReceptionCounters() }
    /// Whether a network manager tells how far packets get, so that nobody else has to try.
    public var isConnectivityManaged: Bool { reducer.isConnectivityManaged }
    /// Whether a network manager would, be it that there is no network now.
    public var isConnectivityLookedAfter: Bool { reducer.isConnectivityLookedAfter }
    /// Whether this kernel has nl80211.
    public var hasWireless: Bool { observer?.hasWireless ?? false }

    /// Reads everything, and from then on follows the kernel.
    ///
    /// - Parameter recorder: shown every fact that becomes an observation.
    public func start(recorder: ((Timestamp, Recording.Fact) -> Void)? = nil) throws(NetlinkError) {
        let observer = try KernelObserver(on: loop, replayed: replayed) { [unowned self] in observe($0, at: $1) }
        observer.tap = recorder
        self.recorder = recorder
        self.observer = observer
        let dns = ResolverConfiguration(on: loop) { [unowned self] in tell(.dns($0)) }
        tell(.dns(dns.current))
        self.dns = dns
        try observer.start()
        bus = SystemBusObserver(on: loop) { [unowned self] in tell($0) }
        // What was asked so far found nobody to ask.
        tell(.announcementsChanged(index: nil))
    }

    /// Follows no longer; nothing of it is called by the loop after this.
    package func stop() {
        onChange = nil
        afterChange = nil
        observer = nil
        dns = nil
        bus = nil
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

    /// Takes in what came of a check: how far packets get, or nil where it is known no longer.
    public func checked(_ connectivity: Connectivity?) { tell(.connectivity(connectivity, .check)) }

    /// Has the kernel asked about each association, and calls `body` when what it says is taken in: never, where a driver
    /// hangs.
    ///
    /// - Parameter body: told whether the kernel answered every question.
    package func verify(_ body: @escaping @Sendable (Bool) -> Void) {
        let failures = failedAnswers
        observe(.questioned, at: .now())
        whenQueriesAreAnswered { [weak self] in body(self?.failedAnswers == failures) }
    }

    /// Calls `body` when everything that the kernel was asked so far has been answered: never, where a driver hangs.
    package func whenQueriesAreAnswered(_ body: @escaping @Sendable () -> Void) { observer?.whenAnswered(body) }

    /// What no message of the kernel's says.
    private func tell(_ observation: Observation) {
        let time = Timestamp.now()
        if let recorder, let fact = Recording.Fact(observation) { recorder(time, fact) }
        observe(observation, at: time)
    }

    private func observe(_ observation: Observation, at time: Timestamp) {
        if case .answer(.failed) = observation { failedAnswers += 1 }
        let reduction = reducer.reduce(observation, at: time)
        // A question wakes another thread, which is not to take the processor from a line that can be told already.
        if !reduction.changes.isEmpty { onChange?(reduction.changes) }
        if !reduction.changes.isEmpty || !reduction.queries.isEmpty {
            observer?.follow(reducer.environment.followedNeighbours)
        }
        for query in reduction.queries { answer(query) }
        schedule()
        if !reduction.changes.isEmpty || reduction.hasBlurred { afterChange?() }
    }

    private func answer(_ query: Query) {
        if case .announcements(let index, _) = query {
            if let link = reducer.environment.interfaces[index] { bus?.answer(query, about: link) }
        } else {
            observer?.answer(query)
        }
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

extension NetworkEnvironment {
    /// The gateways whose hardware addresses the kernel is to tell of.
    fileprivate var followedNeighbours: Set<SocketFilter.Neighbour> {
        var neighbours: Set<SocketFilter.Neighbour> = []
        for interface in interfaces.values {
            for gateway in interface.evidence.gateways {
                neighbours.insert(
                    SocketFilter.Neighbour(
                        address: gateway.address, interfaceIndex: interface.index,
                        hardwareAddress: gateway.hardwareAddress))
            }
        }
        if let primaryRoute, let gateway = primaryRoute.gateway {
            let followed = SocketFilter.Neighbour(
                address: gateway, interfaceIndex: primaryRoute.interfaceIndex, hardwareAddress: primaryRoute.gatewayMAC)
            neighbours.insert(followed)
        }
        return neighbours
    }
}

extension Recording.Fact {
    /// Nil for what a recorder has no need of: what only raises questions, and what the kernel's messages say.
    fileprivate init?(_ observation: Observation) {
        switch observation {
        case .lost(let cause): self = .lost(cause)
        case .dns(let configuration): self = .dns(configuration)
        case .suspending: self = .suspending
        case .resumed: self = .resumed
        case .metered(let isMetered): self = .metered(isMetered)
        case .connectivity(let word, let witness): self = .connectivity(word, witness)
        case .deactivated(let index): self = .deactivated(index: index)
        case .answer(.announcements(let index, let generation, let announcements)):
            self = .announcements(index: index, generation: generation, announcements)
        default: return nil
        }
    }
}
