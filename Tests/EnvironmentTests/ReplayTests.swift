import Environment
import Feed
import Netlink
import Platform
import Testing
import WiFi

/// Recordings of a real kernel, replayed.
@Suite struct ReplayTests {
    private func lines(of fixture: String) throws -> [String] {
        let path = "\(#filePath)".split(separator: "/").dropLast(2).joined(separator: "/")
        var replay = try Replay(try Files.read("/\(path)/Fixtures/\(fixture)", limit: 1 << 24))
        var lines: [String] = []
        while let step = replay.next() {
            for change in step.changes {
                switch change.kind {
                case .associating(let network): lines.append("associating \(network.ssid?.hexadecimal ?? "-")")
                case .joined(let network): lines.append("joined \(network.ssid?.hexadecimal ?? "-") \(network.security.rawValue)")
                case .joinFailed(_, let cause):
                    lines.append("failed status \(cause.status.map { "\($0)" } ?? "-") reason \(cause.reason.map { "\($0)" } ?? "-")")
                case .left(let network, let cause):
                    lines.append("left \(network.ssid?.hexadecimal ?? "-") reason \(cause.reason.map { "\($0)" } ?? "-")")
                case .roamed(let network, let previous): lines.append("roamed \(previous?.description ?? "-") \(network.bssid?.description ?? "-")")
                default: continue
                }
                lines[lines.count - 1] = "\(change.interface?.name ?? "?") " + lines[lines.count - 1]
            }
        }
        print("counters", replay.counters)
        return lines
    }

    @Test func evilTwin() throws {
        for line in try lines(of: "evil-twin-wrong-key.pcap") { print(line) }
    }
    @Test func scenarios() throws {
        for line in try lines(of: "hwsim-scenarios.pcap") { print(line) }
    }
}
