import Environment
import Netlink
import Platform
import WiFi

/// Builds environments out of links, for tables of places.
enum Place {
    /// An authorised Wi-Fi link with an address.
    static func wifi(
        _ name: String, _ security: Security = .open, gateway: String? = nil, domains: [String]? = [],
        certain: Bool? = nil
    ) -> Interface {
        var link = Interface(index: 3, name: "wlan0", kind: .wifi)
        link.wifi = .joined(RulesTests.network(name, security))
        return link.with(gateway, domains, certain)
    }

    /// - Parameter certain: whether 802.1X demanded an authority and the server's name; nil where there is none.
    static func wire(
        _ name: String = "enp0s1", gateway: String? = nil, domains: [String]? = [], certain: Bool? = nil
    ) -> Interface {
        var link = Interface(index: 4, name: name, kind: .ethernet)
        link.isAdministrativelyUp = true
        link.operationalState = .up
        return link.with(gateway, domains, certain)
    }

    static func environment(_ links: Interface...) -> NetworkEnvironment {
        var environment = NetworkEnvironment()
        for link in links { environment.interfaces[link.index] = link }
        environment.connectivity = links.isEmpty ? .none : .internet
        environment.isMetered = false
        environment.primaryRoute = links.first.map { PrimaryRoute(interfaceIndex: $0.index, gateway: nil) }
        return environment
    }

    /// Some day at this hour of local time.
    static func hour(_ hour: Int) -> Timestamp {
        let hours = (0..<24).map { Bench.wall + $0 * 3_600_000_000 }
        return Timestamp(wall: hours.first { CivilTime(local: $0).hour == hour } ?? Bench.wall, boottime: 1_000_000)
    }
}

extension Interface {
    fileprivate func with(_ gateway: String?, _ domains: [String]?, _ certain: Bool?) -> Interface {
        var link = self
        if let address = IPAddress("192.0.2.7"), let router = IPAddress("192.0.2.1") {
            link.addresses = [InterfaceAddress(address: address, prefixLength: 24)]
            link.evidence.gateways = [Gateway(address: router, hardwareAddress: gateway.flatMap { MACAddress($0) })]
        }
        link.evidence.searchDomains = domains
        link.evidence.authentication = certain.map { EAPDemands(certificationAuthority: true, serverName: $0) }
        return link
    }
}
