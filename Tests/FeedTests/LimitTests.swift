import Hashing
import Testing

@testable import Feed

/// Who may have how many connections.
@Suite struct LimitTests {
    @Test func aUserHasSoManyAtOnce() {
        var limits = ConnectionLimits(total: 1_000)
        for _ in 0..<ConnectionLimits.perUser { #expect(limits.enter(7, at: 0) == nil) }
        #expect(limits.enter(7, at: 0) == .tooManyConnections)
        #expect(limits.enter(8, at: 0) == nil)
        limits.leave(7)
        #expect(limits.enter(7, at: 0) == nil)
    }

    @Test func aUserConnectsSoOften() {
        var limits = ConnectionLimits(total: 1_000)
        func attempt(_ user: UInt32, at time: Int64) -> FeedRefusal? {
            let refusal = limits.enter(user, at: time)
            if refusal == nil { limits.leave(user) }
            return refusal
        }
        for _ in 0..<ConnectionLimits.burst { #expect(attempt(7, at: 0) == nil) }
        #expect(attempt(7, at: 0) == .tooManyAttempts)
        #expect(attempt(8, at: 0) == nil && attempt(0, at: 0) == nil)
        // A second later as often as a second allows.
        let allowed = (0..<100).count { _ in attempt(7, at: 1_000_000) == nil }
        #expect(allowed == Int(ConnectionLimits.perSecond))
        // Whoever is refused does not have to wait longer for having tried.
        #expect(attempt(7, at: 1_100_000) == nil)
        #expect((0..<1_000).count { _ in attempt(7, at: 60_000_000) == nil } == ConnectionLimits.burst)
    }

    @Test func thereIsAlwaysRoomForRoot() {
        var limits = ConnectionLimits(total: 200)
        let others = (1...1_000 as ClosedRange<UInt32>).count { limits.enter($0, at: 0) == nil }
        #expect(others == 200 - ConnectionLimits.reserve)
        #expect(limits.enter(5_000, at: 0) == .full)
        for _ in 0..<ConnectionLimits.reserve { #expect(limits.enter(0, at: 0) == nil) }
        #expect(limits.enter(0, at: 0) == .full)
        #expect(limits.count == 200)
    }

    @Test func tenThousandUsersLeaveNothingBehind() {
        var limits = ConnectionLimits(total: 1_000)
        for user in 1...10_000 as ClosedRange<UInt32> {
            #expect(limits.enter(user, at: Int64(user) * 1_000_000) == nil)
            limits.leave(user)
        }
        #expect(limits.count == 0)
        #expect(Mirror(reflecting: limits).children.allSatisfy { ($0.value as? [UInt32: Int64])?.count ?? 0 <= 4_096 })
    }
}

/// The lines that are kept for all readers.
@Suite struct LineLogTests {
    private func line(_ octets: Int) -> FeedLine {
        FeedLine(type: "x", boottime: 0, octets: [UInt8](repeating: 0x20, count: octets))
    }

    private func add(_ count: Int, _ octets: Int, to log: inout LineLog) {
        for _ in 0..<count {
            if let next = log.excess { log.drop(before: next) }
            log.append(line(octets))
        }
    }

    @Test func theOldestGo() {
        var log = LineLog(limit: 64, octetLimit: 1 << 20)
        add(1_000, 10, to: &log)
        #expect(log.end == 1_000 && log.count <= 64 && log.count >= 56)
        #expect(log[log.start] != nil && log[log.end - 1] != nil)
        #expect(log[log.start - 1] == nil && log[log.end] == nil && log[.max] == nil)
    }

    /// Long lines are kept for a shorter while: it is memory that is limited.
    @Test func theyTakeSoMuchTogether() {
        var log = LineLog(limit: 4_096, octetLimit: 4 << 20)
        add(10_000, 8_192, to: &log)
        let octets = (log.start..<log.end).reduce(0) { $0 + (log[$1]?.octets.count ?? 0) }
        #expect(octets <= 4 << 20 && octets > 1 << 20)
        add(10_000, 100, to: &log)
        #expect(log.count > 3_500)
    }
}

enum Checksum {
    static func of(_ octets: [UInt8]) -> String { SHA256.hexadecimal(octets) }
}
