internal import Netlink
public import Platform
internal import WiFi

/// Turns observations into the environment and its changes. A pure function of what it is told: no clock, no I/O.
///
/// (state, observation, time) → (state, changes), and questions for the edge that made the observation.
public struct EnvironmentReducer: Sendable {
    public internal(set) var environment = NetworkEnvironment()

    var stations: [Int32: StationTracker] = [:]
    var devices: [Int32: DeviceFacts] = [:]
    var links: [Int32: LinkMessage] = [:]
    var routes: Set<RouteEntry> = []
    var evidence = EvidenceTracker()
    var connectivity = ConnectivityTracker()
    var hasInventory = false
    var reading: Reading?
    /// Stations whose link rtnetlink removed while nl80211 may still speak of them.
    var departed: Set<Int32> = []

    /// Everything is being read again.
    struct Reading {
        /// The interfaces that were heard of meanwhile: what is being read of them may be older than that.
        var overtaken: Set<Int32> = []
        /// Why it has to be read once more: what was lost meanwhile, each cause once.
        var causes: [ResyncCause] = []
        var tries = 1

        static let limit = 4
    }

    public init() {}

    /// Whether a network manager tells how far packets get, so that nobody else has to try.
    var isConnectivityManaged: Bool { connectivity.isManaged }
    var isConnectivityLookedAfter: Bool { connectivity.isLookedAfter }

    /// When `Observation.deadline` is due (µs, boot time); nil when time alone changes nothing.
    public var deadline: Int64? {
        stations.values.reduce(nil) { earliest($0, $1.deadline) }
    }

    public mutating func reduce(_ observation: Observation, at time: Timestamp) -> Reduction {
        var reduction = Reduction()
        switch observation {
        case .wireless(let message):
            if let index = message.index { reading?.overtaken.insert(index) }
            reduce(message, time, &reduction)
        case .route(let message):
            if let index = message.index { reading?.overtaken.insert(index) }
            reduce(message, time, &reduction)
        case .device(let index, let facts):
            devices[index] = facts
            guard let link = links[index] else { break }
            let kind = kind(of: link)
            environment.interfaces[index]?.kind = kind
            evidence.ask(index)
        case .answer(let answer): reduce(answer, time, &reduction)
        case .inventory(let inventory, let cause): reduce(inventory, cause, time, &reduction)
        case .lost(let cause): readEverything(cause, &reduction)
        case .dns(let configuration):
            evidence.fileWritten()
            guard configuration != environment.dns else { break }
            environment.dns = configuration
            publish(.dnsChanged(configuration), time, &reduction)
            // systemd-resolved says no word of a link's domains, but writes them into this file among all others.
            evidence.ask(environment.interfaces.keys)
        case .announcementsChanged(let index):
            evidence.ask(index.map { [$0] } ?? Array(environment.interfaces.keys))
        case .deactivated(let index): evidence.deactivated(index)
        case .metered(let isMetered):
            guard isMetered != environment.isMetered else { break }
            environment.isMetered = isMetered
            publish(.meteredChanged(isMetered), time, &reduction)
        case .connectivity(let word, let witness):
            connectivity.take(word, from: witness)
            updateConnectivity(time, &reduction)
        case .questioned:
            for index in stations.keys.sorted() { turn(index, time, &reduction) { $0.questioned(&$1) } }
        case .suspending:
            environment.isSuspended = true
            publish(.suspended, time, &reduction)
            for index in stations.keys.sorted() { turn(index, time, &reduction) { $0.suspending(&$1) } }
        case .resumed:
            environment.isSuspended = false
            publish(.resumed, time, &reduction)
            for index in stations.keys.sorted() { turn(index, time, &reduction) { $0.resumed(&$1) } }
            readEverything(.resume, &reduction)
        case .deadline:
            for index in stations.keys.sorted() where stations[index]?.deadline ?? .max <= time.boottime {
                turn(index, time, &reduction) { $0.deadlineReached(&$1) }
            }
        }
        updateEvidence(time, &reduction)
        return reduction
    }

    // MARK: nl80211

