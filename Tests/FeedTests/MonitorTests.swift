import Environment
import Feed
import Netlink
import Platform
import TestSupport
import Testing
import Vicinity
import WiFi

/// What a program gets that imports the library.
@Suite(.timeLimit(.minutes(5))) struct MonitorTests {
    private func monitor(_ bench: Bench, capacity: Int = 256) throws -> NetworkMonitor {
        try NetworkMonitor(source: .agent(at: bench.path), capacity: capacity)
    }

    private func change(_ update: EnvironmentUpdate?) -> EnvironmentChange? {
        if case .change(let change) = update { return change }
        Issue.record("no change but \(String(describing: update).prefix(60))")
        return nil
    }

    /// Until it is so.
    private func until(_ monitor: NetworkMonitor, _ wanted: (NetworkMonitor.Status) -> Bool) async {
        for await status in monitor.statusUpdates where wanted(status) { return }
        Issue.record("the updates ended")
    }

    private static let changes: [EnvironmentChange] = Canaries.events.compactMap { event in
        if case .environment(let change) = event.body { change } else { nil }
    }

    @Test func theNetworkIsToldToWhoMaySeeIt() async throws {
        let bench = try Bench()
        defer { withExtendedLifetime(bench) {} }
        let network = try await WiFiNetwork.current(from: .agent(at: bench.path))
        #expect(network?.ssid == Canaries.wifi.ssid && network?.bssid == Canaries.wifi.bssid)
        #expect(try await LocationAuthorization.current(from: .agent(at: bench.path)) == .authorized)
    }

    /// Not to be mistaken for a machine that is on no network.
    @Test(arguments: [
        (FeedPermission.hashed, LocationAuthorization.denied), (.notDetermined, .notDetermined),
        (.restricted, .restricted), (.denied, .denied),
    ])
    func whoMayNotSeeItGetsAnError(permission: FeedPermission, authorization: LocationAuthorization) async throws {
        let bench = try Bench(permission: permission)
        defer { withExtendedLifetime(bench) {} }
        await #expect(throws: VicinityError.notAuthorized(authorization)) {
            try await WiFiNetwork.current(from: .agent(at: bench.path))
        }
        #expect(try await LocationAuthorization.current(from: .agent(at: bench.path)) == authorization)
        let monitor = try monitor(bench)
        await until(monitor) { $0 == .connected(authorization) }
        #expect(monitor.status.authorization == authorization)
    }

    @Test func withoutAnAgentThereIsAnError() async throws {
        let source = EnvironmentSource.agent(at: "/nonexistent/events.sock")
        await #expect(throws: VicinityError.self) { try await WiFiNetwork.current(from: source) }
        let monitor = try NetworkMonitor(source: source)
        await until(monitor) { if case .unavailable(.agentUnavailable) = $0 { true } else { false } }
        #expect(monitor.environment == nil && monitor.status.authorization == nil)
    }

    /// Whatever the agent tells comes out as it went in.
    @Test func changesComeOutAsTheyWentIn() async throws {
        let bench = try Bench()
        defer { withExtendedLifetime(bench) {} }
        let monitor = try monitor(bench)
        var updates = monitor.changes.makeAsyncIterator()
        guard case .snapshot(let environment) = await updates.next() else {
            Issue.record("no snapshot")
            return
        }
        #expect(environment.interfaces[1]?.wifi?.network?.ssid == Canaries.wifi.ssid)
        #expect(environment.primaryRoute == Canaries.environment.primaryRoute)
        await bench.publish(Self.changes.map { FeedEvent($0) })
        await bench.publish(1)
        for expected in Self.changes {
            let change = try #require(change(await updates.next()))
            #expect(change == expected, "\(expected.kind)")
        }
    }

    @Test func withoutPermissionChangesHaveNoNames() async throws {
        let bench = try Bench(permission: .notDetermined)
        defer { withExtendedLifetime(bench) {} }
        let monitor = try monitor(bench)
        var updates = monitor.changes.makeAsyncIterator()
        _ = await updates.next()
        await bench.publish([
            FeedEvent(
                EnvironmentChange(time: Canaries.time, interface: Canaries.interface, kind: .joined(Canaries.wifi)))
        ])
        let change = try #require(change(await updates.next()))
        guard case .joined(let network) = change.kind else {
            Issue.record("\(change.kind)")
            return
        }
        #expect(network.ssid == nil && network.bssid == nil && network.links.isEmpty)
        #expect(network.security == .wpa2PSK && change.interface?.name == "if4")
    }

    /// An agent that was started anew is found again, and what was not told meanwhile is said to be missing.
    @Test func theMonitorComesBackWithTheAgent() async throws {
        let first = try Bench()
        let monitor = try monitor(first)
        var updates = monitor.changes.makeAsyncIterator()
        _ = await updates.next()
        await first.end()
        await until(monitor) { if case .unavailable = $0 { true } else { false } }
        // What was known last is still there to be asked.
        #expect(monitor.environment?.connectivity == .internet)
        let second = try Bench(permission: .hashed, at: first.path)
        defer { withExtendedLifetime((first, second)) {} }
        await until(monitor) { $0 == .connected(.denied) }
        #expect(await updates.next() == .missed(1))
        guard case .snapshot(let environment) = await updates.next() else {
            Issue.record("no snapshot")
            return
        }
        #expect(environment.interfaces[1]?.wifi?.network?.ssid == nil)
        await second.publish([FeedEvent(EnvironmentChange(time: Canaries.time, kind: .connectivityChanged(.portal)))])
        #expect(change(await updates.next())?.kind == .connectivityChanged(.portal))
    }

    @Test func aRevocationIsSeen() async throws {
        let bench = try Bench()
        defer { withExtendedLifetime(bench) {} }
        let monitor = try monitor(bench)
        await until(monitor) { $0 == .connected(.authorized) }
        await bench.permit(.denied)
        await until(monitor) { $0 == .connected(.denied) }
    }

    @Test func aConsumerThatFallsBehindIsToldAndGetsASnapshot() async throws {
        let bench = try Bench()
        defer { withExtendedLifetime(bench) {} }
        let monitor = try monitor(bench, capacity: 4)
        var slow = monitor.changes.makeAsyncIterator()
        var good = monitor.changes.makeAsyncIterator()
        _ = await slow.next()
        _ = await good.next()
        let event = FeedEvent(EnvironmentChange(time: Canaries.time, kind: .connectivityChanged(.portal)))
        for _ in 0..<7 {
            await bench.publish([event])
            #expect(change(await good.next()) != nil)
        }
        #expect(await slow.next() == .missed(7))
        guard case .snapshot(let environment) = await slow.next() else {
            Issue.record("no snapshot")
            return
        }
        #expect(environment.connectivity == .portal)
    }

    /// Whatever is at the other end.
    @Test(arguments: [
        "\n\n\n", "{}\n", "nonsense\n", "{\"schema\":\"vicinity/1\"}\n",
        "{\"schema\":\"vicinity/1\",\"type\":\"environment.snapshot\",\"seq\":-7,\"as_of_seq\":-9}\n",
        String(repeating: "x", count: 200_000), "{\"schema\":\"vicinity/1\",\"type\":\"feed.gap\",\"seq\":null}\n",
    ])
    func nonsenseIsNoNetwork(text: String) async throws {
        let path = "/tmp/vicinity-test-\(UInt32.random(in: 0 ... .max)).sock"
        let loop = try EventLoop()
        let listener = try UnixSocket.listen(at: path, mode: 0o600).release()
        try loop.watch(listener) { _ in
            if let connection = try? UnixSocket.accept(on: listener) {
                _ = UnixSocket.send(Array(text.utf8)[...], on: connection.rawValue)
            }
        }
        try loop.start()
        await #expect(throws: VicinityError.self) { try await WiFiNetwork.current(from: .agent(at: path)) }
        let monitor = try NetworkMonitor(source: .agent(at: path))
        await until(monitor) { $0 != .connecting }
        #expect(monitor.environment == nil)
        loop.perform { loop.forget(listener) }
        loop.stop()
    }

    @Test func aMonitorThatIsDroppedEndsItsStreams() async throws {
        let bench = try Bench()
        defer { withExtendedLifetime(bench) {} }
        var monitor: NetworkMonitor? = try monitor(bench)
        let stream = try #require(monitor?.changes)
        let statuses = try #require(monitor?.statusUpdates)
        var updates = stream.makeAsyncIterator()
        _ = await updates.next()
        monitor = nil
        while await updates.next() != nil {}
        for await _ in statuses {}
        while await bench.readerCount() > 0 { await Task.yield() }
    }

    @Test func theKernelIsAskedWhereThatIsSaid() async throws {
        let monitor = try NetworkMonitor(source: .kernel)
        #expect(monitor.status == .connected(.authorized))
        #expect(monitor.environment?.interfaces.values.contains { $0.kind == .loopback } == true)
        _ = try await WiFiNetwork.current(from: .kernel)
    }
}
