public import WiFi

/// A named description of a place, `[network.NAME]` of a rule file.
public struct NetworkDefinition: Hashable, Sendable {
    /// An SSID that belongs to the network, and where it is listed.
    public struct ListedSSID: Hashable, Sendable {
        public var ssid: SSID
        public var location: SourceLocation

        public init(ssid: SSID, location: SourceLocation) {
            self.ssid = ssid
            self.location = location
        }
    }

    public var name: String
    public var location: SourceLocation
    /// Any of them; exact octets.
    public var ssids: [ListedSSID]
    /// The classes a link may have to count; nil allows every class.
    public var security: Set<Security>?
    /// Where `security` is written.
    public var securityLocation: SourceLocation?
    /// Its names are never hashed plainly nor shown to readers who may not see them.
    public var isPrivate: Bool

    public init(
        name: String, location: SourceLocation, ssids: [ListedSSID], security: Set<Security>? = nil,
        securityLocation: SourceLocation? = nil, isPrivate: Bool = false
    ) {
        self.name = name
        self.location = location
        self.ssids = ssids
        self.security = security
        self.securityLocation = securityLocation
        self.isPrivate = isPrivate
    }
}

/// Networks that need no description.
public enum BuiltInNetwork: String, Hashable, Sendable, CaseIterable {
    /// A Wi-Fi link is authorised.
    case anyWiFi = "any-wifi"
    /// A Wi-Fi link without any encryption; OWE is encrypted and does not count.
    case openWiFi = "open-wifi"
    /// An Ethernet link is up.
    case wired
    /// A cellular link is up.
    case cellular
    /// No physical link is up.
    case offline
    /// A physical link is up, but no described network matches.
    case unlisted

    /// Names kept for networks that do not exist yet.
    static let reserved = ["metered", "vpn"]

    /// Whether it is a place of its own, so that entering and leaving it are told; the others are properties of links.
    public var isPlace: Bool { self == .unlisted }
}

extension Security {
    /// The classes that a name in a rule file stands for; nil for an unknown name.
    static func classes(named name: String) -> Set<Security>? {
        switch name {
        case "personal": [.wpaPSK, .wpa2PSK, .wpa3SAE]
        case "enterprise": [.wpa2Enterprise, .wpa3Enterprise, .wpa3Enterprise192]
        default: Security(rawValue: name).map { [$0] }
        }
    }

    static let ruleNames = allCases.map(\.rawValue) + ["personal", "enterprise"]
}
