internal import ActionProtocol
internal import Glibc
internal import Platform

/// A process that carries out actions: root's, or one of a user's session.
protocol Helper: AnyObject {
    /// Whose session it is; nil for root's.
    var user: String? { get }
    func send(_ request: HelperRequest)
}

/// `vicinity-act`, which the service manager starts when somebody connects, and which ends when nobody needs it.
final class RootHelper: Helper {
    private let loop: EventLoop
    private let path: String
    private var channel: LineChannel?
    private var isBusy = false
    private var idle: EventLoop.Timer?
    private var retry: EventLoop.Timer?
    private var failures = 0

    /// How long a connection stays open when nothing is awaited (µs): leaving one network is often followed by joining
    /// another, for which a helper that has just ended would have to start anew.
    private static let idleTime: Int64 = 20_000_000
    /// It is tried again after so many µs, twice as long each time up to the last.
    private static let retryDelays: [Int64] = [100_000, 500_000, 2_000_000, 10_000_000, 60_000_000]

    let user: String? = nil
    var onReport: (HelperReport) -> Void = { _ in }
    /// Nobody is told any more how what it did ends. It may be there again.
    var onLoss: () -> Void = {}
    /// It is there again after it was not.
    var onReturn: () -> Void = {}
    /// Why it cannot be reached; nil while it can.
    private(set) var problem: String?

    init(at path: String, on loop: EventLoop) {
        self.path = path
        self.loop = loop
    }

    deinit { channel?.close() }

    /// Whether this machine has one at all.
    var isInstalled: Bool { Files.exists(path) }

    /// Connects where it is not, so that it is there by the time something is asked of it.
    @discardableResult
    func wake() -> Bool {
        guard channel == nil else { return true }
        do throws(SystemError) {
            let connection = try UnixSocket.connect(to: path, isBlocking: false)
            let peer = try UnixSocket.peer(of: connection.rawValue)
            guard RootHelper.isTrusted(peer.user) else {
                problem = "\(path) is served by user \(peer.user), not by root: nothing is asked of it"
                return false
            }
            let channel = try LineChannel(
                connection, on: loop, maximumLine: HelperReport.maximumSize,
                maximumWaiting: HelperRequest.maximumSize * 2)
            channel.onLine = { [unowned self] line in
                failures = 0
                if let report = HelperReport(line: line) { onReport(report) } else { lose() }
            }
            channel.onEnd = { [unowned self] in lose() }
            self.channel = channel
            problem = nil
            linger()
            return true
        } catch {
            problem = "vicinity-act cannot be reached: \(error)"
            return false
        }
    }

    func send(_ request: HelperRequest) {
        guard wake() else { return }
        channel?.send(request.line)
    }

    /// Says whether answers are awaited.
    func setBusy(_ isBusy: Bool) {
        self.isBusy = isBusy
        linger()
    }

    func close() {
        channel?.close()
        channel = nil
        for timer in [idle, retry].compactMap(\.self) { loop.cancel(timer) }
        (idle, retry) = (nil, nil)
    }

    private func linger() {
        if let idle { loop.cancel(idle) }
        idle = nil
        guard channel != nil, !isBusy else { return }
        idle = loop.schedule(at: Timestamp.now().boottime + RootHelper.idleTime) { [unowned self] in
            idle = nil
            channel?.close()
            channel = nil
        }
    }

    private func lose() {
        guard channel != nil else { return }
        channel?.close()
        channel = nil
        onLoss()
        tryAgain()
    }

    /// Tries until it is there.
    func tryAgain() {
        guard retry == nil else { return }
        let delay = RootHelper.retryDelays[min(failures, RootHelper.retryDelays.count - 1)]
        failures += 1
        retry = loop.schedule(at: Timestamp.now().boottime + delay) { [unowned self] in
            retry = nil
            if wake() { onReturn() } else { tryAgain() }
        }
    }

    /// The service manager's socket is root's; without one it is opened by whoever this process is, as in a trial.
    private static func isTrusted(_ user: UInt32) -> Bool { user == 0 || user == geteuid() }
}
