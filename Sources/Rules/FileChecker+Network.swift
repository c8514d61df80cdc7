internal import Netlink
internal import ProbeProtocol
internal import WiFi

extension FileChecker {
    static let networkKeys = [
        "ssid", "ssid-hex", "ssid-glob", "security", "bssid", "gateway-mac", "dns-suffix", "subnet", "interface",
        "probe", "stable-for", "private",
    ]
    private static let evidenceKeys = networkKeys.prefix { $0 != "stable-for" }
    private static let stabilityRange: ClosedRange<Int64> = 0...3_600_000_000

    /// `[network.NAME]`; nil where anything is wrong with it.
    mutating func network(_ member: TOMLMember) -> NetworkDefinition? {
        guard case .table(let members) = member.value.content else {
            wrongType(member.value, expected: "one table, begun with [network.\(member.key)]")
            return nil
        }
        let problems = diagnostics.count
        var network = NetworkDefinition(name: member.key, location: location(member.position))
        for entry in members {
            switch entry.key {
            case "ssid": network.ssids += ssids(entry.value)
            case "ssid-hex": network.ssids += hexadecimalSSIDs(entry.value)
            case "ssid-glob": network.ssidPatterns = ssidPatterns(entry.value)
            case "security":
                network.security = Listed(security(entry.value), at: location(entry.position))
            case "bssid":
                network.bssids = list(
                    entry.value, example: "\"02:00:5e:10:00:00/28\"",
                    "expected an address such as \"02:00:5e:10:00:00\", with \"/28\" where only so many bits count"
                ) { MACAddressPrefix($0) }
                refuse(network.bssids.first { $0.value.length == 0 }, "access point")
            case "gateway-mac":
                network.gateways = list(
                    entry.value, example: "\"02:00:5e:10:00:01\"",
                    "expected the hardware address of a gateway, such as \"02:00:5e:10:00:01\""
                ) { MACAddress($0) }
            case "dns-suffix":
                network.domains = list(
                    entry.value, example: "\"corp.example\"", "expected a domain such as \"corp.example\""
                ) { Domain.normalized($0) }
            case "subnet":
                network.subnets = list(
                    entry.value, example: "\"192.0.2.0/24\"",
                    "expected a range such as \"192.0.2.0/24\" or \"2001:db8::/32\", with no bit set beyond its length",
                    hint: { IPSubnet(around: $0).map { "; did you mean \"\($0)\"?" } ?? "" }
                ) { IPSubnet($0) }
            case "interface":
                network.interfaces = interfaces(entry.value)
                refuse(network.interfaces.first { $0.value.literalCount == 0 }, "interface")
            case "probe": network.probe = probe(entry)
            case "stable-for": network.stableFor = duration(entry.value, in: Self.stabilityRange) ?? 0
            case "private": network.isPrivate = boolean(entry.value) ?? true
            default: unknownKey(entry, of: "network", member, known: Self.networkKeys)
            }
        }
        guard diagnostics.count == problems else { return nil }
        check(network, member)
        return diagnostics.count == problems ? network : nil
    }

    /// What fits everything tells nothing.
    private mutating func refuse<Value>(_ entry: Listed<Value>?, _ what: String) {
        if let entry { error(.badValue, TOMLValue.Position(entry.location), "this fits every \(what): leave it out") }
    }

    /// What is right by itself and wrong together.
    private mutating func check(_ network: NetworkDefinition, _ member: TOMLMember) {
        let isDescribed =
            network.hasNames || !network.bssids.isEmpty || !network.gateways.isEmpty || !network.subnets.isEmpty
            || !network.domains.isEmpty || !network.interfaces.isEmpty
        if !isDescribed {
            let keys = Self.evidenceKeys.filter { !["security", "probe", "private"].contains($0) }
            error(
                .missingKey, member.position,
                "nothing tells network \"\(member.key)\" from others: it needs "
                    + Spelling.list(keys.map { "\"\($0)\"" }, "or"))
        }
        guard let probe = network.probe, network.highestAssurance < .proven else { return }
        if !network.hasNames, !network.bssids.isEmpty {
            error(
                .badValue, TOMLValue.Position(probe.location),
                "the probe would prove nothing: a Wi-Fi network has to list its names in \"ssid\" as well")
        } else if let security = network.security {
            error(
                .badValue, TOMLValue.Position(security.location),
                "a probe over links that \"security\" allows would prove nothing: demand a passphrase or 802.1X")
        } else {
            error(
                .badValue, TOMLValue.Position(probe.location),
                "the probe would prove nothing: a Wi-Fi network has to list in \"security\" what it is protected by")
        }
    }

