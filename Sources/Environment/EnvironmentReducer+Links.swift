internal import Netlink
internal import Platform
internal import WiFi

/// What rtnetlink says of links, addresses, routes and neighbours, and what follows from that: the way to the internet,
/// how far packets get, evidence.
extension EnvironmentReducer {
    mutating func reduce(_ message: RouteMessage, _ time: Timestamp, _ reduction: inout Reduction) {
        switch message {
        case .link(let link): update(link, time, &reduction)
        case .linkRemoved(let index): remove(index, time, &reduction)
        case .address(let address, let isRemoved): update(address, isRemoved: isRemoved, time, &reduction)
        case .route(let route, let isRemoved):
            guard concernsInternet(route) else { break }
            if isRemoved { routes.remove(route) } else { add(route) }
            evidence.routesChanged()
            reduction.queries.append(.path)
        case .rulesChanged: reduction.queries.append(.path)
        case .neighbour(let neighbour, let isRemoved):
            if !isRemoved { update(neighbour, time, &reduction) }
        }
    }

    /// The halves of the internet with which VPNs cover the default route count as well, and routes that say no
    /// (blackhole, unreachable, prohibit, throw).
    func concernsInternet(_ route: RouteEntry) -> Bool {
        (route.kind == 1 || (6...9).contains(route.kind)) && route.destinationLength <= 1 && route.flags & 0x200 == 0
    }

    /// Of a route that is replaced the kernel says no word.
    mutating func add(_ route: RouteEntry) {
        if route.family == .v4 {
            routes = routes.filter { old in
                old.family != .v4 || old.table != route.table || old.priority != route.priority
                    || old.destinationLength != route.destinationLength
            }
        }
        routes.insert(route)
    }

    func kind(of link: LinkMessage) -> LinkKind {
        stations[link.index] != nil || environment.interfaces[link.index]?.kind == .wifi
            ? .wifi : LinkKind(link, device: devices[link.index])
    }

    mutating func update(
        _ message: LinkMessage, isInitial: Bool = false, _ time: Timestamp, _ reduction: inout Reduction
    ) {
        let index = message.index
        departed.remove(index)
        // Some messages carry only flags: what they leave out stays.
        if var known = links[index] {
            known.flags = message.flags
            known.kind = message.kind ?? known.kind
            links[index] = known
        } else {
            links[index] = message
        }
        let kind: LinkKind = links[index].map { self.kind(of: $0) } ?? .unknown
        let old = environment.interfaces[index] ?? Interface(index: index, name: message.name ?? "", kind: kind)
        var new = old
        new.kind = kind
        new.name = message.name ?? old.name
        new.isAdministrativelyUp = message.isUp
        if let state = message.operationalState { new.operationalState = OperationalState(rawValue: state) ?? .unknown }
        if let mode = message.linkMode { new.isDormantByDefault = mode == 1 }
        new.hardwareAddress = message.hardwareAddress ?? old.hardwareAddress
        environment.interfaces[index] = new
        guard !isInitial else { return }
        if new.isUsable != old.isUsable, new.kind != .loopback {
            reduction.changes.append(
                EnvironmentChange(
                    time: time, interface: new.reference, kind: new.isUsable ? .linkUp : .linkDown))
        }
        // The routes of a link that is set down go without a word.
        if old.isAdministrativelyUp, !new.isAdministrativelyUp { routes = routes.filter { $0.interfaceIndex != index } }
        if old.isAdministrativelyUp != new.isAdministrativelyUp || old.kind != new.kind {
            evidence.routesChanged()
        } else {
            evidence.touch(index)
        }
        if new.isUsable != old.isUsable {
            // Of a station its associations tell: most roams take the link down for a moment.
            if new.isUsable { evidence.ask(index) } else if stations[index] == nil { left(index) }
        }
        if new.isUsable != old.isUsable || new.isAdministrativelyUp != old.isAdministrativelyUp {
            reduction.queries.append(.path)
        }
        turn(index, time, &reduction) { $0.linkChanged(from: old, &$1) }
        updateConnectivity(time, &reduction)
    }

    mutating func remove(_ index: Int32, _ time: Timestamp, _ reduction: inout Reduction) {
        if stations[index] != nil { departed.insert(index) }
        end(index, .interfaceRemoved, time, &reduction)
        devices[index] = nil
        links[index] = nil
        routes = routes.filter { $0.interfaceIndex != index }
        evidence.removed(index)
        _ = connectivity.left(index)
        guard let interface = environment.interfaces.removeValue(forKey: index) else { return }
        if interface.isUsable, interface.kind != .loopback, hasInventory {
            reduction.changes.append(EnvironmentChange(time: time, interface: interface.reference, kind: .linkDown))
        }
        if environment.primaryRoute?.interfaceIndex == index { reduction.queries.append(.path) }
        updateConnectivity(time, &reduction)
    }

