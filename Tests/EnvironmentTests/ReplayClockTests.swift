import Environment
import Netlink
import Platform
import TestSupport
import Testing
import WiFi

/// The clock of a capture: civil time, which leaps and steps back.
@Suite(.timeLimit(.minutes(10))) struct ReplayClockTests {
    private func told(_ signals: [(wall: Int64, signal: Signal)]) throws -> [EnvironmentChange] {
        var file = Capture.fileHeader
        for (wall, signal) in signals {
            file += Capture.record(CapturedDatagram(wall: wall, bus: signal.bus, bytes: signal.bytes[...]))
        }
        var replay = try Replay(file)
        var changes: [EnvironmentChange] = []
        while let step = replay.next() { changes += step.changes }
        return changes
    }

    /// Found by fuzzing: while a handshake runs, the kernel is asked again and again, through all those years.
    @Test func leapsByACentury() throws {
        let changes = try told([
            (1_000_000, .interface()), (2_000_000, .connect(home)), (4_294_967_295_000_000, .disconnect(reason: 3)),
        ])
        #expect(changes.count { if case .associating = $0.kind { true } else { false } } == 1)
        #expect(changes.last?.time.boottime ?? .max < 1_000_000_000)
    }

    @Test func neverStepsBackItself() throws {
        let changes = try told([
            (1_700_000_000_000_000, .interface()), (1_700_000_001_000_000, .connect(home)),
            (1_600_000_000_000_000, .disconnect(reason: 3)), (1_600_000_001_000_000, .connect(home)),
        ])
        let times = changes.map(\.time.boottime)
        #expect(times.count >= 3)
        #expect(times == times.sorted())
    }
}
