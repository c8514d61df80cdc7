internal import Netlink
internal import Platform
internal import ProbeProtocol

/// A probe from its start until nothing of it runs any more.
final class RunningProbe {
    /// What the helper is given beyond its own deadline, in microseconds, before it is taken away.
    private static let grace: Int64 = 200_000

    private let question: ProbeQuestion
    private let loop: EventLoop
    private let paths: ProbePaths
    private let resolver: LinkResolver
    private let answered: (ProbeOutcome) -> Void
    private let ended: () -> Void
    private let timeout: Int64
    private let started = Timestamp.now().boottime
    private var deadline: EventLoop.Timer?
    private var lookUp: LinkResolver.LookUp?
    private var helper: Helper?
    private var isDone = false

    /// - Parameters:
    ///   - answered: called once, perhaps from within `start()` or `finish`.
    ///   - ended: called once, after that, when its helper has ended as well.
    init(
        _ question: ProbeQuestion, on loop: EventLoop, paths: ProbePaths, resolver: LinkResolver,
        answered: @escaping (ProbeOutcome) -> Void, ended: @escaping () -> Void
    ) {
        self.question = question
        self.loop = loop
        self.paths = paths
        self.resolver = resolver
        self.answered = answered
        self.ended = ended
        timeout = min(question.timeout, ProbeRequest.maximumTime * 1_000)
    }

    func start() {
        expect(by: started + timeout)
        if let address = question.address ?? IPAddress(question.serverName) { return ask(for: [address]) }
        // Of any address, to see whether the rest will do before somebody is asked for one.
        guard request(for: ["::"]).isValid else { return finish(.badRequest) }
        lookUp = resolver.lookUp(question.serverName, on: question.interfaceIndex) { [self] answer in
            lookUp = nil
            switch answer {
            case .addresses(let addresses): ask(for: addresses)
            case .unknownName: finish(.nameUnknown)
            case .unavailable: finish(.noResolver)
            }
        }
    }

    /// Time asleep counts, as everywhere.
    private func expect(by boottime: Int64) {
        if let deadline { loop.cancel(deadline) }
        deadline = loop.schedule(at: boottime) { [self] in finish(.timedOut) }
    }

    /// The first outcome counts.
    func finish(_ outcome: ProbeOutcome) {
        guard !isDone else { return }
        isDone = true
        if let deadline { loop.cancel(deadline) }
        deadline = nil
        if let lookUp { resolver.cancel(lookUp) }
        lookUp = nil
        answered(outcome)
        if let helper { helper.stop() } else { ended() }
    }

    private func ask(for addresses: [IPAddress]) {
        let request = request(for: addresses.prefix(ProbeRequest.maximumAddresses).map(\.description))
        guard request.time > 0 else { return finish(.timedOut) }
        guard request.isValid else { return finish(.badRequest) }
        expect(by: started + timeout + Self.grace)
        do throws(SystemError) {
            helper = try Helper(request, paths: paths, on: loop) { [self] result in
                switch result {
                case .success(let answer): finish(ProbeOutcome(answer, to: question.purpose))
                case .failure(let failure): finish(.failed(reason: failure.reason))
                }
            } ended: { [self] in
                helper = nil
                ended()
            }
        } catch {
            finish(.failed(reason: error.description))
        }
    }

    private func request(for addresses: [String]) -> ProbeRequest {
        ProbeRequest(
            interfaceName: question.interfaceName, interfaceIndex: question.interfaceIndex,
            serverName: question.serverName, port: question.port, addresses: addresses, purpose: question.purpose,
            time: (started + timeout - Timestamp.now().boottime) / 1_000)
    }
}
