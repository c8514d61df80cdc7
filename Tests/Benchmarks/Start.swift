import CPlatform
import Glibc
import Platform

/// From starting `vicinity watch --direct` to its first line, the snapshot, on a pipe.
struct Start {
    private let program: String

    init(of program: String) { self.program = program }

    func run(_ report: inout Report) throws {
        for _ in 0..<5 { _ = try measure() }
        let times = Samples(try (0..<100).map { _ in try measure() })
        report.section("Start: `vicinity watch --direct` to its first line on a pipe (100 starts)")
        report.add(
            "median", times.median, "ms", key: "start_to_snapshot_ms", goal: "<= 20", isMet: times.median <= 20)
        report.add("99 %", times.quantile(0.99), "ms")
    }

    private func measure() throws -> Double {
        var (reading, writing): (Int32, Int32) = (-1, -1)
        guard vicinity_pipe(&reading, &writing) == 0 else { throw SystemError("pipe2") }
        let output = FileDescriptor(owning: reading)
        let null = FileDescriptor(owning: try SystemError.check("open") { open("/dev/null", O_RDWR | O_CLOEXEC) })
        let words = [program, "watch", "--direct", "--format", "json"]
        var arguments: [UnsafeMutablePointer<CChar>?] = words.map { word in strdup(word) }
        arguments.append(nil)
        defer { arguments.forEach { free($0) } }
        var variables: [UnsafeMutablePointer<CChar>?] = [nil]
        var process: Int32 = 0
        let start = Clock.monotonic
        let code = vicinity_spawn(program, &arguments, &variables, null.rawValue, writing, null.rawValue, &process)
        close(writing)
        guard code == 0 else { throw SystemError("posix_spawn", program, code: code) }
        defer {
            kill(process, SIGKILL)
            waitpid(process, nil, 0)
        }
        var chunk = [UInt8](repeating: 0, count: 16_384)
        while true {
            let count = read(output.rawValue, &chunk, chunk.count)
            guard count > 0 else { throw SystemError("read", "\(program) ended without a snapshot") }
            if chunk[count - 1] == UInt8(ascii: "\n") { return Double(Clock.monotonic - start) / 1_000_000 }
        }
    }
}
