public import Netlink
public import ProbeProtocol
public import WiFi

/// A value and where a file lists it.
public struct Listed<Value: Hashable & Sendable>: Hashable, Sendable {
    public var value: Value
    public var location: SourceLocation

    public init(_ value: Value, at location: SourceLocation) {
        self.value = value
        self.location = location
    }
}

/// A named description of a place, `[network.NAME]` of a rule file.
///
/// A link is on the network when it agrees with every kind of evidence that is listed, and with any one entry of each.
public struct NetworkDefinition: Hashable, Sendable {
    public var name: String
    public var location: SourceLocation
    /// Exact octets.
    public var ssids: [Listed<SSID>] = []
    /// Counted as one list with `ssids`.
    public var ssidPatterns: [Listed<OctetPattern>] = []
    /// What the link may be protected by; nil allows everything.
    public var security: Listed<AllowedSecurity>?
    public var bssids: [Listed<MACAddressPrefix>] = []
    public var gateways: [Listed<MACAddress>] = []
    /// Lower case, without a dot at either end; a domain of the link's agrees that is equal or below.
    public var domains: [Listed<String>] = []
    public var subnets: [Listed<IPSubnet>] = []
    public var interfaces: [Listed<OctetPattern>] = []
    public var probe: ProbeDefinition?
    /// How long a link must have agreed before it counts, in microseconds.
    public var stableFor: Int64 = 0
    /// Its names are never hashed plainly nor shown to readers who may not see them.
    public var isPrivate = false

    public init(name: String, location: SourceLocation) {
        self.name = name
        self.location = location
    }

    /// Whether it lists names, so that only Wi-Fi links can be on it.
    public var hasNames: Bool { !ssids.isEmpty || !ssidPatterns.isEmpty }

    /// The most that a link which agrees can show.
    public var highestAssurance: Assurance {
        let demanded = security?.value
        let isWire = !hasNames && bssids.isEmpty
        let base: Assurance =
            if demanded?.allowsEnterprise == true, hasNames || isWire {
                .mutual
            } else if hasNames, demanded?.allowsPersonal == true {
                .keyed
            } else {
                .claimed
            }
        return probe != nil && (base >= .keyed || isWire) ? .proven : base
    }
}

/// Which protections a link may have.
public struct AllowedSecurity: Hashable, Sendable {
    public var classes: Set<Security>
    /// By the very suite, whatever class it makes.
    public var suites: Set<AKM>

    public init(classes: Set<Security> = [], suites: Set<AKM> = []) {
        self.classes = classes
        self.suites = suites
    }

    public func allows(_ security: Security, _ suite: AKM?) -> Bool {
        classes.contains(security) || suite.map { suites.contains($0) } ?? false
    }

    /// Whether an 802.1X link can be among what is allowed.
    var allowsEnterprise: Bool {
        classes.contains(where: \.isEnterprise)
            || suites.contains { $0.family == .enterprise || $0.family == .suiteB192 }
    }

    var allowsPersonal: Bool {
        classes.contains(where: \.isPersonal) || suites.contains { $0.family == .personal || $0.family == .sae }
    }
}

/// A host that exists only inside, and the keys it may show: `probe` of a network.
public struct ProbeDefinition: Hashable, Sendable {
    /// For the handshake, and to be looked up where there is no address.
    public var host: String
    public var port: UInt16
    public var address: IPAddress?
    /// Any of them.
    public var pins: [SPKIPin]
    /// How long a proof lasts, in microseconds.
    public var lifetime: Int64
    public var location: SourceLocation

    public init(
        host: String, port: UInt16 = 443, address: IPAddress? = nil, pins: [SPKIPin],
        lifetime: Int64 = defaultLifetime, location: SourceLocation
    ) {
        self.host = host
        self.port = port
        self.address = address
        self.pins = pins
        self.lifetime = lifetime
        self.location = location
    }

    public static let defaultLifetime: Int64 = 600_000_000
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
    /// The way to the internet costs by volume, by a network manager's word; where none tells, it does not.
    case metered
    /// A tunnel is up.
    case vpn
    /// No physical link is up.
    case offline
    /// A physical link is up, but no described network matches.
    case unlisted

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
