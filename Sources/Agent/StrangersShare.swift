internal import Analytics
internal import Platform

/// How much of the history strangers may fill.
///
/// Whoever has a radio makes a machine roam, or fail to join, as often as it tries; the history has a limit, and what
/// rules did shall not make room for that. Each type has so many records at once and one a minute from then on; what is
/// left out is counted, and told by the next one that is written.
struct StrangersShare {
    private struct Share {
        var left = StrangersShare.burst
        /// Boot time, µs.
        var filled: Int64 = 0
        var omitted = 0
    }

    private static let burst = 60
    private static let interval: Int64 = 60_000_000

    private var shares: [String: Share] = [:]

    /// Nil where it is one too many.
    mutating func admitted(_ record: HistoryRecord) -> HistoryRecord? {
        guard record.wifi != nil else { return record }
        var record = record
        var share = shares[record.type] ?? Share(filled: record.time.boottime)
        defer { shares[record.type] = share }
        // The stamp of an event that was held back may be older than the last one.
        let due = max(record.time.boottime - share.filled, 0) / Self.interval
        share.left = Int(min(Int64(share.left) + due, Int64(Self.burst)))
        share.filled += due * Self.interval
        guard share.left > 0 else {
            share.omitted += 1
            return nil
        }
        share.left -= 1
        record.wifi?.omitted = share.omitted
        share.omitted = 0
        return record
    }
}
