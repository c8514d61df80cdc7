public import WiFi

/// Names of Wi-Fi networks that whoever wrote the rule files tells everybody: listed octet by octet in networks of which
/// none is private. Their bare hash may be told; every other name is a stranger's, or private.
public struct OpenNames: Sendable {
    private let listed: Set<SSID>
    private let hiddenPatterns: [OctetPattern]

    public init(_ ruleSet: RuleSet) {
        let hidden = ruleSet.networks.filter(\.isPrivate)
        listed = Set(ruleSet.networks.filter { !$0.isPrivate }.flatMap { $0.ssids.map(\.value) })
            .subtracting(hidden.flatMap { $0.ssids.map(\.value) })
        hiddenPatterns = hidden.flatMap { $0.ssidPatterns.map(\.value) }
    }

    public func contains(_ ssid: SSID) -> Bool {
        listed.contains(ssid) && !hiddenPatterns.contains { $0.matches(ssid.octets) }
    }
}
