internal import Enrichment
internal import Glibc
internal import Platform

/// `vicinity enrich`: adds where the machine is to the events of any program, as they pass.
enum EnrichCommand: Subcommand {
    /// What becomes of a line that is no JSON object.
    enum Broken: String, CaseIterable {
        case pass, report, drop
    }

    static let name = "enrich"
    static let operands = ""
    static let summary = "Add where this machine is to JSON Lines: standard input to standard output."
    static let options: [Arguments.Option] = [
        .init(
            "broken", "HOW", "lines that are no JSON object: pass (the default), report (pass and tell) or drop",
            .one(of: Broken.self)),
        .init("strict", nil, "exit with 65 where there was such a line"),
        RuleSource.option, .socket,
    ]
    static let notes = """
        Each object gets wifi_environment, what stands for the name of the Wi-Fi network, and network_type: wifi, ethernet,
        cellular, vpn or none, as of the moment at which the line is read. A key that is there stays as it is, and so does
        everything else, octet by octet. Off Wi-Fi there is no wifi_environment.

        wifi_environment is sha256: and the SHA-256 of the name where the rule files list exactly this name and no private
        network does. For every other name it is made with the machine's key, by whoever may read that or else by the
        agent; where neither can be had there is none. Names with _nomap or _optout in them are nomap, all of them.

        No agent is needed: the kernel tells where the machine is.

        Exit status: 0, 64 usage, 65 broken lines with --strict or mistakes in --rules, 66 no such file, 71 the kernel does not tell, 74 reading or writing failed.
        """
    static let examples = [
        (line: "vicinity enrich < events.jsonl > enriched.jsonl", meaning: "a file of events"),
        (
            line: "vicinity enrich --strict | gzip > today.jsonl.gz",
            meaning: "a stream of them, which ends with 65 where a line was broken"
        ),
    ]

    static func run(_ arguments: Arguments) throws -> Int32 {
        try arguments.expectOperands(0...0, "nothing but options; the lines come from standard input")
        let broken = try arguments.choice("broken", Broken.self) ?? .pass
        var sources = EnvironmentLabeler.Sources()
        if let path = arguments["rules"] {
            // Mistakes in it would make every name a stranger's.
            do throws(RuleSource.Failure) { _ = try RuleSource.load(path) } catch { return error.status }
            sources.rules = path
        }
        if let path = arguments["socket"] { sources.socket = path }
        var stream = EnrichedStream(try EnvironmentLabeler(sources), broken)
        try stream.run()
        return arguments.has("strict") && stream.broken > 0 ? 65 : 0
    }
}

/// Lines from standard input to standard output, as soon as they are there.
private struct EnrichedStream {
    private let labeler: EnvironmentLabeler
    private let onBroken: EnrichCommand.Broken
    private var enricher = LineEnricher()
    private var input: [UInt8]
    private var output: [UInt8] = []
    /// Of a line that is too long to be looked at, everything is over but its end.
    private var isOverlong = false
    private var told = 0

    /// A line that is longer is no event; it passes, or not, as other broken ones do.
    private static let longestLine = 16 << 20
    private static let chunk = 256 << 10
    private static let tellingLimit = 20

    init(_ labeler: EnvironmentLabeler, _ onBroken: EnrichCommand.Broken) {
        (self.labeler, self.onBroken) = (labeler, onBroken)
        input = [UInt8](repeating: 0, count: Self.chunk)
    }

    var broken: Int { enricher.broken }

    mutating func run() throws(SystemError) {
        var progress = ProgressLine("enrich", total: Self.size, isWanted: Self.size != nil && !Output.isTerminal)
        var (octets, filled) = (Int64(0), 0)
        while true {
            let count = try read(after: filled)
            enricher.use(labeler.labels)
            octets += Int64(count)
            let end = filled + count
            filled = count == 0 ? finish(end) : takeLines(upTo: end, searched: filled)
            if !output.isEmpty {
                Output.write(output[...])
                output.removeAll(keepingCapacity: true)
            }
            progress.update(octets: octets, lines: enricher.lines)
            if count == 0 { break }
        }
        progress.finish()
        if onBroken == .report, told > Self.tellingLimit {
            Output.error("and \(told - Self.tellingLimit) more lines that are no JSON object")
        }
    }

    /// Of standard input, where it is a file.
    private static var size: Int64? {
        var status = stat()
        guard unsafe fstat(STDIN_FILENO, &status) == 0, status.st_mode & S_IFMT == S_IFREG else { return nil }
        return Int64(status.st_size)
    }

    private mutating func read(after filled: Int) throws(SystemError) -> Int {
        if input.count - filled < Self.chunk / 2 { input += [UInt8](repeating: 0, count: input.count) }
        let room = input.count - filled
        return try SystemError.check("read", "standard input") {
            unsafe input.withUnsafeMutableBytes { buffer in
                unsafe Glibc.read(STDIN_FILENO, buffer.baseAddress.map { unsafe $0 + filled }, room)
            }
        }
    }

    /// - Returns: how many octets of a line that has no end yet stand at the beginning of the input now.
    private mutating func takeLines(upTo end: Int, searched: Int) -> Int {
        var (start, next) = (0, searched)
        while let feed = lineFeed(in: next..<end) {
            take(start..<feed + 1)
            (start, next) = (feed + 1, feed + 1)
        }
        guard end - start <= Self.longestLine else {
            if !isOverlong { tooLong() }
            isOverlong = true
            if onBroken != .drop { output.append(contentsOf: input[start..<end]) }
            input = [UInt8](repeating: 0, count: Self.chunk)
            return 0
        }
        if start > 0, start < end {
            unsafe input.withUnsafeMutableBytes { buffer in
                guard let base = buffer.baseAddress else { return }
                unsafe memmove(base, base + start, end - start)
            }
        }
        return end - start
    }

    private func lineFeed(in range: Range<Int>) -> Int? {
        unsafe input.withUnsafeBytes { buffer in
            guard let base = buffer.baseAddress,
                let found = unsafe memchr(base + range.lowerBound, 0x0A, range.count)
            else { return nil }
            return unsafe UnsafeRawPointer(found) - base
        }
    }

    private mutating func finish(_ end: Int) -> Int {
        if end > 0 { take(0..<end) }
        return 0
    }

    private mutating func take(_ line: Range<Int>) {
        if isOverlong {
            isOverlong = false
            if onBroken != .drop { output.append(contentsOf: input[line]) }
            return
        }
        let number = enricher.lines + 1
        var place: Int?
        enricher.enrich(line, of: input, into: &output) { [onBroken] in
            place = $0
            return onBroken != .drop
        }
        if let place { tell(number, "it ceases to be one at octet \(place + 1)") }
    }

    private mutating func tooLong() {
        enricher.skip()
        tell(enricher.lines, "it is longer than \(Self.longestLine >> 20) MiB")
    }

    private mutating func tell(_ line: Int, _ why: String) {
        guard onBroken == .report else { return }
        told += 1
        if told <= Self.tellingLimit { Output.error("line \(line) is no JSON object: \(why)") }
    }
}
