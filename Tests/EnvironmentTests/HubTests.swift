import Netlink
import Platform
import Testing
import WiFi

@testable import Environment

/// One source, any number of consumers, none of whom can hold up another.
@Suite(.timeLimit(.minutes(10))) struct HubTests {
    /// A change that carries a number, and the environment after it.
    private static func change(_ number: UInt32) -> (EnvironmentChange, NetworkEnvironment) {
        let network = WiFiNetwork(ssid: nil, bssid: nil, security: .open, frequency: number)
        let change = EnvironmentChange(
            time: Timestamp(wall: 0, boottime: Int64(number)), kind: .channelChanged(network))
        var environment = NetworkEnvironment()
        environment.primaryRoute = PrimaryRoute(interfaceIndex: Int32(number), gateway: nil)
        return (change, environment)
    }

    private func publish(_ numbers: ClosedRange<UInt32>, to hub: EnvironmentHub) {
        for number in numbers {
            let (change, environment) = HubTests.change(number)
            hub.publish([change], environment)
        }
    }

    /// The number in an update: of a change as it is, of a snapshot as `s7`, of what was missed as `m7`.
    private static func brief(_ update: EnvironmentUpdate) -> String {
        switch update {
        case .snapshot(let environment): "s\(environment.primaryRoute?.interfaceIndex ?? 0)"
        case .change(let change): "\(change.time.boottime)"
        case .missed(let count): "m\(count)"
        }
    }

    private func read(_ count: Int, from stream: AsyncStream<EnvironmentUpdate>) async -> [String] {
        var iterator = stream.makeAsyncIterator()
        var found: [String] = []
        for _ in 0..<count {
            guard let update = await iterator.next() else { return found + ["end"] }
            found.append(HubTests.brief(update))
        }
        return found
    }

    /// Until so many tasks wait.
    private func untilWaiting(_ count: Int) async {
        while hub.waiterCount < count { await Task.yield() }
    }

    private let hub = EnvironmentHub(NetworkEnvironment(), capacity: 4)

    @Test func snapshotFirst() async {
        publish(1...3, to: hub)
        let stream = hub.stream()
        #expect(await read(1, from: stream) == ["s3"])
        publish(4...5, to: hub)
        #expect(await read(2, from: stream) == ["4", "5"])
    }

    /// What comes between the subscription and the first reading is in the snapshot, and only there.
    @Test func snapshotIsTakenWhenItIsRead() async {
        let stream = hub.stream()
        publish(1...9, to: hub)
        #expect(await read(1, from: stream) == ["s9"])
        publish(10...10, to: hub)
        #expect(await read(1, from: stream) == ["10"])
    }

    @Test func everyConsumerSeesEverything() async {
        let streams = (0..<3).map { _ in hub.stream() }
        for stream in streams { #expect(await read(1, from: stream) == ["s0"]) }
        publish(1...4, to: hub)
        for stream in streams { #expect(await read(4, from: stream) == ["1", "2", "3", "4"]) }
    }

    @Test func consumerThatFallsBehind() async {
        let (slow, quick) = (hub.stream(), hub.stream())
        #expect(await read(1, from: slow) == ["s0"])
        #expect(await read(1, from: quick) == ["s0"])
        publish(1...4, to: hub)
        #expect(await read(4, from: quick) == ["1", "2", "3", "4"])
        publish(5...7, to: hub)
        #expect(await read(3, from: quick) == ["5", "6", "7"])
        #expect(await read(2, from: slow) == ["m7", "s7"])
        publish(8...9, to: hub)
        #expect(await read(2, from: slow) == ["8", "9"])
    }

    /// Between the news of the loss and the snapshot nothing is counted twice.
    @Test func changesBetweenMissedAndSnapshot() async {
        let stream = hub.stream()
        #expect(await read(1, from: stream) == ["s0"])
        publish(1...5, to: hub)
        #expect(await read(1, from: stream) == ["m5"])
        publish(6...6, to: hub)
        #expect(await read(1, from: stream) == ["s6"])
    }

    @Test func moreAtOnceThanFits() async {
        let stream = hub.stream()
        #expect(await read(1, from: stream) == ["s0"])
        hub.publish((1...5).map { HubTests.change($0).0 }, HubTests.change(5).1)
        #expect(await read(2, from: stream) == ["m5", "s5"])
    }

    @Test func waitingConsumerIsWoken() async {
        let stream = hub.stream()
        #expect(await read(1, from: stream) == ["s0"])
        async let found = read(2, from: stream)
        await untilWaiting(1)
        publish(1...2, to: hub)
        #expect(await found == ["1", "2"])
    }

    /// Two tasks on one stream share it, as with any stream; neither is forgotten.
    @Test func twoTasksOnOneStream() async {
        let stream = hub.stream()
        #expect(await read(1, from: stream) == ["s0"])
        async let one = read(2, from: stream)
        async let other = read(2, from: stream)
        await untilWaiting(2)
        publish(1...4, to: hub)
        #expect(await (one + other).sorted() == ["1", "2", "3", "4"])
    }

    @Test func endOfTheSource() async {
        let (waiting, idle) = (hub.stream(), hub.stream())
        #expect(await read(1, from: waiting) == ["s0"])
        async let found = read(1, from: waiting)
        await untilWaiting(1)
        hub.finish()
        #expect(await found == ["end"])
        #expect(await read(1, from: idle) == ["end"])
        #expect(await read(1, from: hub.stream()) == ["end"])
        publish(1...1, to: hub)
        #expect(hub.subscriptionCount == 0)
    }

    @Test func streamThatIsDropped() async {
        do {
            let stream = hub.stream()
            #expect(await read(1, from: stream) == ["s0"])
            #expect(hub.subscriptionCount == 1)
        }
        do { _ = hub.stream() }
        #expect(hub.subscriptionCount == 0)
    }

    @Test func cancellation() async {
        let stream = hub.stream()
        let task = Task { await read(9, from: stream) }
        await untilWaiting(1)
        task.cancel()
        let found = await task.value
        #expect(found.last == "end")
        #expect(hub.subscriptionCount == 0)
        #expect(await read(1, from: stream) == ["end"])
    }

    @Test func cancellationOfOneIsNoMatterToOthers() async {
        let (one, other) = (hub.stream(), hub.stream())
        let task = Task { await read(9, from: one) }
        #expect(await read(1, from: other) == ["s0"])
        task.cancel()
        _ = await task.value
        publish(1...1, to: hub)
        #expect(await read(1, from: other) == ["1"])
    }

    /// Many at once: each sees rising numbers, and those it did not see it was told of.
    @Test func crowd() async {
        let hub = EnvironmentHub(NetworkEnvironment(), capacity: 16)
        let total: UInt32 = 2_000
        let streams = (0..<8).map { _ in hub.stream() }
        await withTaskGroup(of: String?.self) { group in
            for stream in streams {
                group.addTask {
                    var last: Int64 = 0
                    var isAfterLoss = false
                    for await update in stream {
                        switch update {
                        case .missed: isAfterLoss = true
                        case .snapshot(let environment):
                            let number = Int64(environment.primaryRoute?.interfaceIndex ?? 0)
                            guard number >= last else { return "\(number) after \(last)" }
                            last = number
                            isAfterLoss = false
                        case .change(let change):
                            guard change.time.boottime == last + 1, !isAfterLoss else {
                                return "\(change.time.boottime) after \(last)"
                            }
                            last = change.time.boottime
                        }
                        if last == Int64(total) { return nil }
                    }
                    return "ended at \(last)"
                }
            }
            group.addTask {
                for number in 1...total {
                    let (change, environment) = HubTests.change(number)
                    hub.publish([change], environment)
                }
                return nil
            }
            for await complaint in group { #expect(complaint == nil) }
        }
    }
}

/// The real kernel behind it.
@Suite(.timeLimit(.minutes(10))) struct MonitorTests {
    @Test func knowsTheLoopback() async throws {
        let monitor = try EnvironmentMonitor()
        #expect(monitor.environment.interfaces[1]?.kind == .loopback)
        var iterator = monitor.changes.makeAsyncIterator()
        guard case .snapshot(let environment)? = await iterator.next() else {
            Issue.record("no snapshot")
            return
        }
        #expect(environment.interfaces[1]?.name == "lo")
    }

    @Test func oneReading() throws {
        #expect(try EnvironmentWatcher.read().interfaces[1]?.kind == .loopback)
    }

    @Test func endOfTheMonitorEndsItsStreams() async throws {
        for _ in 0..<20 {
            var monitor: EnvironmentMonitor? = try EnvironmentMonitor()
            let changes = try #require(monitor?.changes)
            monitor = nil
            for await _ in changes {}
        }
    }
}
