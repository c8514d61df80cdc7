internal import Environment
internal import JSON
internal import Netlink
internal import WiFi

/// Writes the values of the environment with the names of the schema.
enum Snapshot {
    /// Lists are cut, so that a line keeps to its limit whatever a network announces.
    private static let listLimit = 12
    /// What one interface takes at most, with room for the end of the line; a physical one has evidence.
    private static let interfaceLength = 768
    private static let physicalInterfaceLength = 2_048
    /// Octets after which no further domain of a link's is written into a snapshot.
    private static let shortSearchLength = 256
    private static let searchLength = 1_024

    /// - Parameter limit: octets that the line may have in all.
    static func write(_ environment: NetworkEnvironment, to writer: inout JSONWriter, within limit: Int) {
        writer.key("route")
        write(environment.primaryRoute, to: &writer)
        writer.object("dns") { write(environment.dns, to: &$0) }
        writer.field("connectivity", environment.connectivity.rawValue)
        writer.field("metered", environment.isMetered)
        let interfaces = ordered(environment)
        var written = 0
        writer.array("interfaces") { writer in
            for interface in interfaces {
                let length = interface.isPhysical ? physicalInterfaceLength : interfaceLength
                guard writer.octets.count + length < limit else { continue }
                write(interface, to: &writer)
                written += 1
            }
        }
        if written < interfaces.count { writer.field("interfaces_omitted", interfaces.count - written) }
    }

    static func ordered(_ environment: NetworkEnvironment) -> [Interface] {
        environment.interfaces.values.sorted { left, right in
            // What places the machine comes first.
            (left.isPhysical ? 0 : 1, left.index) < (right.isPhysical ? 0 : 1, right.index)
        }
    }

    private static func write(_ interface: Interface, to writer: inout JSONWriter) {
        writer.object { writer in
            writer.field("interface", interface.name)
            writer.field("ifindex", interface.index)
            writer.field("kind", interface.kind.rawValue)
            writer.field("usable", interface.isUsable)
            writer.array("addresses") { write(interface.addresses.sorted(), to: &$0, limit: 3) }
            if interface.isPhysical {
                writer.object("evidence") { write(interface.evidence, to: &$0, within: shortSearchLength) }
            }
            guard let wifi = interface.wifi else { return }
            writer.object("wifi") { writer in
                switch wifi {
                case .idle: writer.field("state", "idle")
                case .unknown: writer.field("state", "unknown")
                case .associating(let network):
                    writer.field("state", "associating")
                    writeFields(of: network, to: &writer)
                case .joined(let network):
                    writer.field("state", "joined")
                    writeFields(of: network, to: &writer)
                }
            }
        }
    }

    static func writeFields(of network: WiFiNetwork, to writer: inout JSONWriter) {
        writer.field("ssid", network.ssid?.text)
        if let ssid = network.ssid {
            writer.field("ssid_hex", hexadecimal: ssid.octets)
        } else {
            writer.field("ssid_hex", nil as String?)
        }
        writer.field("bssid", network.bssid?.description)
        if let frequency = network.frequency {
            writer.field("frequency_mhz", frequency)
            if let channel = Channel(frequency: frequency) { writer.field("channel", channel.number) }
        }
        writer.field("security", network.security.rawValue)
        if let akm = network.akm { writer.field("akm", akm.description) }
        if let signal = network.signal { writer.field("signal_dbm", signal) }
        guard !network.links.isEmpty else { return }
        writer.array("links") { writer in
            for (link, bssid) in network.links.sorted(by: { $0.key < $1.key }) {
                writer.object { writer in
                    writer.field("link", link)
                    writer.field("bssid", bssid.description)
                }
            }
        }
    }

    static func write(_ route: PrimaryRoute?, to writer: inout JSONWriter) {
        guard let route else {
            writer.null()
            return
        }
        writer.object { writer in
            writer.field("ifindex", route.interfaceIndex)
            writer.field("gateway", route.gateway?.description)
            writer.field("gateway_mac", route.gatewayMAC?.description)
        }
    }

    static func write(_ addresses: [InterfaceAddress], to writer: inout JSONWriter, limit: Int = listLimit) {
        for address in addresses.prefix(limit) { writer.string("\(address.address)/\(address.prefixLength)") }
    }

    /// - Parameter length: octets after which no further domain is written.
    static func write(_ evidence: LinkEvidence, to writer: inout JSONWriter, within length: Int = searchLength) {
        writer.array("gateways") { writer in
            for gateway in evidence.gateways.prefix(4) {
                writer.object { writer in
                    writer.field("address", gateway.address.description)
                    writer.field("mac", gateway.hardwareAddress?.description)
                }
            }
        }
        writer.key("search")
        if let domains = evidence.searchDomains {
            writer.array { write(domains, to: &$0, within: length) }
        } else {
            writer.null()
        }
        writer.key("authentication")
        if let demands = evidence.authentication {
            writer.object { writer in
                writer.field("certification_authority", demands.certificationAuthority)
                writer.field("server_name", demands.serverName)
            }
        } else {
            writer.null()
        }
    }

    private static func write(_ domains: [String], to writer: inout JSONWriter, within length: Int) {
        let limit = writer.octets.count + length
        // A name has at most 253 octets, RFC 1035; what is longer is none.
        for domain in domains where domain.utf8.count <= 253 && writer.octets.count < limit {
            writer.string(domain.clipped(to: 512))
        }
    }

    static func write(_ configuration: DNSConfiguration, to writer: inout JSONWriter) {
        writer.array("servers") { writer in
            for server in configuration.servers.prefix(listLimit) { writer.string(server.description) }
        }
        writer.array("search") { write(configuration.searchDomains, to: &$0, within: searchLength) }
    }
}
