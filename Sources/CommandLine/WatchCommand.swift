internal import Agent
internal import Environment
internal import Feed
internal import Glibc
internal import JSON
internal import Netlink
internal import Platform
internal import WiFi

/// `vicinity watch`: the feed, from the agent, from the kernel, or from a capture.
enum WatchCommand: Subcommand {
    static let name = "watch"
    static let operands = ""
    static let summary = "Tell what happens: networks joined, lost and roamed, rules and actions."
    static let options: [Arguments.Option] = [
        .init(
            "format", "FORMAT", "json (one object a line) or text; text on a terminal", .one(of: OutputFormat.self)),
        .init("direct", nil, "read the kernel, without an agent"),
        .init("replay", "FILE", "read a recording, or a capture of an nlmon device", .file),
        .init("speed", "FACTOR", "with --replay: how many times faster; 0, the default, is at once"),
        .socket,
        .init("since", "ID", "what came after the line with this id, or since then, such as 2h (ago) or 12:30"),
        .init(
            "type", "TYPES", "only these types, separated by commas; wifi.* is allowed",
            .usually(FeedTypes.families + FeedTypes.all)),
        .init("interface", "NAME", "only this interface", .interface),
        .init("network", "NETWORK", "only what is told of this network of the rule files", .network),
        .init("rule", "RULE", "only what is told of this rule and its actions", .rule),
    ]

    static let notes = """
        Exit status: 0, 64 usage, 65 no capture, 66 no such file, 69 the agent does not run or has ended, 77 you may
        not see where this machine is.
        """
    static let examples = [
        (
            line: "vicinity watch --since 1h --type 'wifi.*,network.*'",
            meaning: "what happened in the last hour, and what happens"
        ),
        (
            line: "vicinity watch --format json --type wifi.joined | jq -c .wifi",
            meaning: "each network that is joined, for programs"
        ),
    ]

    static func run(_ arguments: Arguments) throws -> Int32 {
        try arguments.expectOperands(0...0, "nothing but options")
        var printer = LinePrinter(
            try arguments.choice("format", OutputFormat.self) ?? (Output.isTerminal ? .text : .json))
        (printer.network, printer.rule) = (arguments["network"], arguments["rule"])
        var request = FeedRequest()
        request.filter.types = try FeedTypes.patterns(arguments["type"])
        request.filter.interface = arguments["interface"]
        if let since = arguments["since"] {
            if let moment = MomentText.microseconds(of: since, now: Timestamp.now().wall) {
                // Of a line of another life: everything that is held.
                request.since = ("0000000000000000", 0)
                printer.since = CivilTime(utc: moment).iso8601
            } else {
                guard let colon = since.lastIndex(of: ":"), let sequence = UInt64(since[since.index(after: colon)...])
                else {
                    throw UsageError(
                        description: "--since is the id of a line, such as 9f0c3a…:42, or \(MomentText.form)")
                }
                request.since = (String(since[..<colon]), sequence)
            }
        }
        if let file = arguments["replay"] {
            let speed = arguments["speed"].map { Double($0) } ?? 0
            guard let speed, speed >= 0, speed.isFinite else {
                throw UsageError(description: "--speed is a number from 0")
            }
            return try replay(file, speed, printer, request.filter)
        }
        guard !arguments.has("direct") || printer.network == nil && printer.rule == nil else {
            throw UsageError(description: "--network and --rule need the agent, which --direct is without")
        }
        if arguments.has("direct") { return try direct(printer, request.filter) }
        let path = arguments["socket"] ?? AgentPaths.defaultSocket
        do {
            return try follow(path, request, printer)
        } catch let error as SystemError where error.code == ENOENT && arguments["socket"] == nil {
            guard !AgentPaths.isAgentInstalled else {
                Output.error("the agent does not run (\(error)); start it, or read the kernel with --direct")
                return 69
            }
            Output.error("no agent is installed here: reading the kernel, as with --direct")
            return try direct(printer, request.filter)
        }
    }

    private static func follow(_ path: String, _ request: FeedRequest, _ printer: LinePrinter) throws -> Int32 {
        var client = try FeedClient(connectingTo: path, request: request)
        var (isFirst, isDenied) = (true, false)
        while let line = client.next() {
            printer.print(line)
            // The first line says what this reader may see.
            if isFirst { isDenied = printer.isDenial(line) }
            isFirst = false
        }
        if isDenied { return 77 }
        Output.error("the agent ended the connection")
        return 69
    }

