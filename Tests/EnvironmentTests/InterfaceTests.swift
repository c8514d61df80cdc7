import Netlink
import Platform
import TestSupport
import Testing
import WiFi

@testable import Environment

/// Interfaces that come, go and change, and those that are none of ours.
@Suite struct InterfaceTests {
    let world = World()

    @Test func killSwitch() {
        world.join(home)
        _ = world.told()
        world.kernel.interfaces[3]?.association = nil
        world.kernel.interfaces[3]?.isBlocked = true
        world.hear(.stationRemoved(home.bssid), .disconnect(reason: 3))
        world.setInterface(isUp: false)
        #expect(world.told() == ["left Home reason 3 rfkill"])
        #expect(world.state == .idle)
        world.pass(60)
        #expect(world.told() == [])
    }

    /// The link goes down before DISCONNECT is read.
    @Test func killSwitchInTheOtherOrder() {
        world.join(home)
        _ = world.told()
        world.kernel.interfaces[3]?.association = nil
        world.kernel.interfaces[3]?.isBlocked = true
        world.setInterface(isUp: false)
        world.hear(.stationRemoved(home.bssid), .disconnect(reason: 3))
        #expect(world.told() == ["left Home rfkill"])
    }

    @Test func interfaceThatIsSetDown() {
        world.associate(home)
        world.setInterface(isUp: false)
        #expect(world.told() == ["associating Home", "failed Home interface_down"])
        world.setInterface(isUp: true)
        world.join(home)
        world.kernel.interfaces[3]?.association = nil
        world.setInterface(isUp: false)
        #expect(world.told() == ["associating Home", "joined Home 01 wpa2-psk", "left Home interface_down"])
    }

