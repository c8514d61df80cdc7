import Agent
import CPlatform
import Environment
import Feed
import Glibc
import Platform

/// From a datagram in the agent's socket to the line in a reader's: an agent on its own thread, a reader on this one.
struct Latency {
    private static let count = 20_000
    private let events: RecordedEvents

    init(_ events: RecordedEvents) { self.events = events }

    func run(_ report: inout Report) throws {
        var ends: [Int32] = [-1, -1]
        guard socketpair(AF_UNIX, Int32(SOCK_SEQPACKET.rawValue), 0, &ends) == 0 else {
            throw SystemError("socketpair")
        }
        let kernel = FileDescriptor(owning: ends[0])
        let agentsEnd = FileDescriptor(owning: ends[1])
        var template = Array("/tmp/vicinity-bench.XXXXXX".utf8CString)
        guard mkdtemp(&template) != nil else { throw SystemError("mkdtemp") }
        let directory = String(decoding: template.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self)
        defer {
            for name in Files.names(in: directory) { unlink("\(directory)/\(name)") }
            rmdir(directory)
        }
        var paths = AgentPaths()
        (paths.configuration, paths.runtime, paths.state, paths.logs) = (directory, directory, directory, directory)

        let loop = try EventLoop()
        let agent = Agent(on: loop, paths: paths)
        agent.watcher.replayed = ReplayedEvents(descriptor: agentsEnd.rawValue, family: events.family)
        try agent.start()
        try loop.start()
        var reader = try LineReader(paths.runtime + "/events.sock")
        _ = reader.next()  // the snapshot
        let echo = try Echo()
        let (samples, echoes) = try measure(kernel.rawValue, &reader, echo)
        loop.stop()
        // Its thread may still be at work; the agent lives as long as the process.
        _ = Unmanaged.passRetained(agent)
        report.section(
            "Event to line: a datagram into the agent's read path, a line out of its feed (\(samples.count) events)")
        let times = Samples(samples)
        report.add("median", times.median, "us")
        report.add(
            "99 %", times.quantile(0.99), "us", key: "event_to_line_p99_us", goal: "<= 200",
            isMet: times.quantile(0.99) <= 200)
        let blocks = stride(from: 0, to: samples.count, by: 1_000).map { Samples(Array(samples[$0..<$0 + 1_000])) }
        report.add("99 % of each thousand, their median", Samples(blocks.map { $0.quantile(0.99) }).median, "us")
        report.add("99.9 %", times.quantile(0.999), "us")
        report.add("maximum", times.maximum, "us")
        let bare = Samples(echoes)
        report.add("of that the machine's, median", bare.median, "us  (an echo of the datagram, measured in turn)")
        report.add("of that the machine's, 99 %", bare.quantile(0.99), "us")
    }

    /// CONNECT and DISCONNECT in turn, each after a pause in which the agent has gone to sleep.
    private func measure(_ kernel: Int32, _ reader: inout LineReader, _ echo: Echo) throws -> (
        samples: [Double], echoes: [Double]
    ) {
        _ = send(events.interface, to: kernel)
        var samples: [Double] = []
        var echoes: [Double] = []
        samples.reserveCapacity(Latency.count)
        var tries = 0
        while samples.count < Latency.count {
            tries += 1
            guard tries < 2 * Latency.count else { throw SystemError("feed", "lines are missing", code: ETIME) }
            for (datagram, type) in [(events.connect, "wifi.associating"), (events.disconnect, "wifi.join_failed")] {
                usleep(UInt32.random(in: 50...350))
                echoes.append(try echo.measure(datagram))
                usleep(UInt32.random(in: 50...350))
                let start = Clock.monotonic
                guard send(datagram, to: kernel) else { throw SystemError("send") }
                while let line = reader.next() {
                    guard line.contains("\"\(type)\"") else { continue }
                    samples.append(Double(Clock.monotonic - start) / 1_000)
                    break
                }
            }
        }
        return (samples, echoes)
    }

    private func send(_ datagram: ArraySlice<UInt8>, to descriptor: Int32) -> Bool {
        datagram.withUnsafeBytes { Glibc.send(descriptor, $0.baseAddress, $0.count, 0) == $0.count }
    }
}

/// The way there and back without an agent: a datagram to a loop on a thread of its own, which sends it on at once. How
/// much of a time is the scheduler's and that of whoever else uses this machine.
final class Echo {
    private let near: FileDescriptor
    private let far: FileDescriptor
    private let loop: EventLoop

    init() throws {
        var ends: [Int32] = [-1, -1]
        guard socketpair(AF_UNIX, Int32(SOCK_SEQPACKET.rawValue), 0, &ends) == 0 else {
            throw SystemError("socketpair")
        }
        near = FileDescriptor(owning: ends[0])
        far = FileDescriptor(owning: ends[1])
        loop = try EventLoop()
        let descriptor = ends[1]
        try loop.watch(descriptor) { _ in
            var chunk = [UInt8](repeating: 0, count: 65_536)
            let count = recv(descriptor, &chunk, chunk.count, Int32(MSG_DONTWAIT))
            if count > 0 { send(descriptor, chunk, count, 0) }
        }
        try loop.start()
    }

    deinit { loop.stop() }

    /// µs
    func measure(_ datagram: ArraySlice<UInt8>) throws -> Double {
        var chunk = [UInt8](repeating: 0, count: 65_536)
        let start = Clock.monotonic
        let sent = datagram.withUnsafeBytes { send(near.rawValue, $0.baseAddress, $0.count, 0) }
        guard sent == datagram.count, recv(near.rawValue, &chunk, chunk.count, 0) == sent else {
            throw SystemError("echo")
        }
        return Double(Clock.monotonic - start) / 1_000
    }
}

/// A reader of the feed that waits at most a second.
struct LineReader: ~Copyable {
    private let connection: FileDescriptor
    private var buffer: [UInt8] = []

    init(_ path: String) throws {
        connection = try UnixSocket.connect(to: path)
        var request = FeedRequest()
        request.filter.types = ["wifi.*"]
        _ = UnixSocket.send(request.line[...], on: connection.rawValue)
    }

    mutating func next() -> String? {
        while true {
            if let end = buffer.firstIndex(of: UInt8(ascii: "\n")) {
                defer { buffer.removeSubrange(...end) }
                return String(decoding: buffer[..<end], as: UTF8.self)
            }
            var entry = pollfd(fd: connection.rawValue, events: Int16(POLLIN), revents: 0)
            guard poll(&entry, 1, 1_000) == 1 else { return nil }
            var chunk = [UInt8](repeating: 0, count: 16_384)
            guard let count = UnixSocket.receive(into: &chunk, on: connection.rawValue), count > 0 else { return nil }
            buffer += chunk[..<count]
        }
    }
}
