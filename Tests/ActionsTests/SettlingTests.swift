import Glibc
import Platform
import Rules
import TestSupport
import Testing

@testable import Actions

/// Who asked for something is told when that has been tried, and not when what was asked before, or beside it, has.
@Suite(.timeLimit(.minutes(1))) struct SettlingTests {
    init() { #expect(ActionLoop.isRunning) }

    /// Two places, of which one takes until it is told.
    @ActionActor private final class SlowPlaces: Places {
        final class Slow: Place {
            let gate: Promise<Void>?
            let began: Promise<Void>?
            private var settings: Settings = [:]

            init(_ gate: Promise<Void>?, _ began: Promise<Void>?) { (self.gate, self.began) = (gate, began) }
            func read(_ names: Set<String>) async throws(PlaceError) -> Settings? {
                Dictionary(uniqueKeysWithValues: names.map { ($0, settings[$0] ?? .unset) })
            }
            func write(_ settings: Settings) async throws(PlaceError) {
                began?.fulfil(())
                _ = await gate?.value(until: nil)
                self.settings.merge(settings) { $1 }
            }
        }

        let gate = Promise<Void>()
        let began = Promise<Void>()
        lazy var slow = Slow(gate, began)
        lazy var quick = Slow(nil, nil)

        func place(_ name: PlaceName) -> (any Place)? { name == .apt ? slow : quick }
    }

    private func wanted(_ rule: String, _ place: PlaceName, _ value: String) -> Reconciler.Wanted {
        Reconciler.Wanted(rule: rule, index: 0, effect: .tightening, [(place, ["x": .value(value)])])
    }

    @Test @ActionActor func aPassIsSettledWhenAllOfItHasBeenTried() async throws {
        let places = SlowPlaces()
        let directory = "/tmp/vicinity-settling-\(UInt32.random(in: 0 ... .max))"
        try Files.makeDirectory(directory, mode: 0o700)
        defer {
            unlink("\(directory)/journal.json")
            rmdir(directory)
        }
        let reconciler = Reconciler(places: places, journal: "\(directory)/journal.json", boot: "boot")
        reconciler.start()
        let slow = wanted("slow", .apt, "1")
        var settled: [String] = []
        var held: [String] = []
        let zone = PlaceName.zone(interface: "wlan0")
        let quick = Promise<Void>()
        reconciler.onOutcome = { rule, _, _ in
            held.append(rule)
            if held.count(where: { $0 == "quick" }) == 2 { quick.fulfil(()) }
        }
        reconciler.declare([slow, wanted("quick", zone, "1")], then: { settled.append("first") })
        _ = await places.began.value(until: nil)
        let done = Promise<Void>()
        reconciler.declare(
            [slow, wanted("quick", zone, "2")],
            then: {
                settled.append("second")
                done.fulfil(())
            })
        // Beside the pass that was asked for.
        reconciler.reassert(zone)
        _ = await quick.value(until: nil)
        #expect(settled.isEmpty && held.contains("quick") && !held.contains("slow"))
        places.gate.fulfil(())
        _ = await done.value(until: nil)
        #expect(settled == ["first", "second"])
        #expect(held.contains("slow"))
    }
}
