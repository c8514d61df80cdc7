import Analytics
import Environment
import Feed
import Netlink
import Platform
import Testing
import WiFi

@testable import Agent

/// What the history keeps of Wi-Fi: no name, no address.
@Suite struct WiFiRecordTests {
    private func line(_ kind: EnvironmentChange.Kind) -> String? {
        let change = EnvironmentChange(
            time: Timestamp(wall: 0, boottime: 7), interface: InterfaceReference(index: 4, name: "wlx020000000001"),
            kind: kind)
        let record = HistoryRecord(FeedEvent(change), rulesDigest: "") { _ in "hmac-sha256:k:00" }
        return record.map { String(decoding: $0.line, as: UTF8.self) }
    }

    private var network: WiFiNetwork {
        WiFiNetwork(
            ssid: SSID(utf8: "Seven Oaks"), bssid: BSSID("02:00:00:00:00:01"), security: .wpa2PSK, frequency: 2_412)
    }

    @Test func roamsAndFailuresAreToldByHash() throws {
        let roam = try #require(line(.roamed(network, previous: BSSID("02:00:00:00:00:02"))))
        #expect(roam.contains(#""wifi":{"wifi_environment":"hmac-sha256:k:00","security":"wpa2-psk"},"cause":{}"#))
        let failure = try #require(line(.joinFailed(network, Cause(reason: 15, circumstance: .timedOut))))
        #expect(failure.contains(#""cause":{"reason":15,"circumstance":"timed_out"}"#))
        for text in [roam, failure] {
            for secret in ["Seven", "02:00", "536576656e", "wlx", "2412"] { #expect(!text.contains(secret)) }
        }
        #expect(try #require(line(.suspended)).contains("agent.suspended"))
        for kind in [.joined(network), .left(network, Cause()), .linkUp] as [EnvironmentChange.Kind] {
            #expect(line(kind) == nil)
        }
    }
}
