import Environment
import Feed
import Glibc
import Netlink
import Platform
import WiFi

/// The feed's server with many readers: whether one of them loses a line, and how long a line takes, from an event on the
/// loop's thread to the last octet in a reader.
struct Feeding {
    /// Readers of one round, how often something happens, and how many of those who never read are beside them.
    private struct Round {
        var readers: Int
        var rate: Int
        var stuck: Int
        var seconds = 4
    }

    private struct Result {
        var times: Samples
        /// Until the first and the last reader have it.
        var last: Samples
        var losses = 0
        /// Octets that the process took more than before.
        var growth = 0
        var count = 0
        var elapsed = 0.0
    }

    func run(_ report: inout Report) throws {
        try Feeding.raiseLimit()
        var losses = 0
        for round in [Round(readers: 1_000, rate: 50, stuck: 50), Round(readers: 50, rate: 1_000, stuck: 50)] {
            let alone = try measure(Round(readers: 1, rate: round.rate, stuck: 0))
            let free = try measure(Round(readers: round.readers, rate: round.rate, stuck: 0))
            let many = try measure(round)
            losses += many.losses
            report.section(
                "Feed: \(round.readers) readers, \(round.rate) events a second, \(round.stuck) who never read")
            let suffix = round.readers >= 1_000 ? "" : "_fast"
            report.add("99 %, one reader alone", alone.times.quantile(0.99), "us", key: "feed_p99_us_alone\(suffix)")
            report.add(
                "99 %, of all lines of all readers", many.times.quantile(0.99), "us", key: "feed_p99_us\(suffix)")
            let ratio = many.times.quantile(0.99) / free.times.quantile(0.99)
            report.add(
                "99 %, beside those who never read : without them", ratio, "", key: "feed_p99_ratio_stuck\(suffix)",
                goal: "<= 2", isMet: ratio <= 2)
            report.add("median, of all lines of all readers", many.times.median, "us")
            report.add("until the last reader has it, 99 %", many.last.quantile(0.99), "us")
            report.add("lines a second, of all readers", Double(many.count) / many.elapsed, "")
            report.add("memory for readers and lines", Double(many.growth) / 1_024, "kB")
            if round.readers >= 1_000 {
                report.add("readers", Double(round.readers), "", key: "feed_readers")
            } else {
                report.add("events a second", Double(round.rate), "", key: "feed_events_per_s")
            }
        }
        report.add(
            "lines that good readers lost", Double(losses), "", key: "feed_good_reader_losses", goal: "0",
            isMet: losses == 0)
    }

    /// A thousand connections have two thousand ends here.
    private static func raiseLimit() throws {
        var limit = rlimit()
        getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit)
        limit.rlim_cur = min(limit.rlim_max, 8_192)
        try SystemError.check("setrlimit") { setrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit) }
    }

    private func measure(_ round: Round) throws -> Result {
        let before = Feeding.residentSize
        let stage = try FeedStage(readers: round.readers, stuck: round.stuck)
        defer { stage.stop() }
        let warmUp = round.rate / 2
        let start = Clock.monotonic
        let period = 1_000_000_000 / Int64(round.rate)
        for number in 0..<Int64(round.rate * round.seconds + warmUp) {
            Feeding.sleep(until: start + number * period)
            stage.publish()
        }
        try stage.waitForAll()
        let elapsed = Double(Clock.monotonic - start) / 1e9
        let growth = Feeding.residentSize - before
        let (times, last, losses) = stage.results(from: warmUp)
        return Result(
            times: Samples(times), last: Samples(last), losses: losses, growth: growth, count: times.count,
            elapsed: elapsed * Double(round.seconds) / (Double(round.seconds) + 0.5))
    }

    private static func sleep(until moment: Int64) {
        var time = timespec(tv_sec: Int(moment / 1_000_000_000), tv_nsec: Int(moment % 1_000_000_000))
        while clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &time, nil) == EINTR {}
    }

    /// VmRSS of proc_pid_statm(5), octets.
    private static var residentSize: Int {
        let fields = (try? Files.read("/proc/self/statm", limit: 1_024)) ?? []
        let pages = String(decoding: fields, as: UTF8.self).split(separator: " ").dropFirst().first.flatMap { Int($0) }
        return (pages ?? 0) * 4_096
    }
}

/// A server on a thread of its own, and all its readers on another.
private final class FeedStage: @unchecked Sendable {
    private final class Reader {
        let connection: FileDescriptor
        var rest: [UInt8] = []
        var next = 0
        var losses = 0

        init(_ connection: consuming FileDescriptor) { self.connection = connection }
    }

    private static let limit = 16_384

