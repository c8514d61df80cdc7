extension BrokenFile {
    /// Evidence of networks.
    static let evidence: [BrokenFile] = [
        .network(
            "key in capitals", #"SSID = ["Other"]"#,
            #"3:1 unknown-key: unknown key "SSID" in a network; did you mean "ssid"?"#),
        .network(
            "underscore for a hyphen", #"dns_suffix = ["corp.example"]"#,
            #"3:1 unknown-key: unknown key "dns_suffix" in a network; did you mean "dns-suffix"?"#),
        .network(
            "ssid-hex as text", #"ssid-hex = "00ff""#,
            #"3:12 wrong-type: expected a list of names in hexadecimal, such as ["436f7270"], found a string"#),
        .network("ssid-hex as number", "ssid-hex = [0xff]", "3:13 wrong-type: expected a string, found a number"),
        .network(
            "ssid-hex empty", #"ssid-hex = [""]"#,
            "3:13 bad-value: expected 1 to 32 octets of two hexadecimal digits each, without separators"),
        .network(
            "ssid-hex with 0x", #"ssid-hex = ["0x436f"]"#,
            "3:13 bad-value: expected 1 to 32 octets of two hexadecimal digits each, without separators"),
        .network(
            "ssid-hex with colons", #"ssid-hex = ["43:6f"]"#,
            "3:13 bad-value: expected 1 to 32 octets of two hexadecimal digits each, without separators"),
        .network(
            "ssid-glob as text", #"ssid-glob = "Corp-*""#,
            #"3:13 wrong-type: expected a list of patterns, such as ["Corp-*"], found a string"#),
        .network(
            "ssid-glob of everything", #"ssid-glob = ["*"]"#,
            #"3:14 bad-value: the pattern fits strangers' names: the built-in network "any-wifi" is any Wi-Fi"#),
        .network(
            "ssid-glob of question marks", #"ssid-glob = ["????"]"#,
            #"3:14 bad-value: the pattern fits strangers' names: the built-in network "any-wifi" is any Wi-Fi"#),
        .network("ssid-glob empty", #"ssid-glob = [""]"#, "3:14 bad-value: the pattern is empty"),
        .network(
            "ssid-glob that ends in an escape", #"ssid-glob = ['Corp\']"#,
            #"3:14 bad-value: the pattern ends in "\", which takes the next octet as it is"#),
        .network(
            "ssid-glob too long", #"ssid-glob = [""# + String(repeating: "a", count: 33) + #"*"]"#,
            "3:14 bad-value: no name has more than 32 octets, so nothing would fit"),
        .network(
            "ssid-globs misspelt", #"ssid-blob = ["Corp-*"]"#,
            #"3:1 unknown-key: unknown key "ssid-blob" in a network; did you mean "ssid-glob"?"#),
        .network(
            "security as text", #"security = "wpa3-sae""#,
            #"3:12 wrong-type: expected a list of security names, such as ["wpa3-sae"], found a string"#),
        .network("security empty", "security = []", "3:12 bad-value: the list is empty"),
        .network(
            "security in capitals", #"security = ["WPA2-PSK"]"#,
            #"3:13 bad-value: no security is called "WPA2-PSK"; did you mean "wpa2-psk"?"#),
        .network(
            "security as people say it", #"security = ["wpa2"]"#,
            #"3:13 bad-value: no security is called "wpa2"; did you mean "wpa2-psk" (a passphrase) or "wpa2-enterprise" (802.1X)?"#
        ),
        .network(
            "security as managers say it", #"security = ["wpa-eap"]"#,
            #"3:13 bad-value: no security is called "wpa-eap"; did you mean "enterprise"?"#
        ),
        .network(
            "security of a make of its own", #"security = ["quantum"]"#,
            #"3:13 bad-value: no security is called "quantum"; known are open, owe, wep, wpa-psk, wpa2-psk, wpa3-sae, wpa2-enterprise, wpa3-enterprise, wpa3-enterprise-192, unknown, personal, enterprise"#
        ),
        .network(
            "suite without number", #"security = ["akm:00-0f-ac"]"#,
            #"3:13 bad-value: expected a suite that joins networks, such as "akm:00-0f-ac:8""#),
        .network(
            "suite for tunnelled links", #"security = ["akm:00-0f-ac:7"]"#,
            #"3:13 bad-value: expected a suite that joins networks, such as "akm:00-0f-ac:8""#),
        .network(
            "suite by name", #"security = ["akm:sae"]"#,
            #"3:13 bad-value: expected a suite that joins networks, such as "akm:00-0f-ac:8""#),
        .network(
            "bssid as text", #"bssid = "02:00:5e:10:00:00""#,
            #"3:9 wrong-type: expected a list such as ["02:00:5e:10:00:00/28"], found a string"#),
        .network(
            "bssid short", #"bssid = ["02:00:5e:10:00"]"#,
            #"3:10 bad-value: expected an address such as "02:00:5e:10:00:00", with "/28" where only so many bits count"#
        ),
        .network(
            "bssid long", #"bssid = ["02:00:5e:10:00:00:01"]"#,
            #"3:10 bad-value: expected an address such as "02:00:5e:10:00:00", with "/28" where only so many bits count"#
        ),
        .network(
            "bssid with other letters", #"bssid = ["02:00:5e:10:00:0g"]"#,
            #"3:10 bad-value: expected an address such as "02:00:5e:10:00:00", with "/28" where only so many bits count"#
        ),
        .network(
            "bssid of two separators", #"bssid = ["02:00-5e:10:00:00"]"#,
            #"3:10 bad-value: expected an address such as "02:00:5e:10:00:00", with "/28" where only so many bits count"#
        ),
        .network(
            "bssid without zeros", #"bssid = ["2:0:5e:10:0:0"]"#,
            #"3:10 bad-value: expected an address such as "02:00:5e:10:00:00", with "/28" where only so many bits count"#
        ),
        .network(
            "bssid with too many bits", #"bssid = ["02:00:5e:10:00:00/49"]"#,
            #"3:10 bad-value: expected an address such as "02:00:5e:10:00:00", with "/28" where only so many bits count"#
        ),
        .network(
            "bssid with no bits", #"bssid = ["02:00:5e:10:00:00/"]"#,
            #"3:10 bad-value: expected an address such as "02:00:5e:10:00:00", with "/28" where only so many bits count"#
        ),
        .network(
            "bssid with negative bits", #"bssid = ["02:00:5e:10:00:00/-1"]"#,
            #"3:10 bad-value: expected an address such as "02:00:5e:10:00:00", with "/28" where only so many bits count"#
        ),
        .network(
            "bssid that fits every one", #"bssid = ["02:00:5e:10:00:00/0"]"#,
            "3:10 bad-value: this fits every access point: leave it out"),
        .network(
            "bssid with a space", #"bssid = [" 02:00:5e:10:00:00"]"#,
            #"3:10 bad-value: expected an address such as "02:00:5e:10:00:00", with "/28" where only so many bits count"#
        ),
        .network(
            "gateway as text", #"gateway-mac = "02:00:5e:10:00:01""#,
            #"3:15 wrong-type: expected a list such as ["02:00:5e:10:00:01"], found a string"#),
        .network(
            "gateway with length", #"gateway-mac = ["02:00:5e:10:00:01/28"]"#,
            #"3:16 bad-value: expected the hardware address of a gateway, such as "02:00:5e:10:00:01""#),
        .network(
            "gateway as address", #"gateway-mac = ["192.0.2.1"]"#,
            #"3:16 bad-value: expected the hardware address of a gateway, such as "02:00:5e:10:00:01""#),
        .network(
            "gateway misspelt", #"gateway = ["02:00:5e:10:00:01"]"#,
            #"3:1 unknown-key: unknown key "gateway" in a network; did you mean "gateway-mac"?"#),
        .network(
            "domain as text", #"dns-suffix = "corp.example""#,
            #"3:14 wrong-type: expected a list such as ["corp.example"], found a string"#),
        .network(
            "domain with wildcard", #"dns-suffix = ["*.corp.example"]"#,
            #"3:15 bad-value: expected a domain such as "corp.example""#),
        .network(
            "domain with two dots", #"dns-suffix = ["corp..example"]"#,
            #"3:15 bad-value: expected a domain such as "corp.example""#),
        .network(
            "domain with hyphen first", #"dns-suffix = ["-corp.example"]"#,
            #"3:15 bad-value: expected a domain such as "corp.example""#),
        .network(
            "domain as URL", #"dns-suffix = ["https://corp.example"]"#,
            #"3:15 bad-value: expected a domain such as "corp.example""#),
        .network(
            "domain of other letters", "dns-suffix = [\"bücher.example\"]",
            #"3:15 bad-value: expected a domain such as "corp.example""#),
        .network(
            "domain of the root", #"dns-suffix = ["."]"#,
            #"3:15 bad-value: expected a domain such as "corp.example""#),
        .network("domain empty", #"dns-suffix = [""]"#, #"3:15 bad-value: expected a domain such as "corp.example""#),
        .network(
            "domain with a long label", #"dns-suffix = [""# + String(repeating: "a", count: 64) + #".example"]"#,
            #"3:15 bad-value: expected a domain such as "corp.example""#),
        .network(
            "subnet as text", #"subnet = "192.0.2.0/24""#,
            #"3:10 wrong-type: expected a list such as ["192.0.2.0/24"], found a string"#),
        .network(
            "subnet with host bits", #"subnet = ["192.0.2.1/24"]"#,
            #"3:11 bad-value: expected a range such as "192.0.2.0/24" or "2001:db8::/32", with no bit set beyond its length; did you mean "192.0.2.0/24"?"#
        ),
        .network(
            "subnet without length", #"subnet = ["192.0.2.0"]"#,
            #"3:11 bad-value: expected a range such as "192.0.2.0/24" or "2001:db8::/32", with no bit set beyond its length"#
        ),
        .network(
            "subnet with too many bits", #"subnet = ["192.0.2.0/33"]"#,
            #"3:11 bad-value: expected a range such as "192.0.2.0/24" or "2001:db8::/32", with no bit set beyond its length"#
        ),
        .network(
            "subnet of IPv6 with host bits", #"subnet = ["2001:db8::1/32"]"#,
            #"3:11 bad-value: expected a range such as "192.0.2.0/24" or "2001:db8::/32", with no bit set beyond its length; did you mean "2001:db8::/32"?"#
        ),
        .network(
            "subnet of IPv6 with too many bits", #"subnet = ["2001:db8::/129"]"#,
            #"3:11 bad-value: expected a range such as "192.0.2.0/24" or "2001:db8::/32", with no bit set beyond its length"#
        ),
        .network(
            "subnet with a leading zero", #"subnet = ["192.0.2.0/024"]"#,
            #"3:11 bad-value: expected a range such as "192.0.2.0/24" or "2001:db8::/32", with no bit set beyond its length"#
        ),
        .network(
            "subnet with a mask", #"subnet = ["192.0.2.0/255.255.255.0"]"#,
            #"3:11 bad-value: expected a range such as "192.0.2.0/24" or "2001:db8::/32", with no bit set beyond its length"#
        ),
        .network(
            "subnet short", #"subnet = ["10/8"]"#,
            #"3:11 bad-value: expected a range such as "192.0.2.0/24" or "2001:db8::/32", with no bit set beyond its length"#
        ),
        .network(
            "interface of every name", #"interface = ["*"]"#,
            "3:14 bad-value: this fits every interface: leave it out"),
        .network(
            "interface as text", #"interface = "eth0""#,
            #"3:13 wrong-type: expected a list such as ["eth0"], found a string"#),
        .network(
            "interface too long", #"interface = ["abcdefghijklmnop"]"#,
            #"3:14 bad-value: expected the name of an interface, 1 to 15 octets without white space, "/" and ":"; * and ? stand for others"#
        ),
        .network(
            "interface with a slash", #"interface = ["a/b"]"#,
            #"3:14 bad-value: expected the name of an interface, 1 to 15 octets without white space, "/" and ":"; * and ? stand for others"#
        ),
        .network(
            "interface with a space", #"interface = ["eth 0"]"#,
            #"3:14 bad-value: expected the name of an interface, 1 to 15 octets without white space, "/" and ":"; * and ? stand for others"#
        ),
        .network(
            "interface that ends in an escape", #"interface = ['eth\']"#,
            #"3:14 bad-value: expected the name of an interface, 1 to 15 octets without white space, "/" and ":"; * and ? stand for others"#
        ),
        .network(
            "interface empty", #"interface = [""]"#,
            #"3:14 bad-value: expected the name of an interface, 1 to 15 octets without white space, "/" and ":"; * and ? stand for others"#
        ),
        .network(
            "stable-for as number", "stable-for = 10",
            #"3:14 wrong-type: expected a duration such as "3s", found a number"#),
        .network("stable-for too long", #"stable-for = "61m""#, "3:14 bad-value: expected a duration from 0s to 1h"),
        .network(
            "stable-for in days", #"stable-for = "1d""#,
            #"3:14 bad-value: expected a duration such as "500ms", "3s", "2m" or "1h""#),
        .network("private as number", "private = 1", "3:11 wrong-type: expected true or false, found a number"),
        .network(
            "private misspelt", "privat = true",
            #"3:1 unknown-key: unknown key "privat" in a network; did you mean "private"?"#),
        .file(
            "settings of a rule in a network",
            """
            [network.office]
            ssid = ["Corp"]
            settle = "3s"

            """,
            #"3:1 unknown-key: "settle" belongs to a rule, this is a network"#),
        .file(
            "built-in offline",
            """
            [network.offline]
            ssid = ["Corp"]

            """,
            #"1:10 reserved-name: "offline" is the name of a built-in network"#),
        .file(
            "built-in unlisted",
            """
            [network.unlisted]
            ssid = ["Corp"]

            """,
            #"1:10 reserved-name: "unlisted" is the name of a built-in network"#),
        .file(
            "built-in metered",
            """
            [network.metered]
            interface = ["wwan0"]

            """,
            #"1:10 reserved-name: "metered" is the name of a built-in network"#),
        .file(
            "built-in any-wifi",
            """
            [network.any-wifi]
            ssid-glob = ["a*"]

            """,
            #"1:10 reserved-name: "any-wifi" is the name of a built-in network"#),
        .file(
            "only security",
            """
            [network.office]
            security = ["wpa3-sae"]

            """,
            #"1:10 missing-key: nothing tells network "office" from others: it needs "ssid", "ssid-hex", "ssid-glob", "bssid", "gateway-mac", "dns-suffix", "subnet" or "interface""#
        ),
        .file(
            "only stable-for",
            """
            [network.office]
            stable-for = "10s"

            """,
            #"1:10 missing-key: nothing tells network "office" from others: it needs "ssid", "ssid-hex", "ssid-glob", "bssid", "gateway-mac", "dns-suffix", "subnet" or "interface""#
        ),
    ]
}
