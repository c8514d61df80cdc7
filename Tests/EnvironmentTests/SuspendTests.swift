import Netlink
import Platform
import TestSupport
import Testing
import WiFi

@testable import Environment

/// The machine sleeps: nobody leaves who comes back.
@Suite struct SuspendTests {
    let world = World()

    init() {
        world.join(home)
        _ = world.told()
    }

    @Test func joinedAgainMeansNothingHappened() {
        world.observe(.suspending)
        #expect(world.state == .unknown)
        world.disconnect(reason: 3)
        world.pass(8 * 3_600)
        world.observe(.resumed)
        world.pass(4)
        world.join(home)
        world.pass(60)
        #expect(world.told() == ["suspended", "resumed", "resynced resume"])
        #expect(world.state?.network?.name == "Home")
    }

    @Test func anotherAccessPointIsARoam() {
        world.observe(.suspending)
        world.disconnect(reason: 3)
        world.pass(100)
        world.observe(.resumed)
        world.join(upstairs)
        #expect(world.told() == ["suspended", "resumed", "resynced resume", "roamed Home 01>02"])
    }

    /// WoWLAN keeps the association, and not a single event comes.
    @Test(arguments: [Driver.mac80211, .flagless])
    func associationThatSurvivesSleep(driver: Driver) {
        world.kernel.interfaces[3]?.driver = driver
        world.observe(.suspending)
        world.pass(100)
        #expect(world.state == .unknown)
        world.observe(.resumed)
        world.pass(1)
        #expect(world.state?.network?.name == "Home")
        world.pass(60)
        #expect(world.told() == ["suspended", "resumed", "resynced resume"])
    }

    @Test func leftThirtySecondsAfterResumeWithTheTimeOfSuspend() {
        let time = world.now
        world.observe(.suspending)
        world.disconnect(reason: 3)
        world.pass(3_600)
        world.observe(.resumed)
        world.pass(29.9)
        #expect(world.told() == ["suspended", "resumed", "resynced resume"])
        world.pass(0.7)
        let changes = world.toldEverything().filter { $0.line != nil }
        #expect(changes.map(\.line) == ["left Home suspend"])
        #expect(changes.first?.time == time)
    }

    /// A first try may fail, and a second: until thirty seconds are over nobody left.
    @Test func failedTriesAfterResume() {
        world.observe(.suspending)
        world.disconnect(reason: 3)
        world.pass(100)
        world.observe(.resumed)
        world.associate(upstairs)
        world.pass(4)
        world.disconnect(reason: 15, byAccessPoint: true)
        world.hear(.connect(home, status: 17))
        world.pass(2)
        world.associate(upstairs)
        world.setInterface(isUp: false)
        world.setInterface(isUp: true)
        world.pass(2)
        world.join(home)
        #expect(world.told() == ["suspended", "resumed", "resynced resume"])
    }

    /// No number of tries moves the thirty seconds.
    @Test func triesDoNotExtendTheWait() {
        world.observe(.suspending)
        world.disconnect(reason: 3)
        world.pass(100)
        world.observe(.resumed)
        for _ in 0..<7 {
            world.associate(upstairs)
            world.pass(4)
            world.disconnect(reason: 15, byAccessPoint: true)
        }
        world.associate(upstairs)
        #expect(world.told() == ["suspended", "resumed", "resynced resume"])
        world.pass(3)
        #expect(world.told() == ["left Home suspend", "associating Home"])
    }

