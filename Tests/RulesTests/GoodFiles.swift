import Testing

/// Rule files that must be taken, to the edges of what is allowed.
struct GoodFile: Sendable, CustomTestStringConvertible {
    let text: String

    var testDescription: String { text }

    static let all =
        [GoodFile(text: ""), GoodFile(text: "# nothing yet\n"), GoodFile(text: "[network]\n[rule]\n")]
        + [everyKeyOfANetwork, everyKeyOfARule].map { GoodFile(text: $0) }
        + networks.map { GoodFile(text: "[network.office]\n\($0)\n") }
        + evidence.map { GoodFile(text: "[network.office]\nssid = [\"Corp\"]\n\($0)\n") }
        + probes.map {
            GoodFile(text: "[network.office]\nssid = [\"Corp\"]\nsecurity = [\"wpa3-sae\"]\nprobe = \($0)\n")
        }
        + conditions.map { GoodFile(text: "[rule.a]\n\($0)\n") }
        + settings.map { GoodFile(text: "[rule.a]\non = \"wired\"\naccept-weak-evidence = \"a test\"\n\($0)\n") }

    static let everyKeyOfANetwork = """
        # A comment
        [network.office]
        ssid        = ["Corp-Staff", "Caf\\u00e9"]
        ssid-hex    = ["00fF", "436f7270"]
        ssid-glob   = ["Corp-*", 'a\\*?']
        security    = ["wpa2-enterprise", "personal", "akm:00-0f-ac:24"]
        bssid       = ["02:00:5e:10:00:0f/44", "0200.5e10.0001", "02-00-5E-10-00-02"]
        gateway-mac = ["02:00:5e:10:00:01"]
        dns-suffix  = [".Corp.Example.", "local"]
        subnet      = ["192.0.2.0/24", "2001:db8::/32"]
        interface   = ["wlan0", "wlp*"]
        stable-for  = "10s"
        probe       = { url = "https://Inside.example:8443/", address = "10.1.0.2", spki-sha256 = ["0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a"] }

        [network.home]
        ssid    = ['Seven Oaks ']
        private = true
        """

    static let everyKeyOfARule = """
        [network.office]
        ssid = ["Corp"]
        security = ["enterprise"]

        [rule.a]
        on        = { all = ["office", { not = "vpn" }, { any = ["wired", ["cellular"]] }] }
        off       = ["metered", "open-wifi"]
        time      = ["mon-fri 08:00-18:00", "sat"]
        settle    = "500ms"
        ready     = "internet"
        priority  = -5
        enabled   = false
        mode      = "observe"
        user-hold = true
        accept-weak-evidence = "a test"
        enter = [
          { command = ["/usr/local/bin/mount-nas", "--fast", ""], timeout = "90s", user = "alice", relaxing = true },
          { unit = { name = "nas.mount", state = "running", scope = "user" } },
          { vpn = { wg-quick = "wg0", state = "up", portal = "ignore" } },
          { notify = "At work" },
          { lock = true },
          { second-factor = { message = "Confirm" } },
        ]

        [rule.b]
        on       = "office"
        proxy    = { http = "http://proxy.example:3128", https = "http://[2001:db8::1]:1", socks = "socks5://192.0.2.1:1080", no-proxy = ["localhost", ".corp.example", "*.x.example", "10.0.0.0/8", "::1"], targets = ["gnome", "apt"] }
        vpn      = { networkmanager = "corp vpn", state = "down" }
        unit     = { name = "usbguard.service", state = "stopped", protective = true }
        firewall = { zone = "work" }
        pam      = "skip"

        [rule.c]
        off      = "office"
        command  = ["/bin/true"]
        timeout  = "5s"
        notify   = { summary = "Away", body = "Careful", urgency = "critical" }
        lock     = true
        second-factor = { message = "Confirm", timeout = "1m", attempts = 5, grace = "10m", on-success = [], on-failure = ["lock-session", "disconnect", { vpn = { unit = "vpn.service", state = "up" } }, { hold = "b" }, { command = ["/bin/false"], timeout = "1s" }] }
        leave    = [{ command = ["/bin/c"] }]

        [rule.d]
        on       = "office"
        proxy    = { mode = "none" }
        firewall = { nft-set = "inet filter trusted", element = "10.0.0.0/8" }
        """

    private static let networks = [
        #"bssid = ["02:00:5e:10:00:00/1", "02005e100000", "02-00-5E-10-00-00/48"]"#,
        #"gateway-mac = ["0200.5E10.0001"]"#, #"dns-suffix = ["example", "a-b_c.Example.", ".x"]"#,
        #"subnet = ["0.0.0.0/0", "10.0.0.0/8", "192.0.2.7/32", "::/0", "2001:db8::7/128", "::ffff:192.0.2.0/120"]"#,
        #"interface = ["abcdefghijklmno", "wlan?", "e*", "*0"]"#, #"ssid-hex = ["00"]"#, #"ssid-glob = ["?a*"]"#,
    ]

