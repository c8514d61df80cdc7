internal import Analytics
internal import Glibc
internal import Platform

/// Reads the logs of many machines on all processors, a machine at a time on each.
final class FleetReading: @unchecked Sendable {
    private struct Work {
        var next = 0
        var octets: Int64 = 0
        var running = 0
        var tallies: [FleetTally] = []
        var failures: [SystemError] = []
    }

    private let machines: [FleetFiles.Machine]
    private let empty: FleetTally
    private let work = Lock(Work())
    private let loop: EventLoop
    private var progress: ProgressLine

    private static let workerLimit = 16
    private static let interval: Int64 = 100_000

    private init(_ files: FleetFiles, _ empty: FleetTally) throws(SystemError) {
        // The largest first: nobody has to wait for it at the end.
        machines = files.machines.sorted { $0.octets > $1.octets }
        self.empty = empty
        loop = try EventLoop()
        progress = ProgressLine("report", total: machines.reduce(0) { $0 + $1.octets })
    }

    /// - Returns: what they come to, and the files that could not be read.
    static func run(_ files: FleetFiles, _ empty: FleetTally) throws(SystemError) -> (FleetTally, [SystemError]) {
        let reading = try FleetReading(files, empty)
        return try reading.run()
    }

    private func run() throws(SystemError) -> (FleetTally, [SystemError]) {
        let processors = sysconf(Int32(_SC_NPROCESSORS_ONLN))
        let count = max(min(Int(processors), machines.count, Self.workerLimit), 1)
        work.withLock { $0.running = count }
        for _ in 0..<count {
            let worker = try EventLoop()
            worker.perform { [self] in
                read()
                worker.stop()
            }
            try worker.start()
        }
        tick()
        loop.run()
        progress.finish()
        return work.withLock { work in
            var sum = empty
            for tally in work.tallies { sum.add(tally) }
            return (sum, work.failures)
        }
    }

    private func tick() {
        progress.update(octets: work.withLock { $0.octets }, lines: nil)
        loop.schedule(at: Timestamp.now().boottime + Self.interval) { [unowned self] in tick() }
    }

    /// On a worker's thread.
    private func read() {
        var tally = empty
        while let number = take() {
            tally.begin(Int32(truncatingIfNeeded: number))
            for path in machines[number].paths {
                do throws(SystemError) {
                    try tally.read(path) { count in work.withLock { $0.octets += Int64(count) } }
                } catch {
                    work.withLock { $0.failures.append(error) }
                }
            }
        }
        let isLast = work.withLock { [tally] work in
            work.tallies.append(tally)
            work.running -= 1
            return work.running == 0
        }
        if isLast { loop.stop() }
    }

    private func take() -> Int? {
        work.withLock { work in
            guard work.next < machines.count else { return nil }
            work.next += 1
            return work.next - 1
        }
    }
}
