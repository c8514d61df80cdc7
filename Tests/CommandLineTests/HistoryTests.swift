import Analytics
import Foundation
import JSON
import Platform
import Testing

@testable import CommandLine

/// What is told of the history, from lines as the log writes them.
@Suite(.timeLimit(.minutes(1))) struct HistoryTests {
    /// 2026-11-30T12:00:00Z
    private static let noon: Int64 = 1_796_040_000_000_000

    private func record(_ type: String, _ seconds: Int64, boot: String = "one") -> HistoryRecord {
        HistoryRecord(
            type, at: Timestamp(wall: Self.noon + seconds * 1_000_000, boottime: seconds), rulesDigest: "abcd",
            boot: boot)
    }

    private func rule(_ type: String, _ name: String, _ seconds: Int64, boot: String = "one") -> HistoryRecord {
        var record = record(type, seconds, boot: boot)
        record.rule = .init(name: name, file: "/etc/vicinity/rules.d/a.toml", line: 7, because: "on home\u{1b}[2J")
        return record
    }

    private func network(_ type: String, _ name: String, _ seconds: Int64, boot: String = "one") -> HistoryRecord {
        var record = record(type, seconds, boot: boot)
        record.network = .init(name: name, assurance: "keyed", minutes: type == "network.left" ? 3 : nil)
        record.evidence = ["ssid", "security"]
        return record
    }

    private func action(_ type: String, _ rule: String, _ seconds: Int64, because: String? = nil) -> HistoryRecord {
        var record = record(type, seconds)
        record.action = .init(id: 1, rule: rule, index: 0, kind: "command")
        record.action?.because = because
        return record
    }

    private func parsed(_ record: HistoryRecord) throws -> JSONValue {
        try JSONValue(parsing: record.line, maximumSize: 1 << 16)
    }

    private var day: [HistoryRecord] {
        [
            network("network.entered", "home", 0), rule("rule.activated", "nas", 1), action("action.started", "nas", 2),
            action("action.failed", "nas", 3, because: "exit 1"), rule("rule.skipped", "nas", 4),
            network("network.assurance_changed", "home", 5), rule("rule.deactivated", "nas", 10),
            network("network.left", "home", 11), rule("rule.activated", "away", 12),
        ]
    }

    // MARK: Filters

    private func admitted(_ words: String...) throws -> [String] {
        let arguments = try Arguments(words, knowing: HistoryCommand.options)
        let filter = try HistoryFilter(arguments, now: Self.noon + 60_000_000)
        return try day.map(parsed).filter { filter.admits($0) }.compactMap { $0["type"]?.string }
    }

    @Test func filtersAdmitWhatIsWanted() throws {
        #expect(try admitted().count == 9)
        #expect(try admitted("--rule", "nas").count == 5)
        #expect(try admitted("--network", "home", "--type", "network.left") == ["network.left"])
        #expect(try admitted("--since", "50s") == ["rule.deactivated", "network.left", "rule.activated"])
        #expect(try admitted("--since", "2026-11-30T12:00:10Z", "--until", "2026-11-30T12:00:11Z").count == 1)
        #expect(try admitted("--type", "rule.*,action.failed").count == 5)
        #expect(try admitted("--rule", "home") == [])
    }

    @Test(
        arguments: [
            ["--since", "soon"], ["--since", "1h", "--until", "2h"], ["--type", "rule.activatd"], ["--type", "x"],
            ["--until", ""],
        ])
    func filtersThatAdmitNothingAreRefused(words: [String]) throws {
        let arguments = try Arguments(words, knowing: HistoryCommand.options)
        #expect(throws: UsageError.self) { try HistoryFilter(arguments, now: Self.noon) }
    }

    // MARK: Forms

    @Test(
        arguments: [
            ("=cmd|' /C calc'!A0", "\"'=cmd|' /C calc'!A0\""), ("+1+1", "'+1+1"), ("-2+3", "'-2+3"),
            ("@SUM(A1)", "'@SUM(A1)"),
            ("\t=1", "\\x09=1"), ("  =1", "\"'  =1\""), ("\r\n=1", "\\x0d\\x0a=1"), ("a,b", "\"a,b\""),
            ("say \"hi\"", "\"say \"\"hi\"\"\""), ("\u{1b}[2J", "\\x1b[2J"), ("＝1", "'＝1"), ("-5", "-5"),
            ("plain", "plain"),
        ])
    func cellsAreNoFormulas(text: String, cell: String) throws {
        #expect(HistoryRow.csv([text, "x"]) == "\(cell),x")
    }

    @Test func rowsHaveAsManyCellsAsTheHead() throws {
        for record in try day.map(parsed) {
            let row = HistoryRow(record: record)
            #expect(row.csv.split(separator: ",", omittingEmptySubsequences: false).count == HistoryRow.heads.count)
            let text = row.text(isColored: false)
            #expect(!text.contains("\u{1b}") && text.contains("2026-1"))
        }
    }

    // MARK: The command

    private func vicinity(_ words: [String]) throws -> (status: Int32, output: String, complaint: String) {
        let process = Process()
        process.executableURL = TableTests.root.appendingPathComponent(".build/debug/vicinity")
        process.arguments = words
        let (output, errors) = (Pipe(), Pipe())
        process.standardOutput = output
        process.standardError = errors
        try process.run()
        let text = String(decoding: try output.fileHandleForReading.readToEnd() ?? Data(), as: UTF8.self)
        let complaint = String(decoding: try errors.fileHandleForReading.readToEnd() ?? Data(), as: UTF8.self)
        process.waitUntilExit()
        return (process.terminationStatus, text, complaint)
    }

    private func file(_ older: [UInt8], _ newer: [UInt8]) throws -> String {
        let path = NSTemporaryDirectory() + "vicinity-history-\(UInt64.random(in: 0 ... .max)).jsonl"
        try Data(older).write(to: URL(fileURLWithPath: path + ".1"))
        try Data(newer).write(to: URL(fileURLWithPath: path))
        return path
    }

    @Test func whatIsBrokenIsLeftOutAndCounted() throws {
        let lines = day.map(\.line)
        var newer = lines[4...].flatMap { $0 }
        newer += Array(repeating: UInt8(ascii: "x"), count: 200_000) + [0x0A] + Array("{\"time\":1}\n".utf8)
        newer += [0xFF, 0x1B, 0x0A] + lines[0].dropLast(20)
        let path = try file(lines[..<4].flatMap { $0 } + lines[0].prefix(30), newer)
        defer { for end in ["", ".1"] { unlink(path + end) } }
        let outcome = try vicinity(["history", "--file", path, "--format", "json"])
        #expect(outcome.status == 0)
        #expect(outcome.output == String(decoding: lines.flatMap { $0 }, as: UTF8.self))
        #expect(outcome.complaint == "vicinity: 5 lines were cut or are no records, and left out\n")
        let last = try vicinity(["history", "--file", path, "--limit", "2", "--format", "json"])
        #expect(last.output == String(decoding: lines.suffix(2).flatMap { $0 }, as: UTF8.self))
        #expect(try vicinity(["history", "--file", path + "x"]).status == 66)
        #expect(try vicinity(["history", "--file", "/dev/null"]).status == 74)
        #expect(try vicinity(["history", "--file", "/proc/self"]).status == 74)
        #expect(try vicinity(["history", "--limit", "0"]).status == 64)
    }

    @Test func whyTellsOfThePast() throws {
        let path = try file([], day.map(\.line).flatMap { $0 })
        defer { for end in ["", ".1"] { unlink(path + end) } }
        let held = try vicinity(["why", "nas", "--at", "2026-11-30T12:00:04Z", "--file", path])
        #expect(held.status == 0 && held.output.contains("rule nas held, since 2026-1"))
        #expect(held.output.contains("a.toml:7\n") && held.output.contains("command 0 failed: exit 1"))
        #expect(held.output.contains("on home\\x1b[2J") && !held.output.contains("\u{1b}"))
        let all = try vicinity(["why", "--at", "2026-11-30T12:00:12Z", "--file", path, "--format", "json"])
        let answer = try JSONValue(parsing: Array(all.output.utf8), maximumSize: 1 << 16)
        #expect(answer["explanation"]?["name"]?.string == "away" && answer["explanation"]?["truth"]?.string == "yes")
        #expect(answer["at"]?.string == "2026-11-30T12:00:12.000000Z")
        let before = try vicinity(["why", "nas", "--at", "2026-11-30T11:00:00Z", "--file", path])
        #expect(before.status == 68 && before.complaint.contains("nothing is recorded up to then"))
        let unknown = try vicinity(["why", "nsa", "--at", "2026-11-30T12:00:12Z", "--file", path])
        #expect(unknown.status == 68 && unknown.complaint.contains("did you mean \"nas\"?"))
        #expect(try vicinity(["why", "nas", "--at", "later"]).status == 64)
        #expect(try vicinity(["why", "nas", "--file", path]).status == 64)
    }

    // MARK: The past

    private func past(_ records: [HistoryRecord], _ name: String) throws -> [PastExplanation] {
        var place = PastPlace()
        for record in records { place.take(try parsed(record)) }
        return place.explanations(of: name)
    }

    @Test func theLastWordCounts() throws {
        let home = try past(Array(day[..<6]), "home")[0]
        #expect(
            home.isSo == true && home.since == "2026-11-30T12:00:00.000000Z" && home.evidence == ["ssid", "security"])
        #expect(try past(day, "home")[0].isSo == false)
        #expect(try past(Array(day[..<5]), "nas")[0].actions.count == 1)
        #expect(try past(day, "").map(\.name) == ["away"])
        #expect(try past(day, "nothing").isEmpty)
    }

    /// What held before a boot holds no longer, though nobody said so: the machine was off.
    @Test func aBootEndsWhatWasTold() throws {
        let records = Array(day[..<6]) + [rule("rule.activated", "away", 100, boot: "two")]
        #expect(try past(records, "").map(\.name) == ["away"])
        let nas = try past(records, "nas")[0]
        #expect(nas.isSo == nil && nas.text.contains("since the machine was started"))
        #expect(nas.lines(at: Self.noon)[0].contains("not known"))
    }

    @Test func manyNamesAndBootsTakeLittle() throws {
        var place = PastPlace()
        for index in 0..<20_000 {
            place.take(try parsed(action("action.failed", "nas", Int64(index), because: "x")))
        }
        #expect(place.explanations(of: "nas").isEmpty)
    }
}
