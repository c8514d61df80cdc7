public import WiFi

/// Names of Wi-Fi networks by what rule files say of them.
public struct ListedNames: Sendable {
    private let open: Set<SSID>
    private let hidden: Set<SSID>
    private let hiddenPatterns: [OctetPattern]

    public init(_ ruleSet: RuleSet) {
        let networks = (
            hidden: ruleSet.networks.filter(\.isPrivate), open: ruleSet.networks.filter { !$0.isPrivate }
        )
        hidden = Set(networks.hidden.flatMap { $0.ssids.map(\.value) })
        open = Set(networks.open.flatMap { $0.ssids.map(\.value) }).subtracting(hidden)
        hiddenPatterns = networks.hidden.flatMap { $0.ssidPatterns.map(\.value) }
    }

    /// Whether whoever may read the rule files knows the name anyway: listed there octet by octet, and of no private
    /// network. One that a pattern or nothing but other evidence led to is a stranger's.
    public func isOpen(_ ssid: SSID) -> Bool { open.contains(ssid) && !isPrivate(ssid) }

    /// Whether it may be the name of a private network.
    public func isPrivate(_ ssid: SSID) -> Bool {
        hidden.contains(ssid) || hiddenPatterns.contains { $0.matches(ssid.octets) }
    }
}
