public import Analytics
internal import Environment
internal import WiFi

/// Where the machine is, as an event of any program may carry it along.
public struct EnvironmentLabels: Hashable, Sendable {
    /// What stands for the name of the Wi-Fi network; nil off Wi-Fi, and where nothing may.
    public var wifiEnvironment: String?
    public var networkType: NetworkType

    public init(wifiEnvironment: String?, networkType: NetworkType) {
        self.wifiEnvironment = wifiEnvironment
        self.networkType = networkType
    }

    public static let wifiEnvironmentKey = "wifi_environment"
    public static let networkTypeKey = "network_type"
}

extension NetworkEnvironment {
    /// The interface of the Wi-Fi network that the machine has joined: of several, the one with the way to the internet,
    /// else the one with the lowest index.
    var joinedInterface: Interface? {
        if let primaryRoute, let interface = interfaces[primaryRoute.interfaceIndex], interface.wifi?.network != nil {
            return interface
        }
        return interfaces.values.filter { $0.wifi?.network != nil }.min { $0.index < $1.index }
    }

    /// By what the way to the internet leads; where there is none, by what there is a link.
    var networkType: NetworkType {
        if let primaryRoute, let interface = interfaces[primaryRoute.interfaceIndex] {
            let type = NetworkType(interface.kind)
            // A bridge or a bond says nothing; what is below it does.
            if type != .none { return type }
        }
        let types = Set(interfaces.values.filter { $0.isPhysical && $0.isConnected }.map { NetworkType($0.kind) })
        return [.wifi, .ethernet, .cellular].first { types.contains($0) } ?? .none
    }
}
