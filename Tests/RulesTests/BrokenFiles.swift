import Testing

/// A rule file that must be refused, and every diagnostic it must give.
struct BrokenFile: Sendable, CustomTestStringConvertible {
    let name: String
    let text: String
    let diagnostics: [String]

    init(_ name: String, _ text: String, _ diagnostics: [String]) {
        self.name = name
        self.text = text
        self.diagnostics = diagnostics
    }

    var testDescription: String { name }

    static let networks = [
        BrokenFile(
            "unfinished header", "[network.office\nssid = [\"Corp\"]\n",
            [
                "1:16 syntax: in table header: expected ']', saw '\\n'"
            ]),
        BrokenFile(
            "missing value", "[network.office]\nssid =\n",
            [
                "2:7 syntax: in key-value pair: expected value, saw '\\n'"
            ]),
        BrokenFile(
            "missing comma", "[network.office]\nssid = [\"a\" \"b\"]\n",
            [
                "2:13 syntax: in array: expected comma or closing ']', saw '\"'"
            ]),
        BrokenFile(
            "unfinished string", "[network.office]\nssid = [\"Corp]\n",
            [
                "2:15 syntax: in string: the closing quote is missing"
            ]),
        BrokenFile(
            "line break in a table", "[rule.a]\non = { all =\n[\"x\"] }\n",
            [
                "2:13 syntax: in key-value pair: expected value, saw '\\n'"
            ]),
        BrokenFile(
            "bare word", "[network.office]\nssid = Corp\n",
            [
                "2:8 syntax: in value: expected text in quotes (\" or '), a number, true, false, a list or a table"
            ]),
        BrokenFile(
            "key twice", "[network.office]\nssid = [\"a\"]\nprivate = true\nssid = [\"b\"]\n",
            [
                "4:1 duplicate-key: key \"ssid\" is already defined at 1.toml:2:1"
            ]),
        BrokenFile(
            "network twice",
            "[network.office]\nssid = [\"a\"]\n\n[network.home]\nssid = [\"b\"]\n\n[network.office]\nssid = [\"c\"]\n",
            [
                "7:1 duplicate-name: network \"office\" is already defined at 1.toml:1:1"
            ]),
        BrokenFile(
            "rule twice",
            "[network.office]\nssid = [\"Corp\"]\n[rule.a]\non = \"office\"\n  [ rule.\"a\" ]\non = \"office\"\n",
            [
                "5:3 duplicate-name: rule \"a\" is already defined at 1.toml:3:1"
            ]),
        BrokenFile(
            "deep lists", "a = [[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]\n",
            [
                "1:37 syntax: tables, lists or dotted keys are nested too deeply"
            ]),
        BrokenFile(
            "deep keys", "\na.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a = 1\n",
            [
                "2:1 syntax: tables, lists or dotted keys are nested too deeply"
            ]),
        BrokenFile(
            "unknown section", "[netwrok.office]\nssid = [\"Corp\"]\n",
            [
                "1:2 unknown-key: unknown key \"netwrok\" in a rule file; did you mean \"network\"?"
            ]),
        BrokenFile(
            "far off section", "[settings]\nx = 1\n",
            [
                "1:2 unknown-key: unknown key \"settings\" in a rule file; known are network, rule"
            ]),
        BrokenFile(
            "section of another kind", "network = 5\n",
            [
                "1:11 wrong-type: expected tables, each begun with [network.NAME], found a number"
            ]),
        BrokenFile(
            "list of tables", "[[network.office]]\nssid = [\"Corp\"]\n",
            [
                "1:1 wrong-type: expected one table, begun with [network.office], found a list"
            ]),
        BrokenFile(
            "list of rules", "[[rule]]\non = \"wired\"\n",
            [
                "1:1 wrong-type: expected tables, each begun with [rule.NAME], found a list"
            ]),
        BrokenFile(
            "value for a network", "network.office = \"Corp\"\n",
            [
                "1:18 wrong-type: expected one table, begun with [network.office], found a string"
            ]),
        BrokenFile(
            "network key", "[network.office]\nsid = [\"Corp\"]\n",
            [
                "2:1 unknown-key: unknown key \"sid\" in a network; did you mean \"ssid\"?"
            ]),
        BrokenFile(
            "planned probe",
            "[network.office]\nssid = [\"Corp\"]\nprobe = { url = \"https://inside.corp.example/\" }\n",
            [
                "3:9 missing-key: the probe needs \"spki-sha256\": without a key anyone could answer it"
            ]),
        BrokenFile(
            "no names", "[network.office]\nprivate = true\n",
            [
                "1:10 missing-key: nothing tells network \"office\" from others: it needs \"ssid\", \"ssid-hex\", "
                    + "\"ssid-glob\", \"bssid\", \"gateway-mac\", \"dns-suffix\", \"subnet\" or \"interface\""
            ]),
        BrokenFile(
            "one name alone", "[network.office]\nssid = \"Corp\"\n",
            [
                "2:8 wrong-type: expected a list of names, such as [\"Corp-Staff\"], found a string"
            ]),
        BrokenFile(
            "empty list", "[network.office]\nssid = []\n",
            [
                "2:8 bad-value: the list is empty"
            ]),
        BrokenFile(
            "number for a name", "[network.office]\nssid = [\"Corp\", 5]\n",
            [
                "2:17 wrong-type: expected a string, found a number"
            ]),
        BrokenFile(
            "empty name", "[network.office]\nssid = [\"\"]\n",
            [
                "2:9 bad-value: a name has 1 to 32 octets in UTF-8, this one has 0"
            ]),
        BrokenFile(
            "long name", "[network.office]\nssid = [\"ééééééééééééééééé\"]\n",
            [
                "2:9 bad-value: a name has 1 to 32 octets in UTF-8, this one has 34"
            ]),
        BrokenFile(
            "odd hexadecimal", "[network.office]\nssid-hex = [\"436\"]\n",
            [
                "2:13 bad-value: expected 1 to 32 octets of two hexadecimal digits each, without separators"
            ]),
        BrokenFile(
            "no hexadecimal", "[network.office]\nssid-hex = [\"zz\"]\n",
            [
                "2:13 bad-value: expected 1 to 32 octets of two hexadecimal digits each, without separators"
            ]),
        BrokenFile(
            "long hexadecimal",
            "[network.office]\nssid-hex = [\"ffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff\"]\n",
            [
                "2:13 bad-value: expected 1 to 32 octets of two hexadecimal digits each, without separators"
            ]),
        BrokenFile(
            "security misspelt", "[network.office]\nssid = [\"Corp\"]\nsecurity = [\"wpa2-pks\"]\n",
            [
                "3:13 bad-value: no security is called \"wpa2-pks\"; did you mean \"wpa2-psk\"?"
            ]),
        BrokenFile(
            "security unknown", "[network.office]\nssid = [\"Corp\"]\nsecurity = [\"quantum\"]\n",
            [
                "3:13 bad-value: no security is called \"quantum\"; known are open, owe, wep, wpa-psk, "
                    + "wpa2-psk, wpa3-sae, wpa2-enterprise, wpa3-enterprise, wpa3-enterprise-192, unknown, personal, enterprise"
            ]),
        BrokenFile(
            "private as text", "[network.office]\nssid = [\"Corp\"]\nprivate = \"yes\"\n",
            [
                "3:11 wrong-type: expected true or false, found a string"
            ]),
        BrokenFile(
            "built-in name", "[network.wired]\nssid = [\"Corp\"]\n",
            [
                "1:10 reserved-name: \"wired\" is the name of a built-in network"
            ]),
        BrokenFile(
            "reserved name", "[network.vpn]\nssid = [\"Corp\"]\n",
            [
                "1:10 reserved-name: \"vpn\" is the name of a built-in network"
            ]),
        BrokenFile(
            "name with space", "[network.\"head office\"]\nssid = [\"Corp\"]\n",
            [
                "1:10 bad-name: the name of a network is 1 to 64 of A-Z a-z 0-9 _ - and does not begin with -"
            ]),
        BrokenFile(
            "name with escape", "[network.\"\\u001b[2J\"]\nssid = [\"Corp\"]\n",
            [
                "1:10 bad-name: the name of a network is 1 to 64 of A-Z a-z 0-9 _ - and does not begin with -"
            ]),
        BrokenFile(
            "name like an option", "[rule.-rf]\non = \"wired\"\n",
            [
                "1:7 bad-name: the name of a rule is 1 to 64 of A-Z a-z 0-9 _ - and does not begin with -"
            ]),
        BrokenFile(
            "name too long",
            "[network.xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx]\nssid = [\"Corp\"]\n",
            [
                "1:10 bad-name: the name of a network is 1 to 64 of A-Z a-z 0-9 _ - and does not begin with -"
            ]),
    ]