    mutating func update(
        _ message: AddressMessage, isRemoved: Bool, _ time: Timestamp, _ reduction: inout Reduction
    ) {
        guard let address = message.address, let interface = environment.interfaces[message.index] else { return }
        let entry = InterfaceAddress(address: address, prefixLength: message.prefixLength)
        let isGone = isRemoved || message.isTentative
        let isNews =
            isGone
            ? environment.interfaces[message.index]?.addresses.remove(entry) != nil
            : environment.interfaces[message.index]?.addresses.insert(entry).inserted ?? false
        guard isNews else { return }
        // So do the routes that an address brought.
        if isGone, environment.primaryRoute?.interfaceIndex == message.index { reduction.queries.append(.path) }
        if isGone, routes.contains(where: { $0.interfaceIndex == message.index }) {
            reduction.queries.append(.routes(index: message.index))
        }
        // Whoever brought the address may have heard more of the network.
        if !isGone { evidence.ask(message.index) }
        if interface.kind != .loopback {
            reduction.changes.append(
                EnvironmentChange(
                    time: time, interface: interface.reference,
                    kind: .addressChanged(added: isGone ? [] : [entry], removed: isGone ? [entry] : [])))
        }
        updateConnectivity(time, &reduction)
    }

    mutating func update(_ neighbour: Neighbour, _ time: Timestamp, _ reduction: inout Reduction) {
        evidence.learn(neighbour)
        guard var route = environment.primaryRoute, neighbour.isValid,
            neighbour.interfaceIndex == route.interfaceIndex, neighbour.address == route.gateway,
            neighbour.hardwareAddress != route.gatewayMAC
        else { return }
        route.gatewayMAC = neighbour.hardwareAddress
        environment.primaryRoute = route
        publish(.routeChanged(route), time, &reduction)
    }

    mutating func setPrimaryRoute(_ route: RouteEntry?, _ time: Timestamp, _ reduction: inout Reduction) {
        var new = route.flatMap { route in
            route.interfaceIndex.map { PrimaryRoute(interfaceIndex: $0, gateway: route.gateway) }
        }
        if let old = environment.primaryRoute, old.interfaceIndex == new?.interfaceIndex, old.gateway == new?.gateway {
            new?.gatewayMAC = old.gatewayMAC
        }
        guard new != environment.primaryRoute else { return }
        environment.primaryRoute = new
        evidence.touchAll()
        // Through a VPN it is still the link below that leads there.
        if let link = new?.interfaceIndex, environment.interfaces[link]?.isPhysical == true,
            connectivity.follow(link)
        {
            evidence.ask(link)
            updateConnectivity(time, &reduction)
        }
        if let new, let gateway = new.gateway {
            reduction.queries.append(.neighbour(gateway, index: new.interfaceIndex))
        }
        publish(.routeChanged(new), time, &reduction)
    }

    mutating func updateConnectivity(_ time: Timestamp, _ reduction: inout Reduction) {
        let isConnected = environment.interfaces.values.contains { interface in
            interface.isPhysical && interface.isConnected && interface.addresses.contains { !$0.address.isLinkLocal }
        }
        let new = connectivity.judge(isConnected: isConnected)
        guard new != environment.connectivity else { return }
        environment.connectivity = new
        publish(.connectivityChanged(new), time, &reduction)
    }

    /// What has changed of the evidence, and the questions that are open.
    mutating func updateEvidence(_ time: Timestamp, _ reduction: inout Reduction) {
        guard evidence.isStale, hasInventory else { return }
        let stations = stations
        for (index, new) in evidence.refresh(environment, routes, { stations[$0]?.network }, &reduction.queries) {
            environment.interfaces[index]?.evidence = new
            guard let interface = environment.interfaces[index]?.reference else { continue }
            reduction.changes.append(
                EnvironmentChange(time: time, interface: interface, kind: .evidenceChanged(new)))
        }
    }

    func publish(_ kind: EnvironmentChange.Kind, _ time: Timestamp, _ reduction: inout Reduction) {
        guard hasInventory else { return }
        let interface: InterfaceReference? =
            if case .routeChanged(let route?) = kind {
                environment.interfaces[route.interfaceIndex]?.reference
            } else {
                nil
            }
        reduction.changes.append(EnvironmentChange(time: time, interface: interface, kind: kind))
    }
}
