import Analytics
import Environment
import Glibc
import JSON
import Platform
import Testing
import WiFi

@Suite struct AnalyticsRecordTests {
    private func record(
        _ wall: Int64, _ transition: AnalyticsRecord.Transition = .entered, _ ssid: String? = nil
    ) -> AnalyticsRecord {
        AnalyticsRecord(
            time: Timestamp(wall: wall * 1_000_000, boottime: 0), transition: transition, network: "office",
            networkType: .wifi, wifiEnvironment: ssid.flatMap { SSID(utf8: $0) }.map { PlaceHash.plain($0) })
    }

    @Test func writesOneLine() {
        // 2026-11-30T12:00:00Z
        #expect(
            String(decoding: record(1_796_040_000, .entered, "Corp-Staff").line, as: UTF8.self)
                == #"{"time":"2026-11-30T12:00:00Z","type":"network.entered","network":"office","network_type":"wifi","#
                + #""wifi_environment":"\#(PlaceHash.plain(Array("Corp-Staff".utf8)))"}"# + "\n")
        #expect(
            String(decoding: record(1_796_040_000, .left(minutes: 42)).line, as: UTF8.self)
                == #"{"time":"2026-11-30T12:00:00Z","type":"network.left","network":"office","network_type":"wifi","#
                + #""minutes":42}"# + "\n")
    }

    @Test(
        arguments: [
            (1_796_040_000, "2026-11-30T12:00:00Z"), (1_796_040_449, "2026-11-30T12:00:00Z"),
            (1_796_040_450, "2026-11-30T12:15:00Z"), (1_796_039_550, "2026-11-30T12:00:00Z"),
            (1_798_761_599, "2027-01-01T00:00:00Z"), (0, "1970-01-01T00:00:00Z"), (-451, "1969-12-31T23:45:00Z"),
        ] as [(Int64, String)])
    func roundsTimes(seconds: Int64, expected: String) throws {
        let value = try JSONValue(parsing: record(seconds).line, maximumSize: 8_192)
        #expect(value["time"] == .string(expected))
    }

    @Test func tellsLinkKinds() {
        #expect(
            [.wifi, .ethernet, .cellular, .tunnel, .bluetooth, .virtual, .loopback, .unknown, nil].map {
                NetworkType($0).rawValue
            } == ["wifi", "ethernet", "cellular", "vpn", "none", "none", "none", "none", "none"])
    }
}

@Suite struct AnalyticsLogTests {
    private let directory: String
    private let record = AnalyticsRecord(
        time: Timestamp(wall: 0, boottime: 0), transition: .entered, network: "office", networkType: .wifi)

    init() throws {
        var template = Array("/tmp/vicinity-analytics-XXXXXX\0".utf8.map { CChar($0) })
        try #require(mkdtemp(&template) != nil)
        directory = String(decoding: template.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self)
    }

    @Test func appendsLines() throws {
        let log = AnalyticsLog(path: "\(directory)/log.jsonl") { Issue.record($0) }
        log.append(record)
        log.append(record)
        #expect(contents(log.path) == record.line + record.line)
        var status = stat()
        stat(log.path, &status)
        #expect(status.st_mode & 0o137 == 0)
        // Rotated away.
        rename(log.path, "\(directory)/old")
        log.append(record)
        #expect(contents(log.path) == record.line)
    }

    @Test func endsACutLine() {
        let log = AnalyticsLog(path: "\(directory)/log.jsonl") { Issue.record($0) }
        put(Array("{\"time\":\"20".utf8), in: log.path)
        log.append(record)
        log.append(record)
        #expect(contents(log.path) == Array("{\"time\":\"20\n".utf8) + record.line + record.line)
    }

    @Test func reportsWhatGoesWrong() {
        symlink("\(directory)/elsewhere", "\(directory)/link")
        mkfifo("\(directory)/pipe", 0o600)
        var problems: [SystemError] = []
        for name in ["absent/log", "link", "pipe", "."] {
            let log = AnalyticsLog(path: "\(directory)/\(name)") { problems.append($0) }
            log.append(record)
            log.append(record)
            #expect(log.failures == 2)
        }
        #expect(problems.map(\.code) == [ENOENT, ENOENT, ELOOP, ELOOP, EINVAL, EINVAL, EISDIR, EISDIR])
        #expect(access("\(directory)/elsewhere", F_OK) != 0)
    }

    /// A file-size limit cuts a write as a full disk does; it concerns the whole process.
    @Test func survivesAFullDisk() async {
        await #expect(processExitsWith: .exitCode(0)) {
            signal(SIGXFSZ, SIG_IGN)
            let path = "/tmp/vicinity-full-\(getpid())"
            defer { unlink(path) }
            let record = AnalyticsRecord(
                time: Timestamp(wall: 0, boottime: 0), transition: .entered, network: "office", networkType: .wifi)
            let length = record.line.count
            var codes: [Int32] = []
            let log = AnalyticsLog(path: path) { codes.append($0.code) }
            func limit(_ octets: Int) {
                var limit = rlimit(rlim_cur: rlim_t(octets), rlim_max: rlim_t.max)
                setrlimit(__rlimit_resource_t(RLIMIT_FSIZE.rawValue), &limit)
            }
            limit(length + 10)
            log.append(record)
            log.append(record)
            log.append(record)
            limit(1 << 20)
            log.append(record)
            let expected = record.line + record.line.prefix(10) + [UInt8(ascii: "\n")] + record.line
            exit(codes == [ENOSPC, EFBIG] && log.failures == 2 && contents(path) == expected ? 0 : 1)
        }
    }
}

private func contents(_ path: String) -> [UInt8] {
    let descriptor = open(path, O_RDONLY | O_CLOEXEC)
    guard descriptor >= 0 else { return [] }
    defer { close(descriptor) }
    var buffer = [UInt8](repeating: 0, count: 64 << 10)
    return Array(buffer[..<max(read(descriptor, &buffer, buffer.count), 0)])
}

private func put(_ octets: [UInt8], in path: String) {
    let descriptor = open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0o640)
    #expect(write(descriptor, octets, octets.count) == octets.count)
    close(descriptor)
}
