import Environment
import Rules
import Testing
import WiFi

/// Sleep raises protection; who wakes where they were has neither left nor come.
@Suite struct SleepTests {
    private static let rules = """
        [network.home]
        ssid = ["Home"]
        security = ["personal"]
        [rule.relax]
        on = "home"
        settle = "0s"
        ready = "link"
        accept-weak-evidence = "a test"
        firewall = { zone = "home" }
        enter = [ { command = ["/bin/a"] } ]
        leave = [ { command = ["/bin/b"] } ]
        [rule.away]
        off = "home"
        settle = "0s"
        ready = "link"
        accept-weak-evidence = "a test"
        pam = "require"
        enter = [ { command = ["/bin/c"] } ]
        leave = [ { command = ["/bin/d"] } ]
        """

    private static func asleep(_ state: WiFiState) -> NetworkEnvironment {
        var asleep = environment(state)
        asleep.isSuspended = true
        return asleep
    }

    /// At home for a while, and about to sleep.
    private func asleep() -> Bench {
        var bench = Bench(Self.rules)
        #expect(bench.at(0, .joined("Home")).contains("run relax enter 0 for home"))
        _ = bench.at(10_000)
        let decisions = bench.at(20_000, Self.asleep(.unknown))
        #expect(decisions.contains("deactivated relax") && decisions.contains("activated away"))
        #expect(decisions.filter { $0.hasPrefix("run") || $0.hasPrefix("cancel") } == [])
        return bench
    }

    private func edges(_ decisions: [String]) -> [String] {
        decisions.filter { $0.hasPrefix("run") || $0.hasPrefix("cancel") }
    }

    @Test func whoWakesWhereTheyWereHasNeitherLeftNorCome() {
        var bench = asleep()
        var edges: [String] = []
        edges += self.edges(bench.at(900_000, .unknown))
        edges += self.edges(bench.at(905_000, .joined("Home")))
        edges += self.edges(bench.at(930_000))
        #expect(edges == [])
        #expect(bench.engine.activeRules == ["relax"])
        // From here on all is as ever.
        #expect(
            self.edges(bench.at(940_000, .idle)) == [
                "cancel relax enter", "run relax leave 0 for home", "run away enter 0 for offline",
            ])
    }

    @Test(arguments: [WiFiState.idle, .joined(WiFiNetwork(ssid: SSID(utf8: "Cafe"), bssid: nil, security: .open))])
    func whoWakesElsewhereHasLeft(_ elsewhere: WiFiState) {
        var bench = asleep()
        #expect(edges(bench.at(900_000, .unknown)) == [])
        let left = edges(bench.at(905_000, elsewhere))
        let place = elsewhere == .idle ? "offline" : "unlisted"
        #expect(left == ["cancel relax enter", "run relax leave 0 for home", "run away enter 0 for \(place)"])
        #expect(edges(bench.at(990_000)) == [])
    }

    /// The name is there and the evidence is not: somebody waits for that, but not for ever.
    @Test func whatIsNeverSureAgainIsLeftInTheEnd() {
        var bench = asleep()
        _ = bench.at(900_000, .unknown)
        var last: [String] = []
        for second in 901..<960 as Range<Int64> {
            last += edges(bench.at(second * 1_000, .unknown))
        }
        #expect(last == ["cancel relax enter", "run relax leave 0 for home", "run away enter 0 for nothing"])
    }

    @Test func asleepTwiceIsAsleep() {
        var bench = asleep()
        #expect(edges(bench.at(900_000, .unknown)) == [])
        #expect(edges(bench.at(901_000, Self.asleep(.unknown))) == [])
        #expect(edges(bench.at(1_900_000, .unknown)) == [])
        #expect(edges(bench.at(1_902_000, .joined("Home"))) == [])
        #expect(edges(bench.at(1_990_000)) == [])
        #expect(bench.engine.activeRules == ["relax"])
    }
}
