import Foundation
import Glibc
import Netlink
import Platform
import ProbeProtocol
import Probing
import Testing

/// A prober on a loop that the test's own thread runs.
final class Stage {
    let loop: EventLoop
    let prober: Prober
    private(set) var isLate = false

    init(paths: ProbePaths = .spawning) throws {
        loop = try EventLoop()
        prober = Prober(on: loop, paths: paths)
    }

    /// Runs the loop until each of these has been true, one after the other, and no process is left: who waits for a
    /// child of any name, as the monitor of exit tests does, sees nothing but one that nobody reaps. Once for a stage.
    /// A test that hangs ends after `limit` seconds and fails.
    func play(limit: Int64 = 20, until steps: (() -> Bool)...) {
        let limit = Timestamp.now().boottime + limit * 1_000_000
        var rest = steps[...]
        rest.append { [prober] in prober.runningCount == 0 }
        func look() {
            while let step = rest.first, step() { rest.removeFirst() }
            if rest.isEmpty { return loop.stop() }
            if Timestamp.now().boottime > limit {
                isLate = true
                return loop.stop()
            }
            loop.schedule(at: Timestamp.now().boottime + 2_000) { look() }
        }
        look()
        loop.run()
        #expect(!isLate, "nothing ended the loop")
    }

    struct Result {
        var outcome: ProbeOutcome
        /// Seconds.
        var duration: Double
    }

    /// Probes until it was answered and no process is left.
    static func result(of question: ProbeQuestion, paths: ProbePaths = .spawning) throws -> Result {
        let stage = try Stage(paths: paths)
        var result: Result?
        let started = Timestamp.now().boottime
        stage.prober.probe(question) {
            #expect(result == nil, "answered twice")
            result = Result(outcome: $0, duration: Double(Timestamp.now().boottime - started) / 1_000_000)
        }
        stage.play { result != nil }
        #expect(children(named: paths.helper).isEmpty)
        return try #require(result)
    }

    static func outcome(of question: ProbeQuestion, paths: ProbePaths = .spawning) throws -> ProbeOutcome {
        try result(of: question, paths: paths).outcome
    }
}

extension ProbePaths {
    /// The helper that was just built, and no service manager.
    static var spawning: ProbePaths {
        var paths = ProbePaths()
        paths.socket = "/nonexistent/socket"
        paths.bus = "unix:path=/nonexistent/bus"
        return paths
    }

    static func helper(_ path: String) -> ProbePaths {
        var paths = ProbePaths.spawning
        paths.helper = path
        return paths
    }
}

extension ProbeQuestion {
    /// On the loopback interface.
    static func local(_ port: UInt16, _ pins: SPKIPin?..., name: String = "inside.example", timeout: Int64 = 3_000_000)
        -> ProbeQuestion
    {
        ProbeQuestion(
            interfaceIndex: 1, interfaceName: "lo", serverName: name, port: port, address: IPAddress("127.0.0.1"),
            purpose: .key(pins.compactMap { $0 }), timeout: timeout)
    }
}

extension ProbeQuestion {
    /// A page, on the loopback interface.
    static func page(_ port: UInt16, _ response: String? = nil, path: String = "/", timeout: Int64 = 3_000_000)
        -> ProbeQuestion
    {
        ProbeQuestion(
            interfaceIndex: 1, interfaceName: "lo", serverName: "check.example", port: port,
            address: IPAddress("127.0.0.1"), purpose: .page(path: path, response: response), timeout: timeout)
    }
}

extension ProbeOutcome {
    var isTLSFailure: Bool { if case .tlsFailed = self { true } else { false } }
    var failure: String? { if case .failed(let reason) = self { reason } else { nil } }
}

/// This process's children that run a program (or script), zombies among them.
func children(named program: String) -> [pid_t] {
    let name = program.split(separator: "/").last.map { String($0.prefix(15)) } ?? ""
    return Files.names(in: "/proc").compactMap { pid_t($0) }.filter { process in
        guard let status = try? Files.read("/proc/\(process)/status", limit: 16 << 10) else { return false }
        let lines = String(decoding: status, as: UTF8.self).split(separator: "\n")
        return lines.contains("PPid:\t\(getpid())") && lines.contains("Name:\t\(name)")
    }
}
