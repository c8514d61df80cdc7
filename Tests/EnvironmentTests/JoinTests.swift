import Netlink
import Platform
import TestSupport
import Testing
import WiFi

@testable import Environment

let home = AccessPoint("Home", 1)
let upstairs = AccessPoint("Home", 2, frequency: 2437)
let office = AccessPoint("Office", 3, .enterprise)
let cafe = AccessPoint("Café", 4, .open)

/// From a radio that is up to a link that is authorised, or not.
@Suite struct JoinTests {
    let world = World()

    @Test func joinsOnceTheLinkIsAuthorised() {
        world.associate(home)
        #expect(world.told() == ["associating Home"])
        #expect(world.state?.network == nil)
        world.pass(0.05)
        world.authorize()
        #expect(world.told() == ["joined Home 01 wpa2-psk"])
        world.pass(3_600)
        #expect(world.told() == [])
        #expect(world.deadline == nil)
    }

    @Test func joinedNetworkIsKnownInFull() {
        world.join(home)
        let network = world.state?.network
        #expect(network?.ssid == SSID(utf8: "Home"))
        #expect(network?.bssid == .numbered(1))
        #expect(network?.security == .wpa2PSK)
        #expect(network?.frequency == 2412)
        #expect(network?.signal == -40)
        #expect(network?.links == [:])
    }

    @Test(arguments: [
        (AccessPoint.Protection.wpa2, "wpa2-psk"), (.wpa3, "wpa3-sae"), (.owe, "owe"), (.enterprise, "wpa2-enterprise"),
    ])
    func everyProtectionNeedsTheHandshake(protection: AccessPoint.Protection, name: String) {
        world.associate(AccessPoint("X", 9, protection))
        world.pass(4)
        #expect(world.told() == ["associating X"])
        world.authorize()
        #expect(world.told() == ["joined X 09 \(name)"])
    }

    @Test func openNetworkJoinsAtOnce() {
        world.kernel.interfaces[3]?.association = .init(accessPoint: cafe, isAuthorized: true)
        world.hear(.station(cafe.bssid), .authenticate(cafe), .associate(cafe), .connect(cafe))
        world.setLink(6)
        #expect(world.told() == ["associating Café", "joined Café 04 open"])
    }

    /// hostapd gives up after four messages a second apart.
    @Test func wrongPassphraseNeverJoins() {
        world.associate(home)
        world.pass(4.1)
        world.disconnect(reason: 15, byAccessPoint: true)
        #expect(world.told() == ["associating Home", "failed Home reason 15 by ap"])
        #expect(world.state == .idle)
        world.pass(10)
        #expect(world.told() == [])
        #expect(world.deadline == nil)
    }

    /// The evil twin: a station that knows the network meets a stranger with its name, again and again.
    @Test func everyTryOfAWrongPassphraseFailsForItself() {
        for _ in 0..<3 {
            world.associate(home)
            world.pass(4.1)
            world.disconnect(reason: 15, byAccessPoint: true)
            world.pass(10)
            #expect(world.told() == ["associating Home", "failed Home reason 15 by ap"])
        }
    }

    @Test func failedEAPIsLikeAWrongPassphrase() {
        world.associate(office)
        world.pass(0.4)
        world.disconnect(reason: 23, byAccessPoint: true)
        #expect(world.told() == ["associating Office", "failed Office reason 23 by ap"])
    }

    /// Commit succeeds, confirm fails, and nothing else is ever told.
    @Test func wrongSAEPassword() {
        let secured = AccessPoint("Home", 1, .wpa3)
        world.kernel.interfaces[3]?.scan = [.scanEntry(secured, isAssociated: false)]
        for _ in 0..<3 {
            world.hear(
                .station(secured.bssid), .authenticate(secured, algorithm: 3, transaction: 1),
                .authenticate(secured, status: 1, algorithm: 3), .stationRemoved(secured.bssid))
            #expect(world.told() == ["associating Home", "failed Home status 1"])
            world.pass(1.2)
        }
        #expect(world.deadline == nil)
    }

    /// 76 asks for a token, 77 for another group, 126 and 127 name a method: the attempt goes on.
    @Test(arguments: [UInt16(76), 77, 126, 127])
    func statusesThatSAEGoesOnAfterAreNoRefusals(status: UInt16) {
        let secured = AccessPoint("Home", 1, .wpa3)
        world.hear(.authenticate(secured, status: status, algorithm: 3, transaction: 1))
        #expect(world.told() == [])
        world.hear(.authenticate(secured, status: status, algorithm: 0))
        #expect(world.told() == ["associating -", "failed - status \(status)"])
    }

