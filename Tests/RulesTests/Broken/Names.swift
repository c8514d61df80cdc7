extension BrokenFile {
    /// Names and sections that are none.
    static let names: [BrokenFile] = [
        .file(
            "name with a homoglyph", "[network.\"оffice\"]\nssid = [\"Corp\"]\n",
            "1:10 bad-name: the name of a network is 1 to 64 of A-Z a-z 0-9 _ - and does not begin with -"),
        .file(
            "name with a dot",
            """
            [network."corp.example"]
            ssid = ["Corp"]

            """,
            "1:10 bad-name: the name of a network is 1 to 64 of A-Z a-z 0-9 _ - and does not begin with -"),
        .file(
            "network name as dotted keys",
            """
            [network.corp.example]
            ssid = ["Corp"]

            """,
            #"1:15 unknown-key: unknown key "example" in a network; a name has no dots: write [network.corp-example]"#),
        .file(
            "network of nothing",
            """
            [network.office]
            [rule.a]
            on = "office"

            """,
            #"1:10 missing-key: nothing tells network "office" from others: it needs "ssid", "ssid-hex", "ssid-glob", "bssid", "gateway-mac", "dns-suffix", "subnet" or "interface""#
        ),
        .file("rule of nothing", "[rule.a]\n", #"1:7 missing-key: rule "a" needs "on" or "off""#),
        .file(
            "rule as list",
            """
            [network.office]
            ssid = ["Corp"]
            [[rule.a]]
            on = "office"

            """,
            "3:1 wrong-type: expected one table, begun with [rule.a], found a list"),
        .file(
            "rules as text", "rule = \"on office\"\n",
            "1:8 wrong-type: expected tables, each begun with [rule.NAME], found a string"),
        .file(
            "plural section",
            """
            [networks.office]
            ssid = ["Corp"]

            """,
            #"1:2 unknown-key: unknown key "networks" in a rule file; did you mean "network"?"#),
        .file(
            "section in capitals",
            """
            [Rule.a]
            on = "wired"

            """,
            #"1:2 unknown-key: unknown key "Rule" in a rule file; did you mean "rule"?"#),
        .file(
            "rule name with a slash",
            """
            [rule."../a"]
            on = "wired"

            """,
            "1:7 bad-name: the name of a rule is 1 to 64 of A-Z a-z 0-9 _ - and does not begin with -"),
    ]
}
