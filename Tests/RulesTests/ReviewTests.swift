import Testing

@testable import Rules

/// What `check` warns of in files that are right.
@Suite struct ReviewTests {
    private func warnings(_ text: String) -> [String] {
        let result = RuleSet.load([RuleFile(path: "r.toml", contents: Array(text.utf8))], reviewing: true)
        #expect(result.ruleSet != nil, "\(result.diagnostics)")
        #expect(result.diagnostics.allSatisfy { $0.severity == .warning })
        return result.diagnostics.map { "\($0.line):\($0.column) \($0.code.rawValue): \($0.message)" }
    }

    @Test(
        arguments: [
            ("\"Corp \"", ["2:9 odd-name: the name ends in a space: is that so on the air?"]),
            ("\" Corp\"", ["2:9 odd-name: the name begins with a space: is that so on the air?"]),
            ("\"Co\\u200brp\"", ["2:9 odd-name: the name has the invisible U+200B: is that so on the air?"]),
            (
                "\"Corp\\u202e\"",
                ["2:9 odd-name: the name has U+202E, which changes the direction of text: is that so on the air?"]
            ),
            (
                "\"Cafe\\u0301\"",
                ["2:9 odd-name: the name is not in Unicode's composed form (NFC): is that so on the air?"]
            ),
            ("\"Corp\", \"Home\"", []),
            ("\"Caf\\u00e9\"", []),
        ] as [(String, [String])])
    func oddNames(names: String, expected: [String]) {
        #expect(warnings("[network.a]\nssid = [\(names)]\n") == expected)
    }

