import ActionProtocol
import Testing

@Suite struct EventRecordTests {
    @Test func refusesWhatNoAgentOfOursSays() {
        var record = EventRecord(event: "rule.activated")
        #expect(record.isValid)
        record.links = ["wlan0", "a/b"]
        #expect(!record.isValid)
        record.links = []
        record.network = "a b"
        #expect(!record.isValid)
        record.network = "office"
        record.ssid = [UInt8](repeating: 0xFF, count: 33)
        #expect(!record.isValid)
        record.ssid = []
        record.event = "rm -rf"
        #expect(!record.isValid)
    }
}
