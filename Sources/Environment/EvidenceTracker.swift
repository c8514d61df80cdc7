internal import Netlink
internal import WiFi

/// Collects what the network behind each link shows of itself, from sources that know nothing of each other, and lets
/// none of it outlive its network.
struct EvidenceTracker: Sendable {
    private struct Link: Sendable {
        /// Of questions: what was asked about one association says nothing of the next.
        var generation: UInt32 = 0
        var announcements = LinkAnnouncements()
        var hardwareAddresses: [IPAddress: MACAddress] = [:]
        /// The gateways that the kernel was asked about; it tells by itself when it gets to know them.
        var askedFor: Set<IPAddress> = []
        /// Whether resolv.conf(5) can be of this network: somebody has written it since it is there.
        var hasFile = false
    }

    private var links: [Int32: Link] = [:]
    /// Links whose announcements are to be asked for.
    private var wanted: Set<Int32> = []
    /// Until then nobody can know when resolv.conf(5) was written.
    private var hasBegun = false
    /// Links of which something was told that `refresh` has not seen.
    private var stale: Set<Int32> = []
    /// Whether that may concern every link.
    private var areAllStale = false
    /// Of each link, the preferred gateway first; nil where routes have changed since.
    private var gateways: [Int32: [IPAddress]]?

    var isStale: Bool { areAllStale || !stale.isEmpty }

    /// More are no link's that a person uses.
    private static let gatewayLimit = 8

    // MARK: What is told

    /// Something else is known of a link, or of the whole machine.
    mutating func touch(_ index: Int32) { stale.insert(index) }
    mutating func touchAll() { areAllStale = true }

    /// Routes came or went.
    mutating func routesChanged() {
        gateways = nil
        areAllStale = true
    }

    mutating func ask(_ index: Int32) { ask(CollectionOfOne(index)) }

    mutating func ask(_ indexes: some Sequence<Int32>) {
        for index in indexes {
            wanted.insert(index)
            stale.insert(index)
        }
    }

    /// Another association with the same network, or the end of one that may come back.
    ///
    /// The supplicant roams by the profile that it has, so what that demanded serves until the answer to the new
    /// question, if only a moment: else every step through an office would raise its protection.
    mutating func reassociated(_ index: Int32) {
        links[index, default: Link()].generation &+= 1
        // Another access point may lead to another gateway of that address; what was known serves until then.
        links[index]?.askedFor = []
        ask(index)
    }

    /// The network is another one, or none.
    mutating func left(_ index: Int32) {
        links[index] = Link(generation: (links[index]?.generation ?? 0) &+ 1)
        ask(index)
    }

    /// The profile is not applied any more, or not to this association.
    mutating func deactivated(_ index: Int32) {
        links[index, default: Link()].generation &+= 1
        links[index]?.announcements.profile = nil
        stale.insert(index)
    }

    /// Somebody wrote resolv.conf(5), be it as it was.
    mutating func fileWritten() {
        // Of a link that is not in use `refresh` takes it back.
        for index in links.keys { links[index]?.hasFile = true }
        areAllStale = true
    }

    mutating func removed(_ index: Int32) {
        // It may have been a tunnel, without which resolv.conf(5) is another link's.
        routesChanged()
        // A generation that was used comes not again, though the index may.
        guard let generation = links[index]?.generation else { return }
        links[index] = Link(generation: generation &+ 1)
    }

    mutating func learn(_ neighbour: Neighbour) {
        guard neighbour.isValid, let address = neighbour.address else { return }
        // Those that are no gateways go with the next `refresh`.
        links[neighbour.interfaceIndex, default: Link()].hardwareAddresses[address] = neighbour.hardwareAddress
        links[neighbour.interfaceIndex]?.askedFor.insert(address)
        stale.insert(neighbour.interfaceIndex)
    }

    mutating func learn(_ announcements: LinkAnnouncements, of index: Int32, generation: UInt32) {
        guard let link = links[index], link.generation == generation else { return }
        links[index]?.announcements = announcements
        stale.insert(index)
    }

    // MARK: What comes of it

