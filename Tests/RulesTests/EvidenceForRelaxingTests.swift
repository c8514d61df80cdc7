import Testing

@testable import Rules

/// What may lower protection, and what has to be said for it.
@Suite struct EvidenceForRelaxingTests {
    private static let mutual = "[network.n]\nssid = [\"Corp\"]\nsecurity = [\"wpa2-enterprise\"]\n"
    private static let suite = "[network.n]\nssid = [\"Corp\"]\nsecurity = [\"akm:00-0f-ac:5\"]\n"
    private static let probed = """
        [network.n]
        ssid = ["Corp"]
        security = ["wpa3-sae"]
        probe = { url = "https://inside.example/", spki-sha256 = ["CgoKCgoKCgoKCgoKCgoKCgoKCgoKCgoKCgoKCgoKCgo="] }

        """
    private static let wire = "[network.n]\ninterface = [\"eth0\"]\nsecurity = [\"enterprise\"]\n"
    private static let probedWire = """
        [network.n]
        dns-suffix = ["corp.example"]
        probe = { url = "https://inside.example/", spki-sha256 = ["CgoKCgoKCgoKCgoKCgoKCgoKCgoKCgoKCgoKCgoKCgo="] }

        """
    private static let keyed = "[network.n]\nssid = [\"Corp\"]\nsecurity = [\"wpa3-sae\"]\n"

    private static let beginnings = [
        #"vpn = { wg-quick = "wg0", state = "down" }"#,
        #"firewall = { zone = "home" }"#,
        #"firewall = { nft-set = "inet filter trusted" }"#,
        #"unit = { name = "usbguard.service", state = "stopped", protective = true }"#,
        #"unit = { name = "sshd.service", state = "running", relaxing = true }"#,
        #"proxy = { mode = "auto" }"#,
        #"pam = "skip""#,
        "command = [\"/bin/true\"]\nrelaxing = true",
        #"enter = [{ vpn = { networkmanager = "corp", state = "down" } }]"#,
        #"second-factor = { message = "Confirm", on-success = { vpn = { wg-quick = "wg0", state = "down" } } }"#,
    ]
    private static let ends = [
        #"vpn = { wg-quick = "wg0", state = "up" }"#,
        #"firewall = { zone = "public" }"#,
        #"unit = { name = "usbguard.service", state = "running", protective = true }"#,
        #"pam = "require""#,
        #"leave = [{ command = ["/bin/true"], relaxing = true }]"#,
    ]
    private static let neutral = [
        #"proxy = { http = "http://proxy.example:3128" }"#,
        #"proxy = { pac = "https://pac.example/proxy.pac" }"#,
        #"proxy = { mode = "none" }"#,
        #"unit = { name = "nas.mount", state = "running" }"#,
        #"unit = { name = "sshd.service", state = "stopped" }"#,
        #"command = ["/bin/true"]"#,
        #"notify = "Hello""#,
        "lock = true",
        #"second-factor = { message = "Confirm", on-failure = ["lock-session", "disconnect"] }"#,
        #"enter = [{ vpn = { wg-quick = "wg0", state = "up" } }]"#,
        #"leave = [{ vpn = { wg-quick = "wg0", state = "up" } }]"#,
    ]

    private func codes(_ text: String) -> [Diagnostic.Code] {
        RuleSet.load([RuleFile(path: "1.toml", contents: Array(text.utf8))]).diagnostics.map(\.code)
    }

    @Test(arguments: [mutual, suite, probed, wire, probedWire], beginnings)
    func takesCertainEvidence(network: String, effect: String) {
        #expect(codes("\(network)[rule.a]\non = \"n\"\n\(effect)\n") == [])
        #expect(codes("\(network)[rule.a]\noff = { not = \"n\" }\n\(effect)\n") == [])
        // Elsewhere than at home means: at a place that is certain.
        #expect(codes("\(network)[rule.a]\noff = \"wired\"\n\(effect)\n") == [])
    }

    @Test(arguments: [mutual, suite, probed, wire, probedWire], ends)
    func takesCertainEvidenceForAnEnd(network: String, effect: String) {
        #expect(codes("\(network)[rule.a]\noff = \"n\"\n\(effect)\n") == [])
        #expect(codes("\(network)[rule.a]\non = { all = [{ not = \"n\" }] }\n\(effect)\n") == [])
    }

    @Test(arguments: beginnings)
    func takesAReasonInstead(effect: String) {
        for name in ["n", "wired", "open-wifi", "offline", "unlisted", "any-wifi"] {
            let rule = "\(Self.keyed)[rule.a]\non = \"\(name)\"\n\(effect)\n"
            #expect(codes(rule) == [.weakEvidence])
            #expect(codes("\(rule)accept-weak-evidence = \"nobody else is here\"\n") == [])
        }
    }

    @Test(arguments: ends)
    func takesAReasonInsteadForAnEnd(effect: String) {
        let rule = "\(Self.keyed)[rule.a]\noff = [\"n\", \"wired\"]\n\(effect)\n"
        #expect(codes(rule) == [.weakEvidence, .weakEvidence])
        #expect(codes("\(rule)accept-weak-evidence = \"nobody else is here\"\n") == [])
    }

    @Test(arguments: neutral)
    func asksNothingOfTheRest(effect: String) {
        #expect(codes("\(Self.keyed)[rule.a]\non = [\"n\", \"wired\"]\n\(effect)\n") == [])
        #expect(codes("\(Self.keyed)[rule.a]\noff = [\"n\", \"wired\"]\n\(effect)\n") == [])
    }

    /// One weak network among certain ones spoils the rule, wherever it stands in the condition.
    @Test(
        arguments: [
            #"on = ["n", "m"]"#, #"on = { all = [{ any = ["m"] }, "n"] }"#, #"on = { not = { not = "m" } }"#,
            #"on = { not = { all = [{ not = ["n", "m"] }, "wired"] } }"#, "on = \"n\"\noff = { not = \"m\" }",
        ])
    func findsItInNestedConditions(condition: String) {
        let networks = Self.mutual + "[network.m]\nssid = [\"Home\"]\nsecurity = [\"wpa2-psk\"]\n"
        #expect(codes("\(networks)[rule.a]\n\(condition)\npam = \"skip\"\n") == [.weakEvidence])
        #expect(codes("\(networks)[rule.a]\n\(condition)\npam = \"require\"\n").allSatisfy { $0 == .weakEvidence })
    }
}
