public import Netlink
public import WiFi

/// Everything known about where this machine is, as one value.
public struct NetworkEnvironment: Hashable, Sendable {
    /// By kernel index, which a rename does not change.
    public var interfaces: [Int32: Interface] = [:]
    /// The route that traffic to the internet takes; nil where there is none.
    public var primaryRoute: PrimaryRoute?
    public var dns = DNSConfiguration()
    public var connectivity = Connectivity.none
    /// Whether the way to the internet costs by volume, by a network manager's word; nil where nobody tells.
    public var isMetered: Bool?
    /// Whether the machine is about to sleep: nothing is to be concluded from the rest then.
    public var isSuspended = false

    public init() {}
}

/// A network interface as rtnetlink and nl80211 describe it.
public struct Interface: Hashable, Sendable {
    public let index: Int32
    /// As the kernel names it now; octets that are no UTF-8 appear as `\xNN`.
    public var name: String
    public var kind: LinkKind
    /// `IFF_UP`: an administrator wants it up.
    public var isAdministrativelyUp = false
    /// `IFLA_OPERSTATE`, RFC 2863.
    public var operationalState = OperationalState.unknown
    /// `IFLA_LINKMODE`: true where a supplicant decides when the link is up.
    public var isDormantByDefault = false
    public var hardwareAddress: MACAddress?
    public var addresses: Set<InterfaceAddress> = []
    /// Set for Wi-Fi stations and P2P clients.
    public var wifi: WiFiState?
    public var evidence = LinkEvidence()

    public init(index: Int32, name: String, kind: LinkKind) {
        self.index = index
        self.name = name
        self.kind = kind
    }

    /// Whether packets can pass: up, and not waiting for an authentication.
    public var isUsable: Bool {
        isAdministrativelyUp && (operationalState == .up || operationalState == .unknown && kind != .wifi)
    }

    /// Whether packets pass, or shall again in a moment: a station's link is down for a moment in most roams.
    public var isConnected: Bool {
        switch wifi {
        case .joined, .unknown: true
        case .idle, .associating: false
        case nil: isUsable
        }
    }

    /// Whether it says where the machine is: tunnels, bridges and the loopback do not.
    public var isPhysical: Bool {
        switch kind {
        case .wifi, .ethernet, .cellular, .bluetooth: true
        case .tunnel, .virtual, .loopback, .unknown: false
        }
    }
}

/// What carries a link.
public enum LinkKind: String, Hashable, Sendable {
    case wifi, ethernet, cellular, bluetooth, tunnel, virtual, loopback, unknown
}

/// `IF_OPER_*`, RFC 2863.
public enum OperationalState: UInt8, Hashable, Sendable {
    case unknown = 0
    case notPresent, down, lowerLayerDown, testing, dormant, up
}

/// An address of an interface, with the length of its network's prefix.
public struct InterfaceAddress: Hashable, Sendable {
    public var address: IPAddress
    public var prefixLength: UInt8

    public init(address: IPAddress, prefixLength: UInt8) {
        self.address = address
        self.prefixLength = prefixLength
    }
}

/// What the network behind a link shows of itself beyond its name. All but the authentication is anyone's claim.
public struct LinkEvidence: Hashable, Sendable {
    /// The gateways of this link's own default routes, the preferred one first.
    public var gateways: [Gateway] = []
    /// The DNS domains that the network of this very link announced, without a dot at the end; nil while nobody has
    /// told.
    public var searchDomains: [String]?
    /// What the 802.1X profile that is applied to the link demands of the network; nil where there is none, or nobody
    /// can tell.
    public var authentication: EAPDemands?

    public init() {}
}

/// The router that a default route of a link leads to.
public struct Gateway: Hashable, Sendable {
    public var address: IPAddress
    /// From the neighbour table; nil while it is not resolved.
    public var hardwareAddress: MACAddress?

    public init(address: IPAddress, hardwareAddress: MACAddress? = nil) {
        self.address = address
        self.hardwareAddress = hardwareAddress
    }
}

/// What an 802.1X profile demands before it believes a network.
public struct EAPDemands: Hashable, Sendable {
    /// That a certification authority vouches for the authentication server.
    public var certificationAuthority: Bool
    /// That the server has a certain name; without it, any server of that authority would do.
    public var serverName: Bool

    public init(certificationAuthority: Bool, serverName: Bool) {
        self.certificationAuthority = certificationAuthority
        self.serverName = serverName
    }

    /// Whether the link cannot have come up without the network having shown who it is.
    public var isMutual: Bool { certificationAuthority && serverName }
}

/// Where a Wi-Fi interface stands.
public enum WiFiState: Hashable, Sendable {
    case idle
    /// Associated, not authorised: the name is a stranger's claim.
    case associating(WiFiNetwork)
    /// The link is authorised.
    case joined(WiFiNetwork)
    /// The link was lost a moment ago and may come back on another access point; until then nobody knows.
    case unknown

    /// The network joined, nil in every other state.
    public var network: WiFiNetwork? {
        if case .joined(let network) = self { network } else { nil }
    }
}

/// A Wi-Fi network as one association sees it.
public struct WiFiNetwork: Hashable, Sendable {
    /// Nil only where no source of the kernel's tells it.
    public var ssid: SSID?
    /// The access point's address; under multi-link operation its MLD address.
    public var bssid: BSSID?
    public var security: Security
    /// The very suite that was chosen; nil where the driver does not tell or it is not the only one.
    public var akm: AKM?
    /// Centre of the primary 20 MHz channel in MHz.
    public var frequency: UInt32?
    /// dBm.
    public var signal: Int8?
    /// The links of a multi-link association (802.11be), by link identifier 0–14; empty otherwise.
    public var links: [UInt8: BSSID] = [:]
    /// When the association began (µs, boot time), by the driver's word; it tells one association from the next.
    public var associatedAt: Int64?

    public init(
        ssid: SSID?, bssid: BSSID?, security: Security, frequency: UInt32? = nil, signal: Int8? = nil,
        links: [UInt8: BSSID] = [:], associatedAt: Int64? = nil
    ) {
        self.ssid = ssid
        self.bssid = bssid
        self.security = security
        self.frequency = frequency
        self.signal = signal
        self.links = links
        self.associatedAt = associatedAt
    }
}

/// The route that traffic to the internet takes.
public struct PrimaryRoute: Hashable, Sendable {
    public var interfaceIndex: Int32
    /// Nil on point-to-point links.
    public var gateway: IPAddress?
    /// From the neighbour table; anyone on the link can forge it.
    public var gatewayMAC: MACAddress?

    public init(interfaceIndex: Int32, gateway: IPAddress?, gatewayMAC: MACAddress? = nil) {
        self.interfaceIndex = interfaceIndex
        self.gateway = gateway
        self.gatewayMAC = gatewayMAC
    }
}

/// Who is asked for names of the link with the way to the internet, and in which domains.
public struct DNSConfiguration: Hashable, Sendable {
    public var servers: [IPAddress] = []
    public var searchDomains: [String] = []

    public init(servers: [IPAddress] = [], searchDomains: [String] = []) {
        self.servers = servers
        self.searchDomains = searchDomains
    }
}

/// How far packets get.
public enum Connectivity: String, Hashable, Sendable {
    case none, local, portal, internet
}
