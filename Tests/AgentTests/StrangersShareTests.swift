import Analytics
import Platform
import Testing

@testable import Agent

/// Strangers can make a machine roam or fail to join as often as they like.
@Suite struct StrangersShareTests {
    private func record(_ type: String, at seconds: Int64) -> HistoryRecord {
        var record = HistoryRecord(
            type, at: Timestamp(wall: 0, boottime: seconds * 1_000_000), rulesDigest: "", boot: "")
        record.wifi = .init(environment: nil, security: "open")
        return record
    }

    @Test func aFloodLeavesFewRecordsAndAllAreCounted() {
        var share = StrangersShare()
        var written: [HistoryRecord] = []
        for second in 0..<36_000 as Range<Int64> {
            if let record = share.admitted(record("wifi.join_failed", at: second)) { written.append(record) }
        }
        #expect(written.count == 60 + 599)
        let omitted = written.reduce(0) { $0 + ($1.wifi?.omitted ?? 0) }
        #expect((35_940...36_000).contains(written.count + omitted))
        // Another type has a share of its own, and so has whoever comes back after a while.
        #expect(share.admitted(record("wifi.roamed", at: 36_000)) != nil)
        let later = (0..<100).compactMap { _ in share.admitted(record("wifi.join_failed", at: 72_000)) }
        #expect(later.count == 60)
    }

    @Test func whatIsOursIsAlwaysWritten() {
        var share = StrangersShare()
        let record = HistoryRecord("rule.activated", at: Timestamp(wall: 0, boottime: 0), rulesDigest: "", boot: "")
        for _ in 0..<1_000 { #expect(share.admitted(record) == record) }
    }

    /// Stamps of held events step back.
    @Test func timeMayStepBack() {
        var share = StrangersShare()
        #expect(share.admitted(record("wifi.roamed", at: 100)) != nil)
        #expect(share.admitted(record("wifi.roamed", at: -5)) != nil)
    }
}
