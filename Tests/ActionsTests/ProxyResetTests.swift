@testable import Actions
import Foundation
import Platform
@testable import Rules
import Testing

/// What `vicinity proxy reset` takes away.
@Suite struct ProxyResetTests {
    init() { #expect(ActionLoop.isRunning) }

    @ActionActor private final class KDEOnly: Places {
        let kde: KDEPlace
        init(_ directory: String) { kde = KDEPlace(directory: directory, isDesktop: true, bus: nil) }
        func place(_ name: PlaceName) -> (any Place)? { name == .kde ? kde : nil }
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

        try "{".write(toFile: journal, atomically: true, encoding: .utf8)
        await #expect(throws: JournalError.self) { try await ProxyReset.run(in: places, journal: journal) }
    }
}