    @Test func anotherNetworkAfterResume() {
        world.observe(.suspending)
        world.disconnect(reason: 3)
        world.pass(100)
        world.observe(.resumed)
        world.join(office)
        #expect(
            world.told() == [
                "suspended", "resumed", "resynced resume", "left Home suspend", "associating Office",
                "joined Office 03 wpa2-enterprise",
            ])
    }

    /// Answers that come between the announcement and the sleep do not bring the network back.
    @Test func levelStaysUnknownUntilResume() {
        world.observe(.suspending)
        world.hear(.linksChanged())
        world.setLink(5)
        world.setLink(6)
        world.hear(.connect(home))
        world.pass(1)
        #expect(world.state == .unknown)
        world.observe(.resumed)
        world.pass(1)
        #expect(world.state?.network?.name == "Home")
        #expect(world.told() == ["suspended", "resumed", "resynced resume"])
    }

    @Test func sleepInTheRoamWindow() {
        world.disconnect(reason: 1)
        world.pass(0.5)
        world.observe(.suspending)
        world.pass(3_600)
        world.observe(.resumed)
        world.join(home)
        #expect(world.told() == ["suspended", "resumed", "resynced resume"])
    }

    @Test func sleepInTheHandshakeOfARoam() {
        world.disconnect(reason: 1)
        world.associate(upstairs)
        world.observe(.suspending)
        world.disconnect(reason: 3)
        world.pass(3_600)
        world.observe(.resumed)
        world.join(home)
        #expect(world.told() == ["suspended", "resumed", "resynced resume"])
    }

    @Test func sleepWithoutANetwork() {
        world.disconnect(reason: 3)
        world.pass(2)
        _ = world.told()
        world.observe(.suspending)
        world.pass(100)
        world.observe(.resumed)
        world.pass(60)
        #expect(world.told() == ["suspended", "resumed", "resynced resume"])
        #expect(world.deadline == nil)
    }

    @Test func interfaceThatGoesInSleep() {
        world.observe(.suspending)
        world.kernel.interfaces[3] = nil
        world.hear(.linkRemoved())
        #expect(world.told() == ["suspended", "left Home suspend"])
    }
}

/// The agent starts in the middle of things: what is there is a snapshot, not news.
@Suite struct StartTests {
    private func world(_ accessPoint: AccessPoint?, isAuthorized: Bool) -> World {
        var kernel = SimulatedKernel()
        kernel.interfaces[3]?.association = accessPoint.map { .init(accessPoint: $0, isAuthorized: isAuthorized) }
        kernel.interfaces[3]?.state = accessPoint == nil ? 2 : isAuthorized ? 6 : 5
        return World(kernel)
    }

    @Test(arguments: [Driver.mac80211, .flagless, .listless])
    func alreadyJoined(driver: Driver) {
        var kernel = SimulatedKernel()
        kernel.interfaces[3]?.driver = driver
        kernel.interfaces[3]?.association = .init(accessPoint: home, isAuthorized: true)
        kernel.interfaces[3]?.state = 6
        let world = World(kernel)
        #expect(world.state?.network?.name == "Home")
        world.pass(10)
        #expect(world.told() == [])
        world.disconnect(reason: 3)
        world.pass(1.1)
        #expect(world.told() == ["left Home reason 3"])
    }

    @Test func associating() {
        let world = world(home, isAuthorized: false)
        #expect(world.state?.network == nil)
        guard case .associating(let network)? = world.state else {
            Issue.record("\(String(describing: world.state))")
            return
        }
        #expect(network.name == "Home")
        #expect(world.told() == [])
        world.authorize()
        #expect(world.told() == ["joined Home 01 wpa2-psk"])
    }

    @Test func associatingWithAStranger() {
        let world = world(home, isAuthorized: false)
        world.pass(3)
        world.disconnect(reason: 15, byAccessPoint: true)
        #expect(world.told() == ["failed Home reason 15 by ap"])
    }

    @Test func roaming() {
        let world = world(nil, isAuthorized: false)
        #expect(world.state == .idle)
        world.hear(.disconnect(reason: 1))
        world.join(upstairs)
        #expect(world.told() == ["associating Home", "joined Home 02 wpa2-psk"])
    }

    /// Events that were queued while everything was read are older than what was read.
    @Test func newsFromBeforeTheSnapshot() {
        let world = world(home, isAuthorized: true)
        world.hear(.station(home.bssid), .authenticate(home), .associate(home), .connect(home))
        world.pass(3)
        #expect(world.told() == [])
        #expect(world.state?.network?.name == "Home")
    }
}
