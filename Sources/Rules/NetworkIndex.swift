internal import Environment
internal import Netlink
internal import WiFi

/// Which networks a link could be on, found by what the link has: judging costs the same with ten networks and with a
/// hundred thousand.
///
/// Each network is listed under one kind of its evidence, under each entry of it.
struct NetworkIndex: Sendable {
    private enum Key: Hashable {
        case ssid(SSID)
        /// The octets before a pattern's first wildcard.
        case namePrefix([UInt8])
        case bssid(MACAddressPrefix)
        case gateway(MACAddress)
        case subnet(IPSubnet)
        case domain(String)
        case interface([UInt8])
        /// Nothing to look it up by.
        case any
    }

    private var positions: [Key: [Int]] = [:]
    private var namePrefixLengths: Set<Int> = []
    private var bssidLengths: Set<Int> = []
    private var subnetLengths: Set<SubnetLength> = []
    /// Those that could be on any link as long as that kind of evidence is not known of it.
    private var byGateway: [Int] = []
    private var bySubnet: [Int] = []
    private var byDomain: [Int] = []

    private struct SubnetLength: Hashable {
        let family: IPAddress.Family
        let length: Int
    }

    init(_ networks: [NetworkDefinition]) {
        positions.reserveCapacity(networks.count)
        for (position, network) in networks.enumerated() { add(network, position) }
    }

    private mutating func add(_ network: NetworkDefinition, _ position: Int) {
        func add(_ key: Key) {
            // Twice the same entry is one.
            if positions[key]?.last != position { positions[key, default: []].append(position) }
        }
        if network.hasNames {
            for entry in network.ssids { add(.ssid(entry.value)) }
            for entry in network.ssidPatterns {
                let prefix = entry.value.literalPrefix
                namePrefixLengths.insert(prefix.count)
                add(.namePrefix(prefix))
            }
        } else if !network.bssids.isEmpty {
            for entry in network.bssids {
                bssidLengths.insert(entry.value.length)
                add(.bssid(entry.value))
            }
        } else if !network.gateways.isEmpty {
            for entry in network.gateways { add(.gateway(entry.value)) }
            byGateway.append(position)
        } else if !network.subnets.isEmpty {
            for entry in network.subnets {
                subnetLengths.insert(SubnetLength(family: entry.value.family, length: entry.value.length))
                add(.subnet(entry.value))
            }
            bySubnet.append(position)
        } else if !network.domains.isEmpty {
            for entry in network.domains { add(.domain(entry.value)) }
            byDomain.append(position)
        } else if !network.interfaces.isEmpty, network.interfaces.allSatisfy(\.value.isLiteral) {
            for entry in network.interfaces { add(.interface(entry.value.literalPrefix)) }
        } else {
            add(.any)
        }
    }

    /// In the order of the files.
    func candidates(for link: Interface, in ruleSet: RuleSet) -> [Int] {
        var found = positions[.any] ?? []
        if let wifi = link.wifi?.network {
            if let ssid = wifi.ssid {
                found += positions[.ssid(ssid)] ?? []
                for length in namePrefixLengths where length <= ssid.octets.count {
                    found += positions[.namePrefix(Array(ssid.octets.prefix(length)))] ?? []
                }
            }
            if let bssid = wifi.bssid {
                for length in bssidLengths { found += positions[.bssid(MACAddressPrefix(bssid, length: length))] ?? [] }
            }
        }
        let gateways = link.evidence.gateways.compactMap(\.hardwareAddress)
        if gateways.isEmpty { found += byGateway }
        for gateway in gateways { found += positions[.gateway(gateway)] ?? [] }

        let addresses = link.addresses.map(\.address).filter { !$0.isLinkLocal }
        if addresses.isEmpty { found += bySubnet }
        for address in addresses {
            for length in subnetLengths where length.family == address.family {
                found += positions[.subnet(IPSubnet(address, length: length.length))] ?? []
            }
        }
        if let domains = link.evidence.searchDomains {
            for domain in domains.compactMap({ Domain.normalized($0) }) {
                for name in Domain.withAncestors(of: domain) { found += positions[.domain(name)] ?? [] }
            }
        } else {
            found += byDomain
        }
        found += positions[.interface(Array(link.name.utf8))] ?? []
        guard found.count > 1 else { return found }
        return Set(found).sorted()
    }
}