    mutating func reduce(_ message: NL80211Message, _ time: Timestamp, _ reduction: inout Reduction) {
        switch message {
        case .interface(let wireless): update(wireless, time, &reduction)
        case .interfaceRemoved(let index):
            end(index, .interfaceRemoved, time, &reduction)
            departed.remove(index)
            environment.interfaces[index]?.wifi = nil
            // Known from nl80211 alone.
            if links[index] == nil { environment.interfaces[index] = nil }
        case .connect(let result):
            adopt(result.index, time)
            let failed = result.status != 0 || result.timedOut
            turn(result.index, time, &reduction) {
                if failed { $0.connectionFailed(result, &$1) } else { $0.connected(result, &$1) }
            }
        case .roam(let result):
            adopt(result.index, time)
            turn(result.index, time, &reduction) { $0.connected(result, &$1) }
        case .disconnect(let index, let reason, let byAccessPoint):
            turn(index, time, &reduction) { $0.disconnected(reason: reason, byAccessPoint: byAccessPoint, &$1) }
        case .authenticate(let result):
            guard result.timedOut || result.isRefusal else { break }
            turn(result.index, time, &reduction) { $0.refused(result, &$1) }
        case .associate(let result):
            // A refusal comes again as CONNECT with its status; an unanswered request does not.
            guard result.timedOut else { break }
            turn(result.index, time, &reduction) { $0.refused(result, &$1) }
        case .station(let station): turn(station.index, time, &reduction) { $0.stationAdded(&$1) }
        case .stationRemoved(let index, let address):
            turn(index, time, &reduction) { $0.stationRemoved(address, &$1) }
        case .portAuthorized(let index, let address):
            turn(index, time, &reduction) { $0.portAuthorized(address, &$1) }
        case .channelSwitched(let index, let link, let frequency):
            // Of several links none speaks for the association.
            guard link ?? 0 == 0 else { break }
            turn(index, time, &reduction) { $0.channelSwitched(frequency, &$1) }
        case .linksChanged(let index): turn(index, time, &reduction) { $0.linksChanged(&$1) }
        case .scanEntry, .radioChanged, .other: break
        }
    }

    /// Events of associations concern stations only, so whoever has one is a station, whatever was missed before.
    mutating func adopt(_ index: Int32, _ time: Timestamp) {
        guard stations[index] == nil, !departed.contains(index) else { return }
        stations[index] = StationTracker()
        environment.interfaces[index, default: Interface(index: index, name: "", kind: .wifi)].kind = .wifi
        environment.interfaces[index]?.wifi = .idle
    }

    mutating func update(_ wireless: WirelessInterface, _ time: Timestamp, _ reduction: inout Reduction) {
        let index = wireless.index
        guard !departed.contains(index) else { return }
        if environment.interfaces[index] == nil {
            environment.interfaces[index] = Interface(index: index, name: wireless.name ?? "", kind: .wifi)
        }
        environment.interfaces[index]?.kind = .wifi
        if wireless.kind.joinsNetworks {
            if stations[index] == nil { stations[index] = StationTracker() }
            if environment.interfaces[index]?.wifi == nil { environment.interfaces[index]?.wifi = .idle }
        } else {
            // The same index can change its kind: a station becomes an access point.
            end(index, .interfaceRemoved, time, &reduction)
            environment.interfaces[index]?.wifi = nil
        }
    }

    mutating func end(
        _ index: Int32, _ circumstance: Cause.Circumstance, _ time: Timestamp, _ reduction: inout Reduction
    ) {
        turn(index, time, &reduction) { $0.ended(circumstance, &$1) }
        stations[index] = nil
    }

