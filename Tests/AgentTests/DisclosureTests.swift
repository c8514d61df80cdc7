import Feed
import Hashing
import Rules
import Testing
import WiFi

@testable import Agent

/// What rule files tell everybody.
@Suite struct DisclosureTests {
    private let key = HashKey.random()

    private func disclosure(_ text: String) throws -> FeedDisclosure {
        let result = RuleSet.load([RuleFile(path: "a.toml", contents: Array(text.utf8))])
        #expect(result.diagnostics.filter { $0.severity == .error }.map(\.description) == [])
        return FeedDisclosure(
            try #require(result.ruleSet), NameHashing(try #require(result.ruleSet), nil, key: key))
    }

    private static let rules = """
        [network.office]
        ssid = ["Corp-Staff", "Both", "Acorn"]
        security = ["wpa2-psk"]
        [network.office-guest]
        ssid-glob = ["Corp-*"]
        [network.Home]
        ssid = ["Seven Oaks", "Both"]
        ssid-glob = ["Ac?rn"]
        security = ["wpa2-psk"]
        private = true
        [rule.at-work]
        on = "office"
        enabled = true
        [rule.away]
        off = ["office", "Home"]
        enabled = true
        [rule.mixed]
        on = { all = ["wired", { not = "Home" }] }
        enabled = true
        [rule.nas-at-home]
        on = "wired"
        enabled = true
        """

    @Test func namesThatHaveToDoWithAPrivateNetworkAreWithheld() throws {
        let disclosure = try disclosure(Self.rules)
        #expect(disclosure.networks.isSuperset(of: ["office", "office-guest", "any-wifi", "unlisted"]))
        #expect(!disclosure.networks.contains("Home"))
        #expect(disclosure.rules == ["at-work"])
    }

    /// The bare hash is for names that everybody may know: listed, and in no private network.
    @Test(arguments: [
        ("Corp-Staff", true), ("Corp-Other", false), ("Seven Oaks", false), ("Both", false), ("Acorn", false),
        ("Elsewhere", false), ("corp-staff", false), ("Corp-Staff ", false), ("", false),
    ])
    func onlyListedNamesHaveABareHash(name: String, isListed: Bool) throws {
        let ssid = try #require(SSID(utf8: name))
        let hash = try #require(disclosure(Self.rules).environment(ssid))
        #expect(hash == (isListed ? "sha256:\(SHA256.hexadecimal(ssid.octets))" : key.hash(ssid.octets)))
    }

    @Test func withoutRulesNothingIsListed() throws {
        let disclosure = FeedDisclosure(RuleSet(), NameHashing(RuleSet(), nil, key: key))
        #expect(disclosure.rules.isEmpty && disclosure.networks.contains("wired"))
    }
}
