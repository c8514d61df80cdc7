import Environment
import Netlink
import Platform
import TestSupport
import Testing
import WiFi

/// Captures of a real kernel, replayed.
@Suite struct ReplayTests {
    private func told(_ fixture: String) throws -> [String] {
        var replay = try Replay(try Fixtures.read(fixture))
        var lines: [String] = []
        while let step = replay.next() {
            for change in step.changes {
                guard let line = change.line else { continue }
                lines.append("\(change.time.wall) \(change.interface?.name ?? "?") \(line)")
            }
        }
        print(replay.counters)
        return lines
    }

    @Test func a() throws {
        print(try told("evil-twin-wrong-key.pcap").joined(separator: "\n"))
        print(try told("hwsim-scenarios.pcap").joined(separator: "\n"))
    }
}
