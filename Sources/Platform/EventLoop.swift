internal import CPlatform
internal import Glibc

/// One thread that waits: for descriptors, for deadlines and for work handed over by other threads.
///
/// It is a serial executor, so that an actor can live on it: descriptor and timer handlers run on the loop's
/// thread, where `assumeIsolated` of such an actor holds. Nothing wakes an idle loop.
public final class EventLoop: SerialExecutor, TaskExecutor, @unchecked Sendable {
    /// What a descriptor is ready for, `epoll_ctl(2)`.
    public struct Readiness: OptionSet, Sendable {
        public let rawValue: UInt32
        public init(rawValue: UInt32) { self.rawValue = rawValue }
        public static let readable = Readiness(rawValue: 0x001)
        public static let writable = Readiness(rawValue: 0x004)
        public static let failed = Readiness(rawValue: 0x008)
        public static let hungUp = Readiness(rawValue: 0x010)
    }

    public typealias Handler = (Readiness) -> Void

    /// A deadline that can be taken back.
    public struct Timer: Hashable, Sendable {
        fileprivate let identifier: UInt64
    }

    private struct Deadline {
        let identifier: UInt64
        let boottime: Int64
        let handler: () -> Void
    }

    private enum Work {
        case job(UnownedJob)
        case closure(@Sendable () -> Void)
    }

    private struct Inbox {
        var work: [Work] = []
        var isStopped = false
        var thread: pthread_t?
    }

    private static let wakeRegistration: UInt64 = 0
    private static let timerRegistration: UInt64 = 1

    private let epoll: FileDescriptor
    private let wake: FileDescriptor
    private let timer: FileDescriptor
    private let inbox = Lock(Inbox())

    // Touched on the loop's thread only (or before it runs).
    private var handlers: [UInt64: Handler] = [:]
    /// A descriptor's number is given out again as soon as it is closed, a registration never is.
    private var registrations: [Int32: UInt64] = [:]
    private var nextRegistration: UInt64 = EventLoop.timerRegistration
    private var deadlines: [Deadline] = []
    private var armed: Int64?
    private var nextTimer: UInt64 = 0

    public init() throws(SystemError) {
        epoll = FileDescriptor(owning: try SystemError.check("epoll_create1") { vicinity_epoll() })
        wake = FileDescriptor(owning: try SystemError.check("eventfd") { vicinity_eventfd() })
        timer = FileDescriptor(owning: try SystemError.check("timerfd_create") { vicinity_boottime_timer() })
        try arm(wake.rawValue, EventLoop.wakeRegistration, for: .readable, isNew: true)
        try arm(timer.rawValue, EventLoop.timerRegistration, for: .readable, isNew: true)
    }

    /// Runs on the calling thread until `stop()`.
    public func run() {
        inbox.withLock { $0.thread = pthread_self() }
        var ready = [UInt64](repeating: 0, count: 32)
        var readiness = [UInt32](repeating: 0, count: 32)
        while runInbox() {
            let count = unsafe vicinity_epoll_wait(epoll.rawValue, &ready, &readiness, Int32(ready.count))
            guard count > 0 else { continue }  // EINTR is the only error that can happen here.
            for position in 0..<Int(count) {
                switch ready[position] {
                case EventLoop.wakeRegistration: drain(wake.rawValue)
                case EventLoop.timerRegistration:
                    drain(timer.rawValue)
                    fireDeadlines()
                // Taken away by a handler of this very round: not called any more.
                default: handlers[ready[position]]?(Readiness(rawValue: readiness[position]))
                }
            }
        }
    }

    /// Runs on a thread of its own.
    public func start() throws(SystemError) {
        var thread = pthread_t()
        let context = unsafe Unmanaged.passRetained(self).toOpaque()
        let code = unsafe pthread_create(
            &thread, nil,
            { context in
                if let context = unsafe context {
                    unsafe Unmanaged<EventLoop>.fromOpaque(context).takeRetainedValue().run()
                }
                return nil
            }, context)
        guard code == 0 else {
            unsafe Unmanaged<EventLoop>.fromOpaque(context).release()
            throw SystemError("pthread_create", code: code)
        }
        pthread_detach(thread)
    }

    /// Ends `run()` after the work already handed over; from any thread.
    public func stop() {
        inbox.withLock { $0.isStopped = true }
        signalWake()
    }

    /// Hands work to the loop's thread; from any thread.
    public func perform(_ body: @escaping @Sendable () -> Void) {
        hand(.closure(body))
    }

    // MARK: Descriptors, on the loop's thread

