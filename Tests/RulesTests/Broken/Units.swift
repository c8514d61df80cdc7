extension BrokenFile {
    /// Units, VPN, firewall and PAM.
    static let units: [BrokenFile] = [
        .rule(
            "unit as text", #"unit = "sshd.service""#,
            #"3:8 wrong-type: expected a table such as { name = "sshd.service", state = "stopped" }, found a string"#),
        .rule("unit without name", #"unit = { state = "running" }"#, #"3:8 missing-key: the unit needs "name""#),
        .rule("unit without state", #"unit = { name = "sshd.service" }"#, #"3:8 missing-key: the unit needs "state""#),
        .rule(
            "unit without suffix", #"unit = { name = "sshd", state = "stopped" }"#,
            #"3:17 bad-value: expected a unit with its suffix, such as "sshd.service"; did you mean "sshd.service"?"#
        ),
        .rule(
            "unit of a suffix alone", #"unit = { name = ".service", state = "stopped" }"#,
            #"3:17 bad-value: expected a unit with its suffix, such as "sshd.service"; known are .service, .socket, .target, .mount, .automount, .timer, .path, .swap, .slice, .scope"#
        ),
        .rule(
            "unit of a device", #"unit = { name = "dev-sda.device", state = "stopped" }"#,
            #"3:17 bad-value: expected a unit with its suffix, such as "sshd.service"; known are .service, .socket, .target, .mount, .automount, .timer, .path, .swap, .slice, .scope"#
        ),
        .rule(
            "unit of a misspelt suffix", #"unit = { name = "nas.moutn", state = "stopped" }"#,
            #"3:17 bad-value: expected a unit with its suffix, such as "sshd.service"; did you mean "nas.mount"?"#),
        .rule(
            "unit with a slash", #"unit = { name = "../x.service", state = "stopped" }"#,
            #"3:17 bad-value: a unit's name has up to 255 letters, digits and :-_.\@, and does not begin with @"#),
        .rule(
            "unit with a space", #"unit = { name = "a b.service", state = "stopped" }"#,
            #"3:17 bad-value: a unit's name has up to 255 letters, digits and :-_.\@, and does not begin with @"#),
        .rule(
            "unit with a semicolon", #"unit = { name = "a;b.service", state = "stopped" }"#,
            #"3:17 bad-value: a unit's name has up to 255 letters, digits and :-_.\@, and does not begin with @"#),
        .rule(
            "unit of an instance alone", #"unit = { name = "@a.service", state = "stopped" }"#,
            #"3:17 bad-value: a unit's name has up to 255 letters, digits and :-_.\@, and does not begin with @"#),
        .rule(
            "unit of a template", #"unit = { name = "getty@.service", state = "stopped" }"#,
            #"3:17 bad-value: this is a template: say which instance of it, such as "getty@NAME.service""#),
        .rule(
            "unit too long",
            #"unit = { name = ""# + String(repeating: "a", count: 250) + #".service", state = "stopped" }"#,
            #"3:17 bad-value: a unit's name has up to 255 letters, digits and :-_.\@, and does not begin with @"#),
        .rule(
            "unit state as people say it", #"unit = { name = "a.service", state = "started" }"#,
            #"3:38 bad-value: expected "running" or "stopped"; did you mean "running"?"#),
        .rule(
            "unit state misspelt", #"unit = { name = "a.service", state = "runing" }"#,
            #"3:38 bad-value: expected "running" or "stopped"; did you mean "running"?"#),
        .rule(
            "unit state as boolean", #"unit = { name = "a.service", state = true }"#,
            #"3:38 wrong-type: expected "running" or "stopped", found a boolean"#),
        .rule(
            "unit scope", #"unit = { name = "a.service", state = "running", scope = "session" }"#,
            #"3:57 bad-value: expected "system" or "user""#),
        .rule(
            "unit key", #"unit = { name = "a.service", state = "running", protectiv = true }"#,
            #"3:49 unknown-key: unknown key "protectiv" in a unit; did you mean "protective"?"#),
        .rule(
            "unit protective as text", #"unit = { name = "a.service", state = "running", protective = "yes" }"#,
            "3:62 wrong-type: expected true or false, found a string"),
        .rule(
            "unit protects and lowers",
            #"unit = { name = "a.service", state = "running", protective = true, relaxing = true }"#,
            "3:8 contradictory: a unit that protects does not lower protection by running"),
        .rule(
            "vpn as text", #"vpn = "corp-vpn""#,
            #"3:7 wrong-type: expected a table such as { networkmanager = "corp-vpn", state = "up" }, found a string"#),
        .rule("vpn of nothing", "vpn = {}", #"3:7 missing-key: the vpn needs "networkmanager", "wg-quick" or "unit""#),
        .rule(
            "vpn without connection", #"vpn = { state = "up" }"#,
            #"3:7 missing-key: the vpn needs "networkmanager", "wg-quick" or "unit""#),
        .rule(
            "vpn without state", #"vpn = { networkmanager = "corp-vpn" }"#,
            #"3:7 missing-key: the vpn needs "state""#),
        .rule(
            "vpn of two connections", #"vpn = { networkmanager = "corp-vpn", wg-quick = "wg0", state = "up" }"#,
            "3:38 bad-value: a vpn has one connection: make two rules of it"),
        .rule(
            "vpn state of a unit", #"vpn = { networkmanager = "corp-vpn", state = "running" }"#,
            #"3:46 bad-value: expected "up" or "down"; did you mean "up"?"#),
        .rule(
            "vpn state misspelt", #"vpn = { networkmanager = "corp-vpn", state = "upp" }"#,
            #"3:46 bad-value: expected "up" or "down"; did you mean "up"?"#),
        .rule(
            "vpn with control character", #"vpn = { networkmanager = "corp\nvpn", state = "up" }"#,
            "3:26 bad-value: a connection's name has 1 to 255 octets and no control characters"),
        .rule(
            "vpn of an empty name", #"vpn = { networkmanager = "", state = "up" }"#,
            "3:26 bad-value: a connection's name has 1 to 255 octets and no control characters"),
        .rule(
            "wg-quick too long", #"vpn = { wg-quick = "abcdefghijklmnop", state = "up" }"#,
            "3:20 bad-value: wg-quick takes names of 1 to 15 of A-Z a-z 0-9 _ = + . -"),
        .rule(
            "wg-quick of a path", #"vpn = { wg-quick = "../wg0", state = "up" }"#,
            "3:20 bad-value: wg-quick takes names of 1 to 15 of A-Z a-z 0-9 _ = + . -"),
        .rule(
            "wg-quick of dots", #"vpn = { wg-quick = "..", state = "up" }"#,
            "3:20 bad-value: wg-quick takes names of 1 to 15 of A-Z a-z 0-9 _ = + . -"),
        .rule(
            "wg-quick of a unit", #"vpn = { wg-quick = "wg-quick@wg0.service", state = "up" }"#,
            "3:20 bad-value: wg-quick takes names of 1 to 15 of A-Z a-z 0-9 _ = + . -"),
        .rule(
            "vpn unit without suffix", #"vpn = { unit = "openvpn", state = "up" }"#,
            #"3:16 bad-value: expected a unit with its suffix, such as "sshd.service"; did you mean "openvpn.service"?"#
        ),
        .rule(
            "vpn portal", #"vpn = { wg-quick = "wg0", state = "up", portal = "skip" }"#,
            #"3:50 bad-value: expected "wait" or "ignore""#),
        .rule(
            "vpn key", #"vpn = { network-manager = "corp-vpn", state = "up" }"#,
            #"3:9 unknown-key: unknown key "network-manager" in a vpn; did you mean "networkmanager"?"#),
        .rule(
            "firewall as text", #"firewall = "public""#,
            #"3:12 wrong-type: expected a table such as { zone = "public" }, found a string"#),
        .rule("firewall of nothing", "firewall = {}", #"3:12 missing-key: the firewall needs "zone" or "nft-set""#),
        .rule(
            "firewall of both", #"firewall = { zone = "public", nft-set = "inet filter trusted" }"#,
            #"3:12 bad-value: a firewall has "zone" or "nft-set", not both"#),
        .rule(
            "zone too long", #"firewall = { zone = "abcdefghijklmnopqr" }"#,
            "3:21 bad-value: a zone's name has 1 to 17 of A-Z a-z 0-9 _ -"),
        .rule(
            "zone with a space", #"firewall = { zone = "my zone" }"#,
            "3:21 bad-value: a zone's name has 1 to 17 of A-Z a-z 0-9 _ -"),
        .rule(
            "zone empty", #"firewall = { zone = "" }"#,
            "3:21 bad-value: a zone's name has 1 to 17 of A-Z a-z 0-9 _ -"),
        .rule(
            "zone with element", #"firewall = { zone = "public", element = "10.0.0.0/8" }"#,
            "3:31 bad-value: a zone has no elements"),
        .rule(
            "zone misspelt", #"firewall = { zon = "public" }"#,
            #"3:14 unknown-key: unknown key "zon" in a firewall; did you mean "zone"?"#),
        .rule(
            "set of two words", #"firewall = { nft-set = "filter trusted" }"#,
            #"3:24 bad-value: expected a family, a table and a set, such as "inet filter trusted""#),
        .rule(
            "set of another family", #"firewall = { nft-set = "ipv4 filter trusted" }"#,
            #"3:24 bad-value: no family is called "ipv4"; known are ip, ip6, inet, bridge, netdev"#),
        .rule(
            "set with syntax", #"firewall = { nft-set = "inet filter trusted{}" }"#,
            #"3:24 bad-value: expected a family, a table and a set, such as "inet filter trusted""#),
        .rule(
            "set with two spaces", #"firewall = { nft-set = "inet  filter trusted" }"#,
            #"3:24 bad-value: expected a family, a table and a set, such as "inet filter trusted""#),
        .rule(
            "element with syntax",
            #"firewall = { nft-set = "inet filter trusted", element = "1.2.3.4; flush ruleset" }"#,
            "3:57 bad-value: an element is an address, a range or the name of an interface"),
        .rule(
            "element like an option", #"firewall = { nft-set = "inet filter trusted", element = "-f" }"#,
            "3:57 bad-value: an element is an address, a range or the name of an interface"),
        .rule(
            "element alone", #"firewall = { element = "10.0.0.0/8" }"#,
            #"3:12 missing-key: the firewall needs "zone" or "nft-set""#),
        .rule("pam as boolean", "pam = true", #"3:7 wrong-type: expected "require" or "skip", found a boolean"#),
        .rule("pam of no kind", #"pam = "off""#, #"3:7 bad-value: expected "require" or "skip""#),
        .rule(
            "pam misspelt", #"pam = "requires""#,
            #"3:7 bad-value: expected "require" or "skip"; did you mean "require"?"#),
        .file(
            "one unit twice",
            """
            [rule.a]
            on = "wired"
            vpn = { wg-quick = "wg0", state = "up" }
            unit = { name = "wg-quick@wg0.service", state = "stopped" }

            """,
            #"4:1 contradictory: "unit wg-quick@wg0.service stopped" and "unit wg-quick@wg0.service up" of one rule are about the same"#
        ),
        .file(
            "beginning and end relax",
            """
            [rule.a]
            on = "wired"
            vpn = { wg-quick = "wg0", state = "up" }
            pam = "skip"

            """,
            #"3:1 contradictory: "pam skip" lowers protection as the rule begins, "the end of unit wg-quick@wg0.service up" as it ends, so it could be certain enough for neither: make two rules of it"#
        ),
        .file(
            "enter and leave relax",
            """
            [rule.a]
            on = "wired"
            enter = [{ command = ["/bin/a"], relaxing = true }]
            leave = [{ vpn = { wg-quick = "wg0", state = "down" } }]

            """,
            #"4:10 contradictory: "run /bin/a" lowers protection as the rule begins, "unit wg-quick@wg0.service down" as it ends, so it could be certain enough for neither: make two rules of it"#
        ),
    ]
}
