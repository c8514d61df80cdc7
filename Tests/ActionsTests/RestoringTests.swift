import Glibc
import Platform
import Rules
import SystemBus
import TestSupport
import Testing

@testable import Actions

/// What other people and programs do to units, connections and zones while a rule holds, and after.
@Suite(
    .enabled(if: Files.exists("/usr/bin/dbus-daemon"), "dbus-daemon is not installed"), .serialized,
    .timeLimit(.minutes(5)))
struct RestoringTests {
    init() { #expect(ActionLoop.isRunning) }

    private static let place = PlaceName.zone(interface: "wlan0")

    /// A machine with services, and helpers on it that come and go.
    @ActionActor private final class Stage {
        let daemon: TestBus
        let systemd: FakeSystemd
        let manager: FakeNetworkManager
        let firewall: FakeFirewall
        private let journal: String
        private var places: SystemPlaces
        private var reconciler: Reconciler
        private(set) var outcomes: [String] = []
        private var loss: CheckedContinuation<Void, Never>?

        init(zones: [String: String] = [:]) async throws {
            daemon = try await TestBus.started()
            systemd = try FakeSystemd(on: daemon, ["vpn.service": "inactive"])
            manager = try FakeNetworkManager(on: daemon, [.init(id: "corp", uuid: "u-1")])
            firewall = try FakeFirewall(on: daemon, zones)
            journal = "\(daemon.directory)/journal.json"
            let bus = Bus(.address(daemon.address), limit: 60_000_000)
            places = SystemPlaces(bus, ServiceManager(bus, isOfUser: false))
            reconciler = Reconciler(places: places, journal: journal, boot: "boot")
            begin()
        }

        /// Another helper takes the place of this one, which nobody needed any more.
        func restart() {
            let bus = Bus(.address(daemon.address), limit: 60_000_000)
            places = SystemPlaces(bus, ServiceManager(bus, isOfUser: false))
            reconciler = Reconciler(places: places, journal: journal, boot: "boot")
            begin()
        }

        private func begin() {
            reconciler.onOutcome = { [weak self] in self?.outcomes.append("\($0) \($2)") }
            places.onLoss = { [weak self] place in
                self?.reconciler.reassert(place)
                self?.loss?.resume()
                self?.loss = nil
            }
            reconciler.start()
        }

        func hold(_ effect: Effect = .neutral, _ wishes: (PlaceName, Settings)...) async -> [String] {
            outcomes = []
            let wanted = Reconciler.Wanted(rule: "r", index: 0, effect: effect, wishes.map { ($0.0, $0.1) })
            await withCheckedContinuation { continuation in
                reconciler.declare(wishes.isEmpty ? [] : [wanted], then: { continuation.resume() })
            }
            return outcomes
        }

        func zone(_ zone: String, _ effect: Effect) async -> [String] {
            await hold(effect, (RestoringTests.place, ["zone": .value(zone)]))
        }

        /// Does something, of which the helper hears, and waits until it has looked and done what it does about that.
        func hearing(_ body: () -> Void) async {
            await withCheckedContinuation { continuation in
                loss = continuation
                body()
            }
            while !reconciler.isIdle { await Task.yield() }
        }

        func stop() { for service in [systemd.service, manager.service, firewall.service] { service.stop() } }
    }

    // MARK: Units and connections

    @Test @ActionActor func whatWasThereComesBack() async throws {
        let stage = try await Stage()
        defer { stage.stop() }
        let wishes: [(PlaceName, Settings)] = [
            (.unit("vpn.service"), ["active": .value("yes")]), (.networkManager("corp"), ["state": .value("up")]),
        ]
        #expect(await stage.hold(.neutral, wishes[0], wishes[1]) == ["r held"])
        #expect(stage.systemd["vpn.service"] == "active" && stage.manager.isUp("u-1"))
        #expect(await stage.hold() == ["r reverted"])
        #expect(stage.systemd["vpn.service"] == "inactive" && !stage.manager.isUp("u-1"))
    }

    @Test @ActionActor func whatAPersonDidMeanwhileStays() async throws {
        let stage = try await Stage()
        defer { stage.stop() }
        stage.systemd["vpn.service"] = "active"
        stage.manager.set("u-1", isUp: true)
        let wishes: [(PlaceName, Settings)] = [
            (.unit("vpn.service"), ["active": .value("no")]), (.networkManager("corp"), ["state": .value("down")]),
        ]
        _ = await stage.hold(.neutral, wishes[0], wishes[1])
        #expect(stage.systemd["vpn.service"] == "inactive" && !stage.manager.isUp("u-1"))
        // They are wanted up now; neither the same wish said again nor its end changes that.
        stage.systemd["vpn.service"] = "active"
        stage.manager.set("u-1", isUp: true)
        #expect(await stage.hold(.neutral, wishes[0], wishes[1]) == ["r held"])
        stage.restart()
        #expect(await stage.hold(.neutral, wishes[0], wishes[1]) == ["r held"])
        #expect(stage.systemd["vpn.service"] == "active" && stage.manager.isUp("u-1"))
        let calls = stage.systemd.service.calls.count { $0 == "StartUnit" || $0 == "StopUnit" }
        #expect(await stage.hold() == ["r reverted"])
        #expect(stage.systemd["vpn.service"] == "active" && stage.manager.isUp("u-1"))
        #expect(stage.systemd.service.calls.count { $0 == "StartUnit" || $0 == "StopUnit" } == calls)
    }

    @Test @ActionActor func whatCannotBePutBackIsToldAndPutBackLater() async throws {
        let stage = try await Stage()
        defer { stage.stop() }
        let wish = (PlaceName.unit("vpn.service"), ["active": Setting.value("yes")])
        _ = await stage.hold(.neutral, wish)
        stage.systemd.service.vanish()
        let problem = await stage.hold()
        #expect(problem.count == 1 && problem.first?.contains("systemd is not running") == true)
        stage.systemd.forget()
        stage.systemd.service.appear()
        stage.restart()
        #expect(await stage.hold() == ["r reverted"])
        #expect(stage.systemd["vpn.service"] == "inactive")
    }

    // MARK: Zones

    @Test(arguments: [Effect.neutral, .tightening, .relaxing]) @ActionActor
    func aZoneThatWasForgottenWhileNoHelperRanIsSetAgain(effect: Effect) async throws {
        let stage = try await Stage(zones: ["wlan0": "public"])
        defer { stage.stop() }
        #expect(await stage.zone("drop", effect) == ["r held"])
        stage.restart()
        stage.firewall["wlan0"] = nil
        #expect(await stage.zone("drop", effect) == ["r held"])
        #expect(stage.firewall["wlan0"] == "drop")
        // None was there when it was set.
        #expect(await stage.hold() == ["r reverted"])
        #expect(stage.firewall["wlan0"] == nil)
    }

    @Test @ActionActor func aZoneThatSomebodyChoseWhileNoHelperRanStaysUnlessProtectionIsWanted() async throws {
        for (effect, expected) in [(Effect.neutral, "work"), (.relaxing, "work"), (.tightening, "drop")] {
            let stage = try await Stage(zones: ["wlan0": "public"])
            defer { stage.stop() }
            _ = await stage.zone("drop", effect)
            stage.restart()
            stage.firewall["wlan0"] = "work"
            #expect(await stage.zone("drop", effect) == ["r held"])
            #expect(stage.firewall["wlan0"] == expected)
            // That is what comes back, or stays.
            _ = await stage.hold()
            #expect(stage.firewall["wlan0"] == "work")
        }
    }

    @Test(arguments: [Effect.neutral, .tightening]) @ActionActor
    func aReloadAndANewStartAreHeard(effect: Effect) async throws {
        let stage = try await Stage(zones: ["wlan0": "public"])
        defer { stage.stop() }
        _ = await stage.zone("drop", effect)
        await stage.hearing { stage.firewall.reload() }
        #expect(stage.firewall["wlan0"] == "drop")
        await stage.hearing { stage.firewall.restart() }
        #expect(stage.firewall["wlan0"] == "drop")
        await stage.hearing { stage.firewall.change("wlan0", to: "work") }
        #expect(stage.firewall["wlan0"] == (effect == .tightening ? "drop" : "work"))
    }
}
