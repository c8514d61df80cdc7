import Environment
import Feed
import Hashing
import JSON
import Netlink
import Platform
import Testing
import WiFi

/// What readers get who may not see where the machine is.
@Suite struct HashedTests {
    private var encoder: FeedEncoder {
        var encoder = FeedEncoder()
        encoder.disclosure = Canaries.disclosure
        return encoder
    }

    private func hashed(_ event: FeedEvent) -> JSONValue? {
        var encoder = encoder
        let octets = encoder.line(for: event).octets(disclosing: Canaries.disclosure)
        return try? JSONValue(parsing: octets, maximumSize: FeedLine.maximumLength)
    }

    @Test func noEventTellsANameOrAnAddress() {
        var encoder = encoder
        for event in Canaries.events {
            let line = encoder.line(for: event)
            let found = Canaries.found(in: line.octets(disclosing: Canaries.disclosure))
            #expect(found == [], "\(line.type)")
        }
    }

    /// The test above would find them: whoever may see everything gets them, of each event that has any.
    @Test func whoMaySeeEverythingGetsThem() {
        var encoder = encoder
        let silent: Set = [
            "connectivity.changed", "agent.resynced", "agent.suspended", "agent.resumed", "agent.started",
            "agent.reloaded", "agent.stopped",
        ]
        var seen: Set<String> = []
        for event in Canaries.events {
            let line = encoder.line(for: event)
            seen.insert(line.type)
            if case .environment(let change) = event.body, case .meteredChanged = change.kind { continue }
            #expect(Canaries.found(in: line.octets).isEmpty == silent.contains(line.type), "\(line.type)")
        }
        #expect(seen.count == 30)
    }

    @Test(arguments: [FeedPermission.hashed, .notDetermined])
    func noSnapshotTellsANameOrAnAddress(permission: FeedPermission) throws {
        let line = Canaries.snapshot(encoder, permission)
        #expect(Canaries.found(in: line.octets) == [])
        #expect(!Canaries.found(in: Canaries.snapshot(encoder, .full).octets).isEmpty)
        let json = try #require(line.json)
        #expect(json["permission"]?.string == permission.rawValue)
        #expect(json["networks"]?.array?.compactMap(\.string) == ["wired"])
        #expect(json["rules"]?.array?.compactMap(\.string) == ["away"])
        #expect(json["problem_count"]?.integer == 1)
        #expect(json["counters"]?.object?.members.map(\.key) == ["messages"])
        let states = json["interfaces"]?.array?.compactMap { $0["wifi"]?["state"]?.string }
        #expect(states == ["joined", "associating", "idle", "unknown"])
        #expect(json["interfaces"]?.array?.first?["interface"]?.string == "if1")
    }

    /// A name that is missing is not to be mistaken for no network.
    @Test func aHashStandsForTheName() throws {
        let change = EnvironmentChange(
            time: Canaries.time, interface: InterfaceReference(index: 3, name: "wlan0"), kind: .joined(Canaries.wifi))
        let json = try #require(hashed(FeedEvent(change)))
        let ssid = try #require(Canaries.wifi.ssid)
        let expected = try #require(Canaries.disclosure.environment(ssid))
        #expect(json["wifi"]?["wifi_environment"]?.string == expected)
        #expect(json["wifi"]?["channel"]?.integer == 1 && json["wifi"]?["security"]?.string == "wpa2-psk")
        #expect(json["interface"]?.string == "wlan0" && json["withheld"]?.bool == true)
        var nameless = Canaries.wifi
        nameless.ssid = nil
        let other = EnvironmentChange(time: Canaries.time, interface: Canaries.interface, kind: .joined(nameless))
        #expect(hashed(FeedEvent(other))?["wifi"]?["wifi_environment"]?.isNull == true)
    }

    @Test func namesThatEverybodyMayKnowAreTold() throws {
        let network = hashed(
            FeedEvent(.networkEntered(.init(name: "office", assurance: "keyed")), at: Canaries.time))
        #expect(network?["network"]?["name"]?.string == "office")
        let rule = hashed(
            FeedEvent(.ruleActivated(.init(name: "away", file: "f", line: 1, because: "x")), at: Canaries.time))
        #expect(rule?["rule"]?.object?.members.map(\.key) == ["name"])
        let action = hashed(
            FeedEvent(.actionStarted(.init(id: 1, rule: "away", index: 0, kind: "vpn")), at: Canaries.time))
        #expect(action?["action"]?["rule"]?.string == "away" && action?["action"]?["kind"]?.string == "vpn")
    }

    /// Both kinds of readers have the same numbers, so that neither sees a hole.
    @Test func bothKindsOfLinesAreNumberedAlike() {
        var encoder = encoder
        let line = encoder.line(for: FeedEvent(.agentStopped, at: Canaries.time))
        let hashed = try? JSONValue(
            parsing: line.octets(disclosing: Canaries.disclosure), maximumSize: FeedLine.maximumLength)
        #expect(hashed?["seq"]?.integer == 1 && hashed?["id"] == line.json?["id"])
    }

    @Test(arguments: [
        ("wlan0", true), ("eth12", true), ("lo", true), ("enp0s31f6", true), ("wlp2s0", true), ("eno1", true),
        ("ens18", true), ("enP2p1s0f1np0", true), ("wwan0", true), ("enp0s20f0u1u2i3", true),
        ("wlx02cafebabe09", false),
        ("enx02cafebabe09", false), ("acme-vpn", false), ("tun0", false), ("wlan", false), ("wlan1234", false),
        ("en", false), ("enp02cafebabe0", false), ("enp123456789012", false), ("", false), ("lo1", false),
    ])
    func namesOfInterfacesAreToldThatSayNothing(name: String, isShown: Bool) {
        let change = EnvironmentChange(
            time: Canaries.time, interface: InterfaceReference(index: 9, name: name), kind: .linkDown)
        #expect(hashed(FeedEvent(change))?["interface"]?.string == (isShown ? name : "if9"))
    }

    /// Each form is written once and shared: the memory is the same.
    @Test func aLineIsWrittenOnce() {
        var encoder = encoder
        let line = encoder.line(for: FeedEvent(.agentStopped, at: Canaries.time))
        func place(_ octets: [UInt8]) -> UnsafeRawPointer? { octets.withUnsafeBytes { $0.baseAddress } }
        #expect(place(line.octets) == place(line.octets))
        #expect(
            place(line.octets(disclosing: Canaries.disclosure)) == place(line.octets(disclosing: Canaries.disclosure)))
        #expect(place(line.octets) != place(line.octets(disclosing: Canaries.disclosure)))
    }

    @Test func theHMACIsTheOneOfTheStandard() throws {
        // RFC 4231, test case 1, has a key of 20 octets; zeros up to the block change nothing about an HMAC.
        let key = try #require(HashKey([UInt8](repeating: 0x0b, count: 20) + [UInt8](repeating: 0, count: 12)))
        let hash = key.hash(Array("Hi There".utf8))
        #expect(hash.hasSuffix(":b0344c61d8db38535ca8afceaf0bf12b881dc200c9833da726e9376c2e32cff7"))
        #expect(hash.hasPrefix("hmac-sha256:\(key.identifier):") && key.identifier.utf8.count == 8)
    }
}
