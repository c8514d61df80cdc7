import ActionProtocol
import Foundation
import Platform
import SystemBus
import TestSupport
import Testing

@testable import Agent

/// When root's helper is told to look again.
@Suite(.timeLimit(.minutes(10))) struct DaemonWatchTests {
    private static let name = "org.fedoraproject.FirewallD1"

    /// On a loop of its own, since it belongs to one.
    private final class Stage: @unchecked Sendable {
        private let loop: EventLoop
        private var bus: SystemBus?
        private let told = Lock<[HelperRequest.Daemon]>([])
        private let news = DispatchSemaphore(value: 0)

        init(on bus: TestBus) throws {
            loop = try EventLoop()
            let address = bus.address
            loop.perform { [self] in
                let bus = SystemBus(on: loop, address: address)
                let watch = DaemonWatch(bus) { [self] daemon in
                    told.withLock { $0.append(daemon) }
                    news.signal()
                }
                bus.onConnect = { watch.connected() }
                bus.connect()
                self.bus = bus
            }
            try loop.start()
        }

        /// The next daemon of which it is told.
        func next() throws -> HelperRequest.Daemon {
            try #require(news.wait(timeout: .now() + 30) == .success)
            return told.withLock { $0.removeFirst() }
        }

        /// Lets a daemon come and go until that is heard.
        func provoke(_ daemon: FakeService) {
            while news.wait(timeout: .now() + 1) != .success {
                daemon.vanish()
                daemon.appear()
            }
            told.withLock { _ = $0.removeFirst() }
        }

        func stop() {
            let ended = DispatchSemaphore(value: 0)
            loop.perform { [self] in
                bus?.close()
                bus = nil
                loop.stop()
                ended.signal()
            }
            ended.wait()
        }
    }

    @Test func aDaemonThatBeginsOrReadsItsFilesAgainMayHaveForgotten() throws {
        let bus = try TestBus()
        let stage = try Stage(on: bus)
        defer { stage.stop() }
        let firewalld = try FakeService(Self.name, at: bus.address) { _ in .unknown }
        defer { firewalld.stop() }
        stage.provoke(firewalld)
        let networkManager = try FakeService("org.freedesktop.NetworkManager", at: bus.address) { _ in .unknown }
        defer { networkManager.stop() }
        // More than one may still have been on its way.
        while try stage.next() != .networkManager {}

        firewalld.emit("/org/fedoraproject/FirewallD1", Self.name, "Reloaded", [])
        #expect(try stage.next() == .firewalld)
        let stranger = try FakeService("org.example.Stranger", at: bus.address) { _ in .unknown }
        defer { stranger.stop() }
        stranger.emit("/org/fedoraproject/FirewallD1", Self.name, "Reloaded", [])
        firewalld.emit("/org/fedoraproject/FirewallD1", Self.name, "LogDeniedChanged", [.text("off")])
        networkManager.vanish()
        networkManager.appear()
        #expect(try stage.next() == .networkManager)
    }
}
