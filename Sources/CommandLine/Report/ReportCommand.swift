internal import Analytics
internal import Feed
internal import Glibc
internal import Platform
internal import WiFi

/// `vicinity report`: where this machine was and what happened there, of one machine or of a fleet.
enum ReportCommand: Subcommand {
    static let name = "report"
    static let operands = ""
    static let summary = "Tell how long this machine was on which network and what happened there; also as a page."
    static let options: [Arguments.Option] = [
        .init("since", "TIME", "from then on: 30d (ago, the default), 1w, yesterday, 2026-11-30"),
        .init("until", "TIME", "before then; now by default"),
        .init("html", "FILE", "write one page of HTML that needs nothing else, 0600; - for standard output", .file),
        .init("force", nil, "with --html: replace a file that is no report"),
        .init(
            "fleet", "DIR", "of many machines' analytics logs instead: DIR/NAME.jsonl or DIR/NAME/…, also rotated ones",
            .directory),
        .init("k", "COUNT", "with --fleet: tell of no group of fewer machines; 5 by default"),
        .init("format", "FORMAT", "json (one object) or text (the default)", .one(of: OutputFormat.self)),
        HistoryCommand.file,
    ]
    static let notes = """
        It is made from the history, which only root and the user vicinity may read. Time asleep counts for no network, and
        neither does time before the first record. A line of the history that was cut is left out, and how many were is
        said.

        With sudo, the file of --html is root's: `sudo vicinity report --html - > report.html` makes it yours.

        With --fleet it is made from the logs of analytics that machines have sent. A group of fewer than --k machines is told
        only together with others, so that none can be reckoned from the sum; where there are not enough of them, the next
        larger one is left out as well. Files have to be unpacked first.

        Exit status: 0, 64 usage, 66 no such file, 73 the file is there already and is no report, 74 it cannot be read or
        written, 77 you may not.
        """
    static let examples = [
        (line: "sudo vicinity report --since 1w", meaning: "the last week, in the terminal"),
        (line: "sudo vicinity report --since 90d --html report.html", meaning: "a quarter of a year, as a page"),
        (line: "vicinity report --fleet logs/ --k 20", meaning: "what the machines of an organisation come to"),
    ]

    static func run(_ arguments: Arguments) throws -> Int32 {
        try arguments.expectOperands(0...0, "nothing but options")
        let now = Timestamp.now().wall
        let since = try moment("since", arguments, now) ?? now - 30 * 86_400_000_000
        let until = try moment("until", arguments, now) ?? now
        guard since < until else { throw UsageError(description: "--until is not after --since") }
        let format = try arguments.choice("format", OutputFormat.self)
        if let directory = arguments["fleet"] { return try runFleet(directory, arguments, format ?? .text) }
        guard !arguments.has("k") else { throw UsageError(description: "--k is of use with --fleet only") }
        guard arguments["html"] == nil || format == nil else {
            throw UsageError(description: "--html and --format exclude each other")
        }
        guard arguments["html"] != nil || !arguments.has("force") else {
            throw UsageError(description: "--force is of use with --html only")
        }
        var builder = HistoryReportBuilder(since: since, until: until)
        var skipped = 0
        let file = arguments["file"]
        let status = HistoryCommand.read(file, for: name, onSkipped: { skipped = $0 }) { record, _ in
            builder.take(record)
        }
        guard status == 0 else { return status }
        let report = builder.finish(boot: file == nil ? Boot.identifier : nil, now: now)
        if let path = arguments["html"] {
            let page = ReportPage(report, machine: file == nil ? hostName : nil, skipped: skipped, now: now)
            return try write(page.octets, to: path, isForced: arguments.has("force"))
        }
        switch format ?? .text {
        case .json: Output.write(ReportAnswer.octets(report, skipped: skipped)[...])
        case .text:
            for line in ReportScreen(report: report, bars: bars).lines() { Output.line(line) }
        }
        return 0
    }

    private static var bars: ReportBars {
        ReportBars(width: Output.width, isColored: Output.isColored, hasBlocks: ReportBars.localeHasBlocks)
    }

