import Netlink
import Platform
import TestSupport
import Testing
import WiFi

@testable import Environment

/// Messages were lost, and everything is read again.
@Suite struct ResyncTests {
    let world = World()

    /// What the kernel did while nobody was told; what of it happens next is told again.
    private func miss(_ body: (inout SimulatedKernel.Interface) -> Void) {
        var interface = world.kernel.interfaces[3] ?? .init()
        body(&interface)
        world.kernel.interfaces[3] = interface
        world.observe(.lost(.overrun))
    }

    private func become(_ accessPoint: AccessPoint?, isAuthorized: Bool = true) {
        miss {
            $0.association = accessPoint.map { .init(accessPoint: $0, isAuthorized: isAuthorized) }
            $0.state = accessPoint == nil ? 2 : isAuthorized ? 6 : 5
        }
    }

    // MARK: From every phase to every truth

    @Test func idleAndNothingHappened() {
        become(nil)
        #expect(world.told() == ["resynced overrun"])
    }

    @Test func joinedMeanwhile() {
        become(home)
        #expect(world.told() == ["associating Home", "joined Home 01 wpa2-psk", "resynced overrun"])
    }

    @Test func associatingMeanwhile() {
        become(home, isAuthorized: false)
        #expect(world.told() == ["associating Home", "resynced overrun"])
        world.authorize()
        #expect(world.told() == ["joined Home 01 wpa2-psk"])
    }

    @Test func associatingAndFailedMeanwhile() {
        world.associate(home)
        _ = world.told()
        become(nil)
        world.pass(1)
        #expect(world.told() == ["resynced overrun", "failed Home -"])
    }

    @Test func associatingAndJoinedMeanwhile() {
        world.associate(home)
        _ = world.told()
        become(home)
        #expect(world.told() == ["joined Home 01 wpa2-psk", "resynced overrun"])
    }

