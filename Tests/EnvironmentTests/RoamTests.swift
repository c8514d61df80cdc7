import Netlink
import Platform
import TestSupport
import Testing
import WiFi

@testable import Environment

/// From one access point to the next, on the same network or another.
@Suite struct RoamTests {
    let world = World()

    init() {
        world.join(home)
        _ = world.told()
    }

    @Test func disconnectAndConnectIsOneRoam() {
        world.disconnect(reason: 1)
        #expect(world.state == .unknown)
        world.pass(0.047)
        world.associate(upstairs)
        #expect(world.state == .unknown)
        world.pass(0.02)
        world.authorize()
        #expect(world.told() == ["roamed Home 01>02"])
        #expect(world.state?.network?.frequency == 2437)
    }

    /// iwd: the station goes, the next comes, and no DISCONNECT is ever sent.
    @Test func roamWithoutDisconnect() {
        world.kernel.interfaces[3]?.association = nil
        world.hear(.stationRemoved(home.bssid), .deauthenticate(home, reason: 1))
        world.setLink(2)
        world.pass(0.022)
        world.associate(upstairs)
        world.authorize()
        #expect(world.told() == ["roamed Home 01>02"])
    }

    /// Not even the removed station.
    @Test func connectWhileJoinedIsARoam() {
        world.associate(upstairs)
        #expect(world.state == .unknown)
        world.authorize()
        #expect(world.told() == ["roamed Home 01>02"])
    }

    @Test func connectWhileJoinedToTheSameAccessPointIsNothing() {
        world.hear(.connect(home))
        world.pass(3)
        #expect(world.told() == [])
        #expect(world.state?.network?.place == "01")
    }

    @Test func comingBackToTheSameAccessPointInTheWindow() {
        world.disconnect(reason: 2, byAccessPoint: true)
        world.pass(0.3)
        world.join(home)
        #expect(world.told() == ["roamed Home 01>01"])
    }

    @Test func firmwareRoamWithPortAuthorized() {
        world.kernel.interfaces[3]?.driver = .flagless
        world.kernel.interfaces[3]?.association = .init(accessPoint: upstairs)
        world.hear(.roam(upstairs))
        #expect(world.told() == [])
        #expect(world.state == .unknown)
        world.hear(.portAuthorized(upstairs))
        #expect(world.told() == ["roamed Home 01>02"])
    }

    @Test func firmwareRoamWithTheFlag() {
        world.kernel.interfaces[3]?.association = .init(accessPoint: upstairs, isAuthorized: true)
        world.hear(.roam(upstairs))
        #expect(world.told() == ["roamed Home 01>02"])
    }

    /// Neither flag nor PORT_AUTHORIZED: the UP that stands is that of before, until the kernel had time to take it
    /// back.
    @Test func firmwareRoamOfADriverThatSaysNothing() {
        world.kernel.interfaces[3]?.driver = .flagless
        world.kernel.interfaces[3]?.association = .init(accessPoint: upstairs)
        world.hear(.roam(upstairs))
        world.pass(1.9)
        #expect(world.told() == [])
        world.pass(0.2)
        #expect(world.told() == ["roamed Home 01>02"])
    }

    /// A stranger with the name whose handshake the supplicant makes, over a driver without the flag.
    @Test func firmwareRoamToAStranger() {
        world.kernel.interfaces[3]?.driver = .flagless
        world.kernel.interfaces[3]?.association = .init(accessPoint: upstairs)
        world.hear(.roam(upstairs))
        world.setLink(5)
        world.pass(4)
        world.disconnect(reason: 15, byAccessPoint: true)
        world.pass(3)
        #expect(world.told() == ["left Home reason 15 by ap"])
    }

