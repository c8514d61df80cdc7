internal import WiFi

extension FileChecker {
    private static let networkKeys = ["ssid", "ssid-hex", "security", "private"]
    private static let plannedNetworkKeys = [
        "ssid-glob", "bssid", "dns-suffix", "gateway-mac", "subnet", "dhcp", "probe", "hash",
    ]

    /// `[network.NAME]`; nil where anything is wrong with it.
    mutating func network(_ member: TOMLMember) -> NetworkDefinition? {
        guard case .table(let members) = member.value.content else {
            wrongType(member.value, expected: "a table")
            return nil
        }
        let problems = diagnostics.count
        var network = NetworkDefinition(name: member.key, location: location(member.position), ssids: [])
        var listsNames = false
        for entry in members {
            switch entry.key {
            case "ssid":
                listsNames = true
                network.ssids += ssids(entry.value)
            case "ssid-hex":
                listsNames = true
                network.ssids += hexadecimalSSIDs(entry.value)
            case "security":
                network.security = security(entry.value)
                network.securityLocation = location(entry.position)
            case "private": network.isPrivate = boolean(entry.value) ?? true
            default:
                refuse(entry, in: "a network", known: Self.networkKeys, planned: Self.plannedNetworkKeys)
            }
        }
        if !listsNames, diagnostics.count == problems {
            error(
                .missingKey, member.position,
                "network \"\(member.key)\" lists no name and would never match: it needs \"ssid\" or \"ssid-hex\"")
        }
        return diagnostics.count == problems ? network : nil
    }

    private mutating func ssids(_ value: TOMLValue) -> [NetworkDefinition.ListedSSID] {
        var ssids: [NetworkDefinition.ListedSSID] = []
        for (text, position) in strings(value, expected: "a list of names, such as [\"Corp-Staff\"]") ?? [] {
            if let ssid = SSID(utf8: text), !text.isEmpty {
                ssids.append(NetworkDefinition.ListedSSID(ssid: ssid, location: location(position)))
            } else {
                error(
                    .badValue, position,
                    "a name has 1 to \(SSID.maximumLength) octets in UTF-8, this one has \(text.utf8.count)")
            }
        }
        return ssids
    }

    private mutating func hexadecimalSSIDs(_ value: TOMLValue) -> [NetworkDefinition.ListedSSID] {
        var ssids: [NetworkDefinition.ListedSSID] = []
        let expected = "a list of names in hexadecimal, such as [\"436f7270\"]"
        for (text, position) in strings(value, expected: expected) ?? [] {
            if let ssid = SSID(hexadecimal: text), !ssid.octets.isEmpty {
                ssids.append(NetworkDefinition.ListedSSID(ssid: ssid, location: location(position)))
            } else {
                error(.badValue, position, "expected 1 to \(SSID.maximumLength) octets of two hexadecimal digits each")
            }
        }
        return ssids
    }

    private mutating func security(_ value: TOMLValue) -> Set<Security> {
        var allowed: Set<Security> = []
        for (name, position) in strings(value, expected: "a list of security names, such as [\"wpa3-sae\"]") ?? [] {
            if let classes = Security.classes(named: name) {
                allowed.formUnion(classes)
            } else if name.hasPrefix("akm:") {
                unsupported(position, "\"akm:…\"")
            } else {
                let hint = Spelling.hint(for: name, among: Security.ruleNames)
                let names = Security.ruleNames.joined(separator: ", ")
                error(
                    .badValue, position,
                    "no security is called \"\(name)\"\(hint.isEmpty ? "; known are \(names)" : hint)")
            }
        }
        return allowed
    }
}