    /// Calls `handler` whenever the descriptor is ready, until `forget(_:)`. The caller keeps the descriptor.
    public func watch(_ descriptor: Int32, for readiness: Readiness = .readable, _ handler: @escaping Handler)
        throws(SystemError)
    {
        nextRegistration += 1
        let registration = nextRegistration
        try arm(descriptor, registration, for: readiness, isNew: registrations[descriptor] == nil)
        if let former = registrations.updateValue(registration, forKey: descriptor) { handlers[former] = nil }
        handlers[registration] = handler
    }

    /// Changes what a watched descriptor is watched for.
    public func change(_ descriptor: Int32, to readiness: Readiness) throws(SystemError) {
        guard let registration = registrations[descriptor] else { return }
        try arm(descriptor, registration, for: readiness, isNew: false)
    }

    /// To be called before the descriptor is closed.
    public func forget(_ descriptor: Int32) {
        guard let registration = registrations.removeValue(forKey: descriptor) else { return }
        handlers[registration] = nil
        _ = vicinity_epoll_forget(epoll.rawValue, descriptor)
    }

    // MARK: Deadlines, on the loop's thread

    /// Calls `handler` once, at or after `boottime` (µs, `CLOCK_BOOTTIME`: time asleep counts).
    @discardableResult
    public func schedule(at boottime: Int64, _ handler: @escaping () -> Void) -> Timer {
        nextTimer += 1
        let deadline = Deadline(identifier: nextTimer, boottime: boottime, handler: handler)
        let place = deadlines.firstIndex { $0.boottime > boottime } ?? deadlines.endIndex
        deadlines.insert(deadline, at: place)
        armTimer()
        return Timer(identifier: nextTimer)
    }

    public func cancel(_ timer: Timer) {
        deadlines.removeAll { $0.identifier == timer.identifier }
        armTimer()
    }

    private func fireDeadlines() {
        armed = nil
        let now = Timestamp.now().boottime
        // What they schedule for a moment that is over comes after everything else there is to do.
        for _ in deadlines.indices {
            guard let first = deadlines.first, first.boottime <= now else { break }
            deadlines.removeFirst()
            first.handler()
        }
        armTimer()
    }

    private func armTimer() {
        let first = deadlines.first?.boottime
        guard first != armed else { return }
        armed = first
        // Zero would disarm: what is due before the first microsecond is due then.
        _ = vicinity_arm_timer(timer.rawValue, first.map { max($0, 1) } ?? 0)
    }

    // MARK: Work from other threads

    /// False once the loop was stopped and nothing is left to do.
    private func runInbox() -> Bool {
        while true {
            let (work, isStopped) = inbox.withLock { inbox in
                defer { inbox.work.removeAll(keepingCapacity: true) }
                return (inbox.work, inbox.isStopped)
            }
            if work.isEmpty { return !isStopped }
            for item in work {
                switch item {
                case .job(let job): unsafe job.runSynchronously(on: asUnownedSerialExecutor())
                case .closure(let body): body()
                }
            }
        }
    }

    private func hand(_ work: Work) {
        let wasEmpty = inbox.withLock { inbox in
            inbox.work.append(work)
            return inbox.work.count == 1
        }
        if wasEmpty { signalWake() }
    }

    private func signalWake() {
        var one: UInt64 = 1
        _ = unsafe write(wake.rawValue, &one, MemoryLayout<UInt64>.size)
    }

    private func drain(_ descriptor: Int32) {
        var count: UInt64 = 0
        _ = unsafe read(descriptor, &count, MemoryLayout<UInt64>.size)
    }

    private func arm(
        _ descriptor: Int32, _ registration: UInt64, for readiness: Readiness, isNew: Bool
    ) throws(SystemError) {
        try SystemError.check("epoll_ctl", "descriptor \(descriptor)") {
            vicinity_epoll_watch(epoll.rawValue, descriptor, registration, readiness.rawValue, isNew ? 1 : 0)
        }
    }

    // MARK: SerialExecutor

    public func enqueue(_ job: consuming ExecutorJob) {
        hand(.job(UnownedJob(job)))
    }

    public func asUnownedSerialExecutor() -> UnownedSerialExecutor {
        unsafe UnownedSerialExecutor(ordinary: self)
    }

    public func isIsolatingCurrentContext() -> Bool? {
        inbox.withLock { inbox in
            guard let thread = inbox.thread else { return true }  // Being set up, by whoever made it.
            return pthread_equal(thread, pthread_self()) != 0
        }
    }

    public func checkIsolated() {
        precondition(isIsolatingCurrentContext() ?? false, "not on the event loop's thread")
    }
}
