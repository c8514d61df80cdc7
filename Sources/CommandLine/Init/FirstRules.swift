internal import Environment
internal import Netlink
internal import Rules
internal import WiFi

/// A first rule file for the network that a link is on: a pure function of what is known of the link.
///
/// The name comes from the air, and domains from whoever answers DHCP. Only what is plain reaches the file as it is:
/// names by escapes or in hexadecimal, everything else where it has a form that cannot be mistaken.
struct FirstRules {
    let link: Interface
    /// Of the network, which only the person chooses: never the name on the air.
    let name: String
    /// Of the rule.
    let rule: String

    /// What a network of that kind is called as a rule.
    static func name(of link: Interface) -> String {
        guard case .joined(let network) = link.wifi else { return link.kind == .cellular ? "mobile" : "desk" }
        if network.security.isPersonal { return "home" }
        return network.security.isEnterprise ? "office" : "hotspot"
    }

    /// Whether there is anything that the network can be told by.
    var hasEvidence: Bool {
        if case .joined(let network) = link.wifi { return network.ssid?.octets.isEmpty == false }
        return link.wifi == nil && (!gateways.isEmpty || Self.isPlain(link.name))
    }

    var text: String {
        var lines = [
            "#:schema file:///usr/share/vicinity/schema/rules.schema.json",
            "# Made by `vicinity init`. vicinity.rules(5) explains every key; `vicinity check` tells whether it is right,",
            "# and `vicinity why` what comes of it. The agent reads it again by itself when it changes.",
            "",
            "# The network that this machine was on. Call it as you like; rules below mention that name.",
            "[network.\(name)]",
        ]
        if case .joined(let network) = link.wifi {
            lines += wireless(network)
        } else {
            lines += wire
        }
        lines += ["", "# More evidence: a link without it is not this network. It excludes and proves nothing."]
        lines += evidence
        return (lines + rules).joined(separator: "\n") + "\n"
    }

    // MARK: Wi-Fi

    private func wireless(_ network: WiFiNetwork) -> [String] {
        var lines: [String] = []
        if let ssid = network.ssid {
            if let quoted = Self.quoted(ssid) {
                lines.append("ssid     = [\(quoted)]  # exact octets; more names can follow")
            } else {
                lines += ["# Octets that are not plain text; shown, it is: \(ssid.display)"]
                lines.append("ssid-hex = [\"\(ssid.hexadecimal)\"]")
            }
        }
        switch network.security {
        case .unknown:
            lines.append("# How it is protected is not known; without this key the name alone speaks for it.")
            lines.append("# security = [\"personal\"]")
        case .open, .owe, .wep:
            lines.append("security = [\"\(network.security.rawValue)\"]  # anyone in range can build such a network")
        default:
            lines.append("security = [\"\(network.security.rawValue)\"]  # a link of another kind is not this network")
        }
        if network.security.isPersonal {
            lines.append("private  = true  # its name is never hashed plainly, nor shown to readers who may not see it")
        }
        return lines
    }

    /// A TOML string of exactly these octets; nil for names that are not plain printable text.
    static func quoted(_ ssid: SSID) -> String? {
        guard let text = ssid.text, !text.isEmpty else { return nil }
        // What is shown as it is, but for backslashes, which that doubles.
        let doubled = text.split(separator: "\\", omittingEmptySubsequences: false).joined(separator: "\\\\")
        guard ssid.display.utf8.elementsEqual(doubled.utf8) else { return nil }
        return "\"" + doubled.split(separator: "\"", omittingEmptySubsequences: false).joined(separator: "\\\"") + "\""
    }

    // MARK: Evidence

    private var wire: [String] {
        if let gateway = gateways.first {
            return ["gateway-mac = [\"\(gateway)\"]  # of the router; anyone can claim it"]
        }
        return Self.isPlain(link.name) ? ["interface = [\"\(link.name)\"]"] : []
    }

    private var gateways: [MACAddress] { link.evidence.gateways.compactMap(\.hardwareAddress) }

    private var evidence: [String] {
        var lines: [String] = []
        if case .joined(let network) = link.wifi, let bssid = network.bssid {
            // The radios of one access point differ in the last bits as a rule.
            let block = MACAddress(octets: bssid.octets.dropLast() + [bssid.octets[5] & 0xF0])
            lines.append("# bssid = [\"\(block ?? bssid)/44\"]  # this access point; /28 is most of a maker's block")
        }
        if link.wifi != nil, let gateway = gateways.first {
            lines.append("# gateway-mac = [\"\(gateway)\"]")
        }
        let domains = (link.evidence.searchDomains ?? []).filter(Self.isDomain).prefix(4)
        if !domains.isEmpty {
            lines.append("# dns-suffix = [\(domains.map { "\"\($0)\"" }.joined(separator: ", "))]")
        }
        let subnets = link.addresses.filter { !$0.address.isLinkLocal }.compactMap(Self.subnet).sorted()
        if !subnets.isEmpty {
            lines.append("# subnet = [\(Set(subnets).sorted().map { "\"\($0)\"" }.joined(separator: ", "))]")
        }
        if Self.isPlain(link.name), link.wifi != nil || !gateways.isEmpty {
            lines.append("# interface = [\"\(link.name)\"]")
        }
        return lines.isEmpty ? ["# None was found."] : lines
    }

    private static func subnet(of address: InterfaceAddress) -> String? {
        let length = Int(address.prefixLength)
        let octets = address.address.octets.enumerated().map { place, octet in
            octet & UInt8(truncatingIfNeeded: 0xFF00 >> min(max(length - place * 8, 0), 8))
        }
        return IPAddress(octets: octets).map { "\($0)/\(length)" }
    }

    static func isDomain(_ text: String) -> Bool {
        let labels = text.split(separator: ".", omittingEmptySubsequences: false)
        return text.utf8.count <= 253
            && labels.allSatisfy { label in
                (1...63).contains(label.utf8.count)
                    && label.utf8.allSatisfy { $0 == UInt8(ascii: "-") || isLetterOrDigit($0) }
                    && label.first != "-" && label.last != "-"
            }
    }

    /// A name that needs no escapes and is no pattern.
    private static func isPlain(_ name: String) -> Bool {
        (1...15).contains(name.utf8.count) && name.utf8.allSatisfy { isLetterOrDigit($0) || "-_.".utf8.contains($0) }
    }

    private static func isLetterOrDigit(_ octet: UInt8) -> Bool {
        switch octet {
        case 0x30...0x39, 0x41...0x5A, 0x61...0x7A: true
        default: false
        }
    }

    // MARK: Rules

    private var rules: [String] {
        """

        # What shall be so there. With mode = "observe" the rule tells what it would do, in `vicinity watch` and
        # `vicinity history`, and does nothing: take that line away when it fires as you want it to.
        [rule.\(rule)]
        on     = "\(name)"
        mode   = "observe"
        notify = { summary = "This is \(name)" }
        # enter = [ { command = ["/usr/local/bin/mount-nas", "--fast"], timeout = "30s" } ]
        # leave = [ { command = ["/usr/local/bin/unmount-nas"] } ]
        # unit  = { name = "mnt-nas.mount", state = "running" }
        # proxy = { pac = "https://pac.example/proxy.pac" }

        # And everywhere else:
        # [rule.not-\(rule)]
        # off      = "\(name)"
        # mode     = "observe"
        # vpn      = { networkmanager = "my-vpn", state = "up" }
        # accept-weak-evidence = "why it is enough here to end the VPN on this network"
        """.split(separator: "\n", omittingEmptySubsequences: false).map { String($0) }
    }
}
