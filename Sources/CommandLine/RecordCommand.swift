internal import Environment
internal import Glibc
internal import Platform
internal import Rules
internal import WiFi

/// `vicinity record`: what the kernel tells, into a file that `vicinity watch --replay` and Wireshark read.
enum RecordCommand: Subcommand {
    static let name = "record"
    static let operands = "FILE"
    static let operandKinds: [WordKind] = [.file]
    static let summary = "Record what the kernel tells, without keys, for `watch --replay` or a report."
    static let options: [Arguments.Option] = [
        .init("for", "DURATION", "stop by itself, after so many seconds, or 30m or 8h; without it Ctrl-C does")
    ]
    static let notes = """
        The file is its owner's alone (0600), and none that is there is overwritten.

        Exit status: 0, 64 usage, 73 the file is there already, 74 it cannot be written, 77 you may not write there.
        """
    static let examples = [
        (line: "vicinity record day.pcap --for 8h", meaning: "a day's recording")
    ]

    static func run(_ arguments: Arguments) throws -> Int32 {
        try arguments.expectOperands(1...1, "a file")
        let path = arguments.operands[0]
        let duration = try arguments.all("for", "a number of seconds, or a duration such as 30m or 8h") { text in
            (DurationText.microseconds(of: text) ?? DurationText.microseconds(of: "\(text)s"))
                .flatMap { (1...1_000_000_000_000).contains($0) ? $0 : nil }
        }.last
        // It tells names of networks, so it is for its owner alone; and nothing that is there is overwritten.
        let file = FileDescriptor(
            owning: try SystemError.check("open", path) {
                unsafe open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0o600)
            })
        let descriptor = file.rawValue
        Output.write(Recording.head(at: .now())[...], to: descriptor)
        let loop = try EventLoop()
        let watcher = EnvironmentWatcher(on: loop)
        try watcher.start { time, fact in
            Output.write(Recording.records(of: fact, at: time)[...], to: descriptor)
        }
        if Output.isTerminal {
            Output.line("recording into \(path.utf8.displayText): names of networks, but no keys; Ctrl-C ends it")
        }
        if let duration { loop.schedule(at: Timestamp.now().boottime + duration) { loop.stop() } }
        loop.run()
        return 0
    }
}
