internal import Netlink
internal import Platform
internal import WiFi

/// One association as far as it is known: what the event said, and what the kernel answered when asked.
struct Association: Sendable {
    /// What is published of it.
    var network: WiFiNetwork
    let startedAt: Timestamp
    private let requestElements: InformationElements?
    /// How often request and scan entry named different networks: some firmware reports the elements of the
    /// association before.
    private var conflicts = 0

    /// Whether `associating` was published.
    var isAnnounced = false
    /// Whether the kernel was asked since it began, and by the flag's own word whether the link is authorised.
    private(set) var hasAnswer = false
    private(set) var isAuthorizedByFlag: Bool?
    /// Whether the link's state is newer than the answer. It is read before older news of nl80211's, so it may be that of
    /// the next association.
    private var isLinkNewer = false
    /// How many answers in a row knew nothing of it.
    private var absences = 0
    /// `PORT_AUTHORIZED` named its access point.
    var isPortAuthorized = false

    /// Whether the access point's own word is in: then only the handshake is still to be asked about.
    private(set) var hasOffer = false

    var nextPoll: Int64?
    private var polls = Backoff()

    /// Waiting for a source that tells the SSID ends here: a driver without request elements on a hidden network.
    private static let ssidLimit: Int64 = 2_000_000

    init(_ result: ConnectionResult, at time: Timestamp) {
        requestElements = result.requestElements.map { InformationElements($0) }
        network = WiFiNetwork(
            ssid: requestElements?.ssid.flatMap { $0.isHidden ? nil : $0 }, bssid: result.bssid,
            security: .negotiated(request: requestElements, privacy: nil), links: result.links)
        network.akm = AKM.chosen(in: requestElements)
        startedAt = time
    }

    /// An association that no event told of.
    init?(_ report: AssociationReport, at time: Timestamp) {
        // A station that is not yet, or no longer, part of an association has no entry; some drivers list no stations.
        let entry = report.entries.first { entry in
            report.stations.isEmpty || report.stations.contains { $0.address == entry.peer }
        }
        guard let entry else { return nil }
        self.init(ConnectionResult(index: entry.index, bssid: entry.peer), at: time)
        merge(report)
    }

    var isSSIDSettled: Bool { hasAnswer && !(1...2).contains(conflicts) }

    /// Whether the kernel said twice that there is no such association: once can be a matter of order.
    var isGone: Bool { absences > 1 }

    /// Takes in what the kernel knows; nil where nobody can tell.
    mutating func merge(_ report: AssociationReport?) {
        hasAnswer = true
        isLinkNewer = false
        guard let report else { return }
        if network.bssid == nil {
            network.bssid = report.stations.count == 1 ? report.stations[0].address : report.entries.first?.peer
        }
        let station = report.stations.first { $0.address == network.bssid }
        let entries = report.entries.filter { $0.peer == network.bssid || $0.bssid == network.bssid }
        isAuthorizedByFlag = station?.isAuthorized
        network.associatedAt = station?.associatedAt ?? network.associatedAt
        guard !entries.isEmpty else {
            network.signal = station?.signal ?? network.signal
            if network.ssid == nil, station != nil { network.ssid = report.interface?.ssid }
            absences = station == nil ? absences + 1 : 0
            return
        }
        absences = 0
        // A hidden network can be there twice, once without its name.
        let offers = entries.map { entry in (entry, InformationElements(entry.elements ?? [])) }
        let (entry, offer) = offers.first { !($0.1.ssid?.isHidden ?? true) } ?? offers[0]
        merge(entry, offer, report.interface)
        network.frequency = entry.frequency ?? network.frequency
        network.signal = station?.signal ?? entry.signal ?? network.signal
        let links = entries.compactMap { entry in entry.link.map { ($0, entry.bssid) } }
        if entry.mldAddress != nil { network.links = Dictionary(links) { first, _ in first } }
    }

    /// Takes in what the kernel knows of the peer alone.
    mutating func merge(_ station: Station) {
        absences = 0
        isLinkNewer = false
        isAuthorizedByFlag = station.isAuthorized
        network.signal = station.signal ?? network.signal
        network.associatedAt = station.associatedAt ?? network.associatedAt
    }

    /// Name and security: of the request, of the entry, of the interface, in this order.
    private mutating func merge(_ entry: ScanEntry, _ offer: InformationElements, _ interface: WirelessInterface?) {
        let offered = offer.ssid.flatMap { $0.isHidden ? nil : $0 }
        let privacy = entry.capability & 0x10 != 0
        let requested = requestElements?.ssid.flatMap { $0.isHidden ? nil : $0 }
        if let requested, let offered, requested != offered {
            conflicts += 1
            // Asked three times, the kernel still holds the entry to be the access point: the request is stale.
            guard conflicts > 2 else { return }
            hasOffer = true
            network.ssid = offered
            network.akm = nil
            network.security = .offered(by: offer, privacy: privacy)
            return
        }
        conflicts = 0
        hasOffer = true
        network.ssid = requested ?? offered ?? interface?.ssid ?? network.ssid
        network.security = .negotiated(request: requestElements, offer: offer, privacy: privacy)
    }

    /// Whether the link is authorised. The flag decides where it is reported; everything that speaks against it wins.
    ///
    /// - Parameter isUpDoubtful: the link's UP may be that of the association before.
    func isAuthorized(on link: Interface, isUpDoubtful: Bool) -> Bool {
        // An answer that knows nothing of it reports no flag either.
        guard isSSIDSettled, absences == 0 else { return false }
        switch link.operationalState {
        case .down, .lowerLayerDown, .notPresent, .dormant, .testing: return false
        case .unknown, .up: break
        }
        if let isAuthorizedByFlag { return isAuthorizedByFlag }
        if isPortAuthorized { return true }
        guard link.operationalState == .up, !isLinkNewer else { return false }
        if network.security == .open { return true }
        // Only where a supplicant decides does UP mean more than carrier.
        return link.isDormantByDefault && !isUpDoubtful
    }

    /// Whether a missing SSID is still worth waiting for.
    func isAwaitingSSID(at time: Timestamp) -> Bool {
        network.ssid == nil && time.boottime < startedAt.boottime + Association.ssidLimit
    }

    /// Something happens, so that asking is worth it again: wpa_supplicant sets the link UP a moment before it
    /// authorises the station.
    mutating func noteLinkChange() {
        isLinkNewer = true
        polls = Backoff(pause: 1_000)
    }

    /// - Parameter limit: heeded while it lies ahead.
    mutating func schedulePoll(after time: Timestamp, atLatest limit: Int64?) {
        if absences > 0 { polls = Backoff() }
        let next = polls.next(after: time)
        nextPoll = if let limit, limit > time.boottime { min(next, limit) } else { next }
    }
}

extension ScanEntry {
    /// The address by which the association knows the access point: the MLD's where there is one.
    var peer: MACAddress { mldAddress ?? bssid }
}
