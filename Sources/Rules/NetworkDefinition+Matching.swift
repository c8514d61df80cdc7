internal import Environment
internal import Netlink
internal import WiFi

/// What one kind of listed evidence says of a link.
struct Finding {
    /// `maybe` where it is not known yet.
    let truth: Truth
    /// Never with a name or an address from the air.
    let evidence: Evidence
}

extension NetworkDefinition {
    /// What each kind of listed evidence says, names first.
    func findings(on link: Interface) -> [Finding] {
        var findings: [Finding] = []
        let wifi = link.wifi?.network
        if hasNames { findings.append(name(wifi?.ssid)) }
        if let security { findings.append(protection(security, link)) }
        if !bssids.isEmpty {
            findings.append(
                Finding("bssid", wifi.map { $0.bssid.map { [$0] } }, bssids) { $0.contains($1) })
        }
        if !interfaces.isEmpty {
            let name = Array(link.name.utf8)
            findings.append(Finding("interface", .some([name]), interfaces) { $0.matches($1) })
        }
        if !gateways.isEmpty {
            let known = link.evidence.gateways.compactMap(\.hardwareAddress)
            findings.append(Finding("gateway-mac", .some(known.isEmpty ? nil : known), gateways) { $0 == $1 })
        }
        if !subnets.isEmpty {
            let known = link.addresses.map(\.address).filter { !$0.isLinkLocal }
            findings.append(Finding("subnet", .some(known.isEmpty ? nil : known), subnets) { $0.contains($1) })
        }
        if !domains.isEmpty {
            let known = link.evidence.searchDomains?.compactMap { Domain.normalized($0) }
            findings.append(
                Finding("dns-suffix", .some(known), domains) { $1 == $0 || $1.hasSuffix(".\($0)") })
        }
        return findings
    }

    private func name(_ ssid: SSID?) -> Finding {
        guard let ssid else { return Finding(truth: .no, evidence: Evidence("ssid", "none")) }
        if let listed = ssids.first(where: { $0.value == ssid }) {
            return Finding(truth: .yes, evidence: Evidence("ssid", "listed", at: listed.location))
        }
        if let pattern = ssidPatterns.first(where: { $0.value.matches(ssid.octets) }) {
            return Finding(truth: .yes, evidence: Evidence("ssid-glob", "matches", at: pattern.location))
        }
        return Finding(truth: .no, evidence: Evidence("ssid", "not listed"))
    }

    private func protection(_ allowed: Listed<AllowedSecurity>, _ link: Interface) -> Finding {
        guard let wifi = link.wifi?.network else {
            // On a wire there is 802.1X or nothing.
            guard allowed.value.allowsEnterprise else {
                return Finding(
                    truth: .no, evidence: Evidence("security", "is of Wi-Fi, not of a wire", at: allowed.location))
            }
            let isKnown = link.evidence.authentication != nil
            return Finding(
                truth: isKnown ? .yes : .maybe,
                evidence: Evidence("security", isKnown ? "802.1X allowed" : "802.1X not seen", at: allowed.location))
        }
        let isAllowed = allowed.value.allows(wifi.security, wifi.akm)
        if !isAllowed, wifi.akm == nil, !allowed.value.suites.isEmpty {
            return Finding(truth: .maybe, evidence: Evidence("security", "suite not told", at: allowed.location))
        }
        return Finding(
            truth: isAllowed ? .yes : .no,
            evidence: Evidence(
                "security", "\(wifi.security.rawValue) \(isAllowed ? "allowed" : "not allowed")", at: allowed.location))
    }

    /// What a link that agrees shows by itself.
    func assurance(on link: Interface) -> Assurance {
        let isMutual = link.evidence.authentication?.isMutual ?? false
        guard let wifi = link.wifi?.network else { return isMutual ? .mutual : .claimed }
        // A key binds the name that is listed; any other network could be behind the rest of the evidence.
        guard hasNames else { return .claimed }
        if wifi.security.isPersonal { return security != nil ? .keyed : .claimed }
        return wifi.security.isEnterprise && isMutual ? .mutual : .claimed
    }

    /// Whether a probe over the link would show anything: what anyone in range can be, can also pass a probe on.
    func canBeProven(on link: Interface) -> Bool {
        probe != nil && (link.kind == .ethernet || assurance(on: link) >= .keyed)
    }
}

extension Finding {
    /// - Parameter known: the link's values, nil where they are not known yet; nil as a whole where the link has none
    ///   of the kind.
    fileprivate init<Value, Entry>(
        _ kind: String, _ known: [Value]??, _ listed: [Listed<Entry>], _ agrees: (Entry, Value) -> Bool
    ) {
        guard let known else {
            self.init(truth: .no, evidence: Evidence(kind, "none", at: listed.first?.location))
            return
        }
        guard let known else {
            self.init(truth: .maybe, evidence: Evidence(kind, "not known yet", at: listed.first?.location))
            return
        }
        let match = listed.first { entry in known.contains { agrees(entry.value, $0) } }
        self.init(
            truth: match == nil ? .no : .yes,
            evidence: Evidence(
                kind, match == nil ? "not listed" : "listed", at: match?.location ?? listed.first?.location))
    }
}
