import Netlink
import TestSupport
import Testing
import WiFi

@testable import Environment

/// Wi-Fi 7: one association over several links.
@Suite struct MultiLinkTests {
    let world = World()
    let device = AccessPoint("Seven", 0x70, .wpa3).with { $0.links = [0: .numbered(0x71), 2: .numbered(0x72)] }

    @Test func linksAreKnownByTheirIdentifiers() {
        world.join(device)
        #expect(world.told() == ["associating Seven", "joined Seven 70 wpa3-sae"])
        #expect(world.state?.network?.links == [0: .numbered(0x71), 2: .numbered(0x72)])
    }

    /// Position 1 is link 0 for some kernels and says nothing for others.
    @Test func positionInTheNestIsIgnored() throws {
        let message = try NL80211Message(Signal.connect(device).message)
        guard case .connect(let result) = message else {
            Issue.record("\(message)")
            return
        }
        #expect(result.links == [0: .numbered(0x71), 2: .numbered(0x72)])
        #expect(result.bssid == .numbered(0x70))
    }

    /// A link that the access point refused is none.
    @Test func refusedLinks() throws {
        let links = Wire.nest(
            312, Wire.nest(1, Wire.attribute(313, UInt8(0)), Wire.attribute(245, MACAddress.numbered(0x71).octets)),
            Wire.nest(
                2, Wire.attribute(313, UInt8(1)), Wire.attribute(245, MACAddress.numbered(0x72).octets),
                Wire.attribute(72, UInt16(1))))
        let message = try NL80211Message(
            Signal.wireless(47, Wire.attribute(3, Int32(3)), Wire.attribute(6, device.bssid.octets), links).message)
        guard case .roam(let result) = message else {
            Issue.record("\(message)")
            return
        }
        #expect(result.links == [0: .numbered(0x71)])
    }

    @Test(arguments: [true, false])
    func changedLinksAreNoRoam(isReconfiguration: Bool) {
        world.join(device)
        _ = world.told()
        world.kernel.interfaces[3]?.association?.accessPoint.links = [2: .numbered(0x72)]
        world.hear(.linksChanged(isReconfiguration: isReconfiguration))
        world.pass(2)
        #expect(world.told() == [])
        #expect(world.state?.network?.links == [2: .numbered(0x72)])
    }

    @Test func roamBetweenDevices() {
        world.join(device)
        _ = world.told()
        world.disconnect(reason: 1)
        world.join(device.with { ($0.bssid, $0.links) = (.numbered(0x80), [1: .numbered(0x81)]) })
        #expect(world.told() == ["roamed Seven 70>80"])
        #expect(world.state?.network?.links == [1: .numbered(0x81)])
    }

    @Test func roamFromOneLinkToSeveral() {
        world.join(AccessPoint("Seven", 1, .wpa3))
        _ = world.told()
        world.disconnect(reason: 1)
        world.join(device)
        #expect(world.told() == ["roamed Seven 01>70"])
    }

    @Test func channelSwitchOfOneOfSeveralLinks() {
        world.join(device)
        _ = world.told()
        world.hear(.channelSwitched(to: 5955, link: 2))
        #expect(world.told() == [])
    }
}
