import Netlink
import Platform
import TestSupport
import Testing
import WiFi

@testable import Environment

/// What drivers do differently: each row is a driver whose messages are made here.
@Suite struct DriverTests {
    let world = World()

    private func use(_ driver: Driver) {
        world.kernel.interfaces[3]?.driver = driver
    }

    // MARK: brcmfmac

    /// Every failure is status 16, whatever the cause.
    @Test func brcmfmacFailure() {
        world.hear(.connect(home, status: 16))
        #expect(world.told() == ["associating Home", "failed Home status 16"])
    }

    /// The firmware did not give the elements, so those of the association before are sent.
    @Test func brcmfmacStaleElements() {
        world.kernel.interfaces[3]?.association = .init(accessPoint: office, isAuthorized: true)
        world.hear(.connect(office, request: home.requestElements))
        world.setLink(6)
        world.pass(1)
        #expect(world.told().last == "joined Office 03 wpa2-enterprise")
        #expect(world.state?.network?.ssid == SSID(utf8: "Office"))
    }

    /// Stale elements never make a roam of a switch, nor name the network that was left.
    @Test func brcmfmacStaleElementsOfTheNetworkBefore() {
        world.join(home)
        _ = world.told()
        world.disconnect(reason: 3)
        world.pass(0.05)
        world.kernel.interfaces[3]?.association = .init(accessPoint: office, isAuthorized: true)
        world.hear(.connect(office, request: home.requestElements))
        world.setLink(6)
        world.pass(1)
        #expect(
            world.told() == ["left Home reason 3", "associating Office", "joined Office 03 wpa2-enterprise"])
    }

    /// A conflict that the kernel resolves when asked again was a matter of order.
    @Test func conflictThatGoesAway() {
        world.isSlow = true
        world.kernel.interfaces[3]?.association = .init(accessPoint: home)
        world.hear(.connect(upstairs.with { $0.bssid = home.bssid }))
        let question = world.takeQuestion()
        let actual = world.kernel
        world.kernel.interfaces[3]?.association?.accessPoint.ssid = Array("Other".utf8)
        world.observe(world.ask(question))
        world.kernel = actual
        world.isSlow = false
        world.authorize()
        world.pass(0.1)
        #expect(world.told() == ["associating Home", "joined Home 01 wpa2-psk"])
    }

    /// DISCONNECT comes after the reply to the command, when the supplicant is already on its way elsewhere.
    @Test func brcmfmacLateDisconnect() {
        world.join(home)
        world.disconnect(reason: 3)
        world.pass(2)
        _ = world.told()
        world.hear(.disconnect(reason: 3))
        #expect(world.told() == [])
        world.kernel.interfaces[3]?.association = .init(accessPoint: office)
        world.hear(.connect(office), .disconnect(reason: 3))
        world.setLink(5)
        world.authorize()
        world.pass(1)
        #expect(
            world.told() == [
                "associating Office", "failed Office reason 3", "associating Office",
                "joined Office 03 wpa2-enterprise",
            ])
    }

    /// As above, but the port was opened before the DISCONNECT was read: no event is left to come.
    @Test(arguments: [true, false])
    func lateDisconnectAfterTheLastEvent(isSlow: Bool) {
        world.isSlow = isSlow
        world.setLink(5)
        world.kernel.interfaces[3]?.association = .init(accessPoint: office)
        world.hear(.connect(office))
        world.kernel.interfaces[3]?.association?.isAuthorized = true
        world.setLink(6)
        world.hear(.disconnect(reason: 3))
        world.isSlow = false
        world.answer()
        world.pass(3)
        #expect(world.state?.network?.name == "Office")
    }

    // MARK: ath6kl

    /// A second connect event while connected is a ROAM; DISCONNECT is always "by us".
    @Test func ath6kl() {
        use(.flagless)
        world.join(home)
        world.kernel.interfaces[3]?.association = .init(accessPoint: upstairs)
        world.hear(.roam(upstairs), .portAuthorized(upstairs))
        world.disconnect(reason: 15)
        world.pass(1.1)
        #expect(
            world.told() == [
                "associating Home", "joined Home 01 wpa2-psk", "roamed Home 01>02", "left Home reason 15",
            ])
    }

    // MARK: mwifiex, libertas, virt_wifi: no request elements

    @Test func mwifiexJoins() {
        use(.mwifiex)
        world.associate(home)
        #expect(world.told() == ["associating Home"])
        world.authorize()
        #expect(world.told() == ["joined Home 01 wpa2-psk"])
    }

    @Test func mwifiexRoamsByDisconnect() {
        use(.mwifiex)
        world.join(home)
        world.disconnect(reason: 1)
        world.pass(0.05)
        world.join(upstairs)
        #expect(world.told() == ["associating Home", "joined Home 01 wpa2-psk", "roamed Home 01>02"])
    }

    /// CONNECT comes before the reply to the command, so before the driver knows the station.
    @Test func mwifiexConnectBeforeTheKernelKnows() {
        use(.mwifiex)
        world.hear(.connect(home, request: nil))
        #expect(world.told() == ["associating -"])
        world.kernel.interfaces[3]?.association = .init(accessPoint: home)
        world.setLink(5)
        world.authorize()
        #expect(world.told() == ["joined Home 01 wpa2-psk"])
    }

    @Test func hiddenNetworkIsTwiceInTheScan() {
        use(.mwifiex)
        world.kernel.interfaces[3]?.scan = [.scanEntry(home.with { $0.isHidden = true })]
        world.join(home)
        #expect(world.told() == ["associating Home", "joined Home 01 wpa2-psk"])
    }

    /// No Country element, so GET_INTERFACE tells no name: the scan entry does.
    @Test func noCountryElement() {
        use(.mwifiex)
        world.join(home.with { $0.hasCountry = false })
        #expect(world.state?.network?.ssid == SSID(utf8: "Home"))
    }

    /// Only GET_INTERFACE knows it.
    @Test func nameFromTheInterface() {
        use(.mwifiex)
        world.join(home.with { $0.isHidden = true })
        #expect(world.told() == ["associating Home", "joined Home 01 wpa2-psk"])
    }

    /// Nobody knows it: waited for, but not for ever, and never an empty name.
    @Test func nameThatNobodyKnows() {
        use(.mwifiex)
        let unnamed = home.with { ($0.isHidden, $0.hasCountry) = (true, false) }
        world.join(unnamed)
        #expect(world.told() == ["associating -"])
        world.pass(5)
        #expect(world.told() == ["joined - 01 wpa2-psk"])
    }

    // MARK: Drivers without the flag

    /// The DOWN of the association before comes up to a second late; its UP says nothing about the new one.
    @Test func staleUpOfTheAssociationBefore() {
        use(.flagless)
        world.join(home)
        _ = world.told()
        world.kernel.interfaces[3]?.association = nil
        world.hear(.disconnect(reason: 1))
        world.pass(0.05)
        world.kernel.interfaces[3]?.association = .init(accessPoint: upstairs)
        world.hear(.connect(upstairs))
        world.pass(0.8)
        #expect(world.told() == [])
        world.setLink(2)
        world.setLink(5)
        world.pass(3)
        #expect(world.told() == [])
        world.disconnect(reason: 15, byAccessPoint: true)
        #expect(world.told() == ["left Home reason 1", "associating Home", "failed Home reason 15 by ap"])
    }

    @Test func staleUpUnderAConnectWhileJoined() {
        use(.flagless)
        world.join(home)
        _ = world.told()
        world.kernel.interfaces[3]?.association = .init(accessPoint: upstairs)
        world.hear(.connect(upstairs))
        world.pass(1)
        world.setLink(2)
        world.setLink(5)
        world.pass(1)
        #expect(world.told() == [])
        world.authorize()
        #expect(world.told() == ["roamed Home 01>02"])
    }

    /// The machine was busy: the link's news were read before DISCONNECT and CONNECT, which are older.
    @Test func newsOfTheLinkThatOvertookTheAssociation() {
        use(.flagless)
        world.join(home)
        _ = world.told()
        world.kernel.interfaces[3]?.association = .init(accessPoint: upstairs, isAuthorized: true)
        world.isSlow = true
        world.setLink(2)
        world.setLink(5)
        world.setLink(6)
        world.hear(.stationRemoved(home.bssid), .disconnect(reason: 1), .station(upstairs.bssid), .connect(upstairs))
        world.isSlow = false
        world.answer()
        world.pass(3)
        #expect(world.told() == ["roamed Home 01>02"])
    }

    /// UP for one access point, and the next CONNECT before anybody was asked about the first.
    @Test func upOfTheAccessPointBetween() {
        use(.flagless)
        world.join(home)
        _ = world.told()
        world.disconnect(reason: 1)
        world.associate(upstairs)
        world.isSlow = true
        world.setLink(6)
        let stranger = AccessPoint("Home", 0xe1)
        world.kernel.interfaces[3]?.association = .init(accessPoint: stranger)
        world.hear(.connect(stranger))
        world.isSlow = false
        world.answer()
        world.pass(1)
        world.setLink(5)
        world.pass(3)
        #expect(world.told() == [])
        world.disconnect(reason: 15, byAccessPoint: true)
        #expect(world.told() == ["left Home reason 1", "associating Home", "failed Home reason 15 by ap"])
    }

    /// Where no supplicant set the link mode, UP is carrier and no more.
    @Test func linkModeThatIsNotDormant() {
        use(.flagless)
        world.kernel.interfaces[3]?.mode = 0
        world.associate(home)
        world.setLink(6)
        world.pass(120)
        #expect(world.told() == ["associating Home"])
        world.hear(.portAuthorized(home))
        #expect(world.told() == ["joined Home 01 wpa2-psk"])
    }

    @Test func linkModeThatIsNotDormantOnAnOpenNetwork() {
        use(.flagless)
        world.kernel.interfaces[3]?.mode = 0
        world.associate(cafe)
        world.setLink(6)
        #expect(world.told() == ["associating Café", "joined Café 04 open"])
    }

    /// EXT_FEATURE 4WAY_HANDSHAKE_STA: the firmware makes the handshake.
    @Test func offloadedHandshake() {
        use(.flagless)
        world.kernel.interfaces[3]?.mode = 0
        world.kernel.interfaces[3]?.association = .init(accessPoint: office)
        world.hear(.connect(office))
        world.setLink(6)
        #expect(world.told() == ["associating Office"])
        world.hear(.portAuthorized(office))
        #expect(world.told() == ["joined Office 03 wpa2-enterprise"])
    }

    @Test func portAuthorizedOfSomebodyElse() {
        use(.flagless)
        world.associate(home)
        world.hear(.portAuthorized(upstairs))
        world.pass(10)
        #expect(world.told() == ["associating Home"])
    }

    /// The flag decides against PORT_AUTHORIZED as well.
    @Test func portAuthorizedAgainstTheFlag() {
        world.associate(home)
        world.hear(.portAuthorized(home))
        world.setLink(6)
        world.pass(10)
        #expect(world.told() == ["associating Home"])
    }

    /// Its list of stations is empty or not to be had.
    @Test func driverWithoutAListOfStations() {
        use(.listless)
        world.join(home)
        #expect(world.told() == ["associating Home", "joined Home 01 wpa2-psk"])
        world.hear(.linksChanged())
        world.pass(5)
        #expect(world.told() == [])
    }

    // MARK: CONNECT without an address; station events only

    @Test func connectWithoutAnAddress() {
        world.kernel.interfaces[3]?.association = .init(accessPoint: home)
        world.hear(.connect(home, hasAddress: false))
        world.setLink(5)
        world.authorize()
        #expect(world.told() == ["associating Home", "joined Home 01 wpa2-psk"])
    }

    @Test func stationEventsOnly() {
        world.kernel.interfaces[3]?.association = .init(accessPoint: home)
        world.hear(.station(home.bssid))
        world.setLink(5)
        world.pass(0.35)
        #expect(world.told() == ["associating Home"])
        world.authorize()
        #expect(world.told() == ["joined Home 01 wpa2-psk"])
        // The roam
        world.kernel.interfaces[3]?.association = nil
        world.hear(.stationRemoved(home.bssid))
        world.setLink(2)
        world.kernel.interfaces[3]?.association = .init(accessPoint: upstairs)
        world.hear(.station(upstairs.bssid))
        world.setLink(5)
        world.pass(0.35)
        world.authorize()
        #expect(world.told() == ["roamed Home 01>02"])
        // The end
        world.kernel.interfaces[3]?.association = nil
        world.hear(.stationRemoved(upstairs.bssid))
        world.setLink(2)
        world.pass(2)
        #expect(world.told() == ["left Home -"])
    }

    @Test func stationEventsOnlyAndAWrongKey() {
        world.kernel.interfaces[3]?.association = .init(accessPoint: home)
        world.hear(.station(home.bssid))
        world.setLink(5)
        world.pass(4)
        world.kernel.interfaces[3]?.association = nil
        world.hear(.stationRemoved(home.bssid))
        world.pass(2)
        #expect(world.told() == ["associating Home", "failed Home -"])
    }

    /// A driver that is joined and says nothing at all: the link is the only hint.
    @Test func silentDriver() {
        world.kernel.interfaces[3]?.association = .init(accessPoint: home, isAuthorized: true)
        world.setLink(6)
        world.pass(0.35)
        #expect(world.told() == ["associating Home", "joined Home 01 wpa2-psk"])
        world.kernel.interfaces[3]?.association = nil
        world.setLink(2)
        world.pass(2)
        #expect(world.told() == ["left Home -"])
    }

    /// cfg80211 does not find the BSS: CONNECT was sent, and that is all there is.
    @Test func connectThatTheKernelForgot() {
        world.hear(.connect(home))
        world.pass(1)
        #expect(world.told() == ["associating Home", "failed Home -"])
        #expect(world.deadline == nil)
    }

    // MARK: A kernel that does not answer

    @Test func silenceInTheHandshakeIsNoFailure() {
        world.isSilent = true
        world.associate(home)
        world.pass(3)
        #expect(world.told() == ["associating Home"])
        world.isSilent = false
        world.authorize()
        #expect(world.told() == ["joined Home 01 wpa2-psk"])
    }

    /// Not even an UP link authorises: the flag may well be reported, only not now.
    @Test func silenceIsNoLackOfTheFlag() {
        world.isSilent = true
        world.associate(home)
        world.setLink(6)
        world.pass(60)
        #expect(world.told() == ["associating Home"])
    }

    @Test func silenceWhileJoinedIsNoLoss() {
        world.join(home)
        _ = world.told()
        world.isSilent = true
        world.hear(.linksChanged())
        world.pass(60)
        #expect(world.told() == [])
        world.kernel.interfaces[3]?.association = nil
        world.isSilent = false
        world.pass(200)
        #expect(world.told() == ["left Home -"])
    }

    @Test func silenceAfterALossIsALoss() {
        world.join(home)
        world.isSilent = true
        world.disconnect(reason: 2)
        world.pass(1.1)
        #expect(world.told().last == "left Home reason 2")
    }

    /// What is never answered, or never ends, costs ever less.
    @Test(arguments: [true, false])
    func waitingForEverCostsNearlyNothing(isSilent: Bool) {
        world.isSilent = isSilent
        world.associate(home)
        let count = world.questionCount
        world.pass(86_400)
        #expect(world.questionCount - count < 30)
        if let deadline = world.deadline { #expect(deadline > world.now.boottime) }
    }
}
