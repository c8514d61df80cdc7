import Environment
import Testing
import WiFi

@testable import Rules

/// What lowers protection, by beginning or by ending, takes certain evidence and time; what raises it takes neither.
@Suite struct RelaxingTests {
    private static let text = """
        [network.office]
        ssid = ["Corp"]
        security = ["enterprise"]
        [network.home]
        ssid = ["Home"]
        security = ["personal"]
        [network.cafe]
        ssid = ["Cafe"]
        [rule.relax]
        on = "office"
        pam = "skip"
        [rule.tighten]
        off = "office"
        vpn = { networkmanager = "v", state = "up" }
        [rule.cafe]
        on = "cafe"
        firewall = { zone = "drop" }
        """

    /// Corp with an 802.1X profile that demands what is told.
    private func corp(_ demands: EAPDemands? = .mutual, _ others: LinkKind...) -> NetworkEnvironment {
        var environment = environment(.joined("Corp", .wpa2Enterprise))
        for (place, kind) in others.enumerated() {
            environment.interfaces[20 + Int32(place)] = Interface.up(20 + Int32(place), kind)
        }
        environment.interfaces[3]?.evidence.authentication = demands
        return environment
    }

    private let vpnUp = ["activated tighten", "networkmanager v: networkmanager v up"]
    private let vpnFree = ["deactivated tighten", "networkmanager v: free"]
    private let relaxed = ["activated relax", "pam: pam skip"]
    private let unrelaxed = ["deactivated relax", "pam: free"]