    /// The evidence that differs from the environment's, by interface, and the questions that are open.
    ///
    /// - Parameter network: of a station the network that it is on, or on its way to.
    mutating func refresh(
        _ environment: NetworkEnvironment, _ routes: Set<RouteEntry>, _ network: (Int32) -> WiFiNetwork?,
        _ queries: inout [Query]
    ) -> [(index: Int32, evidence: LinkEvidence)] {
        let gateways = self.gateways ?? gateways(of: routes)
        self.gateways = gateways
        let indexes = areAllStale ? environment.interfaces.keys.sorted() : stale.sorted()
        defer {
            stale = []
            areAllStale = false
            wanted = []
            hasBegun = true
        }
        var changed: [(index: Int32, evidence: LinkEvidence)] = []
        for index in indexes {
            guard let interface = environment.interfaces[index] else { continue }
            let network = network(index)
            guard interface.isPhysical else {
                if interface.evidence != LinkEvidence() { changed.append((index, LinkEvidence())) }
                continue
            }
            var link = links[index] ?? Link()
            let addresses = gateways[index] ?? []
            for address in addresses where link.askedFor.insert(address).inserted {
                queries.append(.neighbour(address, index: index))
            }
            link.askedFor.formIntersection(addresses)
            link.hardwareAddresses = link.hardwareAddresses.filter { addresses.contains($0.key) }
            let isInUse = interface.isUsable || network != nil
            link.hasFile = isInUse && (link.hasFile || !hasBegun)
            links[index] = link
            if wanted.contains(index), isInUse {
                queries.append(.announcements(index: index, generation: link.generation))
            }
            var evidence = LinkEvidence()
            evidence.gateways = addresses.map { Gateway(address: $0, hardwareAddress: link.hardwareAddresses[$0]) }
            evidence.searchDomains =
                switch link.announcements.searchDomains {
                case .told(let domains): domains
                case .unknown: nil
                case .file: link.hasFile ? domainsOfFile(environment, gateways, for: index) : nil
                }
            evidence.authentication = link.announcements.profile.flatMap { profile in
                profile.isOf(interface, network) ? profile.demands : nil
            }
            if evidence != interface.evidence { changed.append((index, evidence)) }
        }
        return changed
    }

    /// Of each interface, the preferred one first: the lower metric, then IPv4.
    private func gateways(of routes: Set<RouteEntry>) -> [Int32: [IPAddress]] {
        var ways: [(metric: UInt32, gateway: IPAddress, index: Int32)] = []
        for route in routes where route.table == RouteEntry.mainTable && route.isDefault {
            guard let index = route.interfaceIndex, let gateway = route.gateway else { continue }
            ways.append((route.priority, gateway, index))
        }
        var gateways: [Int32: [IPAddress]] = [:]
        for way in ways.sorted(by: { ($0.metric, $0.gateway) < ($1.metric, $1.gateway) }) {
            guard gateways[way.index, default: []].count < EvidenceTracker.gatewayLimit,
                !gateways[way.index, default: []].contains(way.gateway)
            else { continue }
            gateways[way.index, default: []].append(way.gateway)
        }
        return gateways
    }

    /// resolv.conf(5) does not say which network a domain is of. It can only be this one where no other link leads out
    /// and no tunnel can have brought it.
    private func domainsOfFile(
        _ environment: NetworkEnvironment, _ gateways: [Int32: [IPAddress]], for index: Int32
    ) -> [String]? {
        guard environment.primaryRoute?.interfaceIndex == index, gateways.keys.allSatisfy({ $0 == index }),
            !environment.interfaces.values.contains(where: { $0.kind == .tunnel && $0.isAdministrativelyUp })
        else { return nil }
        return DomainName.list(environment.dns.searchDomains)
    }
}

extension AppliedProfile {
    /// Whether it is what brought up this link: a network manager learns later than we that the network is another one.
    fileprivate func isOf(_ interface: Interface, _ network: WiFiNetwork?) -> Bool {
        guard interface.kind == .wifi else { return ssid == nil && interface.isUsable }
        guard let network, let ssid else { return false }
        return network.ssid == ssid && network.security.isEnterprise
    }
}
