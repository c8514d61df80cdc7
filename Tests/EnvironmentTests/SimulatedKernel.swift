import Netlink
import Platform
import TestSupport
import WiFi

@testable import Environment

/// What a driver tells and what it keeps to itself, table by table of the kernel's sources.
struct Driver: Hashable {
    /// GET_STATION reports `NL80211_STA_FLAG_AUTHORIZED`.
    var reportsFlag = true
    /// The dump of stations names the access point.
    var listsStations = true
    /// CONNECT carries the request's elements.
    var reportsRequest = true

    static let mac80211 = Driver()
    static let mwifiex = Driver(reportsFlag: false, reportsRequest: false)
    static let flagless = Driver(reportsFlag: false)
    static let listless = Driver(reportsFlag: false, listsStations: false)
}

/// The truth: what a kernel would answer.
struct SimulatedKernel {
    struct Association: Hashable {
        var accessPoint: AccessPoint
        var isAuthorized = false
    }

    struct Interface: Hashable {
        var name = "wlan0"
        /// `NL80211_IFTYPE_*`
        var type: UInt32 = 2
        var isUp = true
        /// `IF_OPER_*`
        var state: UInt8 = 2
        var mode: UInt8 = 1
        var driver = Driver.mac80211
        var association: Association?
        var isBlocked = false
        /// Other entries of the scan, such as a hidden network's beacon.
        var scan: [Signal] = []
        var peers: [MACAddress] = []
    }

    var interfaces: [Int32: Interface] = [3: Interface()]
    /// Further links, addresses and routes.
    var route: [Signal] = []
    /// The answer to the look-up of the way to the internet.
    var path: Signal?
    var neighbour: Signal?
    /// What daemons would say of a link; nobody is there to say something of those that are missing.
    var announcements: [Int32: LinkAnnouncements] = [:]

    func answer(_ query: Query) -> Observation {
        switch query {
        case .association(let index, let generation):
            .answer(
                .association(
                    index: index, generation: generation, AnswerAssembly.association(messages(of: index))))
        case .station(let index, let generation, let address):
            .answer(
                .station(
                    index: index, generation: generation,
                    AnswerAssembly.association(messages(of: index)).stations.first { $0.address == address }))
        case .accessPoint(let index, let bssid):
            .answer(.accessPoint(index: index, bssid: bssid, entry(of: bssid, on: index)))
        case .radio(let index, let generation):
            .answer(.radio(index: index, generation: generation, isBlocked: interfaces[index]?.isBlocked ?? false))
        case .path: .answer(.path(AnswerAssembly.path(routes([path]))))
        case .neighbour: .answer(.neighbour(AnswerAssembly.neighbour(routes(signals(for: query)))))
        case .routes(let index):
            .answer(.routes(index: index, AnswerAssembly.routes(routes(signals(for: query)))))
        case .announcements(let index, let generation):
            .answer(
                .announcements(
                    index: index, generation: generation,
                    announcements[index] ?? LinkAnnouncements(searchDomains: .file)))
        case .inventory(let cause): .inventory(inventory, cause)
        }
    }

    /// The messages of an answer, for those who record it.
    func signals(for query: Query) -> [Signal] {
        let indexes = interfaces.keys.sorted()
        return switch query {
        case .association(let index, _), .station(let index, _, _): association(of: index)
        case .accessPoint(let index, _): interfaces[index]?.scan ?? []
        case .radio: []
        case .path: [path].compactMap { $0 }
        case .neighbour(let address, let index):
            ([neighbour].compactMap { $0 } + route).filter { signal in
                guard case .neighbour(let known, _)? = try? RouteMessage(signal.message) else { return false }
                return known.address == address && known.interfaceIndex == index
            }
        case .routes(let index):
            route.filter { signal in
                guard case .route(let entry, _)? = try? RouteMessage(signal.message) else { return false }
                return entry.interfaceIndex == index && entry.table == RouteEntry.mainTable
            }
        case .announcements: []
        case .inventory:
            (indexes.map { link($0) } + route + [path, neighbour] + indexes.map { interface($0) }).compactMap { $0 }
                + indexes.flatMap { association(of: $0) }
        }
    }

    var inventory: Inventory {
        let names = interfaces.sorted { $0.key < $1.key }
        return AnswerAssembly.inventory(
            routes(names.map { link($0.key) } + route + [path, neighbour]),
            wireless: names.compactMap { messages(of: $0.key).first ?? wireless([interface($0.key)]).first }
                + names.flatMap { messages(of: $0.key) })
    }

    /// What was decoded once: building octets takes longer than all that is under test.
    private final class Memory {
        struct Key: Hashable {
            var index: Int32
            var interface: Interface
        }

        var messages: [Key: [NL80211Message]] = [:]
    }

    private let memory = Memory()

    private func messages(of index: Int32) -> [NL80211Message] {
        guard let interface = interfaces[index] else { return [] }
        let key = Memory.Key(index: index, interface: interface)
        if let known = memory.messages[key] { return known }
        let messages = wireless(association(of: index))
        memory.messages[key] = messages
        return messages
    }

    // MARK: The messages of answers

    func link(_ index: Int32) -> Signal? {
        interfaces[index].map { .link(index, name: $0.name, isUp: $0.isUp, state: $0.state, mode: $0.mode) }
    }

    private func interface(_ index: Int32) -> Signal? {
        interfaces[index].map { known in
            let accessPoint = known.association?.accessPoint
            return .interface(
                index, name: known.name, type: known.type,
                ssid: accessPoint.flatMap { $0.hasCountry ? $0.ssid : nil })
        }
    }

    func association(of index: Int32) -> [Signal] {
        guard let known = interfaces[index], known.type == 2 || known.type == 8 else { return [] }
        var signals = [interface(index)].compactMap { $0 } + known.scan
        signals += known.peers.map { .station($0, isAuthorized: true, on: index) }
        guard let association = known.association else { return signals }
        let accessPoint = association.accessPoint
        if known.driver.listsStations {
            let flag = known.driver.reportsFlag ? association.isAuthorized : nil
            signals.append(.station(accessPoint.bssid, isAuthorized: flag, signal: -40, on: index))
        }
        if accessPoint.links.isEmpty {
            signals.append(.scanEntry(accessPoint, on: index))
        } else {
            signals += accessPoint.links.keys.sorted().map { .scanEntry(accessPoint, link: $0, on: index) }
        }
        return signals
    }

    private func entry(of bssid: BSSID, on index: Int32) -> ScanEntry? {
        for case .scanEntry(let entry) in wireless(interfaces[index]?.scan ?? []) where entry.bssid == bssid {
            return entry
        }
        return nil
    }

    private func wireless(_ signals: [Signal?]) -> [NL80211Message] {
        signals.compactMap { signal in signal.flatMap { try? NL80211Message($0.message) } }
    }

    private func routes(_ signals: [Signal?]) -> [RouteMessage] {
        signals.compactMap { signal in signal.flatMap { try? RouteMessage($0.message) } }
    }
}
