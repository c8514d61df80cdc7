import Analytics
import Foundation
import JSON
import Platform
import Testing
import WiFi

@testable import CommandLine

/// A report as people and programs get it.
@Suite(.timeLimit(.minutes(1))) struct ReportTests {
    /// 2026-11-30T12:00:00Z
    private static let noon: Int64 = 1_796_040_000_000_000
    private static let hostile = "<script>alert(1)</script>\u{202e}\u{1b}[31m\"'&"

    private func record(_ type: String, _ network: String, _ minutes: Int64) -> [UInt8] {
        var record = HistoryRecord(
            type, at: Timestamp(wall: Self.noon + minutes * 60_000_000, boottime: minutes), rulesDigest: "", boot: "one"
        )
        record.network = .init(name: network, assurance: "keyed", minutes: 1)
        return record.line
    }

    private func history() throws -> String {
        let path = NSTemporaryDirectory() + "vicinity-report-\(UInt64.random(in: 0 ... .max)).jsonl"
        let lines = [
            record("network.entered", "home", -1_500), record("network.left", "home", -1_000),
            record("network.entered", Self.hostile, -900), Array("{\"time\":\n".utf8),
            record("network.left", Self.hostile, -600),
        ]
        try Data(lines.flatMap { $0 }).write(to: URL(fileURLWithPath: path))
        return path
    }

    private func vicinity(
        _ words: [String], _ input: String? = nil, _ variables: [String: String] = [:]
    ) throws -> (status: Int32, output: String, complaint: String) {
        let process = Process()
        process.executableURL = TableTests.root.appendingPathComponent(".build/debug/vicinity")
        process.arguments = words
        process.environment = ["PATH": "/usr/bin:/bin", "TZ": "UTC"].merging(variables) { _, own in own }
        let (entry, output, errors) = (Pipe(), Pipe(), Pipe())
        process.standardInput = input == nil ? FileHandle.nullDevice : entry
        process.standardOutput = output
        process.standardError = errors
        try process.run()
        if let input {
            // Neither side may wait for the other.
            DispatchQueue.global().async {
                entry.fileHandleForWriting.write(Data(input.utf8))
                try? entry.fileHandleForWriting.close()
            }
        }
        let text = String(decoding: try output.fileHandleForReading.readToEnd() ?? Data(), as: UTF8.self)
        let complaint = String(decoding: try errors.fileHandleForReading.readToEnd() ?? Data(), as: UTF8.self)
        process.waitUntilExit()
        return (process.terminationStatus, text, complaint)
    }

    private static let window = ["--since", "2026-11-29", "--until", "2026-12-01"]

    @Test func tellsTimeForPeople() throws {
        let path = try history()
        defer { unlink(path) }
        let blocks = try vicinity(["report", "--file", path] + Self.window, nil, ["LC_ALL": "C.UTF-8"])
        #expect(blocks.status == 0 && blocks.complaint.contains("1 line was cut"))
        #expect(blocks.output.contains("█") && !blocks.output.contains("\u{1b}") && !blocks.output.contains("\u{202e}"))
        #expect(blocks.output.contains("8.3 h") && blocks.output.contains("5.0 h") && blocks.output.contains("1 visit"))
        #expect(blocks.output.split(separator: "\n").allSatisfy { $0.last != " " })
        let plain = try vicinity(["report", "--file", path] + Self.window, nil, ["LC_ALL": "C"])
        #expect(plain.output.contains("####") && !plain.output.contains("█"))
        let empty = try vicinity(["report", "--file", path, "--since", "2027-11-01", "--until", "2027-11-02"])
        #expect(empty.status == 0)
    }

    @Test func tellsTimeForPrograms() throws {
        let path = try history()
        defer { unlink(path) }
        let outcome = try vicinity(["report", "--file", path, "--format", "json"] + Self.window)
        let answer = try JSONValue(parsing: Array(outcome.output.utf8), maximumSize: 1 << 20)
        #expect(answer["networks"]?.array?.map { $0["name"]?.string } == ["home", Self.hostile])
        #expect(answer["networks"]?.array?.map { $0["minutes"]?.integer } == [500, 300])
        #expect(answer["counts"]?["transitions"]?.integer == 4 && answer["skipped_lines"]?.integer == 1)
        // 11:00 to 19:20, and 21:00 to 02:00 of the next day.
        let days = answer["days"]?.array?.map { day in day["minutes"]?.object?.members.map { $0.value.integer } }
        #expect(days == [[500, 180], [120]])
    }

    @Test func thePageIsSafeAndItsOwners() throws {
        let path = try history()
        let page = path + ".html"
        defer { for name in [path, page] { unlink(name) } }
        #expect(try vicinity(["report", "--file", path, "--html", page] + Self.window).status == 0)
        let text = try String(contentsOfFile: page, encoding: .utf8)
        #expect(text.contains("&lt;script&gt;alert(1)&lt;/script&gt;\\xe2\\x80\\xae\\x1b[31m&quot;&#39;&amp;"))
        #expect(!text.contains("<script") && !text.contains("\u{202e}") && !text.contains("\u{1b}"))
        #expect(text.contains("default-src &#39;none&#39;; style-src &#39;sha256-"))
        var status = stat()
        stat(page, &status)
        #expect(status.st_mode & 0o777 == 0o600)
        // A report is replaced, anything else is not; a link is not followed.
        #expect(try vicinity(["report", "--file", path, "--html", page] + Self.window).status == 0)
        #expect(try vicinity(["report", "--file", path, "--html", path] + Self.window).status == 73)
        symlink(path, page + ".link")
        defer { unlink(page + ".link") }
        #expect(try vicinity(["report", "--file", path, "--html", page + ".link"] + Self.window).status == 73)
        #expect(
            try vicinity(["report", "--file", path, "--html", page + ".link", "--force"] + Self.window).status == 0)
        #expect(
            try FileManager.default.attributesOfItem(atPath: page + ".link")[.type] as? FileAttributeType
                == .typeRegular)
        #expect(
            try vicinity(["report", "--file", path, "--html", "-"] + Self.window).output.hasPrefix("<!DOCTYPE html>"))
        #expect(try vicinity(["report", "--file", path, "--html", "/nothing/x.html"] + Self.window).status == 66)
        for words in [
            ["--html", page, "--format", "json"], ["--force"], ["--k", "3"], ["--fleet", "/tmp", "--html", page],
        ] {
            #expect(try vicinity(["report"] + words).status == 64)
        }
    }

    @Test func barsAndSpansFit() {
        let bars = ReportBars(width: 60, isColored: false, hasBlocks: true)
        #expect(bars.bar(1, columns: 4) == "████" && bars.bar(0, columns: 4) == "" && bars.bar(1e-9, columns: 4) == "▏")
        #expect(bars.bar(.infinity, columns: 4) == "████")
        for width in [40, 60, 80, 300] {
            let bars = ReportBars(width: width, isColored: false, hasBlocks: true)
            let rows = bars.rows([
                .init(name: "日本語のとても長い名前のネットワーク", share: 1, text: ["243 h", "34 %", "60 visits"]),
                .init(name: "a", share: 0.001, text: ["1 s", "< 1 %", "1 visit"]),
            ])
            #expect(rows.allSatisfy { $0.displayWidth <= max(width, 40) - ReportBars.margin })
        }
        let texts = [0, 59, 60, 3_570, 3_600, 47_999, 359_999, 360_000].map { SpanText.short($0 * 1_000_000) }
        #expect(texts == ["0 s", "59 s", "1 min", "1.0 h", "1.0 h", "13.3 h", "100.0 h", "100 h"])
        #expect(SpanText.share(1, of: 1_000) == "< 1 %" && SpanText.share(995, of: 1_000) == "100 %")
    }

    // MARK: Enriching

    @Test func linesStayAsTheyAre() throws {
        let input = """
            {"a":1}
            {}
             { "b" : [ 1, {"network_type":"x"} ] }\u{20}
            {"network_type":"mine"}
            {"wifi_environment":null,"network\\u005ftype":1}

            """
        let outcome = try vicinity(["enrich"], input)
        #expect(outcome.status == 0 && outcome.complaint.isEmpty)
        let lines = outcome.output.split(separator: "\n", omittingEmptySubsequences: false)
        let added = try #require(lines.first).dropFirst(6).dropLast()
        #expect(added.hasPrefix(",") && added.contains("\"network_type\":\""))
        #expect(
            lines[1] == "{\(added.dropFirst())}" && lines[2] == " { \"b\" : [ 1, {\"network_type\":\"x\"} ] \(added)} ")
        #expect(lines[4] == "{\"wifi_environment\":null,\"network\\u005ftype\":1}" && lines.count == 6)
    }

    @Test func brokenLinesAreDealtWith() throws {
        let input = "{\"a\":1}\nno\n\n[1]\r\n{\"a\":\n{\"z\":2}"
        let passed = try vicinity(["enrich"], input)
        #expect(passed.status == 0 && passed.output.contains("\nno\n\n[1]\r\n{\"a\":\n{\"z\":2,"))
        #expect(!passed.output.hasSuffix("\n"))
        let reported = try vicinity(["enrich", "--broken", "report", "--strict"], input)
        #expect(reported.status == 65 && reported.output == passed.output)
        #expect(
            reported.complaint.split(separator: "\n").count == 3 && reported.complaint.contains("line 2 is no JSON"))
        let dropped = try vicinity(["enrich", "--broken=drop"], input)
        #expect(dropped.output.split(separator: "\n").count == 2 && dropped.complaint.isEmpty)
        #expect(try vicinity(["enrich", "--strict"], "{}\n").status == 0)
        #expect(try vicinity(["enrich", "--broken", "keep"], "").status == 64)
    }

    @Test func longLinesComeThroughWhole() throws {
        let long = "{\"a\":\"" + String(repeating: "x", count: 3_000_000) + "\"}\n"
        let outcome = Array(try vicinity(["enrich"], long + "{\"b\":1}\n").output.utf8)
        #expect(outcome.prefix(long.utf8.count - 2) == Array(long.utf8).dropLast(2)[...])
        #expect(String(decoding: outcome.suffix(40), as: UTF8.self).contains(",\"network_type\""))
        let endless = String(repeating: "y", count: 20_000_000) + "\n{\"b\":1}\n"
        let passed = try vicinity(["enrich", "--broken", "report"], endless)
        let (before, after) = (Array(passed.output.utf8), Array(endless.utf8))
        #expect(before.prefix(after.count - 2) == after.dropLast(2))
        #expect(String(decoding: before.suffix(40), as: UTF8.self).contains(",\"network_type\""))
        #expect(passed.complaint.contains("line 1 is no JSON object: it is longer than 16 MiB"))
    }
}
