import Environment
import Platform
import Testing
import WiFi

@testable import Rules

/// VPNs wait at captive portals.
@Suite struct PortalGateTests {
    private static let rules = """
        [rule.away]
        off = "wired"
        accept-weak-evidence = "nothing is protected here"
        proxy = { mode = "none" }
        vpn = { networkmanager = "work", state = "up" }
        [rule.stubborn]
        off = "wired"
        accept-weak-evidence = "nothing is protected here"
        vpn = { wg-quick = "wg0", state = "up", portal = "ignore" }
        [rule.quiet]
        off = "wired"
        accept-weak-evidence = "nothing is protected here"
        vpn = { networkmanager = "games", state = "down" }
        """
    private let wanted: [StateRequest]
    private var gate = PortalGate()
    private var underWay: Set<String> = []

    init() {
        var engine = RuleEngine(ruleSet: ruleSet(Self.rules))
        _ = engine.update(environment(.joined("Cafe", .open)), at: Timestamp(wall: 0, boottime: 0))
        _ = engine.advance(to: Timestamp(wall: 60_000_000, boottime: 60_000_000))
        wanted = engine.desiredStates
    }

    /// What is let through, and what is told.
    private mutating func admit(_ connectivity: Connectivity, at seconds: Int64) -> (passes: Bool, notices: Int) {
        let underWay = underWay
        let (admitted, notices) = gate.admit(
            wanted, connectivity, isUnderWay: { underWay.contains($0.rule.name) }, at: seconds * 1_000_000)
        // Nothing else waits.
        #expect(admitted.filter { $0.rule.name != "away" || $0.action.kind == "proxy" }.count == wanted.count - 1)
        #expect(notices.allSatisfy { $0.rule.name == "away" && $0.action.kind == "vpn" })
        return (admitted.contains { $0.rule.name == "away" && $0.action.kind == "vpn" }, notices.count)
    }

    @Test func theRulesWantIt() { #expect(wanted.count == 4) }

    @Test mutating func itStartsWhereThereIsNoPortal() {
        for (second, connectivity) in [Connectivity.none, .local, .internet].enumerated() {
            #expect(admit(connectivity, at: Int64(second)) == (true, 0))
        }
        #expect(gate.nextDeadline == nil)
    }

    @Test mutating func itWaitsUntilTheInternetIsThere() {
        #expect(admit(.portal, at: 10) == (false, 1))
        #expect(gate.nextDeadline == 310_000_000)
        #expect(admit(.portal, at: 20) == (false, 0))
        // The portal is out of sight for a moment.
        #expect(admit(.local, at: 30) == (false, 0))
        #expect(admit(.internet, at: 40) == (true, 0))
        #expect(gate.nextDeadline == nil)
        // Somebody's time there is over.
        #expect(admit(.portal, at: 50) == (false, 1))
    }

    @Test mutating func itWaitsFiveMinutesAtMost() {
        #expect(admit(.portal, at: 10) == (false, 1))
        #expect(admit(.portal, at: 309) == (false, 0))
        #expect(admit(.portal, at: 310) == (true, 0))
        // And not once more at the same portal.
        #expect(admit(.local, at: 700) == (true, 0))
        #expect(admit(.portal, at: 701) == (true, 0))
        #expect(gate.nextDeadline == nil)
    }

    @Test mutating func anotherNetworkIsAnotherPortal() {
        #expect(admit(.portal, at: 10) == (false, 1))
        #expect(admit(.none, at: 20) == (true, 0))
        #expect(admit(.portal, at: 30) == (false, 1))
        #expect(gate.nextDeadline == 330_000_000)
        #expect(admit(.none, at: 40) == (true, 0))
        #expect(admit(.local, at: 50) == (true, 0))
    }

    private mutating func passes(_ connectivity: Connectivity, at seconds: Int64) -> Bool {
        let underWay = underWay
        return gate.admit(
            wanted, connectivity, isLookedAfter: true, isUnderWay: { underWay.contains($0.rule.name) },
            at: seconds * 1_000_000
        ).admitted.contains { $0.rule.name == "away" && $0.action.kind == "vpn" }
    }

    /// What began a moment before the portal was found would keep people from signing in.
    @Test mutating func whereSomebodyLooksItWaitsForWhatTheyFind() {
        #expect(!passes(.none, at: 0) && gate.nextDeadline == nil)
        #expect(!passes(.none, at: 500))
        #expect(!passes(.local, at: 501) && gate.nextDeadline == 511_000_000)
        #expect(!passes(.local, at: 510))
        #expect(!passes(.portal, at: 510) && gate.nextDeadline == 810_000_000)
        #expect(passes(.internet, at: 520) && gate.nextDeadline == nil)
        // Known by now; and on the next network it is not.
        #expect(passes(.local, at: 530))
        #expect(!passes(.none, at: 540))
        #expect(!passes(.local, at: 541))
        #expect(passes(.internet, at: 542))
    }

    @Test mutating func whoFindsNothingIsNotWaitedForLong() {
        #expect(!passes(.local, at: 10))
        #expect(!passes(.local, at: 19))
        #expect(passes(.local, at: 20) && gate.nextDeadline == nil)
        #expect(passes(.local, at: 21))
        // A portal all the same: what has begun goes on, what has not waits.
        #expect(!passes(.portal, at: 22))
        underWay = ["away"]
        #expect(passes(.portal, at: 23))
    }

    @Test mutating func whatIsInPlaceIsNotTakenAwayForThat() {
        underWay = ["away"]
        #expect(passes(.none, at: 0))
        #expect(passes(.local, at: 1))
    }

    /// Not broken off, but told; when it failed it waits.
    @Test mutating func whatIsUnderWayGoesOn() {
        underWay = ["away"]
        #expect(admit(.portal, at: 10) == (true, 1))
        #expect(admit(.portal, at: 20) == (true, 0))
        underWay = []
        #expect(admit(.portal, at: 30) == (false, 0))
        #expect(admit(.portal, at: 310) == (true, 0))
    }

    @Test mutating func whatIsNotWantedAnyMoreIsForgotten() {
        #expect(admit(.portal, at: 10) == (false, 1))
        #expect(gate.admit([], .portal, isUnderWay: { _ in false }, at: 20_000_000).admitted.isEmpty)
        #expect(gate.nextDeadline == nil)
        #expect(admit(.portal, at: 30) == (false, 1))
    }
}
