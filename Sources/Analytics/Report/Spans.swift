/// From when to when things were so that begin and end, as a log tells it that can be cut, and sleep with the machine.
struct Spans {
    struct Span {
        var name: String
        var start: Int64
        var end: Int64
    }

    private(set) var ended: [Span] = []
    private var open: [String: Int64] = [:]
    /// Of those that were so when the agent ended.
    private var interrupted: [String: Span] = [:]
    private var asleepSince: Int64?

    /// - Parameter mayResume: whether it may have been so all the time, though nobody looked.
    /// - Returns: false where that is so, or it was so already.
    mutating func begin(_ name: String, at time: Int64, mayResume: Bool) -> Bool {
        guard open[name] == nil else { return false }
        if mayResume, let former = interrupted.removeValue(forKey: name) {
            open[name] = former.start
            return false
        }
        open[name] = time
        return true
    }

    mutating func end(_ name: String, at time: Int64) {
        guard let start = open.removeValue(forKey: name) else { return }
        add(Span(name: name, start: start, end: min(time, asleepSince ?? .max)))
    }

    mutating func sleep(at time: Int64) { asleepSince = asleepSince ?? time }

    mutating func wake(at time: Int64) {
        guard let former = asleepSince else { return }
        asleepSince = nil
        for (name, start) in open {
            add(Span(name: name, start: start, end: former))
            open[name] = time
        }
    }

    /// Nobody looks any more; those that are told again may have been so all the time.
    mutating func interrupt(at time: Int64) {
        for (name, start) in open {
            interrupted[name] = Span(name: name, start: start, end: min(time, asleepSince ?? .max))
        }
        open = [:]
        asleepSince = nil
    }

    /// Nothing is so any more.
    mutating func endAll(at time: Int64) {
        for name in Array(open.keys) { end(name, at: time) }
        for span in interrupted.values { add(span) }
        interrupted = [:]
        asleepSince = nil
    }

    private mutating func add(_ span: Span) {
        // The civil time may have been set back meanwhile.
        if span.end > span.start { ended.append(span) }
    }
}
