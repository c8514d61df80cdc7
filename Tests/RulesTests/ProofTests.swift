import Environment
import Netlink
import Testing
import WiFi

@testable import Rules

/// When a network has to prove itself, and how long that is worth something.
@Suite struct ProofTests {
    private static let pin = String(repeating: "0a", count: 32)
    private static let text = """
        [network.office]
        ssid = ["Corp"]
        security = ["personal", "enterprise", "owe"]
        probe = { url = "https://inside.example/", spki-sha256 = ["\(pin)"], lifetime = "5m" }
        [network.dock]
        subnet = ["198.51.100.0/24"]
        probe = { url = "https://dock.example/", spki-sha256 = ["\(pin)"] }
        [rule.relax]
        on = ["office", "dock"]
        settle = "0s"
        pam = "skip"
        """
    private let minute: Int64 = 60_000

    private func office(_ security: Security = .wpa2PSK, bssid: UInt8 = 1, adding addresses: String...)
        -> NetworkEnvironment
    {
        var environment = environment(.joined("Corp", security, bssid: bssid))
        for address in addresses {
            environment.interfaces[3]?.addresses.insert(
                InterfaceAddress(address: ip(address), prefixLength: 24))
        }
        return environment
    }

    @Test func provesAndRepeats() {
        var bench = Bench(Self.text)
        #expect(bench.at(0, office()) == ["probe 1 office on wlan0", "entered office keyed"])
        #expect(bench.deadline == nil)
        #expect(
            bench.at(700, probe: 1, true) == ["office keyed to proven", "activated relax", "pam: pam skip"])
        // Repeated after four fifths of its lifetime, without giving anything up meanwhile.
        #expect(bench.deadline == 700 + 4 * minute)
        #expect(bench.at(700 + 4 * minute) == ["probe 2 office on wlan0"])
        #expect(bench.at(5 * minute, probe: 2, true) == [])
        #expect(bench.deadline == 9 * minute)
        #expect(bench.at(9 * minute) == ["probe 3 office on wlan0"])
        // One that is never answered ends with the lifetime.
        #expect(bench.deadline == 10 * minute)
        #expect(bench.at(10 * minute) == ["office proven to keyed", "deactivated relax", "pam: free"])
        #expect(bench.at(11 * minute, probe: 3, true).first == "office keyed to proven")
    }

    @Test func aFailedRepetitionEndsItAtOnceAndIsTriedAgainEverMoreSlowly() {
        var bench = Bench(Self.text)
        _ = bench.at(0, office())
        _ = bench.at(0, probe: 1, true)
        _ = bench.at(4 * minute)
        #expect(bench.at(4 * minute, probe: 2, false) == ["office proven to keyed", "deactivated relax", "pam: free"])
        var now = 4 * minute
        for (identifier, pause) in [(3, 5_000), (4, 15_000), (5, 60_000), (6, 300_000), (7, 300_000)]
            as [(UInt64, Int64)]
        {
            #expect(bench.deadline == now + pause)
            now += pause
            #expect(bench.at(now) == ["probe \(identifier) office on wlan0"])
            #expect(bench.at(now, probe: identifier, false) == [])
        }
    }

    @Test func aRoamLeavesWhatTheLinkAloneGives() {
        var bench = Bench(Self.text)
        _ = bench.at(0, office())
        _ = bench.at(0, probe: 1, true)
        // Nobody knows yet: everything stays, and nothing is asked.
        #expect(bench.at(1_000, .unknown) == [])
        #expect(
            bench.at(1_500, office(bssid: 2)) == [
                "probe 2 office on wlan0", "office proven to keyed", "deactivated relax", "pam: free",
            ])
        #expect(bench.at(1_600, probe: 2, true).first == "office keyed to proven")
    }

    /// Another access point can have the same address, and not every driver tells when an association began.
    @Test func aLinkThatWasLostProvesItselfAnewWhateverItsAddress() {
        var bench = Bench(Self.text)
        _ = bench.at(0, office())
        _ = bench.at(0, probe: 1, true)
        #expect(bench.at(1_000, .unknown) == [])
        #expect(
            bench.at(1_500, office()) == [
                "probe 2 office on wlan0", "office proven to keyed", "deactivated relax", "pam: free",
            ])
        // Nor does an answer count that may have come over either.
        #expect(bench.at(2_000, .unknown) == [])
        #expect(bench.at(2_100, probe: 2, true) == [])
        #expect(bench.at(2_500, office()) == ["cancel probe 2", "probe 3 office on wlan0"])
        #expect(bench.at(2_600, probe: 3, true).first == "office keyed to proven")
    }

    @Test func nothingIsProvenAfterASleep() {
        var bench = Bench(Self.text)
        _ = bench.at(0, office())
        _ = bench.at(0, probe: 1, true)
        var asleep = environment(.unknown)
        asleep.isSuspended = true
        #expect(bench.at(1_000, asleep).contains("deactivated relax"))
        #expect(bench.at(100_000, environment(.unknown)) == [])
        #expect(
            bench.at(101_000, office()) == ["probe 2 office on wlan0", "office unknown to keyed"])
        #expect(bench.at(101_500, probe: 2, true).contains("activated relax"))
    }

    @Test func anAnswerFromBeforeSaysNothing() {
        var bench = Bench(Self.text)
        _ = bench.at(0, office())
        #expect(bench.at(100, office(bssid: 2)) == ["cancel probe 1", "probe 2 office on wlan0"])
        #expect(bench.at(200, probe: 1, true) == [])
        #expect(bench.at(300, .idle) == ["cancel probe 2", "left office 300 ms"])
        #expect(bench.at(400, probe: 2, true) == [])
        #expect(bench.engine.judgement.assurance == .unknown)
    }

    @Test func addressesAndGatewaysAreWhatItWasMadeWith() {
        var bench = Bench(Self.text)
        _ = bench.at(0, office())
        _ = bench.at(0, probe: 1, true)
        // One more address: asked again, but nothing is lost.
        #expect(bench.at(1_000, office(adding: "2001:db8::7")) == ["probe 2 office on wlan0"])
        #expect(bench.at(1_100, probe: 2, true) == [])
        // One less: nobody knows whose network it is.
        #expect(bench.at(2_000, office()).prefix(2) == ["probe 3 office on wlan0", "office proven to keyed"])
        _ = bench.at(2_100, probe: 3, true)
        var routed = office()
        routed.interfaces[3]?.evidence.gateways = [Gateway(address: ip("192.0.2.1"))]
        #expect(bench.at(3_000, routed) == ["probe 4 office on wlan0"])
        _ = bench.at(3_100, probe: 4, true)
        routed.interfaces[3]?.evidence.gateways = [Gateway(address: ip("192.0.2.254"))]
        #expect(bench.at(4_000, routed).prefix(2) == ["probe 5 office on wlan0", "office proven to keyed"])
    }

    @Test func signalAndFrequencyChangeNothing() {
        var bench = Bench(Self.text)
        _ = bench.at(0, office())
        _ = bench.at(0, probe: 1, true)
        var other = network("Corp")
        other.signal = -80
        other.frequency = 5_180
        #expect(bench.at(1_000, environment(.joined(other))) == [])
    }

    @Test func waitsForAnAddress() {
        var bench = Bench(Self.text)
        var bare = office()
        bare.interfaces[3]?.addresses = []
        #expect(bench.at(0, bare) == ["entered office keyed"])
        #expect(bench.at(1_000, office()) == ["probe 1 office on wlan0"])
    }

    @Test(arguments: [Security.owe, .wpa2Enterprise])
    func asksNothingWhereItWouldProveNothing(security: Security) {
        var bench = Bench(Self.text)
        #expect(bench.at(0, office(security)) == ["entered office claimed"])
        #expect(bench.deadline == nil)
    }

    @Test func aWireCanBeProven() {
        var wired = environment(nil, .ethernet)
        wired.interfaces[10]?.addresses = [InterfaceAddress(address: ip("198.51.100.9"), prefixLength: 24)]
        var bench = Bench(Self.text)
        #expect(bench.at(0, wired) == ["probe 1 dock on ethernet0", "entered dock claimed"])
        #expect(bench.at(100, probe: 1, true) == ["dock claimed to proven", "activated relax", "pam: pam skip"])
        // The cable is pulled and plugged in again: it has to show itself anew.
        _ = bench.at(1_000, environment(nil))
        #expect(bench.at(2_000, wired) == ["probe 2 dock on ethernet0", "entered dock claimed"])
    }

    @Test func sleepEndsIt() {
        var bench = Bench(Self.text)
        _ = bench.at(0, office())
        _ = bench.at(0, probe: 1, true)
        var asleep = office()
        asleep.isSuspended = true
        #expect(bench.at(1_000, asleep) == ["office proven to unknown", "deactivated relax", "pam: free"])
        #expect(bench.at(2_000, office()) == ["probe 2 office on wlan0", "office unknown to keyed"])
    }

    @Test func otherRulesEndIt() {
        var bench = Bench(Self.text)
        _ = bench.at(0, office())
        _ = bench.at(0, probe: 1, true)
        let moved = ruleSet(Self.text.replacing("inside.example", with: "other.example"))
        #expect(
            bench.engine.replace(with: moved, at: Bench.time(1_000)).map(\.brief) == [
                "probe 2 office on wlan0", "office proven to keyed", "deactivated relax", "pam: free",
            ])
    }

    @Test func eachLinkProvesItself() {
        var bench = Bench(Self.text)
        var two = office()
        two.set(.joined("Corp", bssid: 2), on: 4)
        #expect(
            bench.at(0, two) == ["probe 1 office on wlan0", "probe 2 office on wlan1", "entered office keyed"])
        #expect(bench.at(100, probe: 1, true) == [])
        #expect(bench.at(200, probe: 2, true).first == "office keyed to proven")
    }
}
