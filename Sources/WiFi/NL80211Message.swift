public import Netlink

/// What nl80211 tells, as values. Only the kernel's own words: nothing here is believed yet.
///
/// Numbers are those of `linux/nl80211.h`; they never change, newer ones are skipped.
public enum NL80211Message: Hashable, Sendable {
    /// `NEW_INTERFACE`, `SET_INTERFACE` and the answers of `GET_INTERFACE`.
    case interface(WirelessInterface)
    case interfaceRemoved(index: Int32)
    /// `CONNECT`: success and failure alike.
    case connect(ConnectionResult)
    /// `ROAM`: only drivers whose firmware roams send it, and it may change the SSID.
    case roam(ConnectionResult)
    case disconnect(index: Int32, reason: UInt16?, byAccessPoint: Bool)
    case authenticate(ManagementResult)
    case associate(ManagementResult)
    /// `NEW_STATION`, `DEL_STATION` and the answers of `GET_STATION`.
    case station(Station)
    case stationRemoved(index: Int32, address: MACAddress)
    /// `PORT_AUTHORIZED`: the firmware finished the handshake.
    case portAuthorized(index: Int32, address: MACAddress)
    /// `CH_SWITCH_NOTIFY`
    case channelSwitched(index: Int32, link: UInt8?, frequency: UInt32)
    /// `LINKS_REMOVED`, `ASSOC_MLO_RECONF`: the links change, the network stays.
    case linksChanged(index: Int32)
    /// An entry of `GET_SCAN`.
    case scanEntry(ScanEntry)
    /// `NEW_WIPHY`, `DEL_WIPHY`: a radio came, was renamed, or went; its interfaces tell for themselves.
    case radioChanged
    /// Known and of no use here, or not known.
    case other(command: UInt8)

    /// The interface it tells of.
    public var index: Int32? {
        switch self {
        case .interface(let interface): interface.index
        case .connect(let result), .roam(let result): result.index
        case .authenticate(let result), .associate(let result): result.index
        case .station(let station): station.index
        case .scanEntry(let entry): entry.index
        case .interfaceRemoved(let index), .linksChanged(let index): index
        case .disconnect(let index, _, _), .stationRemoved(let index, _), .portAuthorized(let index, _): index
        case .channelSwitched(let index, _, _): index
        case .radioChanged, .other: nil
        }
    }
}

/// An interface as cfg80211 sees it.
public struct WirelessInterface: Hashable, Sendable {
    public var index: Int32
    public var name: String?
    public var radio: UInt32?
    public var kind: InterfaceKind
    public var hardwareAddress: MACAddress?
    /// Missing where the access point sends no Country element (Linux 6.1), and for some kernels always.
    public var ssid: SSID?
    public var frequency: UInt32?

    public init(
        index: Int32, name: String? = nil, radio: UInt32? = nil, kind: InterfaceKind,
        hardwareAddress: MACAddress? = nil, ssid: SSID? = nil, frequency: UInt32? = nil
    ) {
        self.index = index
        self.name = name
        self.radio = radio
        self.kind = kind
        self.hardwareAddress = hardwareAddress
        self.ssid = ssid
        self.frequency = frequency
    }
}

/// `NL80211_IFTYPE_*`
public enum InterfaceKind: Hashable, Sendable {
    case station, peerToPeerClient
    case accessPoint, peerToPeerGroupOwner
    case monitor, mesh, adHoc
    case other(UInt32)

    init(_ rawValue: UInt32) {
        self =
            switch rawValue {
            case 1: .adHoc
            case 2: .station
            case 3: .accessPoint
            case 6: .monitor
            case 7: .mesh
            case 8: .peerToPeerClient
            case 9: .peerToPeerGroupOwner
            default: .other(rawValue)
            }
    }

    /// Whether such an interface joins networks that others run.
    public var joinsNetworks: Bool { self == .station || self == .peerToPeerClient }
}

/// The outcome of `CONNECT` and `ROAM`.
public struct ConnectionResult: Hashable, Sendable {
    public var index: Int32
    /// The access point; under multi-link operation its MLD address. Missing in some failures.
    public var bssid: BSSID?
    /// IEEE 802.11-2020, 9.4.1.9; 0 is success.
    public var status: UInt16
    public var timedOut: Bool
    /// What the station asked for, from the SSID element on; nil with drivers that do not tell.
    public var requestElements: ArraySlice<UInt8>?
    public var links: [UInt8: BSSID]

    public init(
        index: Int32, bssid: BSSID? = nil, status: UInt16 = 0, timedOut: Bool = false,
        requestElements: ArraySlice<UInt8>? = nil, links: [UInt8: BSSID] = [:]
    ) {
        self.index = index
        self.bssid = bssid
        self.status = status
        self.timedOut = timedOut
        self.requestElements = requestElements
        self.links = links
    }
}

/// `AUTHENTICATE` and `ASSOCIATE` of drivers whose supplicant does the work.
public struct ManagementResult: Hashable, Sendable {
    public var index: Int32
    public var bssid: BSSID?
    /// From the access point's frame; nil when there was none.
    public var status: UInt16?
    public var timedOut: Bool
    /// Authentication algorithm: 0 open, 2 fast transition, 3 SAE. Nil in associations.
    public var algorithm: UInt16?

    public init(
        index: Int32, bssid: BSSID? = nil, status: UInt16? = nil, timedOut: Bool = false, algorithm: UInt16? = nil
    ) {
        self.index = index
        self.bssid = bssid
        self.status = status
        self.timedOut = timedOut
        self.algorithm = algorithm
    }
}

/// A peer of an interface; for a station, its access point.
public struct Station: Hashable, Sendable {
    public var index: Int32
    public var address: MACAddress
    /// `NL80211_STA_FLAG_AUTHORIZED`; nil where the driver does not report the flag.
    public var isAuthorized: Bool?
    /// dBm, of the last frame.
    public var signal: Int8?
    /// When the association began (µs, boot time); nil where the driver does not tell.
    public var associatedAt: Int64?

    public init(
        index: Int32, address: MACAddress, isAuthorized: Bool? = nil, signal: Int8? = nil, associatedAt: Int64? = nil
    ) {
        self.index = index
        self.address = address
        self.isAuthorized = isAuthorized
        self.signal = signal
        self.associatedAt = associatedAt
    }
}

/// An access point that a scan heard.
public struct ScanEntry: Hashable, Sendable {
    public var index: Int32
    public var bssid: BSSID
    public var frequency: UInt32?
    /// Prefers what a probe response said over beacons, so that hidden names are told.
    public var elements: ArraySlice<UInt8>?
    /// Bit 4 is Privacy.
    public var capability: UInt16
    /// dBm.
    public var signal: Int8?
    /// `NL80211_BSS_STATUS_ASSOCIATED`: an interface of this radio is associated with it.
    public var isAssociated: Bool
    /// Set for each link of a multi-link association.
    public var link: UInt8?
    public var mldAddress: MACAddress?

    public init(
        index: Int32, bssid: BSSID, frequency: UInt32? = nil, elements: ArraySlice<UInt8>? = nil,
        capability: UInt16 = 0, signal: Int8? = nil, isAssociated: Bool = false, link: UInt8? = nil,
        mldAddress: MACAddress? = nil
    ) {
        self.index = index
        self.bssid = bssid
        self.frequency = frequency
        self.elements = elements
        self.capability = capability
        self.signal = signal
        self.isAssociated = isAssociated
        self.link = link
        self.mldAddress = mldAddress
    }
}
