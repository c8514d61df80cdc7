/// The machine's places, for root's helper.
@ActionActor
public final class SystemPlaces: Places {
    private static let nft = "/usr/sbin/nft"

    private let bus: Bus
    private let manager: ServiceManager
    private let firewall: Firewalld
    private let others: (any Places)?

    /// - Parameter others: has the places that are files.
    public init(_ bus: Bus, _ manager: ServiceManager, others: (any Places)? = nil) {
        self.bus = bus
        self.manager = manager
        self.others = others
        firewall = Firewalld(bus)
    }

    /// Called when somebody else changed what a place holds: NetworkManager sets the zone of an interface anew each time
    /// it activates a connection. At most `Firewalld.lossLimit` times a minute for one place.
    public var onLoss: (PlaceName) -> Void = { _ in } {
        didSet {
            let onLoss = onLoss
            firewall.onLoss = { onLoss(.zone(interface: $0)) }
        }
    }

    public func place(_ name: PlaceName) -> (any Place)? {
        switch name {
        case .unit(let unit): UnitPlace(unit, of: manager)
        case .networkManager(let connection): NetworkManagerPlace(connection, on: bus)
        case .zone(let interface): ZonePlace(interface, of: firewall)
        case .nftSet(let family, let table, let name, let element):
            SetPlace((family, table, name), element, program: SystemPlaces.nft)
        default: others?.place(name)
        }
    }
}

/// The places of the user whose session this is.
@ActionActor
public final class SessionPlaces: Places {
    private let manager: ServiceManager
    private let others: (any Places)?

    /// - Parameters:
    ///   - manager: the user's.
    ///   - others: has the places of the desktop.
    public init(_ manager: ServiceManager, others: (any Places)? = nil) {
        self.manager = manager
        self.others = others
    }

    public func place(_ name: PlaceName) -> (any Place)? {
        if case .userUnit(let unit) = name { return UnitPlace(unit, of: manager) }
        return others?.place(name)
    }
}