    /// NetworkManager does it twice between two networks, for the address it scans with.
    @Test func downAndUpBetweenNetworks() {
        world.join(home)
        world.disconnect(reason: 3)
        for _ in 0..<2 {
            world.setInterface(isUp: false)
            world.setInterface(isUp: true)
        }
        world.pass(0.5)
        world.join(office)
        #expect(
            world.told() == [
                "associating Home", "joined Home 01 wpa2-psk", "left Home reason 3 interface_down",
                "associating Office", "joined Office 03 wpa2-enterprise",
            ])
    }

    @Test func renameKeepsTheState() {
        world.join(home)
        _ = world.told()
        world.kernel.interfaces[3]?.name = "wifi0"
        world.setLink(6)
        #expect(world.told() == [])
        #expect(world.environment.interfaces[3]?.name == "wifi0")
        #expect(world.state?.network?.name == "Home")
        world.disconnect()
        world.pass(1.1)
        let left = world.toldEverything().first { $0.line == "left Home reason 3" }
        #expect(left?.interface == InterfaceReference(index: 3, name: "wifi0"))
    }

    @Test func stationThatBecomesAnAccessPoint() {
        world.join(home)
        _ = world.told()
        world.kernel.interfaces[3]?.type = 3
        world.hear(.interface(type: 3, command: 6))
        #expect(world.told() == ["left Home interface_removed"])
        #expect(world.state == nil)
        // Its clients are not where we are.
        world.hear(.station(.numbered(0x55)), .stationRemoved(.numbered(0x55)), .disconnect(reason: 3))
        world.pass(2)
        #expect(world.told() == [])
        world.hear(.interface(type: 2, command: 6))
        #expect(world.state == .idle)
    }

    @Test func stationThatBecomesAMonitor() {
        world.associate(home)
        world.hear(.interface(type: 6, command: 6))
        #expect(world.told() == ["associating Home", "failed Home interface_removed"])
    }

    @Test(arguments: [UInt32(3), 4, 6, 7, 9, 1])
    func otherKindsOfInterfacesJoinNothing(type: UInt32) {
        world.kernel.interfaces[7] = .init(name: "ap0", type: type)
        world.hear(.interface(7, name: "ap0", type: type))
        world.hear(.link(7, name: "ap0", state: 6, mode: 0), .station(.numbered(0x55), on: 7))
        world.hear(.authenticate(home, status: 17, on: 7), .disconnect(reason: 3, on: 7))
        world.pass(2)
        #expect(world.told() == [])
        #expect(world.environment.interfaces[7]?.wifi == nil)
        #expect(world.environment.interfaces[7]?.kind == .wifi)
    }

    @Test func peerToPeerClientJoins() {
        world.kernel.interfaces[7] = .init(name: "p2p0", type: 8)
        world.hear(.interface(7, name: "p2p0", type: 8), .link(7, name: "p2p0", state: 2))
        world.join(home, on: 7)
        #expect(world.told() == ["associating Home", "joined Home 01 wpa2-psk"])
    }

    @Test func peerToPeerDeviceIsNoInterface() {
        let before = world.environment
        world.hear(.peerToPeerDevice)
        #expect(world.environment == before)
        #expect(world.counters.malformed == 0)
    }

    // MARK: Appearing

    /// nl80211 and rtnetlink are two sockets: either can be read first.
    @Test(arguments: [true, false])
    func newInterface(isWirelessFirst: Bool) {
        world.kernel.interfaces[7] = .init(name: "wlan1")
        let wireless = Signal.interface(7, name: "wlan1")
        let link = Signal.link(7, name: "wlan1", isUp: false, state: 2, mode: 0)
        world.hear(isWirelessFirst ? wireless : link, isWirelessFirst ? link : wireless)
        #expect(world.environment.interfaces[7]?.kind == .wifi)
        #expect(world.environment.interfaces[7]?.wifi == .idle)
        #expect(world.environment.interfaces[7]?.name == "wlan1")
        world.join(home, on: 7)
        let changes = world.toldEverything().filter { $0.line != nil }
        #expect(changes.map(\.line) == ["associating Home", "joined Home 01 wpa2-psk"])
        #expect(changes.allSatisfy { $0.interface == InterfaceReference(index: 7, name: "wlan1") })
    }

    /// Whoever has an association is a station, whatever was missed.
    @Test func connectOfAnInterfaceThatNobodyAnnounced() {
        world.kernel.interfaces[7] = .init(name: "wlan1", association: .init(accessPoint: home, isAuthorized: true))
        world.hear(.connect(home, on: 7))
        world.setLink(6, on: 7)
        #expect(world.told() == ["associating Home", "joined Home 01 wpa2-psk"])
        #expect(world.environment.interfaces[7]?.kind == .wifi)
    }

    @Test func twoRadios() {
        world.kernel.interfaces[7] = .init(name: "wlan1")
        world.hear(.interface(7, name: "wlan1"), .link(7, name: "wlan1", state: 2))
        world.associate(home)
        world.associate(office, on: 7)
        world.authorize(on: 7)
        world.disconnect(reason: 15, byAccessPoint: true)
        #expect(
            world.told() == [
                "associating Home", "associating Office", "joined Office 03 wpa2-enterprise",
                "failed Home reason 15 by ap",
            ])
        #expect(world.environment.interfaces[7]?.wifi?.network?.name == "Office")
        #expect(world.state == .idle)
    }

    // MARK: Going

    private func remove(_ signals: Signal...) {
        world.kernel.interfaces[3] = nil
        for signal in signals { world.hear(signal) }
        world.pass(2)
    }

    @Test func removal() {
        world.join(home)
        _ = world.told()
        remove(
            .stationRemoved(home.bssid), .disconnect(reason: 3), .interfaceRemoved(), .linkRemoved())
        #expect(world.told() == ["left Home reason 3 interface_removed"])
        #expect(world.environment.interfaces[3] == nil)
    }

    @Test func removalWithTheLinkFirst() {
        world.join(home)
        _ = world.told()
        remove(
            .linkRemoved(), .stationRemoved(home.bssid), .disconnect(reason: 3), .interfaceRemoved())
        #expect(world.told() == ["left Home interface_removed"])
        #expect(world.environment.interfaces[3] == nil)
        #expect(world.deadline == nil)
    }

    /// What nl80211 still had to say is about an interface that is gone: it does not come back to life.
    @Test func removalBeforeOlderNews() {
        remove(
            .linkRemoved(), .interface(), .connect(home), .roam(home), .connect(home, status: 1), .disconnect(reason: 3),
            .interfaceRemoved())
        #expect(world.told() == [])
        #expect(world.environment.interfaces[3] == nil)
    }

    /// `iw phy set netns` back and forth: the same index may come again.
    @Test func interfaceThatComesBack() {
        remove(.linkRemoved(), .interfaceRemoved())
        world.kernel.interfaces[3] = .init()
        world.hear(.interface(), .link(state: 2))
        world.join(home)
        #expect(world.told() == ["associating Home", "joined Home 01 wpa2-psk"])
    }

    @Test func interfaceThatOnlyNL80211Knew() {
        world.hear(.interface(9, name: "wlan9"), .interfaceRemoved(9))
        #expect(world.environment.interfaces[9] == nil)
    }

    /// A bridge that lets go of its port says so with RTM_DELLINK of AF_BRIDGE.
    @Test func leavingABridgeIsNoRemoval() {
        world.join(home)
        _ = world.told()
        world.hear(.linkRemoved(family: 7), .link(state: 2, family: 7))
        world.pass(2)
        #expect(world.told() == [])
        #expect(world.state?.network?.name == "Home")
    }

    @Test func messageOfFlagsOnlyChangesFlagsOnly() {
        world.join(home)
        let before = world.environment
        world.hear(.linkFlags(isUp: true))
        #expect(world.environment == before)
    }
}
