extension BrokenFile {
    /// Conditions and names of networks.
    static let conditions: [BrokenFile] = [
        .file(
            "on and nothing",
            """
            [rule.a]
            on = {}

            """,
            #"2:6 bad-value: expected "all", "any" or "not""#),
        .file(
            "operator misspelt",
            """
            [rule.a]
            on = { al = ["wired", "vpn"] }

            """,
            #"2:8 unknown-key: unknown key "al" in a condition; did you mean "all"?"#),
        .file(
            "operator of another language",
            """
            [rule.a]
            on = { or = ["wired", "vpn"] }

            """,
            #"2:8 unknown-key: unknown key "or" in a condition; did you mean "any"?"#),
        .file(
            "two operators",
            """
            [rule.a]
            on = { all = ["wired"], not = "vpn" }

            """,
            "2:25 bad-value: a table has one of \"all\", \"any\" and \"not\": put several into { all = [{ … }, { … }] }"
        ),
        .file(
            "all of a name",
            """
            [rule.a]
            on = { all = "wired" }

            """,
            #"2:14 wrong-type: expected a list of conditions, such as ["a", { not = "b" }], found a string"#),
        .file(
            "any of nothing",
            """
            [rule.a]
            on = { any = [] }

            """,
            "2:14 bad-value: the list is empty"),
        .file(
            "not of nothing",
            """
            [rule.a]
            on = { not = [] }

            """,
            "2:14 bad-value: the list is empty"),
        .file(
            "not of a number",
            """
            [rule.a]
            off = { not = 5 }

            """,
            #"2:15 wrong-type: expected the name of a network, a list of names or a table such as { all = ["a", "b"] }, found a number"#
        ),
        .file(
            "number in a list",
            """
            [rule.a]
            on = ["wired", 5]

            """,
            #"2:16 wrong-type: expected the name of a network, a list of names or a table such as { all = ["a", "b"] }, found a number"#
        ),
        .file(
            "true",
            """
            [rule.a]
            on = true

            """,
            #"2:6 wrong-type: expected the name of a network, a list of names or a table such as { all = ["a", "b"] }, found a boolean"#
        ),
        .file(
            "empty name",
            """
            [rule.a]
            on = ""

            """,
            #"2:6 unknown-network: no network is called """#),
        .file(
            "list in a name",
            """
            [rule.a]
            on = "wired, vpn"

            """,
            #"2:6 unknown-network: no network is called "wired, vpn"; several names are a list: ["a", "b"]"#),
        .file(
            "negation in a name",
            """
            [rule.a]
            on = "!vpn"

            """,
            #"2:6 unknown-network: no network is called "!vpn"; off a network is { not = "a" }"#),
        .file(
            "name in capitals",
            """
            [rule.a]
            on = "Wired"

            """,
            #"2:6 unknown-network: no network is called "Wired"; did you mean "wired"?"#),
        .file(
            "wifi",
            """
            [rule.a]
            on = "wifi"

            """,
            #"2:6 unknown-network: no network is called "wifi"; did you mean "any-wifi"?"#),
        .file(
            "ethernet",
            """
            [rule.a]
            on = "ethernet"

            """,
            #"2:6 unknown-network: no network is called "ethernet"; did you mean "wired"?"#),
        .file(
            "nested name misspelt",
            """
            [network.office]
            ssid = ["Corp"]
            [rule.a]
            on = { all = ["office", { not = { any = ["vnp", "ofice"] } }] }

            """,
            #"4:42 unknown-network: no network is called "vnp"; did you mean "vpn"?"#,
            #"4:49 unknown-network: no network is called "ofice"; did you mean "office"?"#),
        .file(
            "network of a rule's name",
            """
            [rule.a]
            on = "wired"
            [rule.b]
            on = "a"

            """,
            #"4:6 unknown-network: no network is called "a"; that is a rule"#),
        .file(
            "SSID for a network",
            """
            [network.office]
            ssid = ["Corp-Staff"]
            [rule.a]
            on = "Corp-Staff"

            """,
            #"4:6 unknown-network: no network is called "Corp-Staff"; that is the SSID of network "office""#),
        .file(
            "name with a trap", "[rule.a]\non = \"o\\u001b[31mffice\"\n",
            "2:6 unknown-network: no network is called \"o\u{1B}[31mffice\""),
        .file(
            "name of another script", "[network.office]\nssid = [\"Corp\"]\n[rule.a]\non = \"оffice\"\n",
            "4:6 unknown-network: no network is called \"оffice\"; did you mean \"office\"?"),
        .file(
            "neither on nor off",
            """
            [rule.a]
            command = ["/bin/true"]

            """,
            #"1:7 missing-key: rule "a" needs "on" or "off""#),
        .file(
            "when",
            """
            [rule.a]
            when = "office"

            """,
            #"2:1 unknown-key: unknown key "when" in a rule; did you mean "on"?"#),
        .file(
            "network known by its SSID elsewhere",
            """
            [network.office]
            ssid = ["Seven Oaks"]
            [rule.a]
            off = ["Seven Oaks"]

            """,
            #"4:8 unknown-network: no network is called "Seven Oaks"; that is the SSID of network "office""#),
        .file(
            "condition misspelt",
            """
            [rule.a]
            of = "wired"

            """,
            #"2:1 unknown-key: unknown key "of" in a rule; did you mean "off"?"#),
    ]
}
