import Foundation
import Glibc
import Platform
import ProbeProtocol
import Probing
import Testing

extension ProbingTests {
    /// The helper by itself.
    @Suite(.serialized) struct ConfinementTests {
        /// A helper that was started, its input still open.
        private final class Helper {
            let process = Process()
            let input = Pipe()
            private let output = Pipe()

            init() throws {
                process.executableURL = URL(fileURLWithPath: ProbePaths.spawning.helper)
                process.standardInput = input
                process.standardOutput = output
                try process.run()
            }

            deinit { kill(process.processIdentifier, SIGKILL) }

            func tell(_ octets: [UInt8]) { try? input.fileHandleForWriting.write(contentsOf: octets) }

            /// What it said, when it has ended.
            func answer() throws -> ProbeAnswer? {
                let line = try output.fileHandleForReading.readToEnd() ?? Data()
                process.waitUntilExit()
                return ProbeAnswer(line: line)
            }

            func file(_ name: String) throws -> [String] {
                String(
                    decoding: try Files.read("/proc/\(process.processIdentifier)/\(name)", limit: 1 << 20),
                    as: UTF8.self
                ).split(separator: "\n").map(String.init)
            }
        }

        private func request(_ port: UInt16) throws -> ProbeRequest {
            ProbeRequest(
                interfaceName: "lo", interfaceIndex: 1, serverName: "inside.example", port: port,
                addresses: ["127.0.0.1"], purpose: .key([try #require(Identity.elliptic).pin]))
        }

        @Test func limitsItself() throws {
            let reached = DispatchSemaphore(value: 0)
            let server = try Listener {
                reached.signal()
                Listener.waitForEnd($0)
            }
            let helper = try Helper()
            helper.tell(try request(server.port).line)
            #expect(reached.wait(timeout: .now() + 10) == .success)
            let status = try helper.file("status")
            #expect(status.contains("NoNewPrivs:\t1"))
            #expect(status.contains("Threads:\t1"))
            #expect(status.contains("SigBlk:\t0000000000000000"))
            let limits = try helper.file("limits")
            func limit(_ name: String) -> [Substring] {
                Array(limits.first { $0.hasPrefix(name) }?.dropFirst(26).split(separator: " ").prefix(2) ?? [])
            }
            #expect(limit("Max core file size") == ["0", "0"])
            #expect(limit("Max file size") == ["0", "0"])
            #expect(limit("Max processes") == ["0", "0"])
            #expect(limit("Max open files") == ["8", "8"])
            #expect(limit("Max cpu time") == ["2", "2"])
            #expect(limit("Max address space") == ["536870912", "536870912"])
            #expect(try helper.answer() == .timedOut)
        }

        @Test func answersWithoutTheEndOfItsInput() throws {
            let identity = try #require(Identity.elliptic)
            let server = try TLSServer(identity)
            let helper = try Helper()
            helper.tell(try request(server.port).line)
            #expect(try helper.answer() == .proven(identity.pin))
            #expect(helper.process.terminationStatus == 0)
        }

        @Test func refusesWhatIsNoRequest() throws {
            let long = [UInt8](repeating: 0x20, count: ProbeRequest.maximumSize + 1)
            for octets in [[], Array("{}\n".utf8), Array("\n".utf8), [0xFF, 0xFE, 0x0A], long] {
                let helper = try Helper()
                helper.tell(octets)
                // Too much is refused without waiting for the end.
                if octets != long { try helper.input.fileHandleForWriting.close() }
                #expect(try helper.answer() == .badRequest)
            }
        }

        /// Not a word, or half a request and then silence.
        @Test(arguments: [false, true]) func endsWhenNobodyAsks(begins: Bool) throws {
            let started = Timestamp.now().boottime
            let helper = try Helper()
            if begins { helper.tell(Array(try request(443).line.dropLast())) }
            #expect(try helper.answer() == .badRequest)
            #expect((2_900_000...3_600_000).contains(Timestamp.now().boottime - started))
        }

        /// Its alarm ends it where it cannot end itself: here it was stopped, and goes on too late.
        @Test func endsByItsAlarm() throws {
            let helper = try Helper()
            let limit = Timestamp.now().boottime + 10_000_000
            func wait(until isSo: ([String]) -> Bool) throws {
                var isTrue = false
                while !isTrue, Timestamp.now().boottime < limit {
                    isTrue = isSo(try helper.file("status"))
                    poll(nil, 0, 5)
                }
                #expect(isTrue)
            }
            // What it does next after setting the alarm.
            try wait { $0.contains("NoNewPrivs:\t1") }
            kill(helper.process.processIdentifier, SIGSTOP)
            try wait { status in
                let pending = status.first { $0.hasPrefix("ShdPnd:") }?.suffix(16) ?? ""
                return (UInt64(pending, radix: 16) ?? 0) & 1 << (SIGALRM - 1) != 0
            }
            kill(helper.process.processIdentifier, SIGCONT)
            #expect(try helper.answer() == nil)
            #expect(helper.process.terminationReason == .uncaughtSignal)
            #expect(helper.process.terminationStatus == SIGALRM)
        }

        /// Whoever asked is gone before there is an answer.
        @Test func endsQuietlyWithoutAReader() throws {
            let path = ProbePaths.spawning.helper
            let said = try run("bash", "-c", "set -o pipefail; echo '{}' | \(path) | :; echo ${PIPESTATUS[1]}")
            #expect(["0\n", "74\n"].contains(said), "\(said)")
        }
    }
}