    // MARK: Names

    private mutating func ssids(_ value: TOMLValue) -> [Listed<SSID>] {
        var ssids: [Listed<SSID>] = []
        for (text, position) in strings(value, expected: "a list of names, such as [\"Corp-Staff\"]") ?? [] {
            if let ssid = SSID(utf8: text), !text.isEmpty {
                ssids.append(Listed(ssid, at: location(position)))
            } else {
                error(
                    .badValue, position,
                    "a name has 1 to \(SSID.maximumLength) octets in UTF-8, this one has \(text.utf8.count)")
            }
        }
        return ssids
    }

    private mutating func hexadecimalSSIDs(_ value: TOMLValue) -> [Listed<SSID>] {
        list(
            value, what: "names in hexadecimal", example: "\"436f7270\"",
            "expected 1 to \(SSID.maximumLength) octets of two hexadecimal digits each, without separators"
        ) { text in
            SSID(hexadecimal: text).flatMap { $0.octets.isEmpty ? nil : $0 }
        }
    }

    private mutating func ssidPatterns(_ value: TOMLValue) -> [Listed<OctetPattern>] {
        var patterns: [Listed<OctetPattern>] = []
        for (text, position) in strings(value, expected: "a list of patterns, such as [\"Corp-*\"]") ?? [] {
            guard let pattern = OctetPattern(text.utf8) else {
                error(.badValue, position, "the pattern ends in \"\\\", which takes the next octet as it is")
                continue
            }
            if pattern.literalCount == 0 {
                error(
                    .badValue, position,
                    text.isEmpty
                        ? "the pattern is empty"
                        : "the pattern fits strangers' names: the built-in network \"any-wifi\" is any Wi-Fi")
            } else if pattern.minimumLength > SSID.maximumLength {
                error(.badValue, position, "no name has more than \(SSID.maximumLength) octets, so nothing would fit")
            } else {
                patterns.append(Listed(pattern, at: location(position)))
            }
        }
        return patterns
    }

    // MARK: Other evidence

    private mutating func interfaces(_ value: TOMLValue) -> [Listed<OctetPattern>] {
        list(
            value, example: "\"eth0\"",
            "expected the name of an interface, 1 to 15 octets without white space, \"/\" and \":\"; * and ? stand "
                + "for others"
        ) { text in
            let isName =
                (1...15).contains(text.utf8.count)
                && text.utf8.allSatisfy {
                    $0 > 0x20 && $0 != 0x7F && $0 != UInt8(ascii: "/") && $0 != UInt8(ascii: ":")
                }
            return isName ? OctetPattern(text.utf8) : nil
        }
    }

    private mutating func security(_ value: TOMLValue) -> AllowedSecurity {
        var allowed = AllowedSecurity()
        for (name, position) in strings(value, expected: "a list of security names, such as [\"wpa3-sae\"]") ?? [] {
            if let classes = Security.classes(named: name) {
                allowed.classes.formUnion(classes)
            } else if name.hasPrefix("akm:") {
                if let suite = AKM(parsing: name.dropFirst(4)), suite.family != .notANetwork {
                    allowed.suites.insert(suite)
                } else {
                    error(.badValue, position, "expected a suite that joins networks, such as \"akm:00-0f-ac:8\"")
                }
            } else {
                let hint =
                    switch name.lowercased() {
                    case "wpa2": "; did you mean \"wpa2-psk\" (a passphrase) or \"wpa2-enterprise\" (802.1X)?"
                    case "wpa3": "; did you mean \"wpa3-sae\" (a passphrase) or \"wpa3-enterprise\" (802.1X)?"
                    default: Spelling.hint(for: name, among: Security.ruleNames)
                    }
                let names = Security.ruleNames.joined(separator: ", ")
                error(
                    .badValue, position,
                    "no security is called \"\(name)\"\(hint.isEmpty ? "; known are \(names)" : hint)")
            }
        }
        return allowed
    }

