extension FileChecker {
    /// Every key of every table; the manual and the schema name the tables in the same way.
    static let keys: [(table: String, keys: Set<String>)] = [
        ("network", Set(networkKeys)),
        ("probe", Set(probeKeys)),
        ("rule", Set(ruleKeys + stateKeys + edgeKeys + commandKeys)),
        ("condition", Set(operators)),
        ("action", Set(edgeKeys + commandKeys)),
        ("proxy", Set(proxyKeys)),
        ("vpn", Set(vpnKeys)),
        ("unit", Set(unitKeys)),
        ("firewall", Set(firewallKeys)),
        ("notify", Set(notificationKeys)),
        ("second-factor", Set(secondFactorKeys)),
        ("consequence", Set(consequenceKeys + commandKeys)),
    ]
}
