internal import Environment
internal import Glibc
internal import Platform
internal import WiFi

/// `vicinity record`: what the kernel tells, into a file that `vicinity watch --replay` and Wireshark read.
enum RecordCommand: Subcommand {
    static let name = "record"
    static let operands = "FILE"
    static let operandKinds: [WordKind] = [.file]
    static let summary = "Record what the kernel tells, without keys, for `watch --replay` or a report."
    static let options: [Arguments.Option] = [
        .init("for", "SECONDS", "stop by itself; without it Ctrl-C does")
    ]

    static func run(_ arguments: Arguments) throws -> Int32 {
        try arguments.expectOperands(1...1, "a file")
        let path = arguments.operands[0]
        var duration: Int64?
        if let text = arguments["for"] {
            guard let seconds = Int64(text), (1...1_000_000).contains(seconds) else {
                throw UsageError(description: "--for is a number of seconds")
            }
            duration = seconds
        }
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
        if let duration { loop.schedule(at: Timestamp.now().boottime + duration * 1_000_000) { loop.stop() } }
        loop.run()
        return 0
    }
}