    @Test func firmwareRoamToAnotherNetwork() {
        world.kernel.interfaces[3]?.association = .init(accessPoint: office, isAuthorized: true)
        world.hear(.roam(office))
        #expect(
            world.told() == ["left Home superseded", "associating Office", "joined Office 03 wpa2-enterprise"])
    }

    @Test func switchingNetworksInsideTheWindow() {
        world.disconnect(reason: 3)
        world.pass(0.04)
        world.associate(AccessPoint("Guests", 5))
        // Another name is certainty enough: nothing waits for the handshake.
        #expect(world.told() == ["left Home reason 3", "associating Guests"])
        world.pass(0.2)
        world.authorize()
        #expect(world.told() == ["joined Guests 05 wpa2-psk"])
    }

    /// The class counts as well as the name.
    @Test(arguments: [
        (AccessPoint.Protection.open, "open"), (.owe, "owe"), (.enterprise, "wpa2-enterprise"),
    ])
    func otherSecurityIsAnotherNetwork(protection: AccessPoint.Protection, name: String) {
        world.disconnect(reason: 1)
        world.pass(0.05)
        world.join(AccessPoint("Home", 2, protection))
        #expect(world.told() == ["left Home reason 1", "associating Home", "joined Home 02 \(name)"])
    }

    @Test func strongerSecurityIsARoam() {
        world.disconnect(reason: 1)
        world.join(AccessPoint("Home", 2, .wpa3))
        #expect(world.told() == ["roamed Home 01>02"])
        #expect(world.state?.network?.security == .wpa3SAE)
        world.disconnect(reason: 1)
        world.join(home)
        #expect(world.told() == ["left Home reason 1", "associating Home", "joined Home 01 wpa2-psk"])
    }

    // MARK: The window

    @Test func lossIsToldAfterASecondWithTheTimeOfTheLoss() {
        let loss = world.now
        world.disconnect(reason: 2, byAccessPoint: true)
        world.pass(0.99)
        #expect(world.told() == [])
        world.pass(0.02)
        let changes = world.toldEverything().filter { $0.line != nil }
        #expect(changes.map(\.line) == ["left Home reason 2 by ap"])
        #expect(changes.first?.time == loss)
        #expect(world.state == .idle)
    }

    @Test(arguments: [(0.95, true), (1.05, false)])
    func connectHasASecond(seconds: Double, isRoam: Bool) {
        world.isSlow = true
        world.disconnect(reason: 2)
        world.pass(seconds)
        // The question whether the loss is real is still on its way.
        world.kernel.interfaces[3]?.association = .init(accessPoint: upstairs)
        world.hear(.connect(upstairs))
        world.setLink(5)
        world.answer()
        world.authorize()
        world.answer()
        #expect(
            world.told()
                == (isRoam
                    ? ["roamed Home 01>02"] : ["left Home reason 2", "associating Home", "joined Home 02 wpa2-psk"]))
    }

    @Test(arguments: [(9.8, true), (10.2, false)])
    func handshakeHasTenSeconds(seconds: Double, isRoam: Bool) {
        world.disconnect(reason: 2)
        world.associate(upstairs)
        world.pass(seconds)
        world.authorize()
        #expect(
            world.told()
                == (isRoam
                    ? ["roamed Home 01>02"] : ["left Home reason 2", "associating Home", "joined Home 02 wpa2-psk"]))
    }

    @Test func failedHandshakeInTheWindow() {
        let loss = world.now
        world.disconnect(reason: 2)
        world.pass(0.1)
        world.associate(upstairs)
        world.pass(4)
        world.disconnect(reason: 15, byAccessPoint: true)
        let changes = world.toldEverything().filter { $0.line != nil }
        #expect(
            changes.map(\.line) == ["left Home reason 2", "associating Home", "failed Home reason 15 by ap"])
        #expect(changes.first?.time == loss)
    }

    @Test func failedConnectInTheWindow() {
        world.disconnect(reason: 2)
        world.pass(0.1)
        world.hear(.connect(upstairs, status: 17))
        #expect(world.told() == ["left Home reason 2", "associating Home", "failed Home status 17"])
    }

    @Test func failedConnectWhileJoined() {
        world.kernel.interfaces[3]?.association = nil
        world.hear(.connect(upstairs, status: 17))
        #expect(world.told() == [])
        world.pass(1.1)
        #expect(world.told() == ["left Home status 17"])
    }

    /// A driver that tells too early, or of what another program tried: the kernel has the last word.
    @Test func lossThatTheKernelDeniesIsNone() {
        world.hear(.connect(upstairs, status: 17))
        world.pass(1.1)
        #expect(world.told() == ["roamed Home 01>01"])
        #expect(world.state?.network?.place == "01")
    }

    @Test func refusalsElsewhereInTheWindowAreNotTheNetworks() {
        world.disconnect(reason: 1)
        world.hear(.authenticate(upstairs, status: 17))
        world.pass(0.2)
        world.join(home)
        #expect(world.told() == ["roamed Home 01>01"])
    }

    @Test func refusalsInTheWindowAreToldOnceTheNetworkIsLeft() {
        world.disconnect(reason: 1)
        world.pass(0.3)
        let time = world.now
        world.hear(.authenticate(upstairs, status: 1, algorithm: 3))
        world.pass(1)
        let changes = world.toldEverything().filter { $0.line != nil }
        #expect(changes.map(\.line) == ["left Home reason 1", "associating -", "failed - status 1"])
        #expect(changes.last?.time == time)
    }

    /// Moved by the firmware, and thrown out before the handshake was over.
    @Test func lossDuringAFirmwareRoam() {
        world.kernel.interfaces[3]?.association = .init(accessPoint: upstairs)
        world.hear(.roam(upstairs))
        world.isSlow = true
        world.hear(.linksChanged())
        let stale = world.takeQuestion()
        let answer = world.ask(stale)
        world.kernel.interfaces[3]?.association = nil
        world.hear(.disconnect(reason: 2, byAccessPoint: true))
        // What was answered before the loss says nothing after it.
        world.observe(answer)
        world.isSlow = false
        world.answer()
        world.setLink(2)
        world.pass(2)
        #expect(world.told() == ["left Home reason 2 by ap"])
        #expect(world.state == .idle)
    }

    /// The supplicant gives the port up although the association stays.
    @Test func linkThatIsNoLongerAuthorised() {
        world.kernel.interfaces[3]?.association?.isAuthorized = false
        world.setLink(5)
        #expect(world.state == .unknown)
        world.pass(12)
        #expect(world.told() == ["left Home unauthorized", "associating Home"])
        world.authorize()
        #expect(world.told() == ["joined Home 01 wpa2-psk"])
    }

    /// The carrier is gone, whatever the flag says.
    @Test func linkThatGoesDownUnderTheFlag() {
        world.setLink(2)
        #expect(world.state == .unknown)
        world.pass(12)
        #expect(world.told() == ["left Home unauthorized", "associating Home"])
    }

    @Test func linkThatFlapsIsARoamToItself() {
        world.setLink(2)
        world.setLink(6)
        world.pass(2)
        #expect(world.told() == ["roamed Home 01>01"])
    }

    @Test func lossOfTwoStationsIsOne() {
        world.disconnect(reason: 3)
        world.disconnect(reason: 3)
        world.pass(2)
        world.disconnect(reason: 3)
        #expect(world.told() == ["left Home reason 3"])
    }
}
