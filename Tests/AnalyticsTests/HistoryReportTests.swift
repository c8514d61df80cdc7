import JSON
import Platform
import Testing

@testable import Analytics

/// What a history comes to, from records as the agent writes them.
@Suite struct HistoryReportTests {
    /// 2026-11-30T12:00:00Z
    private static let noon: Int64 = 1_796_040_000_000_000
    private static let minute: Int64 = 60_000_000

    private var records: [HistoryRecord] = []
    private var boot = "one"

    private mutating func note(_ type: String, _ minutes: Int64, _ edit: (inout HistoryRecord) -> Void = { _ in }) {
        var record = HistoryRecord(
            type,
            at: Timestamp(wall: Self.noon + minutes * Self.minute, boottime: 1_000_000 + minutes * Self.minute),
            rulesDigest: "", boot: boot)
        edit(&record)
        records.append(record)
    }

    private mutating func network(_ type: String, _ name: String, _ minutes: Int64) {
        note(type, minutes) { $0.network = .init(name: name, assurance: "keyed") }
    }

    private mutating func rule(_ type: String, _ name: String, _ minutes: Int64) {
        note(type, minutes) { $0.rule = .init(name: name, file: "/a.toml", line: 7, because: "on home") }
    }

    private func report(
        since: Int64 = -1_000, until: Int64 = 1_000, boot: String? = nil, now: Int64 = 1_000
    ) throws -> HistoryReport {
        var builder = HistoryReportBuilder(
            since: Self.noon + since * Self.minute, until: Self.noon + until * Self.minute)
        for record in records { builder.take(try JSONValue(parsing: record.line, maximumSize: 8_192)) }
        return builder.finish(boot: boot, now: Self.noon + now * Self.minute)
    }

    private func minutes(_ report: HistoryReport) -> [String: Int64] {
        Dictionary(uniqueKeysWithValues: report.networks.map { ($0.name, $0.time / Self.minute) })
    }

    @Test mutating func timeIsFromEnteringToLeaving() throws {
        network("network.entered", "home", 0)
        network("network.assurance_changed", "home", 5)
        network("network.left", "home", 30)
        network("network.entered", "cafe", 40)
        network("network.left", "cafe", 45)
        network("network.entered", "home", 50)
        network("network.left", "home", 60)
        let report = try report()
        #expect(minutes(report) == ["home": 40, "cafe": 5])
        #expect(report.networks.map(\.name) == ["home", "cafe"] && report.networks[0].visits == 2)
        #expect(report.counts.transitions == 6 && report.placedTime == 45 * Self.minute)
        #expect(report.stays.map { ($0.start - Self.noon) / Self.minute } == [0, 40, 50])
    }

    @Test mutating func whatIsOutsideDoesNotCount() throws {
        network("network.entered", "home", 0)
        network("network.left", "home", 30)
        network("network.entered", "home", 100)
        let report = try report(since: 10, until: 110)
        #expect(minutes(report) == ["home": 20])
        #expect(report.counts.entered == 1 && report.counts.left == 1)
        #expect(try self.report(since: 31, until: 99).networks.isEmpty)
    }

    @Test mutating func whatIsSoNowIsSoUntilNow() throws {
        network("network.entered", "home", 0)
        rule("rule.activated", "nas", 0)
        #expect(try minutes(report(boot: "one", now: 90)) == ["home": 90])
        #expect(try report(boot: "one", now: 90).rules[0].held == 90 * Self.minute)
        // Of a copy, and of another boot, only what was recorded is known.
        rule("rule.skipped", "nas", 7)
        #expect(try minutes(report(boot: nil)) == ["home": 7])
        #expect(try minutes(report(boot: "two")) == ["home": 7])
    }

    @Test mutating func aBootEndsWhatWasSo() throws {
        network("network.entered", "home", 0)
        rule("rule.activated", "nas", 20)
        boot = "two"
        network("network.entered", "home", 500)
        network("network.left", "home", 510)
        let report = try report()
        #expect(minutes(report) == ["home": 30] && report.networks[0].visits == 2)
        #expect(report.rules.map(\.held) == [0])
    }

    @Test mutating func timeAsleepCountsForNothing() throws {
        network("network.entered", "home", 0)
        note("agent.suspended", 10)
        note("agent.resumed", 400)
        network("network.left", "home", 410)
        #expect(try minutes(report()) == ["home": 20])
        // Also where the machine never woke up.
        network("network.entered", "home", 500)
        note("agent.suspended", 510)
        boot = "two"
        note("agent.started", 800)
        #expect(try minutes(report()) == ["home": 30])
    }

