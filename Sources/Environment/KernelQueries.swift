internal import Netlink
internal import Platform
internal import WiFi

/// Asks the kernel, on a thread of its own: some drivers ask their firmware and take seconds, and no event may wait
/// for that.
///
/// Everything inside happens on the thread of `loop`.
final class KernelQueries: @unchecked Sendable {
    /// An answer, and what it was made of, for a recorder.
    struct Result: Sendable {
        let query: Query
        var observation: Observation?
        var facts: [Recording.Fact] = []
        var error: NetlinkError?
    }

    private let loop: EventLoop
    private var generic: NetlinkRequester?
    private var route: NetlinkRequester?
    private var family: GenericNetlinkFamily?
    /// The messages of the answer that is being made.
    private var messages: [(bus: UInt16, message: NetlinkMessage)] = []

    init() throws(SystemError) {
        loop = try EventLoop()
        try loop.start()
    }

    deinit { loop.stop() }

    /// Answers `query` and hands the result to `reply`, on the queries' thread.
    func ask(_ query: Query, names: [Int32: String], _ reply: @escaping @Sendable (Result) -> Void) {
        loop.perform { [self] in reply(result(query, names)) }
    }

    /// Calls `reply` on the queries' thread when everything that was asked before has been answered.
    func whenAnswered(_ reply: @escaping @Sendable () -> Void) { loop.perform(reply) }

    /// Looks nl80211 up. On the caller's thread, and only before the first `ask`.
    func resolve() throws(NetlinkError) -> (family: GenericNetlinkFamily, message: NetlinkMessage) {
        let resolved = try GenericNetlinkFamily.resolve("nl80211", by: try genericRequester())
        family = resolved.family
        return resolved
    }

    /// The first reading of everything. On the caller's thread, and only before the first `ask`.
    func first() -> Result { result(.inventory(.overrun), [:], isFirst: true) }

    func use(_ family: GenericNetlinkFamily?) {
        loop.perform { [self] in self.family = family }
    }

    private func result(_ query: Query, _ names: [Int32: String], isFirst: Bool = false) -> Result {
        messages = []
        var result = Result(query: query)
        var isRadioBlocked = false
        do throws(NetlinkError) {
            switch query {
            case .association(let index, let generation):
                result.observation = .answer(
                    .association(
                        index: index, generation: generation, AnswerAssembly.association(try association(of: index))))
            case .station(let index, let generation, let address):
                let station = AnswerAssembly.association(try station(address, of: index)).stations.first
                result.observation = .answer(.station(index: index, generation: generation, station))
            case .accessPoint(let index, let bssid):
                let entry = try scanEntry(of: bssid, on: index)
                result.observation = .answer(.accessPoint(index: index, bssid: bssid, entry))
            case .radio(let index, let generation):
                isRadioBlocked = names[index].map { SysfsDevice.isRadioBlocked(named: $0) } ?? false
                result.observation = .answer(.radio(index: index, generation: generation, isBlocked: isRadioBlocked))
            case .path:
                result.observation = .answer(.path(AnswerAssembly.path(try path())))
            case .neighbour(let address, let index):
                result.observation = .answer(.neighbour(AnswerAssembly.neighbour(try neighbour(address, on: index))))
            case .routes(let index):
                result.observation = .answer(
                    .routes(index: index, AnswerAssembly.routes(try defaultRoutes(through: index))))
            // Daemons answer it, not the kernel.
            case .announcements: result.observation = .answer(.failed(query))
            case .inventory(let cause):
                let inventory = try inventory()
                for (index, facts) in inventory.devices { result.facts.append(.device(index: index, facts)) }
                result.observation = .inventory(inventory, isFirst ? nil : cause)
            }
        } catch {
            result.error = error
            result.observation = failure(query)
            result.facts = [.failure(query)]
            return result
        }
        result.facts.append(.answer(query, messages, isRadioBlocked: isRadioBlocked))
        return result
    }

    /// Nil where the question has to be asked again by whoever asked it.
    private func failure(_ query: Query) -> Observation? {
        switch query {
        case .association, .station, .accessPoint, .radio, .announcements: .answer(.failed(query))
        case .path, .neighbour, .routes, .inventory: nil
        }
    }

    // MARK: nl80211

    private func genericRequester() throws(NetlinkError) -> NetlinkRequester {
        if let generic { return generic }
        let requester = try NetlinkRequester(.generic)
        generic = requester
        return requester
    }

    /// - Parameter isKept: whether a message of the answer matters; scans list every network around.
    private func answers(
        to request: NetlinkRequest, where isKept: (NL80211Message) -> Bool = { _ in true }
    ) throws(NetlinkError) -> [NL80211Message] {
        var kept: [NL80211Message] = []
        for message in try genericRequester().answer(to: request) {
            // One message that cannot be read does not spoil the others.
            guard let decoded = try? NL80211Message(message), isKept(decoded) else { continue }
            messages.append((NetlinkSocket.Bus.generic.number, message))
            kept.append(decoded)
        }
        return kept
    }

    private func association(of index: Int32) throws(NetlinkError) -> [NL80211Message] {
        guard let family else { return [] }
        let kept = messages.count
        do throws(NetlinkError) {
            let interface = try answers(to: .wirelessInterface(index, family))
            let entries = try answers(to: .scanEntries(of: index, family)) { message in
                if case .scanEntry(let entry) = message { entry.isAssociated } else { false }
            }
            return try interface + entries + stations(of: index, entries, family)
        } catch {
            // Half an answer is none.
            messages.removeSubrange(kept...)
            // ENODEV: the interface went, and its removal is on its way.
            guard case .refused(_, 19, _) = error else { throw error }
            return []
        }
    }

