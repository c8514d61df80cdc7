import Analytics
import Foundation
import Glibc
import JSON
import Platform
import Testing

/// Bounded in size and in time, and never half.
@Suite struct RetentionTests {
    private let directory: String
    private let log: AnalyticsLog
    private static let start: Int64 = 1_796_040_000_000_000  // 2026-11-30T12:00:00Z
    private static let hour: Int64 = 3_600_000_000

    init() throws {
        var template = Array("/tmp/vicinity-retention-XXXXXX\0".utf8.map { CChar($0) })
        try #require(mkdtemp(&template) != nil)
        directory = String(decoding: template.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self)
        log = AnalyticsLog(path: "\(directory)/log.jsonl", limits: (size: 10 * Self.record(0).line.count, files: 3)) {
            Issue.record($0)
        }
    }

    private static func record(_ hour: Int) -> AnalyticsRecord {
        AnalyticsRecord(
            time: Timestamp(wall: start + Int64(hour) * Self.hour, boottime: 0), transition: .entered,
            network: "office", networkType: .wifi)
    }

    private static func moment(_ hour: Int) -> Int64 { start + Int64(hour) * Self.hour }

    private func text(_ path: String) -> String { (try? String(contentsOfFile: path, encoding: .utf8)) ?? "" }

    /// The hours of all lines, the oldest file first.
    private func hours() throws -> [Int] {
        try AnalyticsLog.paths(of: log.path, files: 3).flatMap { path in
            try text(path).split(separator: "\n").map { line in
                let value = try JSONValue(parsing: Array(line.utf8), maximumSize: 4_096)
                let hour = (0..<200).first { hour in
                    value["time"]?.string == AnalyticsRecord.text(of: Self.moment(hour))
                }
                return try #require(hour)
            }
        }
    }

    private func names() throws -> Set<String> { Set(try FileManager.default.contentsOfDirectory(atPath: directory)) }

