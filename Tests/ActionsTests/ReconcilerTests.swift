import Glibc
import JSON
import Platform
import Rules
import TestSupport
import Testing

@testable import Actions

/// Places in memory, which outlive the reconciler as those of a machine do.
@ActionActor
private final class World {
    var values: [PlaceName: Settings] = [:]
    var absent: Set<PlaceName> = []
    var broken: [PlaceName: String] = [:]
    /// Everything written, in order.
    var log: [String] = []
    /// So many more steps happen before the process is killed; nil: it lives.
    var stepsLeft: Int?
    /// Steps that anybody made.
    var steps = 0

    func step() async {
        steps += 1
        guard let left = stepsLeft else { return }
        stepsLeft = left - 1
        // Killed: whoever came here never goes on.
        if left <= 0 { await withUnsafeContinuation { (_: UnsafeContinuation<Void, Never>) in } }
    }

    func set(_ place: PlaceName, _ name: String, _ value: String) { values[place, default: [:]][name] = .value(value) }
    func value(_ place: PlaceName, _ name: String) -> Setting { values[place]?[name] ?? .unset }
}

@ActionActor
private final class MemoryPlaces: Places {
    let world: World
    init(_ world: World) { self.world = world }
    func place(_ name: PlaceName) -> (any Place)? { MemoryPlace(name, world) }
}

@ActionActor
private final class MemoryPlace: Place {
    let name: PlaceName
    let world: World

    init(_ name: PlaceName, _ world: World) {
        (self.name, self.world) = (name, world)
    }

    func read(_ names: Set<String>) async throws(PlaceError) -> Settings? {
        await world.step()
        if world.absent.contains(name) { return nil }
        var settings: Settings = [:]
        for key in names { settings[key] = world.value(name, key) }
        return settings
    }

    func write(_ settings: Settings) async throws(PlaceError) {
        if let problem = world.broken[name] { throw .failed(problem) }
        // Half-way is a state too.
        for (key, value) in settings.sorted(by: { $0.key < $1.key }) {
            await world.step()
            if Task.isCancelled { throw .cancelled }
            world.values[name, default: [:]][key] = value
        }
        world.log.append("\(name)")
        await world.step()
    }
}

@ActionActor
private final class Machine {
    let world = World()
    let path: String
    var boot = "first"
    private(set) var outcomes: [String] = []
    private(set) var troubles: [String] = []
    var reconciler: Reconciler

    init() throws {
        var template = Array("/tmp/vicinity-reconciler-XXXXXX".utf8CString)
        let made = template.withUnsafeMutableBufferPointer { buffer in
            guard let base = buffer.baseAddress, let made = mkdtemp(base) else { return "" }
            return String(cString: made)
        }
        try #require(!made.isEmpty)
        path = "\(made)/journal.json"
        reconciler = Reconciler(places: MemoryPlaces(world), journal: path, boot: boot)
        begin()
    }

    func begin() {
        reconciler.onOutcome = { [weak self] in self?.outcomes.append("\($0) \($1) \($2)") }
        reconciler.onTrouble = { [weak self] in self?.troubles.append($0) }
        reconciler.start()
    }

    /// The process was killed, and another one starts.
    func restart(boot: String? = nil) {
        self.boot = boot ?? self.boot
        world.stepsLeft = nil
        outcomes = []
        reconciler = Reconciler(places: MemoryPlaces(world), journal: path, boot: self.boot)
        begin()
    }

    /// Everything that was asked for has been tried, or the process was killed.
    func settle() async {
        while !reconciler.isIdle {
            if let left = world.stepsLeft, left < 0 { return }
            await Task.yield()
        }
    }

    func hold(_ wanted: Reconciler.Wanted...) async {
        reconciler.declare(wanted)
        await settle()
    }

    func takeOutcomes() -> [String] {
        defer { outcomes = [] }
        return outcomes
    }
}

private func want(
    _ rule: String, at index: Int = 0, effect: Effect = .neutral, _ wishes: (PlaceName, [String: String])...
) -> Reconciler.Wanted {
    Reconciler.Wanted(
        rule: rule, index: index, effect: effect,
        wishes.map { place, values in (place, values.mapValues { Setting.value($0) }) })
}

