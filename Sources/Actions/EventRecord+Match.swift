public import ActionProtocol
internal import Environment
internal import Netlink
public import Rules
internal import WiFi

extension EventRecord {
    /// - Parameter network: whose first link is told; nil where no place is known.
    public init(_ event: String, on network: NetworkMatch?) {
        self.init(event: event)
        guard let network else { return }
        self.network = network.name
        assurance = network.assurance.description
        // The kernel lets names be odder than any that is told.
        links = network.links.map(\.interfaceName).filter(EventRecord.isInterface)
        guard let link = network.links.first else { return }
        interface = links.first == link.interfaceName ? link.interfaceName : nil
        interfaceIndex = link.interfaceIndex
        ssid = link.wifi?.ssid?.octets
        bssid = link.wifi?.bssid?.description
        security = link.wifi?.security.rawValue
    }
}
