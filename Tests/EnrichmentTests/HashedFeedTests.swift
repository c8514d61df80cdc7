import Environment
import Feed
import Foundation
import Netlink
import Platform
import Testing
import Vicinity
import WiFi

@testable import Enrichment

/// What an agent tells of names that only it has the key of.
@Suite(.timeLimit(.minutes(1))) struct HashedFeedTests {
    private final class Stage: @unchecked Sendable {
        let path = NSTemporaryDirectory() + "vicinity-hashed-\(UInt64.random(in: 0 ... .max)).sock"
        let loop: EventLoop
        var environment = NetworkEnvironment()
        var encoder = FeedEncoder()
        var server: FeedServer?

        init(_ permission: FeedPermission) throws {
            loop = try EventLoop()
            var interface = Interface(index: 4, name: "wlan0", kind: .wifi)
            interface.wifi = .joined(Stage.network)
            environment.interfaces[4] = interface
            encoder.disclosure = FeedDisclosure(networks: [], rules: []) { "hmac-sha256:k:\($0.hexadecimal)" }
            server = try FeedServer(
                at: path, on: loop, permission: { _ in permission }, encoder: { [unowned self] in encoder },
                snapshot: { [unowned self] in encoder.snapshotLine(of: environment, permission: $0) })
            try loop.start()
        }

        static let network = WiFiNetwork(ssid: SSID(utf8: "ab"), bssid: nil, security: .wpa2PSK)

        func publish(_ kind: EnvironmentChange.Kind) {
            loop.perform { [self] in
                let change = EnvironmentChange(
                    time: .now(), interface: InterfaceReference(index: 4, name: "wlan0"), kind: kind)
                server?.publish(encoder.line(for: FeedEvent(change)))
            }
        }

        func stop() {
            loop.perform { [self] in
                server?.stop()
                server = nil
                loop.stop()
            }
            unlink(path)
        }
    }

    @Test(arguments: [FeedPermission.full, .hashed, .notDetermined])
    func hashesAreReadAndFollowed(permission: FeedPermission) async throws {
        let stage = try Stage(permission)
        defer { stage.stop() }
        let loop = try EventLoop()
        let once = HashedFeed(stage.path, on: loop)
        once.read()
        #expect(once.environments == [4: "hmac-sha256:k:6162"])
        let feed = HashedFeed(stage.path, on: loop)
        let (changes, continuation) = AsyncStream.makeStream(of: [Int32: String].self)
        feed.onChange = { [unowned feed] in continuation.yield(feed.environments) }
        try loop.start()
        loop.perform { feed.start() }
        var iterator = changes.makeAsyncIterator()
        // Served from here on.
        #expect(await iterator.next() == once.environments)
        stage.publish(.joined(WiFiNetwork(ssid: SSID(utf8: "cd"), bssid: nil, security: .open)))
        #expect(await iterator.next() == [4: "hmac-sha256:k:6364"])
        stage.publish(.left(Stage.network, Cause()))
        #expect(await iterator.next() == [:])
        loop.perform {
            feed.stop()
            loop.stop()
        }
    }

    @Test func whoMaySeeNothingIsToldNothing() throws {
        let stage = try Stage(.restricted)
        defer { stage.stop() }
        let feed = HashedFeed(stage.path, on: try EventLoop())
        feed.read()
        #expect(feed.environments.isEmpty)
        let nobody = HashedFeed("/nothing.sock", on: try EventLoop())
        nobody.read()
        #expect(nobody.environments.isEmpty)
    }
}

/// The library's events.
@Suite struct AnalyticsEventTests {
    @Test func eventsCarryWhereTheMachineIs() {
        let event = AnalyticsEvent(
            name: "sync", parameters: ["seconds": 3.5, "files": [1, nil, true], "of": ["a": "\u{e9}"]])
        #expect(
            event.jsonLine
                == #"{"name":"sync","parameters":{"files":[1,null,true],"of":{"a":"\u00e9"},"seconds":3.5}}"#)
        let enriched = event.enrichedWithEnvironment()
        guard case .string(let type)? = enriched.parameters["network_type"] else {
            Issue.record("no network_type")
            return
        }
        #expect(["wifi", "ethernet", "cellular", "vpn", "none"].contains(type))
        var others = enriched.parameters
        others["network_type"] = nil
        others["wifi_environment"] = nil
        #expect(others == event.parameters)
        let own = AnalyticsEvent(name: "x", parameters: ["network_type": 7, "wifi_environment": nil])
        #expect(own.enrichedWithEnvironment() == own)
    }
}