    /// Lets one station tracker take its turn.
    mutating func turn(
        _ index: Int32, _ time: Timestamp, _ reduction: inout Reduction, isInitial: Bool = false,
        isResync: Bool = false, _ body: (inout StationTracker, inout Turn) -> Void
    ) {
        guard let link = environment.interfaces[index], stations[index] != nil else { return }
        var turn = Turn(
            time: time, link: link, isResync: isResync, isLinkCurrent: isResync || reading == nil,
            isInitial: isInitial)
        let before = (associations: stations[index]?.associations, departures: stations[index]?.departures)
        body(&stations[index, default: StationTracker()], &turn)
        if stations[index]?.departures != before.departures {
            left(index)
        } else if stations[index]?.associations != before.associations {
            evidence.reassociated(index)
        }
        let state = stations[index]?.state
        if (state == .unknown) != (link.wifi == .unknown) { reduction.hasBlurred = true }
        environment.interfaces[index]?.wifi = state
        reduction.changes += turn.changes
        reduction.queries += turn.queries
        if state != link.wifi { updateConnectivity(time, &reduction) }
    }

    /// What the network behind a link showed and what was found out over it is void.
    mutating func left(_ index: Int32) {
        evidence.left(index)
        if connectivity.left(index) { evidence.ask(environment.interfaces.keys) }
    }

    // MARK: Answers

    mutating func reduce(_ answer: Answer, _ time: Timestamp, _ reduction: inout Reduction) {
        switch answer {
        case .association(let index, let generation, let report):
            turn(index, time, &reduction) { $0.answered(report, generation: generation, &$1) }
        case .station(let index, let generation, let station):
            turn(index, time, &reduction) { $0.answered(station, generation: generation, &$1) }
        case .accessPoint(let index, let bssid, let entry):
            turn(index, time, &reduction) { $0.answered(entry, about: bssid, &$1) }
        case .radio(let index, let generation, let isBlocked):
            turn(index, time, &reduction) { $0.answered(isRadioBlocked: isBlocked, generation: generation, &$1) }
        case .path(.route(let route)): setPrimaryRoute(route, time, &reduction)
        case .path(.unreachable): setPrimaryRoute(nil, time, &reduction)
        case .path(.unknown): setPrimaryRoute(bestDefaultRoute, time, &reduction)
        case .neighbour(let neighbour): if let neighbour { update(neighbour, time, &reduction) }
        case .routes(let index, let found):
            // Other tables' routes were not asked for.
            routes = routes.filter { $0.interfaceIndex != index || $0.table != RouteEntry.mainTable }
            routes.formUnion(found.filter { $0.interfaceIndex == index && concernsInternet($0) })
            evidence.routesChanged()
        case .announcements(let index, let generation, let announcements):
            evidence.learn(announcements, of: index, generation: generation)
        case .failed(.association(let index, let generation)), .failed(.station(let index, let generation, _)):
            turn(index, time, &reduction) { $0.unanswered(generation: generation, &$1) }
        case .failed(.accessPoint(let index, let bssid)):
            turn(index, time, &reduction) { $0.answered(nil, about: bssid, &$1) }
        case .failed(.announcements(let index, let generation)):
            evidence.learn(LinkAnnouncements(), of: index, generation: generation)
        case .failed(.radio(let index, let generation)):
            turn(index, time, &reduction) { $0.answered(isRadioBlocked: false, generation: generation, &$1) }
        case .failed: break
        }
    }

    /// What the main routing table alone would choose: IPv4 before IPv6, then the lower metric.
    private var bestDefaultRoute: RouteEntry? {
        routes.filter { $0.table == RouteEntry.mainTable && $0.isDefault }.min {
            ($0.family.rawValue, $0.priority, $0.interfaceIndex ?? 0)
                < ($1.family.rawValue, $1.priority, $1.interfaceIndex ?? 0)
        }
    }

    // MARK: Everything at once

    /// One reading answers for all losses before it, but not for those that come while it is made.
    mutating func readEverything(_ cause: ResyncCause, _ reduction: inout Reduction) {
        if reading == nil { reduction.queries.append(.inventory(cause)) }
        if reading?.causes.contains(cause) == false { reading?.causes.append(cause) }
        reading = reading ?? Reading()
    }

