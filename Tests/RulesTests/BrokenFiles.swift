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
                "2:15 syntax: in string: unescaped control characters other than TAB (U+0009) are "
                    + "explicitly prohibited"
            ]),
        BrokenFile(
            "line break in a table", "[rule.a]\non = { all =\n[\"x\"] }\n",
            [
                "2:13 syntax: in key-value pair: expected value, saw '\\n'"
            ]),
        BrokenFile(
            "bare word", "[network.office]\nssid = Corp\n",
            [
                "2:8 syntax: in value: could not determine value type"
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
                "2:0 syntax: tables, lists or dotted keys are nested too deeply"
            ]),
        BrokenFile(
            "unknown section", "[netwrok.office]\nssid = [\"Corp\"]\n",
            [
                "1:2 unknown-key: unknown key \"netwrok\" in a rule file; did you mean \"network\"?"
            ]),
        BrokenFile(
            "far off section", "[settings]\nx = 1\n",
            [
                "1:2 unknown-key: unknown key \"settings\" in a rule file"
            ]),
        BrokenFile(
            "section of another kind", "network = 5\n",
            [
                "1:11 wrong-type: expected tables, each begun with [network.NAME], found a number"
            ]),
        BrokenFile(
            "list of tables", "[[network.office]]\nssid = [\"Corp\"]\n",
            [
                "1:1 wrong-type: expected a table, found a list"
            ]),
        BrokenFile(
            "list of rules", "[[rule]]\non = \"wired\"\n",
            [
                "1:1 wrong-type: expected tables, each begun with [rule.NAME], found a list"
            ]),
        BrokenFile(
            "value for a network", "network.office = \"Corp\"\n",
            [
                "1:18 wrong-type: expected a table, found a string"
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
                "2:13 bad-value: expected 1 to 32 octets of two hexadecimal digits each"
            ]),
        BrokenFile(
            "no hexadecimal", "[network.office]\nssid-hex = [\"zz\"]\n",
            [
                "2:13 bad-value: expected 1 to 32 octets of two hexadecimal digits each"
            ]),
        BrokenFile(
            "long hexadecimal",
            "[network.office]\nssid-hex = [\"ffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff\"]\n",
            [
                "2:13 bad-value: expected 1 to 32 octets of two hexadecimal digits each"
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

    static let all = networks + rules
}
