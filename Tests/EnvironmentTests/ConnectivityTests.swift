import Netlink
import Platform
import TestSupport
import Testing

@testable import Environment

/// How far packets get, by whoever says so.
@Suite struct ConnectivityTests {
    let world = World()

    init() {
        world.associate(home)
        world.hear(.connect(home))
        world.authorize()
        world.setLink(6)
        world.hear(.link(5, name: "eth0", state: 6, mode: 0), .address("192.0.2.7", on: 3))
        lead(over: 3)
        _ = world.toldEverything()
    }

    private func lead(over index: Int32?) {
        world.kernel.path = index.map { .defaultRoute(via: "192.0.2.1", on: $0, length: 32, flags: 0x200) }
        world.hear(.rule())
    }

    private func say(_ word: Connectivity?, _ witness: ConnectivityWitness = .manager) {
        world.observe(.connectivity(word, witness))
    }

    /// What was told of it since the last time.
    private var told: [Connectivity] {
        world.toldEverything().compactMap {
            if case .connectivityChanged(let connectivity) = $0.kind { connectivity } else { nil }
        }
    }

    private var isAsking: Bool {
        world.questions.contains { if case .announcements = $0 { true } else { false } }
    }

    @Test func whoeverLooksIsBelieved() {
        #expect(world.environment.connectivity == .local)
        for word in [.portal, .portal, .internet, .local, .internet, nil] as [Connectivity?] { say(word) }
        #expect(told == [.portal, .internet, .local, .internet, .local])
    }

    /// A check of our own is for where nobody looks.
    @Test func aManagerKnowsBetter() {
        say(.internet, .check)
        say(.portal)
        say(.local, .check)
        say(nil)
        say(nil, .check)
        #expect(told == [.internet, .portal, .local])
    }

    /// Also by one who has nothing to look at for now; what waits for a verdict would wait for ever without.
    @Test func whoeverManagesLooks() {
        var isLookedAfter: Bool { world.isConnectivityLookedAfter }
        #expect(!isLookedAfter)
        say(.internet, .check)
        #expect(!isLookedAfter)
        for word in [.portal, Connectivity.none] {
            say(word)
            #expect(isLookedAfter)
        }
        say(.internet)
        world.disconnect()
        world.pass(10)
        #expect(isLookedAfter)
        say(nil)
        #expect(!isLookedAfter)
    }

    @Test func nothingIsThereWithoutAnAddress() {
        say(.internet)
        world.hear(.address("192.0.2.7", on: 3, isRemoved: true))
        say(.internet)
        #expect(told == [.internet, .none])
        // The network is still the same.
        world.hear(.address("192.0.2.9", on: 3))
        #expect(told == [.internet])
    }

    @Test func anotherNetworkIsAnotherWay() {
        say(.internet)
        world.disconnect()
        // It may come back on another access point.
        #expect(told == [.internet])
        world.isSlow = true
        world.pass(10)
        #expect(told == [.none])
        #expect(isAsking)
        world.isSlow = false
        world.answer()
        world.join(upstairs)
        #expect(told == [.local])
    }

    @Test func aRoamIsTheSameWay() {
        say(.internet)
        world.associate(upstairs)
        world.hear(.roam(upstairs))
        world.authorize()
        #expect(told == [.internet])
    }

    @Test func aCableThatWasOutIsAnotherWay() {
        world.hear(.address("192.0.2.8", on: 5))
        lead(over: 5)
        say(.internet)
        world.hear(.link(5, name: "eth0", state: 2, mode: 0), .link(5, name: "eth0", state: 6, mode: 0))
        #expect(told == [.internet, .local])
    }

    @Test func anotherLinkIsAnotherWay() {
        world.hear(.address("192.0.2.8", on: 5))
        say(.internet)
        world.isSlow = true
        lead(over: 5)
        world.answerOne()
        #expect(told == [.internet, .local])
        #expect(isAsking)
    }

    /// The link below is the same, before, during and after.
    @Test func aTunnelIsNoOtherWay() {
        say(.internet)
        world.hear(.link(6, name: "wg0", state: 0, mode: 0, kind: "wireguard"), .address("198.51.100.3", on: 6))
        lead(over: 6)
        lead(over: nil)
        lead(over: 3)
        #expect(told == [.internet])
    }

    @Test func aLinkThatIsNotOnTheWayIsNoMatter() {
        say(.internet)
        world.hear(.link(5, name: "eth0", state: 2, mode: 0), .linkRemoved(5, name: "eth0"))
        #expect(told == [.internet])
    }
}