    @Test func fullAccessPoint() {
        world.kernel.interfaces[3]?.scan = [.scanEntry(home, isAssociated: false)]
        world.hear(.station(home.bssid), .authenticate(home, status: 17), .stationRemoved(home.bssid))
        #expect(world.told() == ["associating Home", "failed Home status 17"])
        #expect(world.state == .idle)
    }

    /// Two refusals by one access point are two failures, even when the kernel is slow to name it.
    @Test func refusalsAreToldOneByOne() {
        world.isSlow = true
        world.hear(.authenticate(home, status: 17), .authenticate(home, status: 1))
        world.answer()
        #expect(
            world.told() == ["associating -", "failed - status 17", "associating -", "failed - status 1"])
    }

    @Test func unansweredAuthentication() {
        world.hear(.unanswered(home))
        #expect(world.told() == ["associating -", "failed - timed_out"])
        world.hear(.unanswered(home, command: 38))
        #expect(world.told() == ["associating -", "failed - timed_out"])
    }

    @Test func connectWithAStatusIsAFailure() {
        world.hear(.connect(home, status: 16))
        #expect(world.told() == ["associating Home", "failed Home status 16"])
        world.hear(.connect(home, status: 1, isTimeout: true))
        #expect(world.told() == ["associating Home", "failed Home timed_out"])
        world.hear(.connect(home, status: 1, request: nil, hasAddress: false))
        #expect(world.told() == ["associating -", "failed - status 1"])
        #expect(world.state == .idle)
    }

    @Test func anotherAttemptSupersedesTheFirst() {
        world.associate(home)
        world.associate(office)
        world.authorize()
        #expect(
            world.told() == [
                "associating Home", "failed Home superseded", "associating Office", "joined Office 03 wpa2-enterprise",
            ])
    }

    @Test func handshakeThatStartsAnewIsOneAttempt() {
        world.associate(home)
        world.hear(.connect(home))
        world.authorize()
        #expect(world.told() == ["associating Home", "joined Home 01 wpa2-psk"])
    }

    /// The order of rtnetlink and nl80211 is not defined: the link can be up before CONNECT is read.
    @Test func linkThatIsUpBeforeConnect() {
        world.kernel.interfaces[3]?.association = .init(accessPoint: home, isAuthorized: true)
        world.setLink(5)
        world.setLink(6)
        world.hear(.station(home.bssid), .connect(home))
        #expect(world.told() == ["associating Home", "joined Home 01 wpa2-psk"])
    }

    @Test func flagDecidesAgainstAnUpLink() {
        world.associate(home)
        world.setLink(6)
        world.pass(60)
        #expect(world.told() == ["associating Home"])
        world.authorize()
        world.pass(120)
        #expect(world.told() == ["joined Home 01 wpa2-psk"])
    }

    @Test(arguments: [UInt8(1), 2, 3, 4, 5])
    func flagAgainstALinkThatIsNotUpIsAConflict(state: UInt8) {
        world.associate(home)
        world.kernel.interfaces[3]?.association?.isAuthorized = true
        world.setLink(state)
        world.pass(60)
        #expect(world.told() == ["associating Home"])
    }

    /// Unprotected frames can be anybody's.
    @Test func spoofedDeauthenticationDoesNothing() {
        world.join(home)
        _ = world.told()
        world.hear(.deauthenticate(home, reason: 7, command: 70), .deauthenticate(home, reason: 8, command: 71))
        world.pass(5)
        #expect(world.told() == [])
        #expect(world.state?.network?.name == "Home")
    }

    @Test func peersAreNoAccessPoints() {
        world.join(home)
        _ = world.told()
        let peer = MACAddress.numbered(0x77)
        world.hear(.station(peer))
        world.kernel.interfaces[3]?.peers = [peer]
        world.hear(.linksChanged())
        world.kernel.interfaces[3]?.peers = []
        world.hear(.stationRemoved(peer))
        world.pass(5)
        #expect(world.told() == [])
        #expect(world.state?.network?.place == "01")
    }

    @Test func channelSwitch() {
        world.join(home)
        _ = world.told()
        world.kernel.interfaces[3]?.association?.accessPoint.frequency = 2462
        world.hear(.channelSwitched(to: 2462), .channelSwitched(to: 2462))
        #expect(world.told() == ["channel Home 2462"])
        world.pass(5)
        #expect(world.state?.network?.frequency == 2462)
    }
}
