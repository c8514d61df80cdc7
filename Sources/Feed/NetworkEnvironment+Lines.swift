internal import Environment
internal import JSON
internal import Netlink
internal import WiFi

/// The reverse of `Snapshot` and of the encoder. What a line does not say stays; what it says wrongly is left out.
extension NetworkEnvironment {
    init(snapshot value: JSONValue) {
        self.init()
        for line in value["interfaces"]?.array ?? [] {
            guard let index = line.interfaceIndex else { continue }
            let kind = line["kind"]?.string.flatMap { LinkKind(rawValue: $0) } ?? .unknown
            var interface = Interface(index: index, name: line["interface"]?.string ?? "", kind: kind)
            interface.setUsable(line["usable"]?.bool ?? false)
            interface.addresses = Set(line["addresses"].addresses)
            if let wifi = line["wifi"] {
                interface.wifi =
                    switch wifi["state"]?.string {
                    case "joined": WiFiNetwork(wifi).map { .joined($0) } ?? .idle
                    case "associating": WiFiNetwork(wifi).map { .associating($0) } ?? .idle
                    case "unknown": .unknown
                    default: .idle
                    }
            }
            if let evidence = line["evidence"] { interface.evidence = LinkEvidence(evidence) }
            interfaces[index] = interface
        }
        primaryRoute = value["route"].flatMap { PrimaryRoute($0) }
        dns = DNSConfiguration(value["dns"])
        connectivity = value["connectivity"]?.string.flatMap { Connectivity(rawValue: $0) } ?? .none
        isMetered = value["metered"]?.bool
    }

    /// Takes in what a line tells that has happened.
    mutating func apply(_ value: JSONValue) {
        let index = value.interfaceIndex
        if let index, let name = value["interface"]?.string { interfaces[index]?.name = name }
        switch value["type"]?.string {
        case "wifi.associating": setWiFi(value, index) { .associating($0) }
        case "wifi.joined", "wifi.roamed": setWiFi(value, index) { .joined($0) }
        case "wifi.left", "wifi.join_failed": setWiFi(value, index) { _ in .idle }
        case "wifi.channel_changed":
            guard let index, let state = interfaces[index]?.wifi else { return }
            setWiFi(value, index) { network in
                switch state {
                case .joined: .joined(network)
                case .associating: .associating(network)
                case .idle, .unknown: state
                }
            }
        case "link.up", "link.down":
            guard let index else { return }
            let kind = value["kind"]?.string.flatMap { LinkKind(rawValue: $0) }
            addInterface(value, index, kind ?? .unknown)
            if let kind { interfaces[index]?.kind = kind }
            interfaces[index]?.setUsable(value["type"]?.string == "link.up")
        case "address.changed":
            guard let index else { return }
            addInterface(value, index, .unknown)
            interfaces[index]?.addresses.subtract(value["address"]?["removed"].addresses ?? [])
            interfaces[index]?.addresses.formUnion(value["address"]?["added"].addresses ?? [])
        case "route.changed": primaryRoute = value["route"].flatMap { PrimaryRoute($0) }
        case "dns.changed": dns = DNSConfiguration(value["dns"])
        case "connectivity.changed":
            connectivity = value["connectivity"]?.string.flatMap { Connectivity(rawValue: $0) } ?? connectivity
        case "evidence.changed":
            if let metered = value["metered"] { isMetered = metered.bool }
            if let evidence = value["evidence"], let index {
                addInterface(value, index, .unknown)
                interfaces[index]?.evidence = LinkEvidence(evidence)
            }
        case "agent.suspended": isSuspended = true
        case "agent.resumed": isSuspended = false
        default: break
        }
    }

    private mutating func addInterface(_ value: JSONValue, _ index: Int32, _ kind: LinkKind) {
        guard interfaces[index] == nil else { return }
        interfaces[index] = Interface(index: index, name: value["interface"]?.string ?? "", kind: kind)
    }

    private mutating func setWiFi(_ value: JSONValue, _ index: Int32?, _ state: (WiFiNetwork) -> WiFiState) {
        guard let index, let network = value["wifi"].flatMap({ WiFiNetwork($0) }) else { return }
        addInterface(value, index, .wifi)
        interfaces[index]?.kind = .wifi
        interfaces[index]?.wifi = state(network)
    }
}

extension JSONValue {
    var interfaceIndex: Int32? {
        self["ifindex"]?.integer.flatMap { Int32(exactly: $0) }.flatMap { $0 > 0 ? $0 : nil }
    }
}

extension JSONValue? {
    var addresses: [InterfaceAddress] {
        (self?.array ?? []).compactMap { value in
            guard let parts = value.string?.split(separator: "/"), parts.count == 2,
                let address = IPAddress(String(parts[0])), let length = UInt8(parts[1]),
                Int(length) <= address.octets.count * 8
            else { return nil }
            return InterfaceAddress(address: address, prefixLength: length)
        }
    }
}

extension Interface {
    fileprivate mutating func setUsable(_ isUsable: Bool) {
        isAdministrativelyUp = isUsable
        operationalState = isUsable ? .up : .down
    }
}

extension WiFiNetwork {
    init?(_ value: JSONValue) {
        guard value.object != nil else { return nil }
        let ssid = value["ssid_hex"]?.string.flatMap { SSID(hexadecimal: $0) }
        self.init(
            ssid: ssid, bssid: value["bssid"]?.string.flatMap { BSSID($0) },
            security: value["security"]?.string.flatMap { Security(rawValue: $0) } ?? .unknown,
            frequency: value["frequency_mhz"]?.integer.flatMap { UInt32(exactly: $0) },
            signal: value["signal_dbm"]?.integer.flatMap { Int8(exactly: $0) })
        akm = value["akm"]?.string.flatMap { AKM(parsing: $0) }
        for link in value["links"]?.array ?? [] {
            guard let number = link["link"]?.integer.flatMap({ UInt8(exactly: $0) }),
                let address = link["bssid"]?.string.flatMap({ BSSID($0) })
            else { continue }
            links[number] = address
        }
    }
}

extension PrimaryRoute {
    fileprivate init?(_ value: JSONValue) {
        guard let index = value.interfaceIndex else { return nil }
        self.init(
            interfaceIndex: index, gateway: value["gateway"]?.string.flatMap { IPAddress($0) },
            gatewayMAC: value["gateway_mac"]?.string.flatMap { MACAddress($0) })
    }
}

extension DNSConfiguration {
    fileprivate init(_ value: JSONValue?) {
        self.init(
            servers: (value?["servers"]?.array ?? []).compactMap { $0.string.flatMap { IPAddress($0) } },
            searchDomains: (value?["search"]?.array ?? []).compactMap(\.string))
    }
}

extension LinkEvidence {
    fileprivate init(_ value: JSONValue) {
        self.init()
        gateways = (value["gateways"]?.array ?? []).compactMap { gateway in
            gateway["address"]?.string.flatMap { IPAddress($0) }.map { address in
                Gateway(address: address, hardwareAddress: gateway["mac"]?.string.flatMap { MACAddress($0) })
            }
        }
        searchDomains = value["search"]?.array?.compactMap(\.string)
        if let demands = value["authentication"], demands.object != nil {
            authentication = EAPDemands(
                certificationAuthority: demands["certification_authority"]?.bool ?? false,
                serverName: demands["server_name"]?.bool ?? false)
        }
    }
}
