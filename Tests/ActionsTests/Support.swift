import Actions
import Glibc
import Platform
import Testing

/// A runner on a loop that the test's own thread runs.
final class Stage {
    let loop: EventLoop
    let runner: CommandRunner
    private(set) var isLate = false

    init(maximumRunning: Int = 16, patience: Int64 = 5_000_000) throws {
        loop = try EventLoop()
        runner = CommandRunner(loop: loop, maximumRunning: maximumRunning, patience: patience)
    }

    /// Runs the loop until somebody stops it; a test that hangs ends after `limit` seconds and fails.
    func play(limit: Int64 = 20) {
        let loop = loop
        loop.schedule(at: Timestamp.now().boottime + limit * 1_000_000) { [weak self] in
            self?.isLate = true
            loop.stop()
        }
        loop.run()
        #expect(!isLate, "nothing ended the loop")
    }

    /// Runs one command to its end.
    static func result(of command: Command, patience: Int64 = 5_000_000) throws -> CommandResult {
        let stage = try Stage(patience: patience)
        var result: CommandResult?
        stage.runner.run(command) {
            result = $0
            stage.loop.stop()
        }
        stage.play()
        return try #require(result)
    }
}

extension Command {
    init(_ arguments: String..., timeout: Int64 = 15_000_000, lane: String = "lane") {
        self.init(arguments: arguments, timeout: timeout, lane: lane)
    }

    static func shell(_ script: String, timeout: Int64 = 15_000_000, lane: String = "lane") -> Command {
        Command("/bin/sh", "-c", script, timeout: timeout, lane: lane)
    }
}

extension CapturedOutput {
    var text: String { String(decoding: octets, as: UTF8.self) }
}

/// Whether a process exists and is no zombie.
func isAlive(_ process: pid_t) -> Bool {
    let descriptor = open("/proc/\(process)/stat", O_RDONLY | O_CLOEXEC)
    guard descriptor >= 0 else { return false }
    defer { close(descriptor) }
    var buffer = [UInt8](repeating: 0, count: 512)
    let count = max(read(descriptor, &buffer, buffer.count), 0)
    let text = String(decoding: buffer[..<count], as: UTF8.self)
    // `PID (NAME) STATE …`
    guard let state = text.split(separator: ")").last?.first(where: { $0 != " " }) else { return false }
    return state != "Z" && state != "X"
}
