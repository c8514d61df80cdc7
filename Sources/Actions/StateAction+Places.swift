public import Rules

extension StateAction {
    /// Which places it is put into, and what they hold then, in the order in which that is done.
    ///
    /// - Parameter links: the interfaces that the rule is about.
    /// - Throws: where a value could be taken for something else by who reads the place.
    public func wishes(on links: [String]) throws(PlaceError) -> [(place: PlaceName, settings: Settings)] {
        switch self {
        case .proxy(let proxy): try proxy.wishes()
        case .vpn(let vpn):
            switch vpn.connection {
            case .networkManager(let name): [(.networkManager(name), ["state": .value(vpn.isUp ? "up" : "down")])]
            case .wgQuick(let name): [(.unit("wg-quick@\(name).service"), Self.active(vpn.isUp))]
            case .unit(let name): [(.unit(name), Self.active(vpn.isUp))]
            }
        case .unit(let unit):
            [(unit.scope == .user ? .userUnit(unit.name) : .unit(unit.name), Self.active(unit.isRunning))]
        case .firewall(.zone(let zone)): links.map { (.zone(interface: $0), ["zone": .value(zone)]) }
        case .firewall(.set(let family, let table, let name, let element)):
            (element.map { [$0] } ?? links).map { element in
                (
                    .nftSet(family: family, table: table, name: name, element: element),
                    ["element": .value("present")]
                )
            }
        // Nobody's place: whoever asks is answered from what holds.
        case .pam: []
        }
    }

    private static func active(_ isActive: Bool) -> Settings { ["active": .value(isActive ? "yes" : "no")] }
}