    private static let evidence = [
        #"ssid-hex = ["FFffFFffFFffFFffFFffFFffFFffFFffFFffFFffFFffFFffFFffFFffFFffFFff"]"#,
        #"ssid-glob = ['\*', "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa*"]"#,
        #"security = ["open", "owe", "wep", "wpa-psk", "wpa2-psk", "wpa3-sae", "unknown", "personal"]"#,
        #"security = ["wpa2-enterprise", "wpa3-enterprise", "wpa3-enterprise-192", "enterprise"]"#,
        #"security = ["akm:00-0F-AC:1", "akm:50-6f-9a:2"]"#, #"stable-for = "0s""#, #"stable-for = "60m""#,
        "private = false",
    ]

    private static let probes = [
        #"{ url = "https://inside", spki-sha256 = ["CgoKCgoKCgoKCgoKCgoKCgoKCgoKCgoKCgoKCgoKCgo="] }"#,
        #"{ url = "HTTPS://10.1.0.2:65535/", spki-sha256 = ["CgoKCgoKCgoKCgoKCgoKCgoKCgoKCgoKCgoKCgoKCgo"] }"#,
        #"{ url = "https://[2001:db8::2]:1/", address = "2001:db8::3", spki-sha256 = ["\#(pin)", "\#(pin)"] }"#,
        #"{ url = "https://a.b-c.d/", address = "10.1.0.2", lifetime = "60s", spki-sha256 = ["\#(pin)"] }"#,
        #"{ url = "https://a.b/", lifetime = "24h", spki-sha256 = ["\#(pin.uppercased())"] }"#,
    ]
    private static let pin = String(repeating: "0a", count: 32)

    private static let conditions = [
        #"on = "any-wifi""#, #"off = ["open-wifi", "wired", "cellular", "metered", "vpn", "offline", "unlisted"]"#,
        #"on = [["wired"], { any = ["vpn"] }]"#, #"on = { not = ["wired", { all = ["vpn", { not = "metered" }] }] }"#,
        "on = \"wired\"\noff = \"vpn\"",
    ]

    private static let settings = [
        #"time = "sun""#, #"time = "Fri-MON""#, #"time = "00:00-24:00""#, #"time = ["mon,wed-fri 23:59-00:00", "sat"]"#,
        #"settle = "0ms""#, #"settle = "1h""#, #"ready = "link""#, #"ready = "address""#, "priority = -1000",
        "priority = 1000", "enabled = true", "user-hold = false", "enter = []\nleave = []",
        #"command = ["/x", ""]"#, "command = [\"/x\"]\ntimeout = \"1ms\"\nuser = \"a.b-c_1\"\nrelaxing = false",
        "command = [\"/opt/Some App/x..y\", \"$HOME; \\\"'\"]\ntimeout = \"24h\"", #"notify = "é\n…""#,
        #"notify = { summary = "a", urgency = "low" }"#,
        #"proxy = { http = "HTTP://proxy:1" }"#, #"proxy = { https = "https://192.0.2.1:65535/" }"#,
        #"proxy = { mode = "manual", socks = "socks5h://[::1]:1080", no-proxy = ["*.a.example", ".b", "c", "::/0"] }"#,
        #"proxy = { mode = "pac", pac = "http://pac.example:8080/a/~b_c-d.pac" }"#, #"proxy = { pac = "https://a" }"#,
        #"proxy = { mode = "auto", targets = ["gnome", "kde", "environment", "apt", "file"] }"#,
        #"vpn = { networkmanager = "Büro 1", state = "up" }"#, #"vpn = { wg-quick = "wg_=+.-0", state = "down" }"#,
        #"vpn = { unit = "openvpn@corp.service", state = "up", portal = "ignore" }"#,
        #"unit = { name = 'dev-disk-by\x2duuid.swap', state = "stopped", scope = "user" }"#,
        #"unit = { name = "a@b.service", state = "stopped", protective = true, relaxing = true }"#,
        #"firewall = { zone = "abcdefghijklmnopq" }"#,
        #"firewall = { nft-set = "ip6 a b-c", element = "2001:db8::/32" }"#,
        #"pam = "require""#, #"enter = [{ lock = true }, { unit = { name = "a.path", state = "running" } }]"#,
        #"second-factor = { message = "m", timeout = "5s", attempts = 1, grace = "24h", on-failure = "disconnect" }"#,
        #"second-factor = { message = "m", attempts = 10, on-success = { command = ["/x"], user = "a" } }"#,
    ]
}
