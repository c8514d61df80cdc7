extension BrokenFile {
    /// What is no TOML, or too much of it.
    static let syntax: [BrokenFile] = [
        .file("no text", "= 1\n", "1:1 syntax: in root table: expected keys, tables, whitespace or comments, saw '='"),
        .file(
            "no equals sign",
            """
            [network.office]
            ssid ["Corp"]

            """,
            "2:6 syntax: in key-value pair: expected '=', saw '['"),
        .file(
            "colon",
            """
            network:
              office:
                ssid: Corp

            """,
            "1:8 syntax: in key-value pair: expected '=', saw ':'"),
        .file(
            "JSON", "{\"network\": {\"office\": {\"ssid\": [\"Corp\"]}}}\n",
            "1:1 syntax: in root table: expected keys, tables, whitespace or comments, saw '{'"),
        .file(
            "unknown escape", "[network.office]\nssid = [\"C:\\Corp\"]\n",
            #"2:13 syntax: in string: unknown escape sequence '\C'"#),
        .file(
            "lone surrogate", "[network.office]\nssid = [\"\\ud800\"]\n",
            "2:16 syntax: in unicode scalar sequence: unicode surrogates (U+D800 - U+DFFF) are explicitly prohibited"),
        .file(
            "unfinished text of several lines", "[network.office]\nssid = [\"\"\"Corp\n",
            "2:17 syntax: in string: encountered end-of-file"),
        .file(
            "quotes of two kinds",
            """
            [network.office]
            ssid = ['Corp"]

            """,
            "2:16 syntax: in string: the closing quote is missing"),
        .file(
            "typographic quotes", "[network.office]\nssid = [\u{201C}Corp\u{201D}]\n",
            "2:9 syntax: in value: \u{201C} is a typographic quotation mark, and text stands in plain ones: \" or '"),
        .file(
            "leading zero",
            """
            [rule.a]
            on = "wired"
            priority = 01

            """,
            "3:14 syntax: in decimal integer: leading zeroes are prohibited"),
        .file(
            "word instead of true",
            """
            [rule.a]
            on = "wired"
            enabled = yes

            """,
            #"3:11 syntax: in value: expected text in quotes (" or '), a number, true, false, a list or a table"#),
        .file(
            "something after a value",
            """
            [rule.a]
            on = "wired" "offline"

            """,
            #"2:14 syntax: in key-value pair: expected a comment or whitespace, saw '"'"#),
        .file(
            "two keys a line",
            """
            [rule.a]
            on = "wired" settle = "1s"

            """,
            "2:14 syntax: in key-value pair: expected a comment or whitespace, saw 's'"),
        .file(
            "comma at the end of a table",
            """
            [rule.a]
            on = { not = "wired", }

            """,
            "2:23 syntax: in inline table: expected key-value pair, saw closing '}' (dangling comma)"),
        .file(
            "key twice in a table",
            """
            [rule.a]
            on = { not = "wired", not = "vpn" }

            """,
            #"2:23 duplicate-key: key "not" is already defined in this table"#),
        .file(
            "unfinished table",
            """
            [rule.a]
            on = { not = "wired"
            settle = "1s"

            """,
            #"2:21 syntax: in inline table: expected key or closing '}', saw '\n'; a table in braces ends on the line it begins on"#
        ),
        .file(
            "unfinished list",
            """
            [network.office]
            ssid = ["Corp",
            security = ["open"]

            """,
            #"3:1 syntax: in value: expected text in quotes (" or '), a number, true, false, a list or a table"#),
        .file(
            "two brackets and one",
            """
            [[rule.a]
            on = "wired"

            """,
            #"1:10 syntax: in table header: expected ']', saw '\n'"#),
        .file(
            "empty header", "[]\n",
            "1:2 syntax: in table header: tables with blank bare keys are explicitly prohibited"),
        .file(
            "header with an empty part",
            """
            [network.]
            ssid = ["Corp"]

            """,
            "1:10 syntax: in key: expected bare key starting character or string delimiter, saw ']'"),
        .file(
            "something after a header", "[network.office] ssid = [\"Corp\"]\n",
            "1:18 syntax: in table header: expected a comment or whitespace, saw 's'"),
        .file(
            "name with a space",
            """
            [network.head office]
            ssid = ["Corp"]

            """,
            "1:15 syntax: in table header: expected ']', saw 'o'"),
        .file(
            "control character", "# a\u{1}b\n",
            "1:4 syntax: in comment: control characters other than TAB (U+0009) are explicitly prohibited in comments"),
        .file(
            "section twice",
            """
            [network]
            office.ssid = ["Corp"]
            [network]
            home.ssid = ["Home"]

            """,
            "3:1 duplicate-name: table [network] is already defined at 1.toml:1:1"),
        .file(
            "table after dotted keys",
            """
            [rule]
            a.on = "wired"
            [rule.a]
            settle = "1s"

            """,
            #"3:1 duplicate-name: rule "a" is already defined above"#),
        .file(
            "key twice in a table of a list",
            """
            [rule.a]
            on = "wired"
            enter = [
              { command = ["/bin/a"] },
              { command = ["/bin/b"], command = ["/bin/c"] },
            ]

            """,
            #"5:27 duplicate-key: key "command" is already defined in this table"#),
        .file(
            "table in braces and header",
            """
            rule = { a = { on = "wired" } }
            [rule.a]
            settle = "1s"

            """,
            "3:1 syntax: in table header: cannot insert 'rule.a' into existing inline table"),
        .file(
            "list under a table's name",
            """
            [network.office]
            ssid = ["Corp"]
            [[network.office]]
            ssid = ["Corp"]

            """,
            #"3:1 duplicate-name: network "office" is already defined above"#),
        .file(
            "section as value and table",
            """
            rule = 5
            [rule.a]
            on = "wired"

            """,
            #"2:1 duplicate-name: rule "a" is already defined above"#),
        .file(
            "dotted key twice",
            """
            [network]
            office.ssid = ["a"]
            office.ssid = ["b"]

            """,
            #"3:1 duplicate-key: key "office.ssid" is already defined at 1.toml:2:1"#),
        .file(
            "quoted key twice",
            """
            [network.office]
            ssid = ["a"]
            "ssid" = ["b"]

            """,
            #"3:1 duplicate-key: key "ssid" is already defined at 1.toml:2:1"#),
        .file(
            "rule with a dot",
            """
            [rule.a.b]
            on = "wired"

            """,
            #"1:9 unknown-key: unknown key "b" in a rule; a name has no dots: write [rule.a-b]"#),
        .file(
            "control character far to the right",
            "[network.office]\nssid = [\"Corp\"]\nprivate = true\n[rule.a]\non = \"wired\"\ncommand = [\"/x\", \""
                + String(repeating: "x", count: 600) + "\u{1}\"]\n",
            "6:619 syntax: in string: unescaped control characters other than TAB (U+0009) are explicitly prohibited"),
        .file(
            "key twice in a table beside its like",
            """
            [rule.a]
            on = "wired"
            command = ["/bin/a"]
            enter = [{ command = ["/bin/b"], command = ["/bin/c"] }]

            """,
            #"4:34 duplicate-key: key "command" is already defined in this table"#),
        .file(
            "key twice far to the right",
            """
            [rule.a]
            on = "wired"
            enter = [{ command = ["/x", "xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx"], command = ["/y"] }]

            """,
            "3:644 duplicate-key: a key is already defined in this table"),
        .file(
            "key of a value",
            """
            [network.office]
            ssid = ["Corp"]
            ssid.hex = ["00"]

            """,
            "3:1 duplicate-key: what stands before a dot here is already defined, and is no table"),
        .file(
            "value outside of sections", "ssid = [\"Corp\"]\n",
            #"1:1 unknown-key: unknown key "ssid" in a rule file; known are network, rule"#),
        .file(
            "empty name",
            """
            [network.""]
            ssid = ["Corp"]

            """,
            "1:10 bad-name: the name of a network is 1 to 64 of A-Z a-z 0-9 _ - and does not begin with -"),
        .file(
            "deep header", "[a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a]\n",
            "1:1 syntax: tables, lists or dotted keys are nested too deeply"),
        .file(
            "deep tables",
            """
            [rule.a]
            on = { not = { not = { not = { not = { not = { not = { not = { not = { not = { not = { not = { not = { not = { not = { not = { not = { not = { not = { not = { not = { not = { not = { not = { not = { not = { not = { not = { not = { not = { not = { not = { not = { not = { not = { not = { not = { not = { not = { not = { not = "wired" } } } } } } } } } } } } } } } } } } } } } } } } } } } } } } } } } } } } } } } }

            """,
            "2:262 syntax: tables, lists or dotted keys are nested too deeply"),
        .file(
            "deep lists of conditions",
            """
            [rule.a]
            on = [[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[["wired"]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]

            """,
            "2:38 syntax: tables, lists or dotted keys are nested too deeply"),
        .file(
            "deep keys of a rule",
            """
            [rule.a]
            on.on.on.on.on.on.on.on.on.on.on.on.on.on.on.on.on.on.on.on.on.on.on.on.on.on.on.on.on.on.on.on.on.on.on.on.on.on.on.on.on.on.on.on.on.on.on.on.on.on.on.on.on.on.on.on.on.on.on.on = "wired"

            """,
            "2:1 syntax: tables, lists or dotted keys are nested too deeply"),
    ]
}
