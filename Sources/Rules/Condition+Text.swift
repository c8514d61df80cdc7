extension Condition: CustomStringConvertible {
    /// In words: `on office or home`, `off office, and on vpn`.
    public var description: String { text(isNegated: false, isPart: false) }

    /// Negations are carried down to the networks, where they read `off`.
    private func text(isNegated: Bool, isPart: Bool) -> String {
        switch self {
        case .network(let network): return "\(isNegated ? "off" : "on") \(network.name)"
        case .not(let part): return part.text(isNegated: !isNegated, isPart: isPart)
        case .all(let parts), .any(let parts):
            let isAll = if case .all = self { !isNegated } else { isNegated }
            if parts.isEmpty { return isAll ? "always" : "never" }
            if parts.count == 1 { return parts[0].text(isNegated: isNegated, isPart: isPart) }
            let names = parts.compactMap { if case .network(let network) = $0 { network.name } else { nil } }
            if names.count == parts.count {
                return "\(isNegated ? "off" : "on") \(Spelling.list(names, isAll ? "and" : "or"))"
            }
            let text = parts.map { $0.text(isNegated: isNegated, isPart: true) }
                .joined(separator: isAll ? ", and " : ", or ")
            return isPart ? "(\(text))" : text
        }
    }
}

extension NetworkDefinition {
    /// The kinds of evidence that it lists, by the keys of the rule files.
    public var evidenceKinds: [String] {
        var kinds: [String] = []
        func add(_ kind: String, _ isListed: Bool) { if isListed { kinds.append(kind) } }
        add("ssid", !ssids.isEmpty)
        add("ssid-glob", !ssidPatterns.isEmpty)
        add("security", security != nil)
        add("bssid", !bssids.isEmpty)
        add("interface", !interfaces.isEmpty)
        add("gateway-mac", !gateways.isEmpty)
        add("subnet", !subnets.isEmpty)
        add("dns-suffix", !domains.isEmpty)
        add("probe", probe != nil)
        add("stable-for", stableFor > 0)
        return kinds
    }
}