@Suite struct ReconcilerTests {
    init() { #expect(ActionLoop.isRunning) }

    @Test @ActionActor func putsInPlaceAndPutsBack() async throws {
        let stage = try Machine()
        stage.world.set(.apt, "http", "before")
        let office = want("office", (.apt, ["http": "proxy", "https": "proxy"]))
        await stage.hold(office)
        #expect(stage.world.value(.apt, "http") == .value("proxy"))
        #expect(stage.takeOutcomes() == ["office 0 held"])
        await stage.hold()
        #expect(stage.world.value(.apt, "http") == .value("before"))
        #expect(stage.world.value(.apt, "https") == .unset)
        #expect(stage.takeOutcomes() == ["office 0 reverted"])
        // The journal has forgotten it.
        stage.restart()
        await stage.hold()
        #expect(stage.takeOutcomes().isEmpty)
    }

    @Test @ActionActor func whatIsThereAlreadyIsNotWrittenAgain() async throws {
        let stage = try Machine()
        let office = want("office", (.apt, ["http": "proxy"]))
        await stage.hold(office)
        await stage.hold(office)
        stage.restart()
        await stage.hold(office)
        #expect(stage.world.log == ["apt"])
        #expect(stage.takeOutcomes() == ["office 0 held"])
    }

    /// Several of them while a place is being worked on, as when an agent starts: only the last one counts.
    @Test(.timeLimit(.minutes(10))) @ActionActor func whatIsWantedMayChangeAtAnyMoment() async throws {
        let stage = try Machine()
        let office = want("office", (.apt, ["a": "1"]), (.gnome, ["a": "1"]))
        let train = want("train", (.apt, ["a": "2"]))
        for count in 0..<40 {
            let wanted = [[office], [office], [], [train], [train, office]][count % 5]
            stage.reconciler.declare(wanted)
            for _ in 0..<(count / 5) { await Task.yield() }
        }
        await stage.hold(train)
        #expect(stage.world.value(.apt, "a") == .value("2"))
        #expect(stage.world.value(.gnome, "a") == .unset)
        #expect(stage.takeOutcomes().last == "train 0 held")
        await stage.hold()
        #expect(stage.world.value(.apt, "a") == .unset)
    }

    @Test @ActionActor func whatSomebodyElseSetStays() async throws {
        let stage = try Machine()
        let office = want("office", (.gnome, ["mode": "manual", "host": "proxy"]))
        await stage.hold(office)
        stage.world.set(.gnome, "host", "mine")
        // Neither set again while it holds, nor put back afterwards.
        await stage.hold(office)
        #expect(stage.world.value(.gnome, "host") == .value("mine"))
        await stage.hold()
        #expect(stage.world.value(.gnome, "host") == .value("mine"))
        #expect(stage.world.value(.gnome, "mode") == .unset)
    }

    @Test @ActionActor func oneRuleTakesOverFromAnother() async throws {
        let stage = try Machine()
        stage.world.set(.gnome, "host", "before")
        await stage.hold(want("office", (.gnome, ["host": "a", "port": "1"])))
        await stage.hold(want("train", (.gnome, ["host": "b"])))
        #expect(stage.world.value(.gnome, "host") == .value("b"))
        #expect(stage.world.value(.gnome, "port") == .unset)
        // Set by a person while the first held: this comes back in the end.
        await stage.hold(want("office", (.gnome, ["host": "a"])))
        stage.world.set(.gnome, "host", "mine")
        await stage.hold(want("train", (.gnome, ["host": "b"])))
        #expect(stage.world.value(.gnome, "host") == .value("b"))
        await stage.hold()
        #expect(stage.world.value(.gnome, "host") == .value("mine"))
    }

    @Test @ActionActor func putsBackInReverseOrder() async throws {
        let stage = try Machine()
        await stage.hold(
            want("office", at: 0, (.apt, ["a": "1"]), (.environment, ["a": "1"])),
            want("office", at: 1, (.kde, ["a": "1"])))
        #expect(stage.world.log == ["apt", "environment", "kde"])
        stage.world.log = []
        await stage.hold()
        #expect(stage.world.log == ["kde", "environment", "apt"])
        #expect(stage.takeOutcomes().suffix(2) == ["office 1 reverted", "office 0 reverted"])
    }

    @Test @ActionActor func tellsWhatFailedAndTriesAgain() async throws {
        let stage = try Machine()
        stage.world.broken[.apt] = "read-only file system"
        let office = want("office", (.apt, ["a": "1"]), (.kde, ["a": "1"]))
        await stage.hold(office)
        #expect(stage.takeOutcomes() == [#"office 0 failed("read-only file system")"#])
        // The other place does not suffer.
        #expect(stage.world.value(.kde, "a") == .value("1"))
        stage.world.broken = [:]
        await stage.hold(office)
        #expect(stage.takeOutcomes() == ["office 0 held"])
        stage.world.broken[.kde] = "gone"
        await stage.hold()
        #expect(stage.takeOutcomes() == [#"office 0 failed("gone")"#])
        stage.world.broken = [:]
        stage.restart()
        await stage.hold()
        #expect(stage.world.value(.kde, "a") == .unset)
    }

    @Test @ActionActor func aPlaceThatIsNotThereIsNoFailure() async throws {
        let stage = try Machine()
        stage.world.absent = [.gnome]
        await stage.hold(want("office", (.gnome, ["a": "1"])))
        #expect(stage.takeOutcomes() == ["office 0 held"])
    }

    @Test @ActionActor func aRebootTakesAwayWhatIsVolatile() async throws {
        let stage = try Machine()
        stage.world.set(.unit("a.service"), "active", "no")
        await stage.hold(want("office", (.unit("a.service"), ["active": "yes"]), (.apt, ["a": "1"])))
        stage.restart(boot: "second")
        // Started by somebody else in this boot: not ours to stop.
        await stage.hold()
        #expect(stage.world.value(.unit("a.service"), "active") == .value("yes"))
        #expect(stage.world.value(.apt, "a") == .unset)
    }

    @Test @ActionActor func protectionUndoesWhatRelaxesAndRestoresWhatWasLifted() async throws {
        let stage = try Machine()
        let vpn = PlaceName.networkManager("corp")
        stage.world.set(vpn, "state", "down")
        stage.world.set(.zone(interface: "wlan0"), "zone", "public")
        await stage.hold(want("away", effect: .tightening, (vpn, ["state": "up"])))
        await stage.hold(
            want("home", effect: .relaxing, (.zone(interface: "wlan0"), ["zone": "home"])),
            want("home", at: 1, (.apt, ["a": "1"])))
        #expect(stage.world.value(vpn, "state") == .value("down"))
        stage.reconciler.protect()
        await stage.settle()
        #expect(stage.world.value(vpn, "state") == .value("up"))
        #expect(stage.world.value(.zone(interface: "wlan0"), "zone") == .value("public"))
        // Of no consequence for protection.
        #expect(stage.world.value(.apt, "a") == .value("1"))
        // An agent that comes back has its way.
        stage.restart()
        await stage.hold(want("home", effect: .relaxing, (.zone(interface: "wlan0"), ["zone": "home"])))
        #expect(stage.world.value(vpn, "state") == .value("down"))
        #expect(stage.world.value(.zone(interface: "wlan0"), "zone") == .value("home"))
    }

    /// A daemon that was started anew holds nothing: whatever a rule asks for is set again, and the helper may be new too.
    @Test @ActionActor func whatADaemonForgotIsSetAgain() async throws {
        let stage = try Machine()
        let (zone, vpn) = (PlaceName.zone(interface: "wlan0"), PlaceName.networkManager("corp"))
        let wanted = [
            want("home", effect: .relaxing, (zone, ["zone": "home"])),
            want("away", effect: .tightening, (vpn, ["state": "up"])),
        ]
        stage.reconciler.declare(wanted)
        await stage.settle()
        stage.restart()
        stage.world.set(zone, "zone", "public")
        stage.world.set(vpn, "state", "down")
        stage.reconciler.declare(wanted)
        await stage.settle()
        #expect(stage.world.value(zone, "zone") == .value("public"))
        stage.reconciler.verify { $0 == zone }
        await stage.settle()
        #expect(stage.world.value(zone, "zone") == .value("home"))
        // Another daemon's: a person may have ended it.
        #expect(stage.world.value(vpn, "state") == .value("down"))
        // What is set by others while the daemon begins was not meant by a person either.
        stage.world.set(zone, "zone", "external")
        stage.reconciler.reassert(zone)
        await stage.settle()
        #expect(stage.world.value(zone, "zone") == .value("home"))
    }

    @Test @ActionActor func announcedProtectionOutlivesAKill() async throws {
        let stage = try Machine()
        await stage.hold(want("home", effect: .relaxing, (.zone(interface: "wlan0"), ["zone": "home"])))
        stage.reconciler.announceProtection()
        stage.restart()
        #expect(stage.reconciler.isProtecting)
        stage.reconciler.declare([])
        #expect(!stage.reconciler.isProtecting)
    }

    @Test @ActionActor func withoutAJournalOnlyProtectionGoesOn() async throws {
        let stage = try Machine()
        // A directory in its place: no file can be put there.
        #expect(mkdir("\(stage.path).new", 0o700) == 0)
        await stage.hold(
            want("office", (.apt, ["a": "1"])),
            want("away", effect: .tightening, (.unit("vpn.service"), ["active": "yes"])))
        #expect(stage.world.value(.apt, "a") == .unset)
        #expect(stage.world.value(.unit("vpn.service"), "active") == .value("yes"))
        let outcomes = stage.takeOutcomes()
        #expect(outcomes.contains("away 0 held"))
        #expect(outcomes.contains { $0.hasPrefix("office 0 failed") && $0.contains("nothing was changed") })
        #expect(!stage.troubles.isEmpty)
        // What was put in place goes, too.
        await stage.hold()
        #expect(stage.world.value(.unit("vpn.service"), "active") == .unset)
    }

    /// The disk was full as a place was put back, and the helper ended: the next one does not take the place for held.
    @Test @ActionActor func whatWasDoneWithoutAJournalIsLookedAtAgain() async throws {
        let stage = try Machine()
        let zone = PlaceName.zone(interface: "wlan0")
        let home = want("home", effect: .relaxing, (zone, ["zone": "home"]))
        await stage.hold(home)
        #expect(mkdir("\(stage.path).new", 0o700) == 0)
        await stage.hold()
        #expect(stage.world.value(zone, "zone") == .unset)
        stage.restart()
        #expect(rmdir("\(stage.path).new") == 0)
        await stage.hold(home)
        #expect(stage.world.value(zone, "zone") == .value("home"))
        // From here on the journal is true again.
        stage.world.set(zone, "zone", "mine")
        stage.restart()
        await stage.hold(home)
        #expect(stage.world.value(zone, "zone") == .value("mine"))
        #expect(!Files.exists("\(stage.path).stale"))
    }

    @Test @ActionActor func aDamagedJournalIsKeptAsideAndSaidSo() async throws {
        let stage = try Machine()
        await stage.hold(want("office", (.apt, ["a": "1"])))
        try Files.replace(stage.path, with: Array("{\"boot\":".utf8), mode: 0o600)
        stage.restart()
        #expect(stage.troubles.contains { $0.contains("damaged") })
        #expect(Files.exists("\(stage.path).damaged"))
    }

    /// A directory stands for a disk that fails: it cannot be read, and it can be renamed.
    @Test @ActionActor func aJournalThatCannotBeReadIsKeptAsideAndSaidSo() async throws {
        let stage = try Machine()
        #expect(mkdir(stage.path, 0o700) == 0)
        stage.restart()
        #expect(stage.troubles.contains { $0.contains("\(stage.path).damaged") })
        await stage.hold(want("office", (.apt, ["a": "1"])))
        #expect(Files.exists("\(stage.path).damaged"))
        stage.restart()
        await stage.hold()
        #expect(stage.world.value(.apt, "a") == .unset)
    }

    /// Wherever the process is killed, and whatever is wanted by then: what is wanted is there, and in the end everything
    /// is as it was, unless a person changed it in between.
    @Test(arguments: 0..<60) @ActionActor func anyKillEndsWell(seed: Int) async throws {
        var random = SeededGenerator(UInt64(seed))
        let places: [PlaceName] = [.apt, .gnome, .unit("a.service"), .networkManager("corp")]
        let names = ["a", "b", "c"]
        let stage = try Machine()
        for place in places {
            for name in names where Bool.random(using: &random) {
                stage.world.set(place, name, "original \(name)")
            }
        }
        let original = stage.world.values
        var edited: [PlaceName: Set<String>] = [:]
        for _ in 0..<12 {
            let wanted = (0..<Int.random(in: 0...3, using: &random)).map { number in
                let place = places[number]
                let values = names.filter { _ in Bool.random(using: &random) }
                return want(
                    "rule\(Int.random(in: 0...1, using: &random))", at: number,
                    (place, Dictionary(values.map { ($0, "ours \(Int.random(in: 0...2, using: &random))") }) { $1 }))
            }
            if Bool.random(using: &random) { stage.world.stepsLeft = Int.random(in: 0...14, using: &random) }
            stage.reconciler.declare(wanted)
            await stage.settle()
            if stage.world.stepsLeft != nil {
                // Whoever of the killed process is on the way comes to its end first.
                stage.world.stepsLeft = min(stage.world.stepsLeft ?? 0, 0)
                for _ in 0..<100 { await Task.yield() }
                stage.restart()
                stage.reconciler.declare(wanted)
                await stage.settle()
            }
            for action in wanted {
                for (place, settings) in action.settings {
                    for (name, value) in settings where edited[place]?.contains(name) != true {
                        #expect(stage.world.value(place, name) == value, "\(place) \(name)")
                    }
                }
            }
            if Int.random(in: 0...5, using: &random) == 0, let place = places.randomElement(using: &random) {
                let name = names[Int.random(in: 0..<3, using: &random)]
                stage.world.set(place, name, "a person's")
                edited[place, default: []].insert(name)
            }
        }
        await stage.hold()
        for place in places {
            for name in names where edited[place]?.contains(name) != true {
                #expect(stage.world.value(place, name) == original[place]?[name] ?? .unset, "\(place) \(name)")
            }
        }
        let journal = try JSONValue(parsing: Files.read(stage.path, limit: 1 << 20), maximumSize: 1 << 20)
        #expect(journal["places"]?.array?.isEmpty == true)
    }
}
