@testable import Actions
import Foundation
import Glibc
import Platform
@testable import Rules
import TestSupport
import Testing

/// What `vicinity proxy reset` takes away.
@Suite struct ProxyResetTests {
    init() { #expect(ActionLoop.isRunning) }

    @ActionActor private final class KDEOnly: Places {
        let kde: KDEPlace
        init(_ directory: String) { kde = KDEPlace(directory: directory, isDesktop: true, bus: nil) }
        func place(_ name: PlaceName) -> (any Place)? { name == .kde ? kde : nil }
    }

    @Test func runningProgramsKeepWhatTheyWereStartedWith() throws {
        let root = try ProxyRoot()
        for (number, variables) in [
            "1": "http_proxy=http://h:1\0HOME=/\0", "2": "HOME=/\0http_proxy=http://old:1\0", "3": "HOME=/\0", "4": "",
            "5": "http_proxy=http://h:1\0NO_PROXY=\0ALL_PROXY=socks5://h:1\0", "self": "HOME=/\0",
        ] {
            let directory = "\(root.path)/proc/\(number)"
            try FileManager.default.createDirectory(atPath: directory, withIntermediateDirectories: true)
            try Files.replace("\(directory)/environ", with: Array(variables.utf8), mode: 0o600)
        }
        func programs(_ wanted: [String: String]) -> [Int] {
            let programs = RunningPrograms(of: geteuid(), without: wanted, in: "\(root.path)/proc")
            return [programs.count, programs.others]
        }
        #expect(programs(["http_proxy": "http://h:1", "no_proxy": ""]) == [4, 3])
        #expect(programs([:]) == [4, 3])
        #expect(RunningPrograms(of: geteuid() + 1, without: [:], in: "\(root.path)/proc").count == 0)
    }

    @Test @ActionActor func takesAwayWhatIsOursAlone() async throws {
        let root = try ProxyRoot()
        let places = KDEOnly("\(root.path)/home/.config")
        let journal = "\(root.path)/journal.json"
        #expect(try await ProxyReset.run(in: places, journal: journal).isEmpty)
        let before = "[Proxy Settings]\nProxyType=4\nhttpProxy=http://mine 1\nAuthMode=0\n"
        try before.write(toFile: "\(root.path)/home/.config/kioslaverc", atomically: true, encoding: .utf8)

        var proxy = StateAction.Proxy(mode: .manual)
        proxy.http = "http://proxy.example:3128"
        proxy.https = proxy.http
        let wanted = Reconciler.Wanted(
            rule: "office", index: 0, effect: .neutral, try proxy.wishes().filter { $0.place == .kde })
        let reconciler = Reconciler(places: places, journal: journal, boot: "boot")
        reconciler.start()
        reconciler.declare([wanted])
        while !reconciler.isIdle { await Task.yield() }
        #expect(try places.kde.read(["ProxyType"]) == ["ProxyType": .value("1")])
        // Somebody else's by now.
        try places.kde.write(["httpsProxy": .value("http://theirs 2")])

        let rows = try await ProxyReset.run(in: places, journal: journal)
        #expect(rows.map(\.place) == [.kde])
        #expect(rows.first?.removed == ["ProxyType", "ReversedException", "httpProxy"])
        #expect(
            root.files["home/.config/kioslaverc"] == "[Proxy Settings]\nAuthMode=0\nhttpsProxy=http://theirs 2\n")
        #expect(try await ProxyReset.run(in: places, journal: journal).first?.removed == [])
        // What a full disk made of the journal still tells what was ours.
        try places.kde.write(["httpProxy": .value("http://proxy.example 3128")])
        try FileManager.default.moveItem(atPath: journal, toPath: "\(journal).stale")
        #expect(try await ProxyReset.run(in: places, journal: journal).first?.removed == ["httpProxy"])

        try "{".write(toFile: journal, atomically: true, encoding: .utf8)
        await #expect(throws: JournalError.self) { try await ProxyReset.run(in: places, journal: journal) }
    }
}
