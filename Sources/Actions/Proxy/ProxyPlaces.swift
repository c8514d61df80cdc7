/// The machine's places for a proxy, for root's helper.
@ActionActor
public final class MachineProxyPlaces: Places {
    private let root: String

    /// - Parameter root: of another tree than the machine's.
    public init(root: String = "") { self.root = root }

    public func place(_ name: PlaceName) -> (any Place)? {
        switch name {
        case .apt: APTPlace(root: root)
        case .environment: EnvironmentPlace(root: root)
        case .proxyFile: ProxyFilePlace(root: root)
        default: nil
        }
    }
}

/// The places for a proxy in the session that this process belongs to.
@ActionActor
public final class SessionProxyPlaces: Places {
    /// What dconf has to be told about the session.
    public nonisolated static let passed = [
        "HOME", "XDG_RUNTIME_DIR", "XDG_CONFIG_HOME", "XDG_DATA_DIRS", "DBUS_SESSION_BUS_ADDRESS", "DCONF_PROFILE",
    ]

    private let variables: [String: String]
    private let bus: Bus
    private let manager: ServiceManager

    /// - Parameters:
    ///   - variables: those of the session.
    ///   - bus: the user's.
    ///   - manager: the user's.
    public init(variables: [String: String], bus: Bus, manager: ServiceManager) {
        self.variables = variables
        self.bus = bus
        self.manager = manager
    }

    public func place(_ name: PlaceName) -> (any Place)? {
        switch name {
        case .gnome:
            return GNOMEPlace(
                variables: SessionProxyPlaces.passed.compactMap { name in variables[name].map { "\(name)=\($0)" } })
        case .kde:
            guard let home = variables["XDG_CONFIG_HOME"] ?? variables["HOME"].map({ "\($0)/.config" }) else {
                return nil
            }
            let directories = (variables["XDG_CONFIG_DIRS"] ?? "/etc/xdg").split(separator: ":").map(String.init)
            let desktops = (variables["XDG_CURRENT_DESKTOP"] ?? "").split(separator: ":")
            return KDEPlace(
                directory: home, systemDirectories: directories, isDesktop: desktops.contains("KDE"), bus: bus)
        case .userEnvironment: return UserEnvironmentPlace(manager)
        default: return nil
        }
    }
}