    /// A list of strings, each of which `read` understands; `problem` is said of those it does not.
    private mutating func list<Value>(
        _ value: TOMLValue, what: String? = nil, example: String, _ problem: String,
        hint: (String) -> String = { _ in "" }, _ read: (String) -> Value?
    ) -> [Listed<Value>] {
        let expected = what.map { "a list of \($0), such as [\(example)]" } ?? "a list such as [\(example)]"
        var values: [Listed<Value>] = []
        for (text, position) in strings(value, expected: expected) ?? [] {
            if let found = read(text) {
                values.append(Listed(found, at: location(position)))
            } else {
                error(.badValue, position, problem + hint(text))
            }
        }
        return values
    }

    // MARK: Probe

    static let probeKeys = ["url", "address", "spki-sha256", "lifetime"]
    private static let lifetimeRange: ClosedRange<Int64> = 60_000_000...86_400_000_000
    private static let maximumPins = 2

    private mutating func probe(_ member: TOMLMember) -> ProbeDefinition? {
        let value = member.value
        guard case .table(let members) = value.content else {
            wrongType(value, expected: "a table such as { url = \"https://inside.example/\", spki-sha256 = [\"…\"] }")
            return nil
        }
        let problems = diagnostics.count
        var server: (host: String, port: UInt16)?
        var probe = ProbeDefinition(host: "", pins: [], location: location(member.position))
        for entry in members {
            switch entry.key {
            case "url": server = probedServer(entry.value)
            case "address":
                guard let text = string(entry.value) else { break }
                probe.address = IPAddress(text)
                if probe.address == nil || probe.address?.isUnspecified == true {
                    error(.badValue, entry.value.position, "expected an IP address such as \"10.1.0.2\"")
                }
            case "spki-sha256": probe.pins = pins(entry.value)
            case "lifetime": probe.lifetime = duration(entry.value, in: Self.lifetimeRange) ?? probe.lifetime
            default: unknownKey(entry, in: "a probe", known: Self.probeKeys)
            }
        }
        guard diagnostics.count == problems else { return nil }
        guard let server else {
            error(.missingKey, value.position, "the probe needs \"url\"")
            return nil
        }
        guard !probe.pins.isEmpty else {
            error(.missingKey, value.position, "the probe needs \"spki-sha256\": without a key anyone could answer it")
            return nil
        }
        (probe.host, probe.port) = server
        if probe.address == nil { probe.address = IPAddress(probe.host) }
        return probe
    }

    /// `https://HOST[:PORT][/]`: nothing is asked of the server but its key, so there is no path.
    private mutating func probedServer(_ value: TOMLValue) -> (host: String, port: UInt16)? {
        guard let text = string(value) else { return nil }
        guard let url = HostURL(text), url.scheme == "https" else {
            error(
                .badValue, value.position,
                "expected \"https://HOST/\" or \"https://HOST:PORT/\": only the server's key is asked for")
            return nil
        }
        return (url.host, url.port ?? 443)
    }

    private mutating func pins(_ value: TOMLValue) -> [SPKIPin] {
        let values = list(
            value, what: "hashes of keys", example: "\"…\"",
            "expected the SHA-256 of a key (SubjectPublicKeyInfo, DER), 64 hexadecimal digits or 44 characters of "
                + "Base64: vicinity.rules(5) tells how to compute it"
        ) { SPKIPin($0) }
        if values.count > Self.maximumPins {
            error(
                .badValue, value.position,
                "at most \(Self.maximumPins) keys: the one in use and the one to come")
        }
        return values.map(\.value)
    }
}

extension TOMLValue.Position {
    init(_ location: SourceLocation) {
        self.init(line: location.line, column: location.column)
    }
}