    @Test func lookalikes() {
        let text = """
            [network.a]
            ssid = ["Corp", "Caf\\u00e9"]
            [network.b]
            ssid = ["corp", "C\\u043erp", "Cafe\\u0301", "Corp"]
            """
        let found = warnings(text).filter { $0.contains("lookalike") }
        #expect(
            found == [
                "4:9 lookalike: the name looks like the one at r.toml:2:9, and differs only in upper and lower case",
                "4:17 lookalike: the name looks like the one at r.toml:2:9, and differs only in U+043E for \"o\"",
                "4:30 lookalike: the name looks like the one at r.toml:2:17, and differs only in Unicode normalisation "
                    + "(NFC/NFD)",
            ])
    }

    /// What the pipeline that computes a pin prints when it got no key.
    @Test func pinsOfNothing() {
        func network(_ pin: String) -> String {
            "[network.a]\nssid = [\"A\"]\nprivate = true\nsecurity = [\"personal\"]\nprobe = { url = \"https://a.example/\", "
                + "spki-sha256 = [\"\(pin)\"] }\n"
        }
        let found = "5:1 bad-value: a pin is the SHA-256 of nothing, so no key was read where it was computed"
        #expect(warnings(network("e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855")) == [found])
        #expect(warnings(network("47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU=")) == [found])
        #expect(warnings(network("e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b856")) == [])
    }

    @Test func weakEvidence() {
        let home = "[network.home]\nssid = [\"Home\"]\nsecurity = [\"personal\"]\nprivate = true\n"
        let office = "[network.office]\nssid = [\"Corp\"]\nsecurity = [\"enterprise\"]\n"
        #expect(
            warnings(home + "[rule.a]\noff = \"home\"\npam = \"require\"\naccept-weak-evidence = \"my own key\"\n") == [
                "6:7 weak-evidence: \"the end of pam require\" lowers protection by weak evidence here, since \"my own key\""
            ])
        #expect(
            warnings(office + "[rule.a]\non = \"office\"\npam = \"skip\"\naccept-weak-evidence = \"x\"\n") == [
                "4:7 weak-evidence: rule \"a\" need not accept weak evidence: without that, \"pam skip\" waits for a network "
                    + "that is \"mutual\" or \"proven\""
            ])
        #expect(
            warnings(office + "[rule.a]\non = \"office\"\nnotify = \"x\"\naccept-weak-evidence = \"x\"\n") == [
                "4:7 weak-evidence: rule \"a\" accepts weak evidence, but nothing of it lowers protection"
            ])
    }

    @Test(
        arguments: [
            ("[\"/usr/bin/logger\", \"it is $5 | more\"]", nil),
            ("[\"/bin/sh\", \"-c\", \"logger $VICINITY_RULE | cat\"]", nil),
            (
                "[\"/usr/bin/logger hello\"]",
                "the program is the file \"/usr/bin/logger hello\": is that so? No shell takes it apart, so each word "
                    + "stands in quotes of its own"
            ),
            (
                "[\"/usr/bin/logger\", \"$VICINITY_RULE\"]",
                "no shell sees \"$VICINITY_RULE\": the program gets it as it is. What takes a shell belongs into a "
                    + "script"
            ),
            (
                "[\"/bin/mount\", \"/nas\", \"&&\", \"logger\"]",
                "no shell sees \"&&\": the program gets it as it is. What takes a shell belongs into a script"
            ),
        ] as [(String, String?)])
    func shellLines(command: String, expected: String?) {
        #expect(
            warnings("[rule.a]\non = \"wired\"\nleave = [ { command = \(command) } ]\n")
                == (expected.map { ["3:11 unsafe-command: \($0)"] } ?? []))
    }

    @Test(
        arguments: [
            ("on = \"any-wifi\"", nil),
            ("on = { all = [\"a\", { not = \"a\" }] }", "never"),
            ("on = \"a\"\noff = \"a\"", "never"),
            ("on = { all = [\"offline\", \"a\"] }", "never"),
            ("on = { all = [\"offline\", \"wired\"] }", "never"),
            ("on = { all = [\"unlisted\", \"a\"] }", "never"),
            ("on = { all = [\"open-wifi\", { not = \"any-wifi\" }] }", "never"),
            ("on = { all = [\"a\", { not = \"any-wifi\" }] }", "never"),
            ("on = [\"a\", { not = \"a\" }]", "always"),
            ("on = { all = [\"a\", \"b\"] }", nil),
            ("on = { all = [\"wired\", \"any-wifi\"] }", nil),
            ("on = { all = [\"a\", { not = \"a\" }] }\nenabled = false", nil),
        ] as [(String, String?)])
    func unreachable(condition: String, expected: String?) {
        let found = warnings("[network.a]\nssid = [\"A1\"]\n[network.b]\nssid = [\"B2\"]\n[rule.r]\n\(condition)\n")
        switch expected {
        case "never": #expect(found == ["5:7 unreachable: rule \"r\" can never hold: its condition contradicts itself"])
        case "always": #expect(found == ["5:7 unreachable: rule \"r\" always holds: its condition excludes nothing"])
        default: #expect(found == [])
        }
    }

    @Test func contradictions() {
        let networks = "[network.a]\nssid = [\"A1\"]\n[network.b]\nssid = [\"B2\"]\n"
        func rules(_ first: String, _ second: String) -> [String] {
            warnings(networks + "[rule.x]\n\(first)\n[rule.y]\n\(second)\n")
        }
        let none = "proxy = { mode = \"none\" }"
        let pac = "proxy = { pac = \"https://p.example/\" }"
        #expect(
            rules("on = \"a\"\n\(none)", "on = \"any-wifi\"\n\(pac)") == [
                "10:1 contradictory: \"proxy pac\" and \"proxy none\" of rule \"x\" (r.toml:7:1) can be wanted at once: "
                    + "the later rule has its way; \"priority\" would say which one is meant to"
            ])
        #expect(rules("on = \"a\"\n\(none)", "on = \"any-wifi\"\npriority = 1\n\(pac)") == [])
        #expect(rules("on = \"a\"\n\(none)", "on = \"any-wifi\"\n\(none)") == [])
        #expect(rules("on = \"a\"\n\(none)", "on = \"b\"\n\(pac)") == [])
        #expect(rules("on = \"a\"\n\(none)", "off = \"a\"\n\(pac)") == [])
        #expect(rules("on = \"a\"\n\(none)", "on = \"any-wifi\"\nenabled = false\n\(pac)") == [])
    }

    @Test func aThousandRulesOnOneTargetAreReviewedQuickly() {
        var text = ""
        for number in 0..<1_000 {
            text += "[network.n\(number)]\nssid = [\"N\(number) x\"]\n[rule.r\(number)]\non = \"n\(number)\"\n"
            text += "proxy = { http = \"http://p\(number).example:1\" }\n"
        }
        let clock = ContinuousClock()
        var count = 0
        let elapsed = clock.measure { count = warnings(text).filter { !$0.contains("lookalike") }.count }
        #expect(count == 0)
        #expect(elapsed < .seconds(20))
    }

    /// Rules that mention many networks are tried out in many places; nobody waits minutes for that.
    @Test func doesNotTakeForEver() {
        var text = (0..<12).map { "[network.n\($0)]\nssid = [\"S\($0)\"]\n" }.joined()
        let names = (0..<11).map { "\"n\($0)\"" }.joined(separator: ", ")
        for number in 0..<1_000 {
            text += "[rule.r\(number)]\non = { all = [{ any = [\(names)] }, { not = \"n11\" }, \"n11\"] }\n"
            text += "proxy = { pac = \"https://a.example/\(number)\" }\n"
        }
        let start = ContinuousClock.now
        let result = RuleSet.load([RuleFile(path: "1.toml", contents: Array(text.utf8))], reviewing: true)
        #expect(result.diagnostics.first?.code == .unreachable)
        #expect(ContinuousClock.now - start < .seconds(40))
    }
}
