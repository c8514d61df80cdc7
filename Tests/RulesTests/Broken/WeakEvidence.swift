extension BrokenFile {
    /// What lowers protection by too little evidence.
    static let weakEvidence: [BrokenFile] = [
        .rule(
            "vpn down on a wire", #"vpn = { wg-quick = "wg0", state = "down" }"#,
            weak(2, 6, "unit wg-quick@wg0.service down", on: "wired")),
        .rule("zone home on a wire", #"firewall = { zone = "home" }"#, weak(2, 6, "firewall zone home", on: "wired")),
        .rule(
            "zone trusted on a wire", #"firewall = { zone = "trusted" }"#,
            weak(2, 6, "firewall zone trusted", on: "wired")),
        .rule(
            "zone in capitals on a wire", #"firewall = { zone = "Public" }"#,
            weak(2, 6, "firewall zone Public", on: "wired")),
        .rule(
            "set on a wire", #"firewall = { nft-set = "inet filter trusted" }"#,
            weak(2, 6, "nft-set inet filter trusted", on: "wired")),
        .rule(
            "element of a set on a wire", #"firewall = { nft-set = "inet filter trusted", element = "10.0.0.0/8" }"#,
            weak(2, 6, "nft-set inet filter trusted 10.0.0.0/8", on: "wired")),
        .rule(
            "protective unit stopped on a wire",
            #"unit = { name = "usbguard.service", state = "stopped", protective = true }"#,
            weak(2, 6, "unit usbguard.service stopped", on: "wired")),
        .rule(
            "relaxing unit on a wire", #"unit = { name = "sshd.service", state = "running", relaxing = true }"#,
            weak(2, 6, "unit sshd.service running", on: "wired")),
        .rule(
            "relaxing unit stopped on a wire", #"unit = { name = "sshd.service", state = "stopped", relaxing = true }"#,
            weak(2, 6, "unit sshd.service stopped", on: "wired")),
        .rule(
            "proxy that the network proposes on a wire", #"proxy = { mode = "auto" }"#,
            weak(2, 6, "proxy auto", on: "wired")),
        .rule("pam skip on a wire", #"pam = "skip""#, weak(2, 6, "pam skip", on: "wired")),
        .rule(
            "relaxing command on a wire", "command = [\"/bin/true\"]\nrelaxing = true",
            weak(2, 6, "run /bin/true", on: "wired")),
        .rule(
            "enter with vpn down on a wire", #"enter = [{ vpn = { networkmanager = "corp", state = "down" } }]"#,
            weak(2, 6, "networkmanager corp down", on: "wired")),
        .rule(
            "enter with protective unit stopped on a wire",
            #"enter = [{ unit = { name = "usbguard.service", state = "stopped", protective = true } }]"#,
            weak(2, 6, "unit usbguard.service stopped", on: "wired")),
        .rule(
            "enter with relaxing unit on a wire",
            #"enter = [{ unit = { name = "sshd.service", state = "running", relaxing = true } }]"#,
            weak(2, 6, "unit sshd.service running", on: "wired")),
        .file(
            "vpn down on a network with a passphrase",
            """
            [network.n]
            ssid = ["Corp"]
            security = ["wpa2-psk", "wpa3-sae"]
            [rule.a]
            on = "n"
            vpn = { wg-quick = "wg0", state = "down" }

            """,
            weak(5, 6, "unit wg-quick@wg0.service down", on: "n", atMost: "keyed")),
        .file(
            "vpn down on a network that is open",
            """
            [network.n]
            ssid = ["Corp"]
            security = ["open"]
            [rule.a]
            on = "n"
            vpn = { wg-quick = "wg0", state = "down" }

            """,
            weak(5, 6, "unit wg-quick@wg0.service down", on: "n", atMost: "claimed")),
        .file(
            "vpn down on a network that may be anything",
            """
            [network.n]
            ssid = ["Corp"]
            [rule.a]
            on = "n"
            vpn = { wg-quick = "wg0", state = "down" }

            """,
            weak(4, 6, "unit wg-quick@wg0.service down", on: "n", atMost: "claimed")),
        .file(
            "vpn down on a network of access points",
            """
            [network.n]
            bssid = ["02:00:5e:10:00:00/28"]
            security = ["enterprise"]
            [rule.a]
            on = "n"
            vpn = { wg-quick = "wg0", state = "down" }

            """,
            weak(5, 6, "unit wg-quick@wg0.service down", on: "n", atMost: "claimed")),
        .file(
            "vpn down on a network of a wire with other evidence",
            """
            [network.n]
            gateway-mac = ["02:00:5e:10:00:01"]
            subnet = ["192.0.2.0/24"]
            [rule.a]
            on = "n"
            vpn = { wg-quick = "wg0", state = "down" }

            """,
            weak(5, 6, "unit wg-quick@wg0.service down", on: "n", atMost: "claimed")),
        .file(
            "vpn down on a network by pattern",
            """
            [network.n]
            ssid-glob = ["Corp-*"]
            security = ["wpa3-sae"]
            [rule.a]
            on = "n"
            vpn = { wg-quick = "wg0", state = "down" }

            """,
            weak(5, 6, "unit wg-quick@wg0.service down", on: "n", atMost: "keyed")),
    ]
}
