internal import Glibc
public import Platform

/// Runs commands under supervision: each in a process group of its own, with a time limit and bounded output, no more
/// than a few at a time. Whatever a command leaves behind in its group ends with it.
///
/// To be used on the thread of its event loop only, where completions are called, never from within `run` or `cancel`.
/// While it exists nobody else may reap this process's children or ignore `SIGCHLD`.
public final class CommandRunner {
    /// A command that was handed over.
    public struct Identifier: Hashable, Sendable {
        fileprivate let value: UInt64
    }

    public typealias Completion = (CommandResult) -> Void

    private struct Job {
        let identifier: Identifier
        let command: Command
        let started: () -> Void
        let completion: Completion
    }

    private struct Lane {
        var waiting: [Job] = []
        var running: Identifier?
    }

    private let loop: EventLoop
    private let maximumRunning: Int
    private let patience: Int64
    private var nextIdentifier: UInt64 = 0
    private var lanes: [String: Lane] = [:]
    /// Lanes with something to start and nothing running, the longest waiting first.
    private var ready: [String] = []
    private var running: [Identifier: RunningCommand] = [:]

    /// - Parameters:
    ///   - maximumRunning: how many run at a time; the others wait.
    ///   - patience: how long a command that was told to end (`SIGTERM`) may take before it is killed, in microseconds.
    public init(loop: EventLoop, maximumRunning: Int = 16, patience: Int64 = 5_000_000) {
        self.loop = loop
        self.maximumRunning = maximumRunning
        self.patience = patience
    }

    public var runningCount: Int { running.count }
    public var waitingCount: Int { lanes.values.reduce(0) { $0 + $1.waiting.count } }

    /// Starts a command as soon as its lane and the number of running commands allow.
    ///
    /// - Parameter started: called when its process is there, which may be before this returns; never for a command
    ///   that is dropped or cannot be started.
    @discardableResult
    public func run(
        _ command: Command, started: @escaping () -> Void = {}, completion: @escaping Completion
    ) -> Identifier {
        nextIdentifier += 1
        let job = Job(
            identifier: Identifier(value: nextIdentifier), command: command, started: started, completion: completion)
        var lane = lanes[command.lane] ?? Lane()
        if lane.waiting.isEmpty, lane.running == nil { ready.append(command.lane) }
        lane.waiting.append(job)
        lanes[command.lane] = lane
        startNext()
        return job.identifier
    }

    /// Ends the command if it runs and drops it if it waits; its completion is called all the same. Nothing happens
    /// where it has ended.
    public func cancel(_ identifier: Identifier) {
        if let command = running[identifier] { return command.end(because: .cancelled) }
        for (name, lane) in lanes {
            if let job = lane.waiting.first(where: { $0.identifier == identifier }) {
                drop([job], from: name)
                return
            }
        }
    }

    /// Cancels everything in a lane.
    public func cancelAll(in lane: String) {
        guard let state = lanes[lane] else { return }
        drop(state.waiting, from: lane)
        if let identifier = state.running { running[identifier]?.end(because: .cancelled) }
    }

    /// Cancels everything.
    public func cancelAll() {
        for lane in Array(lanes.keys) { cancelAll(in: lane) }
    }

    // MARK: Starting

    private func startNext() {
        while running.count < maximumRunning, !ready.isEmpty {
            let name = ready.removeFirst()
            guard var lane = lanes[name], !lane.waiting.isEmpty else { continue }
            let job = lane.waiting.removeFirst()
            lane.running = job.identifier
            lanes[name] = lane
            do throws(SystemError) {
                running[job.identifier] = try RunningCommand(job.command, on: loop, patience: patience) {
                    [self] result in
                    running[job.identifier] = nil
                    laneIsFree(name)
                    job.completion(result)
                    startNext()
                }
                job.started()
            } catch {
                laneIsFree(name)
                deliver(CommandResult(end: .failedToStart(.system(error))), to: job)
            }
        }
    }

    private func laneIsFree(_ name: String) {
        lanes[name]?.running = nil
        if lanes[name]?.waiting.isEmpty ?? true {
            lanes[name] = nil
        } else {
            ready.append(name)
        }
    }

    private func drop(_ jobs: [Job], from name: String) {
        let dropped = Set(jobs.map(\.identifier))
        lanes[name]?.waiting.removeAll { dropped.contains($0.identifier) }
        if let lane = lanes[name], lane.waiting.isEmpty, lane.running == nil {
            lanes[name] = nil
            ready.removeAll { $0 == name }
        }
        for job in jobs { deliver(CommandResult(end: .dropped), to: job) }
    }

    /// In a later round of the loop, so that callers are not called back before they know the identifier.
    private func deliver(_ result: CommandResult, to job: Job) {
        loop.schedule(at: 0) { job.completion(result) }
    }
}