    /// A restarted agent tells again where it is: that is no other visit, and the time between counts. Elsewhere it ends
    /// when the last agent was last heard of.
    @Test mutating func aRestartIsNoVisit() throws {
        network("network.entered", "home", 0)
        rule("rule.activated", "nas", 10)
        note("agent.started", 50)
        network("network.entered", "home", 50)
        network("network.left", "home", 60)
        network("network.entered", "cafe", 70)
        note("agent.stopped", 80)
        note("agent.started", 200)
        network("network.entered", "home", 200)
        network("network.left", "home", 220)
        let report = try report()
        #expect(minutes(report) == ["home": 80, "cafe": 10])
        #expect(report.networks.map(\.visits) == [2, 1])
    }

    @Test mutating func eventsAreCounted() throws {
        for minutes in 0..<3 as Range<Int64> {
            note("wifi.roamed", minutes) { $0.wifi = .init(environment: "sha256:ab", security: "wpa2-psk") }
        }
        note("wifi.join_failed", 4) {
            $0.wifi = .init(environment: nil, security: "wpa2-psk")
            $0.wifi?.reason = 15
            $0.wifi?.omitted = 40
        }
        for (type, minutes) in [("passed", 5), ("failed", 6), ("expired", 7)] as [(String, Int64)] {
            note("second_factor.\(type)", minutes) {
                $0.secondFactor = .init(rule: "sign-in", network: nil, because: "wrong")
            }
        }
        for (type, minutes) in [("succeeded", 8), ("failed", 9), ("started", 10)] as [(String, Int64)] {
            note("action.\(type)", minutes) {
                $0.action = .init(id: 1, rule: "nas", index: 0, kind: "command")
                $0.action?.exit = 3
            }
        }
        let report = try report()
        #expect(report.counts.roams == 3 && report.counts.joinFailures == 41)
        #expect(report.counts.secondFactors.ended == 3 && report.counts.secondFactors.passed == 1)
        #expect(report.rules.map(\.actionsSucceeded) == [1] && report.rules.map(\.actionsFailed) == [1])
        #expect(report.failures.map(\.because) == ["reason 15", "wrong", "wrong", "command 0: exit 3"])
    }

    /// Whatever a history says, it comes to something, and time is never more than there was.
    @Test(arguments: 0..<4 as Range<UInt64>) mutating func anyHistoryComesToSomething(seed: UInt64) throws {
        var state = seed &* 0x9E37_79B9_7F4A_7C15 | 1
        func next(_ count: Int) -> Int {
            state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
            return Int(state >> 33) % count
        }
        let types = [
            "network.entered", "network.left", "rule.activated", "rule.deactivated", "agent.started", "agent.stopped",
            "agent.suspended", "agent.resumed",
        ]
        var time: Int64 = 0
        for _ in 0..<500 {
            // The clock is set back now and then.
            time += Int64(next(20)) - (next(50) == 0 ? 100 : 0)
            if next(60) == 0 { boot += "x" }
            let type = types[next(types.count)]
            if type.hasPrefix("network") {
                network(type, "n\(next(4))", time)
            } else if type.hasPrefix("rule") {
                rule(type, "r\(next(4))", time)
            } else {
                note(type, time)
            }
        }
        let report = try report(since: 100, until: 10_000, boot: boot, now: time + 5)
        for network in report.networks { #expect(network.time <= 9_900 * Self.minute && network.time >= 0) }
        for stay in report.stays { #expect(stay.start < stay.end) }
        for rule in report.rules { #expect(rule.held >= 0) }
    }

    @Test func momentsAreStrict() {
        #expect(Moment.microseconds(of: "2026-11-30T12:00:00.000007Z".utf8) == Self.noon + 7)
        #expect(Moment.microseconds(of: "2026-11-30T12:00:00Z".utf8) == Self.noon)
        #expect(Moment.microseconds(of: "1969-12-31T23:59:59.5Z".utf8) == -500_000)
        for text in [
            "", "2026-11-30", "2026-11-30T12:00:00", "2026-13-30T12:00:00Z", "2026-11-30T24:00:00Z",
            "2026-11-30T12:00:00.Z",
            "2026-11-30T12:00:00.1234567Z", "2026-11-30T12:00:00ZZ", "+026-11-30T12:00:00Z", "2026-11-30 12:00:00Z",
        ] {
            #expect(Moment.microseconds(of: text.utf8) == nil, "\(text)")
        }
    }
}
