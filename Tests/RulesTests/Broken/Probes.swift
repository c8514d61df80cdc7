extension BrokenFile {
    /// Probes.
    static let probes: [BrokenFile] = [
        .file(
            "probe as text",
            """
            [network.office]
            ssid = ["Corp"]
            security = ["wpa3-sae"]
            probe = "https://inside.example/"

            """,
            "4:9 wrong-type: expected a table such as { url = \"https://inside.example/\", spki-sha256 = [\"…\"] }, found a string"
        ),
        .file(
            "probe without url",
            """
            [network.office]
            ssid = ["Corp"]
            security = ["wpa3-sae"]
            probe = { spki-sha256 = ["CgoKCgoKCgoKCgoKCgoKCgoKCgoKCgoKCgoKCgoKCgo="] }

            """,
            #"4:9 missing-key: the probe needs "url""#),
        .file(
            "probe without pins",
            """
            [network.office]
            ssid = ["Corp"]
            security = ["wpa3-sae"]
            probe = { url = "https://inside.example/", spki-sha256 = [] }

            """,
            "4:58 bad-value: the list is empty"),
        .file(
            "url as list",
            """
            [network.office]
            ssid = ["Corp"]
            security = ["wpa3-sae"]
            probe = { url = ["https://inside.example/"], spki-sha256 = ["CgoKCgoKCgoKCgoKCgoKCgoKCgoKCgoKCgoKCgoKCgo="] }

            """,
            "4:17 wrong-type: expected a string, found a list"),
        .file(
            "url without TLS",
            """
            [network.office]
            ssid = ["Corp"]
            security = ["wpa3-sae"]
            probe = { url = "http://inside.example/", spki-sha256 = ["CgoKCgoKCgoKCgoKCgoKCgoKCgoKCgoKCgoKCgoKCgo="] }

            """,
            #"4:17 bad-value: expected "https://HOST/" or "https://HOST:PORT/": only the server's key is asked for"#),
        .file(
            "url without scheme",
            """
            [network.office]
            ssid = ["Corp"]
            security = ["wpa3-sae"]
            probe = { url = "inside.example", spki-sha256 = ["CgoKCgoKCgoKCgoKCgoKCgoKCgoKCgoKCgoKCgoKCgo="] }

            """,
            #"4:17 bad-value: expected "https://HOST/" or "https://HOST:PORT/": only the server's key is asked for"#),
        .file(
            "url with path",
            """
            [network.office]
            ssid = ["Corp"]
            security = ["wpa3-sae"]
            probe = { url = "https://inside.example/health", spki-sha256 = ["CgoKCgoKCgoKCgoKCgoKCgoKCgoKCgoKCgoKCgoKCgo="] }

            """,
            #"4:17 bad-value: expected "https://HOST/" or "https://HOST:PORT/": only the server's key is asked for"#),
        .file(
            "url with query",
            """
            [network.office]
            ssid = ["Corp"]
            security = ["wpa3-sae"]
            probe = { url = "https://inside.example/?a", spki-sha256 = ["CgoKCgoKCgoKCgoKCgoKCgoKCgoKCgoKCgoKCgoKCgo="] }

            """,
            #"4:17 bad-value: expected "https://HOST/" or "https://HOST:PORT/": only the server's key is asked for"#),
        .file(
            "url with credentials",
            """
            [network.office]
            ssid = ["Corp"]
            security = ["wpa3-sae"]
            probe = { url = "https://a:b@inside.example/", spki-sha256 = ["CgoKCgoKCgoKCgoKCgoKCgoKCgoKCgoKCgoKCgoKCgo="] }

            """,
            #"4:17 bad-value: expected "https://HOST/" or "https://HOST:PORT/": only the server's key is asked for"#),
        .file(
            "url with port 0",
            """
            [network.office]
            ssid = ["Corp"]
            security = ["wpa3-sae"]
            probe = { url = "https://inside.example:0/", spki-sha256 = ["CgoKCgoKCgoKCgoKCgoKCgoKCgoKCgoKCgoKCgoKCgo="] }

            """,
            #"4:17 bad-value: expected "https://HOST/" or "https://HOST:PORT/": only the server's key is asked for"#),
        .file(
            "url of numbers that are no address",
            """
            [network.office]
            ssid = ["Corp"]
            security = ["wpa3-sae"]
            probe = { url = "https://0x7f.1/", spki-sha256 = ["CgoKCgoKCgoKCgoKCgoKCgoKCgoKCgoKCgoKCgoKCgo="] }

            """,
            #"4:17 bad-value: expected "https://HOST/" or "https://HOST:PORT/": only the server's key is asked for"#),
        .file(
            "probe key misspelt",
            """
            [network.office]
            ssid = ["Corp"]
            security = ["wpa3-sae"]
            probe = { ulr = "https://inside.example/", spki-sha256 = ["CgoKCgoKCgoKCgoKCgoKCgoKCgoKCgoKCgoKCgoKCgo="] }

            """,
            #"4:11 unknown-key: unknown key "ulr" in a probe; did you mean "url"?"#),
        .file(
            "probe key of another kind",
            """
            [network.office]
            ssid = ["Corp"]
            security = ["wpa3-sae"]
            probe = { url = "https://inside.example/", sha1 = "x", spki-sha256 = ["CgoKCgoKCgoKCgoKCgoKCgoKCgoKCgoKCgoKCgoKCgo="] }

            """,
            #"4:44 unknown-key: unknown key "sha1" in a probe; known are url, address, spki-sha256, lifetime"#),
        .file(
            "address as name",
            """
            [network.office]
            ssid = ["Corp"]
            security = ["wpa3-sae"]
            probe = { url = "https://inside.example/", address = "inside.example", spki-sha256 = ["CgoKCgoKCgoKCgoKCgoKCgoKCgoKCgoKCgoKCgoKCgo="] }

            """,
            #"4:54 bad-value: expected an IP address such as "10.1.0.2""#),
        .file(
            "address unspecified",
            """
            [network.office]
            ssid = ["Corp"]
            security = ["wpa3-sae"]
            probe = { url = "https://inside.example/", address = "0.0.0.0", spki-sha256 = ["CgoKCgoKCgoKCgoKCgoKCgoKCgoKCgoKCgoKCgoKCgo="] }

            """,
            #"4:54 bad-value: expected an IP address such as "10.1.0.2""#),
        .file(
            "address with zone",
            """
            [network.office]
            ssid = ["Corp"]
            security = ["wpa3-sae"]
            probe = { url = "https://inside.example/", address = "fe80::1%eth0", spki-sha256 = ["CgoKCgoKCgoKCgoKCgoKCgoKCgoKCgoKCgoKCgoKCgo="] }

            """,
            #"4:54 bad-value: expected an IP address such as "10.1.0.2""#),
        .file(
            "address with port",
            """
            [network.office]
            ssid = ["Corp"]
            security = ["wpa3-sae"]
            probe = { url = "https://inside.example/", address = "192.0.2.1:443", spki-sha256 = ["CgoKCgoKCgoKCgoKCgoKCgoKCgoKCgoKCgoKCgoKCgo="] }

            """,
            #"4:54 bad-value: expected an IP address such as "10.1.0.2""#),
        .file(
            "address as number",
            """
            [network.office]
            ssid = ["Corp"]
            security = ["wpa3-sae"]
            probe = { url = "https://inside.example/", address = 1, spki-sha256 = ["CgoKCgoKCgoKCgoKCgoKCgoKCgoKCgoKCgoKCgoKCgo="] }

            """,
            "4:54 wrong-type: expected a string, found a number"),
        .file(
            "lifetime too short",
            """
            [network.office]
            ssid = ["Corp"]
            security = ["wpa3-sae"]
            probe = { url = "https://inside.example/", spki-sha256 = ["CgoKCgoKCgoKCgoKCgoKCgoKCgoKCgoKCgoKCgoKCgo="], lifetime = "5s" }

            """,
            "4:119 bad-value: expected a duration from 60s to 24h"),
        .file(
            "lifetime too long",
            """
            [network.office]
            ssid = ["Corp"]
            security = ["wpa3-sae"]
            probe = { url = "https://inside.example/", spki-sha256 = ["CgoKCgoKCgoKCgoKCgoKCgoKCgoKCgoKCgoKCgoKCgo="], lifetime = "25h" }

            """,
            "4:119 bad-value: expected a duration from 60s to 24h"),
        .file(
            "lifetime as number",
            """
            [network.office]
            ssid = ["Corp"]
            security = ["wpa3-sae"]
            probe = { url = "https://inside.example/", spki-sha256 = ["CgoKCgoKCgoKCgoKCgoKCgoKCgoKCgoKCgoKCgoKCgo="], lifetime = 600 }

            """,
            #"4:119 wrong-type: expected a duration such as "3s", found a number"#),
        .file(
            "probe on open links",
            """
            [network.office]
            ssid = ["Corp"]
            security = ["open", "owe"]
            probe = { url = "https://inside.example/", spki-sha256 = ["CgoKCgoKCgoKCgoKCgoKCgoKCgoKCgoKCgoKCgoKCgo="] }

            """,
            #"3:1 bad-value: a probe over links that "security" allows would prove nothing: demand a passphrase or 802.1X"#
        ),
        .file(
            "probe on open links or SAE",
            """
            [network.office]
            ssid = ["Corp"]
            security = ["wep"]
            probe = { url = "https://inside.example/", spki-sha256 = ["CgoKCgoKCgoKCgoKCgoKCgoKCgoKCgoKCgoKCgoKCgo="] }

            """,
            #"3:1 bad-value: a probe over links that "security" allows would prove nothing: demand a passphrase or 802.1X"#
        ),
        .file(
            "probe without security",
            """
            [network.office]
            ssid = ["Corp"]
            probe = { url = "https://inside.example/", spki-sha256 = ["CgoKCgoKCgoKCgoKCgoKCgoKCgoKCgoKCgoKCgoKCgo="] }

            """,
            #"3:1 bad-value: the probe would prove nothing: a Wi-Fi network has to list in "security" what it is protected by"#
        ),
        .file(
            "probe of access points without names",
            """
            [network.office]
            bssid = ["02:00:5e:10:00:00"]
            security = ["wpa3-sae"]
            probe = { url = "https://inside.example/", spki-sha256 = ["CgoKCgoKCgoKCgoKCgoKCgoKCgoKCgoKCgoKCgoKCgo="] }

            """,
            #"4:1 bad-value: the probe would prove nothing: a Wi-Fi network has to list its names in "ssid" as well"#),
    ]
}
