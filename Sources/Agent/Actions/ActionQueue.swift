/// Which actions run and which wait. Those of one lane run one after the other, in the order in which they came; lanes
/// do not wait for each other, but no more than a few run at a time. One lane a rule.
struct ActionQueue<Job> {
    typealias Identifier = UInt64

    private struct Lane {
        var waiting: [(identifier: Identifier, job: Job)] = []
        var running: Identifier?
    }

    private let maximumRunning: Int
    private var lanes: [String: Lane] = [:]
    /// Lanes with something to start and nothing running, the longest waiting first.
    private var ready: [String] = []
    private var running: [Identifier: (lane: String, job: Job)] = [:]

    init(maximumRunning: Int = 16) {
        self.maximumRunning = maximumRunning
    }

    var runningJobs: [(identifier: Identifier, job: Job)] { running.map { ($0.key, $0.value.job) } }
    var isEmpty: Bool { running.isEmpty && lanes.isEmpty }

    func job(_ identifier: Identifier) -> Job? { running[identifier]?.job }

    mutating func add(_ job: Job, as identifier: Identifier, to name: String) {
        var lane = lanes[name] ?? Lane()
        if lane.waiting.isEmpty, lane.running == nil { ready.append(name) }
        lane.waiting.append((identifier, job))
        lanes[name] = lane
    }

    /// Adds what is done next in its lane, in this order, before whatever waits there.
    mutating func addFirst(_ jobs: [(identifier: Identifier, job: Job)], to name: String) {
        guard !jobs.isEmpty else { return }
        var lane = lanes[name] ?? Lane()
        if lane.waiting.isEmpty, lane.running == nil { ready.append(name) }
        lane.waiting = jobs + lane.waiting
        lanes[name] = lane
    }

    /// Of everything that runs or waits.
    func first(where isMeant: (Job) -> Bool) -> Job? {
        if let running = running.values.first(where: { isMeant($0.job) }) { return running.job }
        for lane in lanes.values {
            if let waiting = lane.waiting.first(where: { isMeant($0.job) }) { return waiting.job }
        }
        return nil
    }

    /// The next one to start, if any may.
    mutating func next() -> (identifier: Identifier, job: Job)? {
        guard running.count < maximumRunning, !ready.isEmpty else { return nil }
        let name = ready.removeFirst()
        guard var lane = lanes[name], !lane.waiting.isEmpty else { return nil }
        let next = lane.waiting.removeFirst()
        lane.running = next.identifier
        lanes[name] = lane
        running[next.identifier] = (name, next.job)
        return next
    }

    /// Notes that one has ended; nil where it was not running.
    @discardableResult
    mutating func finish(_ identifier: Identifier) -> Job? {
        guard let (name, job) = running.removeValue(forKey: identifier) else { return nil }
        lanes[name]?.running = nil
        if lanes[name]?.waiting.isEmpty ?? true { lanes[name] = nil } else { ready.append(name) }
        return job
    }

    /// Takes out those that wait.
    ///
    /// - Returns: those, and the ones that run, which end by themselves once they are told.
    mutating func cancel(_ isObsolete: (Job) -> Bool) -> (
        dropped: [(identifier: Identifier, job: Job)], running: [Identifier]
    ) {
        var dropped: [(identifier: Identifier, job: Job)] = []
        for (name, lane) in lanes where lane.waiting.contains(where: { isObsolete($0.job) }) {
            dropped += lane.waiting.filter { isObsolete($0.job) }
            let rest = lane.waiting.filter { !isObsolete($0.job) }
            lanes[name]?.waiting = rest
            guard rest.isEmpty, lane.running == nil else { continue }
            lanes[name] = nil
            ready.removeAll { $0 == name }
        }
        let obsolete = running.filter { isObsolete($0.value.job) }.map(\.key)
        return (dropped.sorted { $0.identifier < $1.identifier }, obsolete.sorted())
    }
}