    @Test func protectsFromTheFirstMomentAndRelaxesAfterSettling() {
        var bench = Bench(Self.text)
        #expect(bench.at(0, corp()) == ["entered office mutual"] + vpnUp)
        #expect(bench.deadline == 2_000)
        #expect(bench.at(1_999) == [])
        #expect(
            bench.at(2_000) == ["activated relax", "deactivated tighten", "networkmanager v: free", "pam: pam skip"])
        #expect(bench.deadline == nil)
    }

    @Test func protectsAtOnceWhenTheLinkIsLost() {
        var bench = Bench(Self.text)
        _ = bench.at(0, corp())
        _ = bench.at(2_000)
        #expect(
            bench.at(9_000, .idle) == [
                "left office 9000 ms", "deactivated relax", "activated tighten",
                "networkmanager v: networkmanager v up", "pam: free",
            ])
    }

    @Test(arguments: [nil, EAPDemands(certificationAuthority: true, serverName: false)])
    func neverRelaxesOnAProfileThatDemandsTooLittle(demands: EAPDemands?) {
        var bench = Bench(Self.text)
        #expect(bench.at(0, corp(demands)) == ["entered office claimed"] + vpnUp)
        #expect(bench.at(60_000) == [])
        #expect(bench.deadline == nil)
    }

    @Test func losesTrustWithTheEvidence() {
        var bench = Bench(Self.text)
        _ = bench.at(0, corp())
        _ = bench.at(2_000)
        #expect(
            bench.at(3_000, corp(nil)) == [
                "office mutual to claimed", "deactivated relax", "activated tighten",
                "networkmanager v: networkmanager v up", "pam: free",
            ])
        // And gains it anew from the beginning.
        #expect(bench.at(4_000, corp()) == ["office claimed to mutual"])
        #expect(bench.deadline == 6_000)
        #expect(bench.at(6_000).count == 4)
    }

    @Test func takesTheLeastOfAllLinks() {
        var bench = Bench(Self.text)
        _ = bench.at(0, corp())
        _ = bench.at(2_000)
        let hostile = bench.at(3_000, corp(.mutual, .ethernet))
        #expect(hostile.prefix(2) == ["deactivated relax", "activated tighten"])
        #expect(bench.at(60_000) == [])
        _ = bench.at(61_000, corp())
        #expect(bench.at(63_000).prefix(2) == ["activated relax", "deactivated tighten"])
    }

    @Test func aTunnelChangesNothing() {
        var bench = Bench(Self.text)
        _ = bench.at(0, corp())
        _ = bench.at(2_000)
        #expect(bench.at(3_000, corp(.mutual, .tunnel, .virtual, .loopback)) == [])
        #expect(bench.at(4_000, environment(.idle, .tunnel)).contains("activated tighten"))
    }

    @Test func keepsWhatHoldsThroughARoam() {
        var bench = Bench(Self.text)
        _ = bench.at(0, corp())
        _ = bench.at(2_000)
        #expect(bench.at(3_000, .unknown) == [])
        #expect(bench.at(3_500, corp()) == [])
    }

    @Test func gainsNoTrustDuringARoam() {
        var bench = Bench(Self.text)
        _ = bench.at(0, corp())
        var unknown = environment(.unknown)
        unknown.interfaces[3]?.evidence.authentication = .mutual
        #expect(bench.at(1_000, unknown) == [])
        #expect(bench.deadline == nil)
        #expect(bench.at(2_500) == [])
        #expect(bench.at(2_600, corp()).contains("activated relax"))
    }

    // MARK: Restarts

    private static let edges = """
        [network.office]
        ssid = ["Corp"]
        security = ["enterprise"]
        [rule.relax]
        on = "office"
        pam = "skip"
        enter = [{ notify = "a" }]
        leave = [{ notify = "b" }]
        [rule.tighten]
        off = "office"
        vpn = { networkmanager = "v", state = "up" }
        enter = [{ notify = "c" }]
        leave = [{ notify = "d" }]
        """

    private func restarted(holding rules: [String]) -> Bench {
        var bench = Bench(Self.edges)
        bench.engine = RuleEngine(ruleSet: ruleSet(Self.edges), resuming: rules, isResuming: true)
        return bench
    }

    /// What lowers protection is not undone because evidence takes a moment to come again, and what raises it does not
    /// wait for that; what happens once a transition does not happen for it.
    @Test func aRestartRunsNothingWhileEvidenceComesAgain() {
        var bench = restarted(holding: ["relax"])
        #expect(
            bench.at(0, corp(nil)) == [
                "entered office claimed", "activated tighten", "networkmanager v: networkmanager v up",
                "pam: pam skip",
            ])
        #expect(bench.engine.resumableRules == ["relax"])
        #expect(bench.at(500, corp()) == ["office claimed to mutual"])
        #expect(
            bench.at(2_500) == ["deactivated tighten", "networkmanager v: free"])
        #expect(bench.engine.resumableRules == ["relax"])
        // From then on everything is as ever.
        let left = bench.at(9_000, .idle)
        #expect(left.contains("run relax leave 0 for office") && left.contains("run tighten enter 0 for offline"))
        #expect(bench.engine.resumableRules == ["tighten"])
    }

    @Test func aRestartElsewhereRunsWhatItOwes() {
        var bench = restarted(holding: ["relax"])
        let away = bench.at(0, .joined("x", .open))
        #expect(away.contains("run relax leave 0 for nothing") && away.contains("run tighten enter 0 for unlisted"))
        #expect(bench.engine.resumableRules == ["tighten"])
    }

    /// The claim is kept as long as nothing speaks against it, and not a moment longer.
    @Test(arguments: [WiFiState.idle, .joined("x", .open), .joined("Corp", .open)])
    func whatWasRelaxedBeforeARestartEndsWhenTheMachineMoves(_ elsewhere: WiFiState) {
        var bench = restarted(holding: ["relax"])
        _ = bench.at(0, corp(nil))
        #expect(bench.engine.desiredStates.map(\.rule.name) == ["relax", "tighten"])
        let moved = bench.at(100, elsewhere)
        #expect(moved.contains("deactivated relax") && moved.contains("pam: free"), "\(moved)")
        #expect(bench.engine.desiredStates.map(\.rule.name) == ["tighten"])
    }

    @Test func whatWasRelaxedBeforeARestartEndsWithSuspend() {
        var bench = restarted(holding: ["relax"])
        var asleep = corp(nil)
        _ = bench.at(0, asleep)
        asleep.isSuspended = true
        #expect(bench.at(100, asleep).contains("pam: free"))
        #expect(!bench.engine.activeRules.contains("relax"))
    }

    /// Whoever says meanwhile that nothing shall hold would end what raises protection.
    @Test func nothingIsKnownOfWhatShallHoldBeforeTheLinksAre() {
        var bench = restarted(holding: ["relax"])
        #expect(!bench.engine.knowsWhatShallHold)
        #expect(bench.at(0, environment(.unknown)) == [])
        #expect(!bench.engine.knowsWhatShallHold && bench.engine.desiredStates.isEmpty)
        _ = bench.at(50, corp(nil))
        #expect(bench.engine.knowsWhatShallHold)
        #expect(bench.engine.desiredStates.map(\.rule.name) == ["relax", "tighten"])
    }

    @Test func evidenceThatDoesNotComeAgainIsNotWaitedForWithoutEnd() {
        var bench = restarted(holding: ["relax"])
        _ = bench.at(0, corp(nil))
        #expect(bench.deadline == 12_000)
        #expect(bench.at(11_999) == [])
        #expect(
            bench.at(12_000) == [
                "deactivated relax", "run relax leave 0 for office", "run tighten enter 0 for nothing", "pam: free",
            ])
        #expect(bench.deadline == nil)
        #expect(bench.engine.resumableRules == ["tighten"])
        _ = bench.at(20_000, corp())
        #expect(bench.at(22_000).contains("run relax enter 0 for office"))
    }

    @Test func gainsNoTrustWhileOneLinkAfterAnotherIsUnknown() {
        var bench = Bench(Self.text)
        _ = bench.at(0, corp())
        func both(_ first: WiFiState, _ second: WiFiState) -> NetworkEnvironment {
            var environment = environment(first)
            environment.set(second, on: 4)
            for index: Int32 in [3, 4] { environment.interfaces[index]?.evidence.authentication = .mutual }
            return environment
        }
        let joined = WiFiState.joined("Corp", .wpa2Enterprise)
        #expect(bench.at(1_000, both(joined, joined)) == [])
        for time in stride(from: Int64(1_500), to: 20_000, by: 500) {
            #expect(bench.at(time, time % 1_000 == 0 ? both(joined, .unknown) : both(.unknown, joined)) == [])
        }
        #expect(bench.at(20_000, both(joined, joined)).contains("activated relax"))
    }

    @Test func protectsBeforeSleepAndUntilTheNetworkIsBack() {
        var bench = Bench(Self.text)
        _ = bench.at(0, corp())
        _ = bench.at(2_000)
        var asleep = environment(.unknown)
        asleep.isSuspended = true
        let protected = [
            "deactivated relax", "activated tighten", "networkmanager v: networkmanager v up", "pam: free",
        ]
        #expect(bench.at(3_000, asleep) == ["office mutual to unknown"] + protected)
        // Awake, but nobody knows where: as before.
        #expect(bench.at(30_000, environment(.unknown)) == [])
        #expect(bench.at(50_000) == [])
        #expect(bench.at(51_000, corp()) == ["office unknown to mutual"])
        #expect(bench.at(53_000).contains("activated relax"))
    }

    @Test func aTighteningRuleEndsOnlyWhereThePlaceIsSure() {
        var bench = Bench(Self.text)
        #expect(bench.at(0, .joined("Cafe", .open)).contains("firewall: firewall zone drop"))
        // Home is known by its passphrase, nothing described at all is less: the café's protection stays.
        for (time, state) in [(10_000, .joined("Home")), (20_000, .joined("x")), (30_000, .idle)]
            as [(Int64, WiFiState)]
        {
            #expect(!bench.at(time, state).contains("deactivated cafe"))
            #expect(!bench.at(time + 9_000).contains("deactivated cafe"))
        }
        #expect(!bench.at(40_000, corp()).contains("deactivated cafe"))
        #expect(bench.at(42_000).contains("deactivated cafe"))
        // And off the café it does not begin, however little is known of the place.
        #expect(!bench.at(50_000, .joined("x")).contains("activated cafe"))
    }

    @Test func acceptedWeaknessLowersTheBar() {
        let accepted = """
            [network.home]
            ssid = ["Home"]
            security = ["personal"]
            [network.cafe]
            ssid = ["Cafe"]
            [rule.away]
            off = "home"
            accept-weak-evidence = "a test"
            firewall = { zone = "public" }
            [rule.cafe]
            on = "cafe"
            accept-weak-evidence = "a test"
            vpn = { wg-quick = "wg0", state = "up" }
            """
        var bench = Bench(accepted)
        #expect(
            bench.at(0, .joined("Home")) == ["entered home keyed", "activated away", "firewall: firewall zone public"])
        #expect(bench.at(2_000) == ["deactivated away", "firewall: free"])
        // A second link to a strange network makes the place a strange one.
        #expect(bench.at(3_000, environment(.joined("Home"), .ethernet)).contains("activated away"))
        _ = bench.at(4_000, .joined("Home"))
        #expect(bench.at(6_000).contains("deactivated away"))
        #expect(bench.at(7_000, .joined("Cafe", .open)).contains("activated cafe"))
        #expect(bench.at(8_000, .idle).contains("deactivated cafe"))
    }

    @Test func anEvilTwinRelaxesNothing() {
        for security in [Security.open, .owe, .wpa2PSK, .wpa3SAE, .wep, .unknown] {
            var bench = Bench(Self.text)
            let decisions = bench.at(0, .joined("Corp", security)) + bench.at(60_000)
            #expect(decisions == ["entered unlisted claimed"] + vpnUp)
        }
    }

    @Test func unknownEvidenceTightensAndDoesNotRelax() {
        let text = """
            [network.office]
            ssid = ["Corp"]
            security = ["enterprise"]
            dns-suffix = ["corp.example"]
            [network.hotel]
            ssid = ["Hotel"]
            dns-suffix = ["hotel.example"]
            [rule.relax]
            on = "office"
            pam = "skip"
            [rule.neutral]
            on = "office"
            notify = "hello"
            [rule.hotel]
            on = "hotel"
            firewall = { zone = "drop" }
            """
        var bench = Bench(text)
        #expect(bench.at(0, corp()) == [])
        #expect(bench.deadline == 10_000)
        #expect(bench.at(9_999) == [])
        // What is not known by then may never be.
        #expect(bench.at(10_000) == ["entered unlisted claimed"])
        #expect(bench.at(60_000) == [])
        #expect(bench.deadline == nil)
        var known = corp()
        known.interfaces[3]?.evidence.searchDomains = ["lab.corp.example"]
        #expect(bench.at(61_000, known) == ["left unlisted 51000 ms", "entered office mutual"])
        #expect(bench.at(63_000).contains("activated relax"))
        known.interfaces[3]?.evidence.searchDomains = ["corp.example.evil"]
        let wrong = bench.at(64_000, known)
        #expect(wrong.contains("left office 3000 ms") && wrong.contains("deactivated relax"))
        // Perhaps in the hotel: that is enough to be careful.
        #expect(bench.at(70_000, .joined("Hotel", .open)).contains("activated hotel"))
    }

    @Test func tellsWhatDecidedAndWhatIsMissing() {
        var bench = Bench(Self.text)
        _ = bench.at(0, corp(nil))
        _ = bench.at(60_000)
        #expect(
            bench.engine.reason(forRule: "relax")?.lines == [
                "- does not hold",
                "  ? on office, claimed: ssid listed (test.toml:2:9), security wpa2-enterprise allowed (test.toml:3:1); "
                    + "mutual is demanded for less protection",
            ])
        _ = bench.at(61_000, corp(.mutual, .ethernet))
        #expect(
            bench.engine.reason(forRule: "tighten")?.lines.last
                == "    ? on office, mutual: ssid listed (test.toml:2:9), security wpa2-enterprise allowed (test.toml:3:1), "
                + "802.1X demanded an authority and the server's name; a link besides shows unknown only, mutual is "
                + "demanded for less protection")
        #expect(bench.engine.reason(forRule: "nobody") == nil)
    }
}

extension EAPDemands {
    static let mutual = EAPDemands(certificationAuthority: true, serverName: true)
}

extension Interface {
    static func up(_ index: Int32, _ kind: LinkKind) -> Interface {
        var interface = Interface(index: index, name: "\(kind.rawValue)\(index)", kind: kind)
        interface.isAdministrativelyUp = true
        interface.operationalState = .up
        return interface
    }
}
