import TestSupport
import Testing

@testable import Netlink

/// Generic netlink's controller: which families there are.
@Suite struct ControllerTests {
    private func message(_ command: UInt8, _ attributes: [UInt8]...) -> NetlinkMessage {
        NetlinkMessage(type: 16, payload: ([command, 2, 0, 0] + attributes.joined())[...])
    }

    private let groups = Wire.nest(
        7, Wire.nest(1, Wire.attribute(2, UInt32(6)), Wire.attribute(1, text: "config")),
        Wire.nest(2, Wire.attribute(2, UInt32(9)), Wire.attribute(1, text: "mlme")))

    @Test func familyThatComes() throws {
        let told = try GenericNetlinkNotification(
            message(1, Wire.attribute(2, text: "nl80211"), Wire.attribute(1, UInt16(32)), groups))
        #expect(
            told == .added(GenericNetlinkFamily(name: "nl80211", identifier: 32, groups: ["config": 6, "mlme": 9])))
    }

    @Test func familyThatGoes() throws {
        #expect(try GenericNetlinkNotification(message(2, Wire.attribute(2, text: "nl80211"))) == .removed(name: "nl80211"))
    }

    @Test func otherMessages() throws {
        #expect(try GenericNetlinkNotification(message(7, Wire.attribute(2, text: "nl80211"))) == nil)
        #expect(try GenericNetlinkNotification(NetlinkMessage(type: 32, payload: [1, 1, 0, 0])) == nil)
    }

    @Test func brokenMessages() {
        let broken = [
            NetlinkMessage(type: 16, payload: []), NetlinkMessage(type: 16, payload: [1, 2, 0]), message(1),
            message(1, Wire.attribute(1, UInt32(32)), Wire.attribute(2, text: "nl80211")),
            message(1, Wire.attribute(2, text: "nl80211"), Wire.attribute(2, text: "nl80211")),
            message(1, Wire.attribute(2, text: "nl80211"), Wire.nest(7, Wire.nest(1, Wire.attribute(2, UInt16(6))))),
        ]
        for message in broken {
            #expect(throws: MalformedMessage.self) { try GenericNetlinkNotification(message) }
        }
    }
}
