import Foundation
import Platform
import Testing

@testable import Analytics

/// Many machines' logs: what they come to, what is not shown, and that nothing in them does harm.
@Suite(.timeLimit(.minutes(2))) struct FleetTests {
    private func line(
        _ network: String, _ minutes: Int64? = nil, type: NetworkType = .wifi, at wall: Int64 = 1_796_040_000_000_000
    ) -> [UInt8] {
        AnalyticsRecord(
            time: Timestamp(wall: wall, boottime: 0), transition: minutes.map { .left(minutes: $0) } ?? .entered,
            network: network, networkType: type
        ).line
    }

    /// - Parameter machines: the lines of each.
    private func tally(_ machines: [[[UInt8]]], least: Int = 5, since: String = "", until: String = "") -> FleetTally {
        var tally = FleetTally(least: least, since: since, until: until)
        for (number, lines) in machines.enumerated() {
            tally.begin(Int32(number))
            for line in lines { tally.take(0..<line.count - 1, of: line) }
        }
        return tally
    }

    /// So many machines that were on a network for an hour.
    private func machines(_ count: Int, on network: String, type: NetworkType = .wifi) -> [[[UInt8]]] {
        Array(repeating: [line(network, type: type), line(network, 60, type: type)], count: count)
    }

    @Test func sumsUp() throws {
        let tally = tally(machines(7, on: "office") + machines(6, on: "home", type: .ethernet))
        #expect(tally.machines == 13 && tally.lines == 26 && tally.broken == 0 && tally.ignored == 0)
        let report = FleetReport(tally)
        #expect(report.networks.shown.map(\.name) == ["office", "home"])
        #expect(report.networks.shown.map(\.machines) == [7, 6] && report.networks.shown.map(\.minutes) == [420, 360])
        #expect(report.types.shown.map(\.name) == ["wifi", "ethernet"] && report.minutes == 780)
        #expect(report.transitions == 26 && report.networks.hidden == 0)
    }

    @Test func aLineIsWhatTheLogWritesInAnyForm() {
        let lines = [
            #"{"type":"network.entered","time":"2026-11-30T12:00:00Z","network_type":"wifi","network":"office"}"#,
            #" { "time" : "2026-11-30T12:00:00Z", "type" : "network.entered", "network" : "of\u0066ice", "x" : {"network":"no"}, "network_type" : "wifi" } "#,
        ].map { Array("\($0)\n".utf8) }
        let tally = tally([lines])
        #expect(tally.networks.map(\.name) == ["office"] && tally.networks[0].transitions == 2)
        let others = [
            "{}", "[]", "{\"type\":\"network.entered\"}", "nothing", "{\"a\":",
            #"{"time":"2026-11-30T12:00:00Z","type":"network.left","network":"a","network_type":"wifi","minutes":-1}"#,
            #"{"time":"2026-11-30T12:00:00Z","type":"network.left","network":"a","network_type":"wifi","minutes":99999999}"#,
            #"{"time":"2026-11-30T12:00:00Z","type":"network.entered","network":{"name":"a"},"network_type":"wifi"}"#,
            #"{"time":12,"type":"network.entered","network":"a","network_type":"wifi"}"#,
        ].map { Array("\($0)\n".utf8) }
        let broken = self.tally([others])
        #expect(broken.broken == 3 && broken.networks.map(\.transitions) == [1])
    }

    @Test func onlyTheTimeThatIsWantedCounts() {
        let lines = (0..<4).map { line("office", at: 1_796_040_000_000_000 + Int64($0) * 3_600_000_000) }
        let tally = tally([lines], since: "2026-11-30T13:00:00.000000Z", until: "2026-11-30T15:00:00.000000Z")
        #expect(tally.networks.map(\.transitions) == [2] && tally.ignored == 2)
    }

    // MARK: What is not shown

    /// One small group alone would be the sum less what is shown.
    @Test func oneGroupIsNeverLeftOutAlone() {
        let report = FleetReport(
            tally(machines(20, on: "office") + machines(9, on: "lab") + machines(2, on: "clinic")))
        #expect(report.networks.shown.map(\.name) == ["office"] && report.networks.hidden == 2)
        #expect(report.networks.hiddenMinutes == 11 * 60 && report.minutes == 31 * 60)
        #expect(!report.isWithheld)
    }

    /// Two small groups of the same few machines are one group by another name.
    @Test func whatIsLeftOutIsOfEnoughMachines() {
        let pair = Array(repeating: [line("clinic", 60), line("court", 60)], count: 3)
        let report = FleetReport(tally(machines(20, on: "office") + machines(9, on: "lab") + pair))
        #expect(report.networks.shown.map(\.name) == ["office"] && report.networks.hidden == 3)
        let several = FleetReport(
            tally(machines(20, on: "office") + machines(3, on: "clinic") + machines(3, on: "court")))
        #expect(several.networks.shown.map(\.name) == ["office"] && several.networks.hidden == 2)
    }

    @Test func ofTooFewMachinesNothingIsTold() {
        #expect(FleetReport(tally(machines(4, on: "office"))).isWithheld)
        #expect(FleetReport(tally(machines(2, on: "a") + machines(2, on: "b"))).isWithheld)
        #expect(!FleetReport(tally(machines(3, on: "a") + machines(2, on: "b"))).isWithheld)
        #expect(FleetReport(tally(machines(2, on: "a"), least: 2)).networks.shown.count == 1)
        #expect(!FleetReport(tally([])).isWithheld)
    }

    /// Whatever the groups, what is left out comes to enough machines in more than one group, or to nothing.
    @Test(arguments: 0..<8 as Range<UInt64>) func noGroupCanBeReckoned(seed: UInt64) {
        var state = seed &* 0x9E37_79B9_7F4A_7C15 | 1
        func next(_ count: Int) -> Int {
            state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
            return Int(state >> 33) % count
        }
        for _ in 0..<30 {
            let count = 1 + next(12)
            let least = 2 + next(6)
            let all = (0..<1 + next(40)).map { _ in
                (0...next(3)).map { _ in line("n\(next(next(count) + 1))", 10) }
            }
            let tally = tally(all, least: least)
            let report = FleetReport(tally)
            guard !report.isWithheld else {
                #expect(tally.machines < least)
                continue
            }
            for group in report.networks.shown { #expect(group.machines >= least) }
            #expect(report.networks.hidden != 1)
            guard report.networks.hidden > 0 else { continue }
            let shown = Set(report.networks.shown.map(\.name))
            let members = all.filter { lines in
                lines.contains { line in
                    !shown.contains { String(decoding: line, as: UTF8.self).contains("\"\($0)\"") }
                }
            }
            #expect(members.count >= least)
        }
    }

    @Test func talliesOfSeveralWorkersAreOne() {
        let all = machines(7, on: "office") + machines(3, on: "clinic") + machines(4, on: "court")
        var sum = FleetTally(least: 5)
        for part in [0..<5, 5..<9, 9..<14] {
            var tally = FleetTally(least: 5)
            for number in part {
                tally.begin(Int32(number))
                for line in all[number] { tally.take(0..<line.count - 1, of: line) }
            }
            sum.add(tally)
        }
        let (one, many) = (FleetReport(tally(all)), FleetReport(sum))
        #expect(many.networks.shown.map(\.machines) == one.networks.shown.map(\.machines))
        #expect(many.networks.hidden == one.networks.hidden && many.minutes == one.minutes && many.machines == 14)
    }

    // MARK: Hostile logs

    @Test func namesDoNotFillTheMemory() {
        var tally = FleetTally(least: 5)
        tally.begin(0)
        for number in 0..<60_000 {
            let line = line("network-\(number)")
            tally.take(0..<line.count - 1, of: line)
        }
        let long = line(String(repeating: "n", count: 5_000))
        tally.take(0..<long.count - 1, of: long)
        #expect(tally.networks.count <= 50_001 && tally.networks.reduce(0) { $0 + $1.transitions } == 60_001)
    }

    @Test(arguments: 0..<4 as Range<UInt64>) func mutatedLinesDoNoHarm(seed: UInt64) {
        var state = seed &* 0x9E37_79B9_7F4A_7C15 | 1
        func next(_ count: Int) -> Int {
            state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
            return Int(state >> 33) % count
        }
        var tally = FleetTally(least: 5)
        for number in 0..<4_000 {
            tally.begin(Int32(number % 50))
            var line = line("office", Int64(next(1_000)))
            for _ in 0...next(4) {
                let place = next(line.count)
                switch next(3) {
                case 0: line[place] = UInt8(next(256))
                case 1: line.removeSubrange(place..<min(place + next(20), line.count))
                default: line.insert(contentsOf: line[..<place].suffix(next(20)), at: place)
                }
                if line.isEmpty { line = [0x20] }
            }
            tally.take(0..<line.count, of: line)
        }
        #expect(tally.lines + 100 >= 4_000 && tally.broken > 1_000)
        #expect(tally.networks.reduce(0) { $0 + $1.transitions } + tally.broken + tally.ignored == tally.lines)
    }

    // MARK: Files

    @Test func findsWhatWasCollected() throws {
        let directory = NSTemporaryDirectory() + "vicinity-fleet-\(UInt64.random(in: 0 ... .max))"
        defer { try? FileManager.default.removeItem(atPath: directory) }
        func write(_ path: String, _ contents: [UInt8]) throws {
            let url = URL(fileURLWithPath: "\(directory)/\(path)")
            try FileManager.default.createDirectory(
                at: url.deletingLastPathComponent(), withIntermediateDirectories: true)
            try Data(contents).write(to: url)
        }
        let line = line("office", 60)
        try write("alpha.jsonl", line + line.dropLast())
        try write("alpha.jsonl.1", line)
        try write("beta/var/log/analytics.jsonl", Array(repeating: UInt8(ascii: "x"), count: 200_000) + [0x0A] + line)
        try write("beta/analytics.jsonl-20261130", line)
        try write("gamma.jsonl.2.gz", line)
        try write("readme.txt", line)
        try write(".jsonl", line)
        symlink("/etc/passwd", "\(directory)/delta.jsonl")
        symlink(directory, "\(directory)/beta/loop")
        let files = try FleetFiles(in: directory)
        #expect(files.machines.map(\.name) == ["alpha", "beta"] && files.machines.map(\.paths.count) == [2, 2])
        #expect(files.packed.count == 1)
        var tally = FleetTally(least: 2)
        for (number, machine) in files.machines.enumerated() {
            tally.begin(Int32(number))
            for path in machine.paths { try tally.read(path) { _ in } }
        }
        #expect(tally.machines == 2 && tally.networks.map(\.minutes) == [300] && tally.broken == 1 && tally.lines == 6)
        #expect(throws: SystemError.self) { try FleetFiles(in: directory + "/nothing") }
    }
}