    static let all =
        networks + rules + syntax + names + evidence + probes + pins + conditions + settings + commands + units
        + prompts
        + proxies
        + proxyURLs + weakEvidence + weakEnds

    // MARK: Short forms

    static func file(_ name: String, _ text: String, _ diagnostics: String...) -> BrokenFile {
        BrokenFile(name, text, diagnostics)
    }

    /// A key of a network that is right without it; it stands on line 3.
    static func network(_ name: String, _ lines: String, _ diagnostics: String...) -> BrokenFile {
        BrokenFile(name, "[network.office]\nssid = [\"Corp\"]\n\(lines)\n", diagnostics)
    }

    /// A key of a rule that is right without it; it stands on line 3.
    static func rule(_ name: String, _ lines: String, _ diagnostics: String...) -> BrokenFile {
        BrokenFile(name, "[rule.a]\non = \"wired\"\n\(lines)\n", diagnostics)
    }

    /// An action of a rule's `enter`; it begins at 3:10.
    static func entering(_ name: String, _ action: String, _ diagnostics: String...) -> BrokenFile {
        BrokenFile(name, "[rule.a]\non = \"wired\"\nenter = [\(action)]\n", diagnostics)
    }

    /// The address of an HTTP proxy.
    static func server(_ name: String, _ url: String) -> BrokenFile {
        let escaped = url.unicodeScalars.map { scalar in
            switch scalar {
            case "\"", "\\": "\\\(scalar)"
            case _ where scalar.value < 0x20: "\\u00" + String(scalar.value + 0x100, radix: 16).dropFirst()
            default: String(scalar)
            }
        }.joined()
        return rule(
            name, "proxy = { http = \"\(escaped)\" }",
            "3:18 bad-value: expected \"http://HOST:PORT\" (or https), the port from 1 to 65535, without credentials, "
                + "path, quotes or escapes")
    }

    /// - Parameter atMost: what can be known of a described network; nil for a built-in one.
    static func weak(_ line: Int, _ column: Int, _ effect: String, on name: String, atMost: String? = nil) -> String {
        "\(line):\(column) weak-evidence: \"\(effect)\" lowers protection on \"\(name)\", of which at most "
            + "\"\(atMost ?? "claimed")\" can be known: "
            + (atMost == nil ? "describe a network that demands" : "let the network demand")
            + " 802.1X or a probe, or say in \"accept-weak-evidence\" why that will do"
    }

    static func weak(_ line: Int, _ column: Int, _ effect: String, off name: String) -> String {
        "\(line):\(column) weak-evidence: \"\(effect)\" lowers protection off \"\(name)\", and no network is described "
            + "of which \"mutual\" can be known: describe one, or say in \"accept-weak-evidence\" why less will do"
    }
}