    @Test func associatingAndElsewhereMeanwhile() {
        world.associate(home)
        _ = world.told()
        become(office)
        world.pass(1)
        #expect(
            world.told() == [
                "resynced overrun", "failed Home superseded", "associating Office", "joined Office 03 wpa2-enterprise",
            ])
    }

    @Test func joinedAndStillThere() {
        world.join(home)
        _ = world.told()
        become(home)
        #expect(world.told() == ["resynced overrun"])
    }

    @Test func joinedAndLostMeanwhile() {
        world.join(home)
        _ = world.told()
        become(nil)
        world.pass(2)
        #expect(world.told() == ["resynced overrun", "left Home resync"])
    }

    @Test func joinedAndRoamedMeanwhile() {
        world.join(home)
        _ = world.told()
        become(upstairs)
        #expect(world.told() == ["roamed Home 01>02", "resynced overrun"])
    }

    @Test func joinedAndElsewhereMeanwhile() {
        world.join(home)
        _ = world.told()
        become(office)
        #expect(
            world.told() == [
                "left Home superseded", "associating Office", "joined Office 03 wpa2-enterprise", "resynced overrun",
            ])
    }

    @Test func joinedAndWithAStrangerMeanwhile() {
        world.join(home)
        _ = world.told()
        become(upstairs, isAuthorized: false)
        world.pass(4)
        world.disconnect(reason: 15, byAccessPoint: true)
        world.pass(2)
        #expect(world.told() == ["resynced overrun", "left Home reason 15 by ap"])
    }

    @Test func lostAndBackMeanwhile() {
        world.join(home)
        world.disconnect(reason: 1)
        _ = world.told()
        become(upstairs)
        #expect(world.told() == ["roamed Home 01>02", "resynced overrun"])
    }

    @Test func lostAndStillLost() {
        world.join(home)
        world.disconnect(reason: 1)
        _ = world.told()
        become(nil)
        world.pass(2)
        #expect(world.told() == ["resynced overrun", "left Home reason 1"])
    }

    @Test func roamingAndJoinedMeanwhile() {
        world.join(home)
        world.disconnect(reason: 1)
        world.associate(upstairs)
        _ = world.told()
        become(upstairs)
        #expect(world.told() == ["roamed Home 01>02", "resynced overrun"])
    }

    @Test func roamingAndFailedMeanwhile() {
        world.join(home)
        world.disconnect(reason: 1)
        world.associate(upstairs)
        _ = world.told()
        become(nil)
        world.pass(1)
        #expect(world.told() == ["resynced overrun", "left Home reason 1", "associating Home", "failed Home -"])
    }

    @Test func roamingAndOnAThirdMeanwhile() {
        world.join(home)
        world.disconnect(reason: 1)
        world.associate(upstairs)
        _ = world.told()
        become(AccessPoint("Home", 9))
        world.pass(1)
        #expect(world.told() == ["resynced overrun", "roamed Home 01>09"])
    }

    /// Neither flag nor the link's messages: what the link says when read is its state, late by a second at most.
    @Test func driverWithoutTheFlag() {
        world.kernel.interfaces[3]?.driver = .flagless
        world.join(home)
        world.hear(.disconnect(reason: 1), .connect(upstairs))
        _ = world.told()
        become(upstairs)
        world.pass(3)
        #expect(world.told() == ["resynced overrun", "roamed Home 01>02"])
    }

    /// Until everything is read nobody knows whether the link is still up: its DORMANT may be what was lost.
    @Test func strangerAfterALossWithADriverWithoutTheFlag() {
        world.kernel.interfaces[3]?.driver = .flagless
        world.join(home)
        world.disconnect(reason: 1)
        world.setLink(6)
        world.hear(.connect(upstairs))
        world.kernel.interfaces[3]?.association = .init(accessPoint: upstairs)
        world.kernel.interfaces[3]?.state = 5
        _ = world.told()
        world.isSlow = true
        world.observe(.lost(.overrun))
        let reading = world.takeQuestion(at: world.questions.count - 1)
        world.isSlow = false
        world.answer()
        world.pass(5)
        #expect(world.told() == [])
        world.observe(world.ask(reading))
        world.pass(3)
        #expect(world.told() == ["resynced overrun"])
    }

    @Test func interfaceGoneMeanwhile() {
        world.join(home)
        _ = world.told()
        world.kernel.interfaces[3] = nil
        world.observe(.lost(.overrun))
        #expect(world.told() == ["left Home interface_removed", "resynced overrun"])
        #expect(world.environment.interfaces.isEmpty)
    }

    @Test func interfaceOfAnotherKindMeanwhile() {
        world.join(home)
        _ = world.told()
        miss { ($0.association, $0.type) = (nil, 3) }
        #expect(world.told() == ["left Home interface_removed", "resynced overrun"])
        #expect(world.state == nil)
    }

    @Test func interfaceThatCameAndJoinedMeanwhile() {
        world.kernel.interfaces[7] = .init(
            name: "wlan1", state: 6, association: .init(accessPoint: office, isAuthorized: true))
        world.observe(.lost(.overrun))
        #expect(world.told() == ["associating Office", "joined Office 03 wpa2-enterprise", "resynced overrun"])
    }

    // MARK: Events while everything is read

    /// What was read before the event is older than the event.
    @Test func readingThatEventsOvertook() {
        world.associate(home)
        _ = world.told()
        world.isSlow = true
        world.observe(.lost(.overrun))
        let old = world.ask(world.takeQuestion())
        world.authorize()
        world.answer()
        #expect(world.told() == ["joined Home 01 wpa2-psk"])
        world.observe(old)
        #expect(world.told() == [])
        #expect(world.state?.network?.name == "Home")
        world.isSlow = false
        world.answer()
        world.pass(12)
        #expect(world.told() == ["resynced overrun"])
        #expect(world.environment.interfaces[3]?.operationalState == .up)
    }

    /// The association was read, and lost before that was told.
    @Test func readingThatADisconnectOvertook() {
        world.join(home)
        _ = world.told()
        world.isSlow = true
        world.observe(.lost(.overrun))
        let old = world.ask(world.takeQuestion())
        world.kernel.interfaces[3]?.association = nil
        world.kernel.interfaces[3]?.state = 2
        world.hear(.stationRemoved(home.bssid), .disconnect(reason: 2, byAccessPoint: true))
        world.observe(old)
        #expect(world.state == .unknown)
        world.isSlow = false
        world.answer()
        world.pass(3)
        #expect(world.told() == ["resynced overrun", "left Home reason 2 by ap"])
    }

    @Test func lossWhileEverythingIsRead() {
        world.isSlow = true
        world.observe(.lost(.overrun))
        #expect(world.questions == [.inventory(.overrun)])
        let old = world.ask(world.takeQuestion())
        become(home)
        world.observe(old)
        world.isSlow = false
        world.answer()
        #expect(world.told() == ["associating Home", "joined Home 01 wpa2-psk", "resynced overrun"])
    }

    /// Each cause is told once, however they fall together.
    @Test func severalCausesWhileEverythingIsRead() {
        world.isSlow = true
        world.observe(.lost(.overrun))
        world.observe(.suspending)
        world.observe(.resumed)
        world.observe(.lost(.malformedMessage))
        world.observe(.lost(.malformedMessage))
        world.isSlow = false
        world.answer()
        #expect(
            world.told() == [
                "suspended", "resumed", "resynced overrun", "resynced resume", "resynced malformed_message",
            ])
    }

    /// In a flood something has to be taken, and more readings follow until one was not overtaken.
    @Test func floodOfEvents() {
        world.join(home)
        _ = world.told()
        world.isSlow = true
        world.kernel.route = [.link(20, name: "veth0", state: 6, mode: 0, kind: "veth")]
        world.observe(.lost(.overrun))
        for round in 0..<20 {
            let old = world.ask(world.takeQuestion(at: world.questions.count - 1))
            world.hear(.link(Int32(30 + round), name: "veth\(round)", state: 2, mode: 0, kind: "veth"))
            world.kernel.route.append(.link(Int32(30 + round), name: "veth\(round)", state: 2, mode: 0, kind: "veth"))
            world.observe(old)
        }
        #expect(world.environment.interfaces[20] != nil)
        world.isSlow = false
        world.answer()
        let lines = world.told()
        #expect(lines.allSatisfy { $0 == "resynced overrun" })
        #expect((1...7).contains(lines.count))
        #expect(world.environment.interfaces.count == 22)
    }

    @Test(arguments: [ResyncCause.overrun, .malformedMessage, .familyChanged])
    func causeIsTold(cause: ResyncCause) {
        world.observe(.lost(cause))
        #expect(world.told() == ["resynced \(cause.rawValue)"])
    }

    @Test func rejectedMessageLeadsToAReading() {
        world.kernel.interfaces[3]?.association = .init(accessPoint: home, isAuthorized: true)
        world.kernel.interfaces[3]?.state = 6
        var broken = Signal.connect(home)
        broken.bytes[0] = 20
        world.isSlow = true
        world.hear(broken)
        world.answer()
        #expect(world.counters.malformed == 2)
        #expect(
            world.told() == ["associating Home", "joined Home 01 wpa2-psk", "resynced malformed_message"])
    }

    /// One driver does not answer: the rest is known all the same, and it is asked again.
    @Test func readingWithoutOneInterface() {
        world.join(home)
        _ = world.told()
        var inventory = world.kernel.inventory
        inventory.associations[3] = nil
        world.observe(.inventory(inventory, .overrun))
        world.pass(2)
        #expect(world.told() == ["resynced overrun"])
        #expect(world.state?.network?.name == "Home")
        world.kernel.interfaces[3]?.association = nil
        world.observe(.inventory(inventory, .overrun))
        world.pass(2)
        #expect(world.told() == ["resynced overrun", "left Home -"])
    }
}
