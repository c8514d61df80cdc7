public import Netlink
public import WiFi

/// One fact, as an edge read it.
public enum Observation: Sendable {
    /// Multicast by nl80211.
    case wireless(NL80211Message)
    /// Multicast by rtnetlink.
    case route(RouteMessage)
    /// What kind of device a link is, from sysfs; rtnetlink does not tell.
    case device(index: Int32, DeviceFacts)
    case answer(Answer)
    /// Everything, read at once; the first one is the start.
    case inventory(Inventory, ResyncCause?)
    /// Messages were lost: everything has to be read again.
    case lost(ResyncCause)
    case dns(DNSConfiguration)
    /// What daemons hold about a link may have changed; nil: about any of them.
    case announcementsChanged(index: Int32?)
    /// A network manager took back the profile that it had applied to a link.
    case deactivated(index: Int32)
    /// Whether the way to the internet costs by volume; nil where nobody tells any more.
    case metered(Bool?)
    /// How far packets get, as somebody found who tried; nil where that one does not know any more.
    case connectivity(Connectivity?, ConnectivityWitness)
    /// The machine is about to sleep, or woke up.
    /// Somebody relies on what is known of stations: the kernel is to be asked anew.
    case questioned
    case suspending
    case resumed
    /// The time that the reducer asked for has come.
    case deadline
}

/// A question that the reducer cannot answer from what it knows. An edge answers it, if only with `failed`.
public enum Query: Hashable, Sendable {
    /// What the kernel knows of an interface's association. The generation comes back with the answer: what was asked
    /// about an earlier association says nothing about a later one.
    case association(index: Int32, generation: UInt32)
    /// Whether an association that is known already is authorised by now: quicker, and asked while a handshake runs.
    case station(index: Int32, generation: UInt32, address: MACAddress)
    /// What a scan heard of an access point.
    case accessPoint(index: Int32, bssid: BSSID)
    /// Whether a kill switch blocks the interface's radio.
    case radio(index: Int32, generation: UInt32)
    /// Which way a packet to the internet would take.
    case path
    case neighbour(IPAddress, index: Int32)
    /// The main table's default routes of a link, some of which may have gone without a word.
    case routes(index: Int32)
    /// What daemons tell of a link and the network behind it.
    case announcements(index: Int32, generation: UInt32)
    case inventory(ResyncCause)
}

/// What the kernel answered to a question.
public enum Answer: Sendable {
    /// Nil: nobody can tell, as in a recording.
    case association(index: Int32, generation: UInt32, AssociationReport?)
    /// Nil: there is no such station.
    case station(index: Int32, generation: UInt32, Station?)
    case accessPoint(index: Int32, bssid: BSSID, ScanEntry?)
    case radio(index: Int32, generation: UInt32, isBlocked: Bool)
    case path(PathReport)
    case neighbour(Neighbour?)
    case routes(index: Int32, [RouteEntry])
    case announcements(index: Int32, generation: UInt32, LinkAnnouncements)
    /// The kernel did not answer this time: not even the lack of an answer says anything.
    case failed(Query)
}

/// What the kernel knows of an interface's association, read by one after the other of `GET_INTERFACE`,
/// `GET_STATION` and `GET_SCAN`.
public struct AssociationReport: Sendable {
    public var interface: WirelessInterface?
    public var stations: [Station]
    /// The entries with the status "associated".
    public var entries: [ScanEntry]

    public init(interface: WirelessInterface? = nil, stations: [Station] = [], entries: [ScanEntry] = []) {
        self.interface = interface
        self.stations = stations
        self.entries = entries
    }
}

/// The route that a packet to the internet would take.
public enum PathReport: Sendable {
    case route(RouteEntry)
    case unreachable
    /// Nobody can tell, as in a recording: the routing table has to do.
    case unknown
}

/// What daemons on this machine tell of a link and the network behind it.
public struct LinkAnnouncements: Hashable, Sendable {
    public enum SearchDomains: Hashable, Sendable {
        case told([String])
        /// Whoever could tell does not.
        case unknown
        /// Neither systemd-resolved nor a network manager looks after the link: resolv.conf(5) has to do.
        case file
    }

    public var searchDomains: SearchDomains
    /// The 802.1X profile that is applied to the link now.
    public var profile: AppliedProfile?

    public init(searchDomains: SearchDomains = .unknown, profile: AppliedProfile? = nil) {
        self.searchDomains = searchDomains
        self.profile = profile
    }
}

/// An 802.1X profile in use.
public struct AppliedProfile: Hashable, Sendable {
    /// The network it was made for; nil for a wired one.
    public var ssid: SSID?
    public var demands: EAPDemands

    public init(ssid: SSID?, demands: EAPDemands) {
        self.ssid = ssid
        self.demands = demands
    }
}

/// What sysfs says of a device.
public struct DeviceFacts: Hashable, Sendable {
    /// `DEVTYPE` of its uevent, such as `wlan`, `wwan`, `bluetooth`.
    public var type: String?
    /// Whether a piece of hardware stands behind it.
    public var hasHardware: Bool

    public init(type: String?, hasHardware: Bool) {
        self.type = type
        self.hasHardware = hasHardware
    }
}

/// Everything the kernel knows, read at once.
public struct Inventory: Sendable {
    public var links: [LinkMessage] = []
    public var devices: [Int32: DeviceFacts] = [:]
    public var addresses: [AddressMessage] = []
    public var routes: [RouteEntry] = []
    /// Of every station interface that could be read.
    public var associations: [Int32: AssociationReport] = [:]
    /// All wireless interfaces, those that join no network included.
    public var wireless: [WirelessInterface] = []
    public var path = PathReport.unknown
    /// The gateways of that path and of other default routes, as far as somebody asked for them before.
    public var neighbours: [Neighbour] = []

    public init() {}
}