    @Test func isBoundedInSize() throws {
        for hour in 0..<100 { #expect(log.append(Self.record(hour))) }
        #expect(try names() == ["log.jsonl", "log.jsonl.1", "log.jsonl.2", "log.jsonl.3"])
        #expect(try hours() == Array(60..<100))
        for path in AnalyticsLog.paths(of: log.path, files: 3) {
            #expect(text(path).utf8.count <= log.limits.size)
            var status = stat()
            #expect(stat(path, &status) == 0 && status.st_mode & 0o137 == 0)
        }
    }

    @Test func linesThatAreTooOldGoFromEachFile() throws {
        for hour in 0..<40 { log.append(Self.record(hour)) }
        #expect(log.drop(before: Self.moment(0)) == Self.moment(0))
        #expect(try hours() == Array(0..<40))
        #expect(log.drop(before: Self.moment(15)) == Self.moment(15))
        #expect(try hours() == Array(15..<40))
        #expect(try names() == ["log.jsonl", "log.jsonl.1", "log.jsonl.2"])
        #expect(log.drop(before: Self.moment(37)) == Self.moment(37))
        #expect(try hours() == [37, 38, 39] && names() == ["log.jsonl"])
        #expect(log.drop(before: Self.moment(50)) == nil)
        #expect(try names().isEmpty)
        #expect(log.append(Self.record(51)))
        #expect(try hours() == [51])
        var status = stat()
        #expect(stat(log.path, &status) == 0 && status.st_mode & 0o137 == 0)
    }

    /// The clock has been wrong in between.
    @Test func theOrderDoesNotMatter() throws {
        for hour in [90, 1, 2, 91, 3] { log.append(Self.record(hour)) }
        #expect(log.drop(before: Self.moment(3)) == Self.moment(3))
        #expect(try hours() == [90, 91, 3])
    }

    @Test func whatIsCutGoesWithWhatIsTooOld() throws {
        let line = String(decoding: Self.record(1).line, as: UTF8.self)
        let wrong = ["{\"time\":\"20", String(line.dropLast(9)), "\0\0\0", "{\"time\":\"x-11-30T12:00:00Z\"}"]
        try (wrong.joined(separator: "\n") + "\n" + line + String(decoding: Self.record(5).line, as: UTF8.self))
            .write(toFile: log.path, atomically: false, encoding: .utf8)
        #expect(log.drop(before: Self.moment(1)) == Self.moment(1))
        #expect(text(log.path).hasPrefix(wrong[0]))
        #expect(log.drop(before: Self.moment(2)) == Self.moment(5))
        #expect(try hours() == [5])
    }

    @Test func whatGetsOldTogetherGoesTogether() throws {
        for hour in 0..<3 { log.append(Self.record(hour)) }
        log.turn(before: Self.moment(0))
        #expect(try names() == ["log.jsonl"])
        log.turn(before: Self.moment(1))
        #expect(try names() == ["log.jsonl.1"])
        log.turn(before: Self.moment(90))
        log.append(Self.record(3))
        #expect(try hours() == [0, 1, 2, 3])
    }

    @Test func purgingLeavesNothing() throws {
        for hour in 0..<40 { log.append(Self.record(hour)) }
        try "x".write(toFile: log.path + ".new", atomically: false, encoding: .utf8)
        try "x".write(toFile: directory + "/other", atomically: false, encoding: .utf8)
        #expect(try log.purge() == 4)
        #expect(try names() == ["other"])
        #expect(try log.purge() == 0)
        log.append(Self.record(1))
        #expect(try hours() == [1])
    }

    @Test func linksAreNotFollowed() throws {
        try String(decoding: Self.record(1).line, as: UTF8.self)
            .write(toFile: directory + "/other", atomically: false, encoding: .utf8)
        symlink(directory + "/other", log.path)
        var problems: [Int32] = []
        let log = AnalyticsLog(path: log.path) { problems.append($0.code) }
        #expect(log.drop(before: Self.moment(9)) == nil)
        #expect(problems == [ELOOP])
        #expect(text(directory + "/other").isEmpty == false)
    }

    /// Killed at any moment of its life, it has whole lines, each once and in order, and at most one that is cut.
    @Test(arguments: 0..<16)
    func aKilledWriterLeavesNoWrongLine(round: Int) async throws {
        let path = log.path
        for life in 0..<2 {
            let microseconds = 30_000 + round * 11_000 + life * 5_300
            await #expect(processExitsWith: .signal(SIGALRM)) {
                [path = path as String, microseconds = microseconds as Int] in
                let size = 10 * RetentionTests.record(0).line.count
                let log = AnalyticsLog(path: path, limits: (size: size, files: 3)) { _ in exit(1) }
                var hour = RetentionTests.lastHour(path) + 1
                // By default it kills, wherever the process is.
                signal(SIGALRM, SIG_DFL)
                var timer = itimerval()
                timer.it_value.tv_usec = microseconds
                setitimer(__itimer_which_t(ITIMER_REAL.rawValue), &timer, nil)
                while true {
                    log.append(RetentionTests.record(hour))
                    if hour.isMultiple(of: 11) { log.drop(before: RetentionTests.moment(hour - 25)) }
                    if hour.isMultiple(of: 7) { log.turn(before: RetentionTests.moment(hour - 4)) }
                    hour += 1
                }
            }
            try check()
        }
    }

    private func check() throws {
        var hours: [Int64] = []
        var cut = 0
        for path in AnalyticsLog.paths(of: log.path, files: 3) {
            for line in text(path).split(separator: "\n") {
                guard let value = try? JSONValue(parsing: Array(line.utf8), maximumSize: 4_096) else {
                    cut += 1
                    continue
                }
                let time = try #require(value["time"]?.string)
                hours.append(try #require(Self.hour(of: time)))
            }
        }
        #expect(cut <= 1)
        let first = try #require(hours.first)
        #expect(hours == Array(first..<first + Int64(hours.count)))
        #expect(hours.count >= 3)
        let known = AnalyticsLog.paths(of: log.path, files: 3).flatMap { [$0, "\($0).new"] }
        #expect(try names().isSubset(of: known.map { String($0.split(separator: "/").last ?? "") }))
    }

    private static func hour(of time: String) -> Int64? {
        let formatter = ISO8601DateFormatter()
        return formatter.date(from: time).map { (Int64($0.timeIntervalSince1970) - start / 1_000_000) / 3_600 }
    }

    private static func lastHour(_ path: String) -> Int {
        for path in AnalyticsLog.paths(of: path, files: 3).reversed() {
            guard let text = try? String(contentsOfFile: path, encoding: .utf8),
                let line = text.split(separator: "\n").last(where: { $0.hasSuffix("}") })
            else { continue }
            return Int(hour(of: String(line.dropFirst(9).prefix(20))) ?? 0)
        }
        return 0
    }
}
