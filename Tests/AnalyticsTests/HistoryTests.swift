import Analytics
import Glibc
import JSON
import Platform
import Testing

@Suite struct HistoryTests {
    private let path: String
    private var older: String { HistoryLog.olderPath(of: path) }

    init() throws {
        var template = Array("/tmp/vicinity-history-XXXXXX\0".utf8.map { CChar($0) })
        try #require(mkdtemp(&template) != nil)
        path = String(decoding: template.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self) + "/history.jsonl"
    }

    private func record(_ id: UInt64, because: String? = nil) -> HistoryRecord {
        // 2026-11-30T12:00:00Z
        var record = HistoryRecord(
            "action.failed", at: Timestamp(wall: 1_796_040_000_000_007, boottime: 5), rulesDigest: "ab", boot: "b")
        record.action = .init(id: id, rule: "away", index: 0, kind: "command")
        record.action?.because = because
        return record
    }

    private func read() throws -> (ids: [Int64], skipped: Int) {
        var reader = HistoryReader(path: path)
        var ids: [Int64] = []
        try reader.read { ids.append($0["action"]?["id"]?.integer ?? -1) }
        return (ids, reader.skipped)
    }

    @Test func writesOneLine() {
        var entered = HistoryRecord(
            "network.left", at: Timestamp(wall: 1_796_040_000_000_007, boottime: 5), rulesDigest: "ab", boot: "b")
        entered.network = .init(name: "office", assurance: "keyed", minutes: 3)
        entered.evidence = ["ssid", "security"]
        #expect(
            String(decoding: entered.line, as: UTF8.self)
                == #"{"time":"2026-11-30T12:00:00.000007Z","boottime_us":5,"boot":"b","type":"network.left","#
                + #""network":{"name":"office","assurance":"keyed","minutes":3},"evidence":["ssid","security"],"#
                + #""rules_digest":"ab"}"# + "\n")
    }

    @Test func hostileTextIsOneShortLine() throws {
        let line = record(1, because: String(repeating: "\n\u{1b}\u{1f4a9}", count: 9_000)).line
        #expect(line.count < 8_192)
        #expect(line.dropLast().allSatisfy { (0x20..<0x7f).contains($0) })
        #expect(try JSONValue(parsing: line, maximumSize: 8_192)["action"]?["id"]?.integer == 1)
    }

    @Test func isForItsOwnerOnlyAndReadInOrder() throws {
        let log = HistoryLog(path: path) { Issue.record($0) }
        for id in 1...3 as ClosedRange<UInt64> { #expect(log.append(record(id))) }
        var status = stat()
        stat(path, &status)
        #expect(status.st_mode & 0o777 == 0o600)
        #expect(try read() == ([1, 2, 3], 0))
    }

    @Test func aCutLineSpoilsItselfOnly() throws {
        let log = HistoryLog(path: path) { Issue.record($0) }
        log.append(record(1))
        truncate(path, off_t(record(1).line.count - 9))
        #expect(try read() == ([], 1))
        log.append(record(2))
        #expect(try read() == ([2], 1))
    }

    @Test func keepsOneOlderFile() throws {
        let log = HistoryLog(path: path, limit: 2 * record(1).line.count) { Issue.record($0) }
        for id in 1...4 as ClosedRange<UInt64> { log.append(record(id)) }
        #expect(try read() == ([1, 2, 3, 4], 0))
        log.append(record(5))
        #expect(try read() == ([3, 4, 5], 0))
    }

    /// Never longer than that, and at least for half of it.
    @Test func isKeptForSoLong() throws {
        let day: Int64 = 86_400_000_000
        let log = HistoryLog(path: path) { Issue.record($0) }
        log.retention = 10 * day
        func append(_ days: Int64) {
            var record = self.record(UInt64(days))
            record.time.wall += days * day
            #expect(log.append(record))
        }
        for days in 0..<6 as Range<Int64> { append(days) }
        #expect(try read().ids == [0, 1, 2, 3, 4, 5])
        append(6)
        #expect(access(older, F_OK) == 0)
        append(9)
        #expect(try read().ids == [0, 1, 2, 3, 4, 5, 6, 9])
        append(11)
        let ids = try read().ids
        #expect(ids == [5, 6, 9, 11], "\(ids)")
        append(90)
        #expect(try read().ids == [90])
        // The clock was not set yet: that says nothing about age.
        var record = self.record(1)
        record.time.wall = 5
        #expect(log.append(record))
        #expect(try read().ids == [90, 1])
        #expect(try log.purge() == 1)
        #expect(try read().ids.isEmpty)
    }

    /// A directory in the place of the older file: the history can be written, and cannot be rotated.
    @Test func reportsWhatGoesWrongAndGoesOn() throws {
        mkdir(older, 0o700)
        var codes: [Int32] = []
        let log = HistoryLog(path: path, limit: record(1).line.count) { codes.append($0.code) }
        #expect(log.append(record(1)))
        #expect(!log.append(record(2)))
        #expect(codes == [EISDIR] && log.failures == 1)
        rmdir(older)
        #expect(log.append(record(3)))
        #expect(try read() == ([1, 3], 0))
    }

    /// A file-size limit cuts a write as a full disk does; it concerns the whole process.
    @Test func survivesAFullDisk() async {
        await #expect(processExitsWith: .exitCode(0)) {
            signal(SIGXFSZ, SIG_IGN)
            let path = "/tmp/vicinity-history-full-\(getpid())"
            defer { unlink(path) }
            let record = HistoryRecord(
                "rule.activated", at: Timestamp(wall: 0, boottime: 0), rulesDigest: "", boot: "")
            let log = HistoryLog(path: path)
            func limit(_ octets: Int) {
                var limit = rlimit(rlim_cur: rlim_t(octets), rlim_max: rlim_t.max)
                setrlimit(__rlimit_resource_t(RLIMIT_FSIZE.rawValue), &limit)
            }
            limit(record.line.count + 10)
            let first = [log.append(record), log.append(record), log.append(record)]
            limit(1 << 20)
            let last = log.append(record)
            var reader = HistoryReader(path: path)
            var count = 0
            do { try reader.read { _ in count += 1 } } catch { exit(2) }
            exit(first == [true, false, false] && last && count == 2 && reader.skipped == 1 ? 0 : 1)
        }
    }
}