    private let path = "/tmp/vicinity-bench-\(getpid()).sock"
    private let loop: EventLoop
    private let readerLoop: EventLoop
    private var server: FeedServer?
    private var encoder = FeedEncoder()
    private var readers: [Reader] = []
    private var stuck: [FileDescriptor.Box] = []
    private let sent = UnsafeMutableBufferPointer<Int64>.allocate(capacity: limit)
    // Of the readers' thread.
    private var chunk = [UInt8](repeating: 0, count: 65_536)
    private var times: [(event: Int32, nanoseconds: Int32)] = []
    private let done = Lock(0)
    private var published = 0

    init(readers count: Int, stuck stuckCount: Int) throws {
        loop = try EventLoop()
        readerLoop = try EventLoop()
        let environment = NetworkEnvironment()
        server = try FeedServer(
            at: path, on: loop, permission: { _ in .full }, encoder: { [unowned self] in encoder },
            snapshot: { [unowned self] in encoder.snapshotLine(of: environment, permission: $0) })
        try loop.start()
        for _ in 0..<stuckCount { stuck.append(.init(try connect())) }
        for _ in 0..<count {
            let reader = Reader(try connect())
            readers.append(reader)
            let descriptor = reader.connection.rawValue
            try readerLoop.watch(descriptor) { [unowned self] _ in read(reader) }
        }
        times.reserveCapacity(count * 256)
        try readerLoop.start()
        // The snapshots.
        while done.withLock({ $0 }) < count { usleep(1_000) }
    }

    private func connect() throws -> FileDescriptor {
        let connection = try UnixSocket.connect(to: path)
        _ = UnixSocket.send(FeedRequest().line[...], on: connection.rawValue)
        return connection
    }

    func stop() {
        for loop in [readerLoop, loop] {
            let isOver = Lock(false)
            loop.perform { [self] in
                if loop === self.loop {
                    server?.stop()
                    server = nil
                }
                isOver.withLock { $0 = true }
            }
            loop.stop()
            while !isOver.withLock({ $0 }) { usleep(100) }
        }
        unlink(path)
        // The threads may still be on their way out.
        _ = Unmanaged.passRetained(self)
    }

    /// An access point changes its channel: something that has a name, of the usual length.
    func publish() {
        let number = published
        published += 1
        sent[number] = Clock.monotonic
        loop.perform { [self] in
            let network = WiFiNetwork(
                ssid: SSID(utf8: "Corp-Staff"), bssid: BSSID("02:00:00:00:00:00"), security: .wpa2PSK, frequency: 2_412,
                signal: Int8(-30 - number % 40))
            let change = EnvironmentChange(
                time: .now(), interface: InterfaceReference(index: 4, name: "wlan0"), kind: .channelChanged(network))
            server?.publish(encoder.line(for: FeedEvent(change)))
        }
    }

    /// On the readers' thread.
    private func read(_ reader: Reader) {
        guard let count = UnixSocket.receive(into: &chunk, on: reader.connection.rawValue), count > 0 else { return }
        let now = Clock.monotonic
        let text = reader.rest.isEmpty ? chunk[..<count] : (reader.rest + chunk[..<count])[...]
        var start = text.startIndex
        while let end = text[start...].firstIndex(of: 0x0A) {
            take(text[start..<end], reader, now)
            start = end + 1
        }
        reader.rest = Array(text[start...])
    }

    private static let beginning = Array("{\"schema\":\"vicinity/1\",\"seq\":".utf8)

    private func take(_ line: ArraySlice<UInt8>, _ reader: Reader, _ now: Int64) {
        guard line.starts(with: FeedStage.beginning) else { return reader.losses += 1 }
        let digits = line.dropFirst(FeedStage.beginning.count).prefix { (0x30...0x39).contains($0) }
        // The snapshot has no number; a gap is one that shows in the numbers.
        guard !digits.isEmpty else { return done.withLock { $0 += 1 } }
        let number = digits.reduce(0) { $0 * 10 + Int($1 - 0x30) } - 1
        reader.losses += number - reader.next
        reader.next = number + 1
        times.append((Int32(number), Int32(clamping: now - sent[number])))
        done.withLock { $0 += 1 }
    }

    /// Until every reader has every line.
    func waitForAll() throws {
        let limit = Clock.monotonic + 20_000_000_000
        while done.withLock({ $0 }) < readers.count * (published + 1) {
            guard Clock.monotonic < limit else { return }
            usleep(1_000)
        }
    }

    /// µs, of events from a number on.
    func results(from first: Int) -> (times: [Double], last: [Double], losses: Int) {
        var last = [Double](repeating: 0, count: published)
        var all: [Double] = []
        for time in times where time.event >= first {
            let microseconds = Double(time.nanoseconds) / 1_000
            all.append(microseconds)
            last[Int(time.event)] = max(last[Int(time.event)], microseconds)
        }
        let missing = readers.reduce(0) { $0 + $1.losses + published - $1.next }
        return (all, Array(last[first...]), missing)
    }
}

extension FileDescriptor {
    /// One that can stand in an array.
    fileprivate final class Box {
        let descriptor: FileDescriptor
        init(_ descriptor: consuming FileDescriptor) { self.descriptor = descriptor }
    }
}