    mutating func reduce(
        _ inventory: Inventory, _ cause: ResyncCause?, _ time: Timestamp, _ reduction: inout Reduction
    ) {
        let isInitial = !hasInventory
        let finished = reading ?? Reading()
        let overtaken = finished.overtaken
        let next = finished.causes.first ?? (overtaken.isEmpty ? nil : cause)
        let isFinal = next == nil
        // In a flood of events it is told from time to time how far this came.
        let isTold = next != cause || finished.tries == Reading.limit
        reading =
            isFinal
            ? nil : Reading(causes: Array(finished.causes.dropFirst()), tries: isTold ? 1 : finished.tries + 1)
        if isFinal { departed = [] }
        devices.merge(inventory.devices) { $1 }
        let present = Set(inventory.links.map(\.index)).union(overtaken)
        for index in environment.interfaces.keys.sorted() where !present.contains(index) {
            remove(index, time, &reduction)
        }
        for link in inventory.links where !overtaken.contains(link.index) {
            update(link, isInitial: isInitial, time, &reduction)
        }
        for wireless in inventory.wireless where !overtaken.contains(wireless.index) {
            update(wireless, time, &reduction)
        }
        let wireless = Set(inventory.wireless.map(\.index)).union(overtaken)
        for index in stations.keys.sorted() where !wireless.contains(index) {
            end(index, .interfaceRemoved, time, &reduction)
            environment.interfaces[index]?.wifi = nil
        }
        resyncAddresses(inventory.addresses, except: overtaken, time, &reduction)
        routes = Set(inventory.routes.filter { concernsInternet($0) })
        evidence.routesChanged()
        for index in stations.keys.sorted() where !overtaken.contains(index) {
            let report = inventory.associations[index]
            turn(index, time, &reduction, isInitial: isInitial, isResync: true) { $0.inventoried(report, &$1) }
        }
        reduce(.path(inventory.path), time, &reduction)
        for neighbour in inventory.neighbours { update(neighbour, time, &reduction) }
        evidence.ask(environment.interfaces.keys)
        if isInitial { hasInventory = true }
        updateEvidence(time, &reduction)
        if isInitial {
            updateConnectivity(time, &reduction)
            reduction.changes = []
        } else if let cause {
            if isTold { publish(.resynced(cause), time, &reduction) }
            if let next { reduction.queries.append(.inventory(next)) }
        }
    }

    mutating func resyncAddresses(
        _ addresses: [AddressMessage], except overtaken: Set<Int32>, _ time: Timestamp, _ reduction: inout Reduction
    ) {
        var present: [Int32: Set<InterfaceAddress>] = [:]
        for message in addresses where !message.isTentative {
            guard let address = message.address else { continue }
            present[message.index, default: []].insert(
                InterfaceAddress(address: address, prefixLength: message.prefixLength))
        }
        for (index, interface) in environment.interfaces.sorted(by: { $0.key < $1.key }) {
            let new = present[index] ?? []
            guard new != interface.addresses, !overtaken.contains(index) else { continue }
            environment.interfaces[index]?.addresses = new
            guard interface.kind != .loopback else { continue }
            reduction.changes.append(
                EnvironmentChange(
                    time: time, interface: interface.reference,
                    kind: .addressChanged(
                        added: new.subtracting(interface.addresses).sorted(),
                        removed: interface.addresses.subtracting(new).sorted())))
        }
        updateConnectivity(time, &reduction)
    }
}

extension RouteMessage {
    /// The interface it tells of; routes are asked for on their own.
    fileprivate var index: Int32? {
        switch self {
        case .link(let link): link.index
        case .linkRemoved(let index): index
        case .address(let address, _): address.index
        case .route, .rulesChanged, .neighbour: nil
        }
    }
}

extension Interface {
    var reference: InterfaceReference { InterfaceReference(index: index, name: name) }
}

extension InterfaceAddress: Comparable {
    public static func < (left: InterfaceAddress, right: InterfaceAddress) -> Bool {
        guard left.address == right.address else { return left.address < right.address }
        return left.prefixLength < right.prefixLength
    }
}

extension ManagementResult {
    /// Whether the status ends this attempt. Of SAE's first exchange some only ask for another one: 76 for a token,
    /// 77 for another group, 126 and 127 name a method (IEEE 802.11-2020, 9.4.1.9).
    fileprivate var isRefusal: Bool {
        switch status {
        case nil, 0: false
        case 76, 77, 126, 127: algorithm != 3
        default: true
        }
    }
}