    private static func direct(_ printer: LinePrinter, _ filter: FeedFilter) throws -> Int32 {
        let loop = try EventLoop()
        let watcher = EnvironmentWatcher(on: loop)
        var encoder = FeedEncoder()
        watcher.onChange = { [unowned watcher] changes in
            for change in changes {
                let line = encoder.line(for: FeedEvent(change, in: watcher.environment))
                if filter.admits(line) { printer.print(line.octets.dropLast()) }
            }
        }
        try watcher.start()
        if !watcher.hasWireless {
            Output.error("\(NetlinkError.familyNotFound("nl80211")); links, addresses and routes are told all the same")
        }
        printer.print(encoder.snapshotLine(of: watcher.environment, permission: .full).octets.dropLast())
        loop.run()
        return 0
    }

    private static func replay(_ file: String, _ speed: Double, _ printer: LinePrinter, _ filter: FeedFilter) throws
        -> Int32
    {
        let contents: [UInt8]
        do throws(SystemError) { contents = try Files.read(file, limit: 1 << 30) } catch {
            Output.error("\(error)".terminalText)
            return 66
        }
        var replay: Replay
        do throws(CaptureError) {
            replay = try Replay(contents)
        } catch {
            let hint = contents.first == UInt8(ascii: "{") ? "; for a feed there is `vicinity replay`" : ""
            Output.error("\(file.utf8.displayText): \(error)\(hint)")
            return 65
        }
        var encoder = FeedEncoder()
        let first = encoder.snapshotLine(
            of: replay.environment, permission: .full, at: replay.start ?? .now())
        printer.print(first.octets.dropLast())
        var last = replay.start?.wall
        while let step = replay.next() {
            if speed > 0, let before = last { pause(Double(step.time.wall - before) / speed) }
            last = step.time.wall
            for change in step.changes {
                let line = encoder.line(for: FeedEvent(change))
                if filter.admits(line) { printer.print(line.octets.dropLast()) }
            }
        }
        let counters = replay.counters
        if counters.malformed > 0 {
            Output.error("\(file.utf8.displayText): \(counters.malformed) messages were not understood")
        }
        return 0
    }

    private static func pause(_ microseconds: Double) {
        guard microseconds > 0 else { return }
        let whole = Int64(min(microseconds, 1e15))
        var time = timespec(tv_sec: Int(whole / 1_000_000), tv_nsec: Int(whole % 1_000_000) * 1_000)
        unsafe nanosleep(&time, nil)
    }
}

/// Prints lines of the feed in the form that was asked for.
struct LinePrinter {
    private let format: OutputFormat
    private let text = FeedText(isColored: Output.isColored)
    /// As the feed writes moments: what happened before it is left out, and the gap that this makes.
    var since: String?
    /// Nothing else is printed but the snapshot and gaps, where they are given.
    var network: String?
    var rule: String?

    init(_ format: OutputFormat) {
        self.format = format
    }

    /// - Parameter line: without its LF.
    func print(_ line: ArraySlice<UInt8>) {
        if since != nil || network != nil || rule != nil, !isWanted(line) { return }
        switch format {
        case .json: Output.write(line + [UInt8(ascii: "\n")])
        case .text: if let text = text.text(of: line) { Output.line(text) }
        }
    }

    private func isWanted(_ line: ArraySlice<UInt8>) -> Bool {
        guard let value = try? JSONValue(parsing: line, maximumSize: 2 * FeedLine.maximumLength),
            let time = value["time"]?.string, let type = value["type"]?.string
        else { return true }
        switch type {
        case "environment.snapshot": return true
        // Asking for all that is held makes a gap of what another life of the agent told.
        case "feed.gap": return since == nil || value["gap"]?["lost"]?.isNull != true
        default: break
        }
        if let since, time < since { return false }
        guard network != nil || rule != nil else { return true }
        let told = (value["rule"]?["name"] ?? value["action"]?["rule"])?.string
        return network.map { value["network"]?["name"]?.string == $0 } ?? false || rule.map { told == $0 } ?? false
    }

    /// Whether it is the only line, for a reader who may see nothing or whom the agent turns away.
    func isDenial(_ line: ArraySlice<UInt8>) -> Bool {
        guard let value = try? JSONValue(parsing: line, maximumSize: 2 * FeedLine.maximumLength),
            let permission = value["permission"]?.string.flatMap({ FeedPermission(rawValue: $0) })
        else { return false }
        return permission.view == .nothing
    }
}