    private func stations(
        of index: Int32, _ entries: [NL80211Message], _ family: GenericNetlinkFamily
    ) throws(NetlinkError) -> [NL80211Message] {
        do {
            return try answers(to: .stations(of: index, family))
        } catch .refused(_, 95, _) {
            // EOPNOTSUPP: the driver has no list, but may know the access point.
            for case .scanEntry(let entry) in entries {
                do {
                    return try answers(to: .station(entry.peer, of: index, family))
                } catch .refused {
                    continue
                }
            }
            return []
        }
    }

    private func station(_ address: MACAddress, of index: Int32) throws(NetlinkError) -> [NL80211Message] {
        guard let family else { return [] }
        do {
            return try answers(to: .station(address, of: index, family))
        } catch .refused {
            return []  // ENOENT: it left; ENODEV: the interface did.
        }
    }

    private func scanEntry(of bssid: BSSID, on index: Int32) throws(NetlinkError) -> ScanEntry? {
        guard let family else { return nil }
        let entries = try answers(to: .scanEntries(of: index, family)) { message in
            if case .scanEntry(let entry) = message { entry.bssid == bssid } else { false }
        }
        for case .scanEntry(let entry) in entries { return entry }
        return nil
    }

    // MARK: rtnetlink

    private func routeAnswers(
        to request: NetlinkRequest, where isKept: (RouteMessage) -> Bool = { _ in true }
    ) throws(NetlinkError) -> [RouteMessage] {
        let requester: NetlinkRequester
        if let route {
            requester = route
        } else {
            requester = try NetlinkRequester(.route)
            route = requester
        }
        var kept: [RouteMessage] = []
        for message in try requester.answer(to: request) {
            guard let decoded = try? RouteMessage(message), isKept(decoded) else { continue }
            messages.append((NetlinkSocket.Bus.route.number, message))
            kept.append(decoded)
        }
        return kept
    }

    /// Addresses of networks that everybody can reach; only the way to them is asked for, nothing is sent.
    private static let destinations = ["1.1.1.1", "2606:4700::1111"].compactMap { IPAddress($0) }

    private func path() throws(NetlinkError) -> [RouteMessage] {
        for destination in KernelQueries.destinations {
            do {
                let answer = try routeAnswers(to: RouteEntry.lookUp(destination))
                if case .route = AnswerAssembly.path(answer) { return answer }
            } catch .refused {
                continue  // ENETUNREACH, EHOSTUNREACH, EACCES, EINVAL: routes that say no.
            }
        }
        return []
    }

    private func neighbour(_ address: IPAddress, on index: Int32) throws(NetlinkError) -> [RouteMessage] {
        do {
            return try routeAnswers(to: Neighbour.lookUp(address, on: index))
        } catch .refused {
            // ENOENT: nothing was sent to it yet. The neighbour socket tells as soon as it is known.
            return []
        }
    }

    private func defaultRoutes(through index: Int32) throws(NetlinkError) -> [RouteMessage] {
        var routes: [RouteMessage] = []
        for family: IPAddress.Family in [.v4, .v6] {
            do {
                routes += try routeAnswers(to: RouteEntry.all(through: index, family)) { $0.isDefaultRoute }
            } catch .refused {
                continue  // ENODEV: the link went; ENOENT: nobody has used the table yet.
            }
        }
        return routes
    }

    // MARK: Everything

    /// More gateways are not asked about at once; each has to answer before anything is known.
    private static let neighbourLimit = 16

    private func inventory() throws(NetlinkError) -> Inventory {
        var route = try routeAnswers(to: LinkMessage.all)
        route += try routeAnswers(to: AddressMessage.all)
        // Those to single places say nothing of where we are.
        let routes = try routeAnswers(to: RouteEntry.all) { $0.isDefaultRoute }
        let way = try path()
        route += routes + way
        var gateways: [(IPAddress, Int32)] = []
        for case .route(let entry, false) in way + routes where entry.isDefault || entry.destinationLength > 1 {
            guard let gateway = entry.gateway, let index = entry.interfaceIndex,
                !gateways.contains(where: { $0 == (gateway, index) })
            else { continue }
            gateways.append((gateway, index))
        }
        for (gateway, index) in gateways.prefix(KernelQueries.neighbourLimit) {
            route += try neighbour(gateway, on: index)
        }
        var wireless: [NL80211Message] = []
        if let family {
            wireless = try answers(to: .wirelessInterfaces(family))
            for case .interface(let interface) in wireless where interface.kind.joinsNetworks {
                // One driver that does not answer keeps nobody from knowing the rest.
                wireless += (try? association(of: interface.index)) ?? []
            }
        }
        var inventory = AnswerAssembly.inventory(route, wireless: wireless)
        for link in inventory.links {
            inventory.devices[link.index] = link.name.flatMap { SysfsDevice.facts(named: $0, index: link.index) }
        }
        return inventory
    }
}

extension RouteMessage {
    /// To the internet, or to one of its halves.
    fileprivate var isDefaultRoute: Bool {
        if case .route(let entry, false) = self { entry.destinationLength <= 1 } else { false }
    }
}

extension NetlinkSocket.Bus {
    /// The protocol's number in captures.
    var number: UInt16 { UInt16(rawValue) }
}
