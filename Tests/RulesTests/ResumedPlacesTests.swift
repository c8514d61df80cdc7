import Environment
import Platform
import Testing
import WiFi

@testable import Rules

/// An agent that is started again where it was does not arrive there again.
@Suite struct ResumedPlacesTests {
    private static let rules = """
        [network.office]
        ssid = ["Corp"]
        [network.hotel]
        ssid = ["Hotel"]
        dns-suffix = ["hotel.example"]
        [network.slow]
        ssid = ["Slow"]
        stable-for = "30s"
        """

    private static let second: Int64 = 1_000_000

    private func engine(_ places: [String: Int64], isElsewhere: Bool = false) -> RuleEngine {
        RuleEngine(
            ruleSet: ruleSet(Self.rules), isResuming: !isElsewhere, isElsewhere: isElsewhere, places: places)
    }

    private func time(_ seconds: Int64) -> Timestamp {
        Timestamp(wall: seconds * Self.second, boottime: seconds * Self.second)
    }

    private func places(_ decisions: [Decision]) -> [String] {
        decisions.filter {
            switch $0 {
            case .networkEntered, .networkLeft: true
            default: false
            }
        }.map(\.brief)
    }

    private func hotel(_ domains: [String]?) -> NetworkEnvironment {
        var environment = environment(.joined("Hotel", .open))
        environment.interfaces[3]?.evidence.searchDomains = domains
        return environment
    }

    @Test func theStayGoesOn() {
        var former = engine([:])
        #expect(places(former.update(environment(.joined("Corp")), at: time(100))) == ["entered office claimed"])
        #expect(former.places == ["office": 100 * Self.second])
        var engine = engine(former.places)
        #expect(places(engine.update(environment(.joined("Corp")), at: time(160))).isEmpty)
        #expect(engine.places == ["office": 100 * Self.second])
        #expect(places(engine.update(environment(.idle), at: time(220))) == ["left office 120000 ms"])
        #expect(engine.places.isEmpty)
        #expect(places(engine.update(environment(.joined("Corp")), at: time(230))) == ["entered office claimed"])
    }

    @Test func anotherAssociationIsAnArrival() {
        var elsewhere = engine(["office": 0], isElsewhere: true)
        #expect(places(elsewhere.update(environment(.joined("Corp")), at: time(160))) == ["entered office claimed"])
        var other = engine(["hotel": 0])
        #expect(places(other.update(environment(.joined("Corp")), at: time(160))) == ["entered office claimed"])
    }

    /// What the network shows of itself comes later, and the agent may be killed before that.
    @Test func whatIsNotKnownYetIsWaitedFor() {
        var engine = engine(["hotel": 5 * Self.second])
        #expect(places(engine.update(hotel(nil), at: time(160))).isEmpty)
        #expect(engine.places == ["hotel": 5 * Self.second])
        #expect(places(engine.update(hotel(["hotel.example"]), at: time(161))).isEmpty)
        #expect(places(engine.update(environment(.idle), at: time(165))) == ["left hotel 160000 ms"])
    }

    @Test func itIsNotWaitedForForEver() {
        var engine = engine(["hotel": 5 * Self.second])
        #expect(places(engine.update(hotel(nil), at: time(160))).isEmpty)
        #expect(places(engine.advance(to: time(171))) == ["entered unlisted claimed"])
        #expect(
            places(engine.update(hotel(["hotel.example"]), at: time(172)))
                == ["left unlisted 1000 ms", "entered hotel claimed"])
    }

    @Test func aLinkThatWasLostIsAnArrivalAgain() {
        var engine = engine(["hotel": 5 * Self.second])
        #expect(places(engine.update(hotel(nil), at: time(160))).isEmpty)
        #expect(places(engine.update(environment(.idle), at: time(161))).isEmpty)
        #expect(
            places(engine.update(hotel(["hotel.example"]), at: time(162))) == ["entered hotel claimed"])
    }

    @Test func theUnlistedPlaceIsOneAsWell() {
        var engine = engine(["unlisted": 5 * Self.second])
        #expect(places(engine.update(environment(.joined("x", .open)), at: time(160))).isEmpty)
        #expect(places(engine.update(environment(.idle), at: time(165))) == ["left unlisted 160000 ms"])
        // In doubt for as long as the hotel's domain is not known.
        engine = self.engine(["unlisted": 5 * Self.second])
        #expect(places(engine.update(hotel(nil), at: time(160))).isEmpty)
        #expect(places(engine.advance(to: time(170))).isEmpty)
        #expect(engine.places == ["unlisted": 5 * Self.second])
    }

    @Test func oneThatHasToBeThereForLongIsResumedThen() {
        var engine = engine(["slow": 5 * Self.second])
        #expect(places(engine.update(environment(.joined("Slow")), at: time(160))).isEmpty)
        #expect(places(engine.advance(to: time(190))).isEmpty)
        #expect(engine.places == ["slow": 5 * Self.second])
    }
}
