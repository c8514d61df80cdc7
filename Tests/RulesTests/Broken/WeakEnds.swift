extension BrokenFile {
    /// What lowers protection as it ends, or under conditions of several networks.
    static let weakEnds: [BrokenFile] = [
        .file(
            "end of vpn up on a network with a passphrase",
            """
            [network.n]
            ssid = ["Corp"]
            security = ["wpa2-psk", "wpa3-sae"]
            [rule.a]
            off = "n"
            vpn = { wg-quick = "wg0", state = "up" }

            """,
            weak(5, 7, "the end of unit wg-quick@wg0.service up", on: "n", atMost: "keyed")),
        .file(
            "end of zone public on a network with a passphrase",
            """
            [network.n]
            ssid = ["Corp"]
            security = ["wpa2-psk", "wpa3-sae"]
            [rule.a]
            off = "n"
            firewall = { zone = "public" }

            """,
            weak(5, 7, "the end of firewall zone public", on: "n", atMost: "keyed")),
        .file(
            "end of zone drop on a network with a passphrase",
            """
            [network.n]
            ssid = ["Corp"]
            security = ["wpa2-psk", "wpa3-sae"]
            [rule.a]
            off = "n"
            firewall = { zone = "drop" }

            """,
            weak(5, 7, "the end of firewall zone drop", on: "n", atMost: "keyed")),
        .file(
            "end of zone block on a network with a passphrase",
            """
            [network.n]
            ssid = ["Corp"]
            security = ["wpa2-psk", "wpa3-sae"]
            [rule.a]
            off = "n"
            firewall = { zone = "block" }

            """,
            weak(5, 7, "the end of firewall zone block", on: "n", atMost: "keyed")),
        .file(
            "end of protective unit on a network with a passphrase",
            """
            [network.n]
            ssid = ["Corp"]
            security = ["wpa2-psk", "wpa3-sae"]
            [rule.a]
            off = "n"
            unit = { name = "usbguard.service", state = "running", protective = true }

            """,
            weak(5, 7, "the end of unit usbguard.service running", on: "n", atMost: "keyed")),
        .file(
            "end of pam require on a network with a passphrase",
            """
            [network.n]
            ssid = ["Corp"]
            security = ["wpa2-psk", "wpa3-sae"]
            [rule.a]
            off = "n"
            pam = "require"

            """,
            weak(5, 7, "the end of pam require", on: "n", atMost: "keyed")),
        .file(
            "end of relaxing command on a network with a passphrase",
            """
            [network.n]
            ssid = ["Corp"]
            security = ["wpa2-psk", "wpa3-sae"]
            [rule.a]
            off = "n"
            leave = [{ command = ["/bin/true"], relaxing = true }]

            """,
            weak(5, 7, "run /bin/true", on: "n", atMost: "keyed")),
        .file(
            "end of vpn down on leaving on a network with a passphrase",
            """
            [network.n]
            ssid = ["Corp"]
            security = ["wpa2-psk", "wpa3-sae"]
            [rule.a]
            off = "n"
            leave = [{ vpn = { wg-quick = "wg0", state = "down" } }]

            """,
            weak(5, 7, "unit wg-quick@wg0.service down", on: "n", atMost: "keyed")),
        .file(
            "end of vpn up off a network",
            """
            [network.n]
            ssid = ["Corp"]
            security = ["wpa2-psk", "wpa3-sae"]
            [rule.a]
            on = "n"
            vpn = { wg-quick = "wg0", state = "up" }

            """,
            weak(5, 6, "the end of unit wg-quick@wg0.service up", off: "n")),
        .file(
            "end of vpn up at home, while office is certain",
            """
            [network.office]
            ssid = ["Corp"]
            security = ["enterprise"]
            [network.n]
            ssid = ["Corp"]
            security = ["wpa2-psk", "wpa3-sae"]
            [rule.a]
            off = ["office", "n"]
            vpn = { wg-quick = "wg0", state = "up" }

            """,
            weak(8, 18, "the end of unit wg-quick@wg0.service up", on: "n", atMost: "keyed")),
        .file(
            "pam skip off a network",
            """
            [network.n]
            ssid = ["Corp"]
            security = ["wpa2-psk", "wpa3-sae"]
            [rule.a]
            off = "n"
            pam = "skip"

            """,
            weak(5, 7, "pam skip", off: "n")),
        .file(
            "pam skip off the only certain network",
            """
            [network.office]
            ssid = ["Corp"]
            security = ["enterprise"]
            [rule.a]
            off = "office"
            pam = "skip"

            """,
            weak(5, 7, "pam skip", off: "office")),
        .file(
            "in nested conditions",
            """
            [network.office]
            ssid = ["Corp"]
            security = ["enterprise"]
            [network.n]
            ssid = ["Corp"]
            security = ["wpa2-psk", "wpa3-sae"]
            [rule.a]
            on = { all = [{ any = ["office", "n"] }, { not = { not = "wired" } }] }
            pam = "skip"

            """,
            weak(8, 34, "pam skip", on: "n", atMost: "keyed"),
            weak(8, 58, "pam skip", on: "wired")),
        .file(
            "on and off at once",
            """
            [network.office]
            ssid = ["Corp"]
            security = ["enterprise"]
            [network.n]
            ssid = ["Corp"]
            security = ["wpa2-psk", "wpa3-sae"]
            [rule.a]
            on = "n"
            off = "office"
            pam = "skip"

            """,
            weak(8, 6, "pam skip", on: "n", atMost: "keyed"),
            weak(9, 7, "pam skip", off: "office")),
        .file(
            "pam skip on any-wifi",
            """
            [rule.a]
            on = "any-wifi"
            pam = "skip"

            """,
            weak(2, 6, "pam skip", on: "any-wifi")),
        .file(
            "pam skip on open-wifi",
            """
            [rule.a]
            on = "open-wifi"
            pam = "skip"

            """,
            weak(2, 6, "pam skip", on: "open-wifi")),
        .file(
            "pam skip on cellular",
            """
            [rule.a]
            on = "cellular"
            pam = "skip"

            """,
            weak(2, 6, "pam skip", on: "cellular")),
        .file(
            "pam skip on metered",
            """
            [rule.a]
            on = "metered"
            pam = "skip"

            """,
            weak(2, 6, "pam skip", on: "metered")),
        .file(
            "pam skip on vpn",
            """
            [rule.a]
            on = "vpn"
            pam = "skip"

            """,
            weak(2, 6, "pam skip", on: "vpn")),
        .file(
            "pam skip on offline",
            """
            [rule.a]
            on = "offline"
            pam = "skip"

            """,
            weak(2, 6, "pam skip", on: "offline")),
        .file(
            "pam skip on unlisted",
            """
            [rule.a]
            on = "unlisted"
            pam = "skip"

            """,
            weak(2, 6, "pam skip", on: "unlisted")),
        .file(
            "several effects at once",
            """
            [rule.a]
            on = "wired"
            pam = "skip"
            firewall = { zone = "home" }

            """,
            weak(2, 6, "pam skip", on: "wired")),
        .file(
            "two rules",
            """
            [rule.a]
            on = "wired"
            pam = "skip"
            [rule.b]
            on = "wired"
            firewall = { zone = "home" }

            """,
            weak(2, 6, "pam skip", on: "wired"),
            weak(5, 6, "firewall zone home", on: "wired")),
        .file(
            "a network named twice",
            """
            [network.n]
            ssid = ["Corp"]
            security = ["wpa2-psk", "wpa3-sae"]
            [rule.a]
            on = ["n", "n"]
            pam = "skip"

            """,
            weak(5, 7, "pam skip", on: "n", atMost: "keyed"),
            weak(5, 12, "pam skip", on: "n", atMost: "keyed")),
        .file(
            "vpn down on failure of a second factor",
            """
            [rule.a]
            on = "wired"
            enter = [{ second-factor = { message = "Confirm", on-failure = { vpn = { wg-quick = "wg0", state = "down" } } } }]

            """,
            weak(2, 6, "what follows a second factor: unit wg-quick@wg0.service down", on: "wired")),
        .file(
            "disabled",
            """
            [rule.a]
            on = "wired"
            enabled = false
            pam = "skip"

            """,
            weak(2, 6, "pam skip", on: "wired")),
        .file(
            "observing",
            """
            [rule.a]
            on = "wired"
            mode = "observe"
            pam = "skip"

            """,
            weak(2, 6, "pam skip", on: "wired")),
        .file(
            "command on success of a second factor",
            """
            [rule.a]
            on = "wired"
            second-factor = { message = "Confirm", on-success = [{ command = ["/bin/true"], relaxing = true }] }

            """,
            weak(2, 6, "what follows a second factor: run /bin/true", on: "wired")),
        .file(
            "vpn down on success of a second factor",
            """
            [rule.a]
            on = "wired"
            second-factor = { message = "Confirm", on-success = [{ vpn = { wg-quick = "wg0", state = "down" } }] }

            """,
            weak(2, 6, "what follows a second factor: unit wg-quick@wg0.service down", on: "wired")),
    ]
}