    private static func moment(_ name: String, _ arguments: Arguments, _ now: Int64) throws(UsageError) -> Int64? {
        try arguments.all(name, MomentText.form) { MomentText.microseconds(of: $0, now: now) }.last
    }

    private static var hostName: String? {
        var name = [CChar](repeating: 0, count: 256)
        guard unsafe gethostname(&name, name.count - 1) == 0, name[0] != 0 else { return nil }
        return String(decoding: name.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
    }

    // MARK: A fleet

    private static func runFleet(_ directory: String, _ arguments: Arguments, _ format: OutputFormat) throws -> Int32 {
        for name in ["html", "file", "force"] where arguments.has(name) {
            throw UsageError(description: "--\(name) and --fleet exclude each other")
        }
        let least = try arguments.all("k", "a number from 2 to 1000") { text in
            Int(text).flatMap { (2...1_000).contains($0) ? $0 : nil }
        }.last
        let now = Timestamp.now().wall
        let (since, until) = (try moment("since", arguments, now), try moment("until", arguments, now))
        let files = try FleetFiles(in: directory)
        if !files.packed.isEmpty {
            Output.error("\(SpanText.counted(files.packed.count, "packed file")) left out: unpack them first")
        }
        guard !files.machines.isEmpty else {
            Output.error("\(directory.utf8.displayText): no *.jsonl in it, nor in directories in it")
            return 66  // EX_NOINPUT
        }
        let tally = FleetTally(
            least: least ?? 5, since: since.map { CivilTime(utc: $0).iso8601 } ?? "",
            until: until.map { CivilTime(utc: $0).iso8601 } ?? "")
        let (sum, failures) = try FleetReading.run(files, tally)
        for failure in failures.prefix(10) { Output.error("\(failure)".terminalText) }
        if failures.count > 10 { Output.error("and \(failures.count - 10) more files that cannot be read") }
        if sum.broken > 0 {
            Output.error("\(SpanText.counted(sum.broken, "line")) left out, which are cut or no records")
        }
        let report = FleetReport(sum)
        switch format {
        case .json: Output.write(FleetScreen.octets(report)[...])
        case .text: for line in FleetScreen(report: report, bars: bars).lines() { Output.line(line) }
        }
        return failures.isEmpty ? 0 : 74  // EX_IOERR
    }

    // MARK: The file

    private static func write(_ page: [UInt8], to path: String, isForced: Bool) throws(SystemError) -> Int32 {
        guard path != "-" else {
            Output.write(page[...])
            return 0
        }
        let former = try former(at: path)
        guard former != .other || isForced else {
            Output.error("\(path.utf8.displayText) is no report, and is left as it is; --force replaces it")
            return 73  // EX_CANTCREAT
        }
        try NewFile.write(page, to: path, replaces: former != .none, mode: 0o600)
        if Output.isTerminal { Output.line("written: \(path.utf8.displayText), for your eyes alone") }
        return 0
    }

    private enum Former {
        case none, report, other
    }

    /// What has that name now. A link is none of ours, wherever it leads.
    private static func former(at path: String) throws(SystemError) -> Former {
        let flags = O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY
        let raw = unsafe open(path, flags)
        guard raw >= 0 else {
            let error = SystemError("open", path)
            if error.isMissing { return .none }
            if error.code == ELOOP { return .other }
            throw error
        }
        let file = FileDescriptor(owning: raw)
        var (status, beginning) = (stat(), [UInt8](repeating: 0, count: 256))
        let descriptor = file.rawValue
        try SystemError.check("fstat", path) { unsafe fstat(descriptor, &status) }
        if status.st_mode & S_IFMT == S_IFDIR { throw SystemError("open", path, code: EISDIR) }
        guard status.st_mode & S_IFMT == S_IFREG else { return .other }
        let count = try SystemError.check("read", path) { unsafe read(descriptor, &beginning, 256) }
        return ReportPage.isReport(beginning.prefix(count)) ? .report : .other
    }
}
