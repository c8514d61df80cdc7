public import Platform

/// Finds out whether the network behind an interface is the one it seems to be: a TLS server that exists only inside
/// shows that it holds a known key. No more than a few probes at a time; the others wait, and their time does not run.
///
/// To be used on the thread of its event loop only, where completions are called, never from within `probe` or `cancel`.
/// While it exists nobody else may reap this process's children or ignore `SIGCHLD`.
public final class Prober {
    /// A probe that was asked for.
    public struct Identifier: Hashable, Sendable {
        fileprivate let value: UInt64
    }

    public typealias Completion = (ProbeOutcome) -> Void

    /// How many run at a time.
    public static let maximumRunning = 4

    private struct Job {
        let identifier: Identifier
        let question: ProbeQuestion
        let completion: Completion
    }

    private let loop: EventLoop
    private let paths: ProbePaths
    private let resolver: LinkResolver
    private var nextIdentifier: UInt64 = 0
    private var waiting: [Job] = []
    private var running: [Identifier: RunningProbe] = [:]

    public init(on loop: EventLoop, paths: ProbePaths = ProbePaths()) {
        self.loop = loop
        self.paths = paths
        resolver = LinkResolver(on: loop, bus: paths.bus)
    }

    /// Those whose helper has not ended yet count, also when they have been answered.
    public var runningCount: Int { running.count }
    public var waitingCount: Int { waiting.count }

    /// - Parameter completion: called once, no later than 3.2 seconds after it was this probe's turn.
    @discardableResult
    public func probe(_ question: ProbeQuestion, completion: @escaping Completion) -> Identifier {
        nextIdentifier += 1
        let identifier = Identifier(value: nextIdentifier)
        waiting.append(Job(identifier: identifier, question: question, completion: completion))
        startLater()
        return identifier
    }

    /// Ends the probe if it runs and drops it if it waits; its completion is called with `cancelled`. Nothing happens
    /// where it was answered.
    public func cancel(_ identifier: Identifier) {
        if let probe = running[identifier] {
            probe.finish(.cancelled)
        } else if let place = waiting.firstIndex(where: { $0.identifier == identifier }) {
            let job = waiting.remove(at: place)
            loop.schedule(at: 0) { job.completion(.cancelled) }
        }
    }

    /// Cancels everything.
    public func cancelAll() {
        for identifier in waiting.map(\.identifier) + Array(running.keys) { cancel(identifier) }
    }

    /// In a later round of the loop, so that callers are not called back before they know the identifier.
    private func startLater() {
        loop.schedule(at: 0) { [self] in startNext() }
    }

    private func startNext() {
        while running.count < Self.maximumRunning, !waiting.isEmpty {
            let job = waiting.removeFirst()
            let probe = RunningProbe(
                job.question, on: loop, paths: paths, resolver: resolver,
                answered: { [loop] outcome in
                    // Also when it is called from within `cancel`.
                    loop.schedule(at: 0) { job.completion(outcome) }
                },
                ended: { [self] in
                    running[job.identifier] = nil
                    startLater()
                })
            running[job.identifier] = probe
            probe.start()
        }
    }
}
