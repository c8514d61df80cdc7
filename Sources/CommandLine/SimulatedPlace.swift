internal import Environment
internal import Netlink
internal import Platform
internal import Rules
internal import WiFi

/// A place made up from options.
///
/// What is not said is not known. Only so that rules need not wait for what every place has, an address and a way to
/// the internet are assumed where nothing depends on which.
struct SimulatedPlace {
    private(set) var environment = NetworkEnvironment()
    private var isAddressAssumed = false
    private var isConnectivityGiven = false

    static let options: [Arguments.Option] = [
        .init("ssid", "TEXT", "the name of the Wi-Fi network"),
        .init("ssid-hex", "HEX", "the same by its octets"),
        .init("bssid", "MAC", "the access point"),
        .init(
            "security", "NAME", "its protection, such as open or wpa2-psk; unknown, the weakest, unless given",
            .usually(Security.allCases.map(\.rawValue))),
        .init("akm", "SUITE", "the very suite, such as 00-0f-ac:8"),
        .init("interface", "NAME", "the name of the interface", .interface),
        .init(
            "interface-kind", "KIND", "wifi (the default), ethernet, cellular or bluetooth",
            .words(kinds.map(\.rawValue))),
        .init("address", "IP/LEN", "an address of the link", isRepeatable: true),
        .init("gateway-mac", "MAC", "the gateway's hardware address", isRepeatable: true),
        .init("dns-suffix", "DOMAIN", "a domain that the network announces", isRepeatable: true),
        .init(
            "authentication", "WORD", "what the 802.1X profile demands: mutual (an authority and a name) or none",
            .one(of: Authentication.self)),
        .init("also", "LINK", "another link, KIND[:SSID[:SECURITY]]", isRepeatable: true),
        .init("metered", nil, "the way to the internet costs by volume"),
        .init("unmetered", nil, "it does not"),
        .init("vpn", nil, "a tunnel is up"),
        .init("offline", nil, "no link is up"),
        .init("connectivity", "WORD", "none, local, portal or internet", .words(connectivities.map(\.rawValue))),
    ]

    private static let connectivities: [Connectivity] = [.none, .local, .portal, .internet]

    private static let kinds: [LinkKind] = [.wifi, .ethernet, .cellular, .bluetooth]

    private enum Authentication: String, CaseIterable {
        case mutual, none
    }

    init(_ arguments: Arguments) throws(UsageError) {
        let isLinkDescribed = SimulatedPlace.options.prefix(11).contains { arguments.has($0.name) }
        if arguments.has("offline") {
            guard !isLinkDescribed else { throw UsageError(description: "--offline is without any link") }
        } else {
            guard isLinkDescribed else {
                throw UsageError(description: "say where: --ssid, --ssid-hex, --interface-kind or --offline")
            }
            add(try SimulatedPlace.link(arguments))
        }
        for text in arguments.all("also") {
            add(try SimulatedPlace.link(besides: text, index: Int32(environment.interfaces.count) + 2))
        }
        if arguments.has("vpn") {
            var tunnel = Interface(index: 100, name: "tun0", kind: .tunnel)
            tunnel.isAdministrativelyUp = true
            tunnel.operationalState = .up
            environment.interfaces[tunnel.index] = tunnel
        }
        if arguments.has("metered") || arguments.has("unmetered") {
            guard arguments.has("metered") != arguments.has("unmetered") else {
                throw UsageError(description: "either --metered or --unmetered")
            }
            environment.isMetered = arguments.has("metered")
        }
        try setAddresses(arguments)
        let connectivity = arguments.all("connectivity").compactMap { Connectivity(rawValue: $0) }
        isConnectivityGiven = !connectivity.isEmpty
        environment.connectivity = connectivity.last ?? .none
        let address = environment.interfaces[2]?.addresses.contains { !$0.address.isLinkLocal } ?? false
        if !isConnectivityGiven, address { environment.connectivity = .internet }
    }

    // MARK: Links

    private mutating func add(_ link: Interface) {
        environment.interfaces[link.index] = link
        guard environment.primaryRoute == nil else { return }
        let gateway = link.evidence.gateways.first
        environment.primaryRoute = PrimaryRoute(
            interfaceIndex: link.index, gateway: gateway?.address, gatewayMAC: gateway?.hardwareAddress)
    }

    private static func link(_ arguments: Arguments) throws(UsageError) -> Interface {
        let names =
            try arguments.all("ssid", "at most 32 octets") { SSID(utf8: $0) }
            + arguments.all("ssid-hex", "at most 32 octets in hexadecimal") { SSID(hexadecimal: $0) }
        guard names.count < 2 else { throw UsageError(description: "one link has one --ssid or --ssid-hex") }
        let kinds = arguments.all("interface-kind").compactMap { SimulatedPlace.kind($0) }
        let bssids = try arguments.all("bssid", "a MAC address") { BSSID($0) }
        if let family = arguments["security"], ["personal", "enterprise"].contains(family) {
            let member = family == "personal" ? Security.wpa2PSK : .wpa2Enterprise
            throw UsageError(
                description: "--security is one protection, such as \(member.rawValue); \(family) is several")
        }
        let security = try arguments.choice("security", Security.self)
        let suites = try arguments.all("akm", "a suite such as 00-0f-ac:8") { AKM(parsing: $0) }
        let kind = kinds.last ?? .wifi
        var link = link(kind, index: 2, name: arguments["interface"])
        if kind == .wifi {
            var network = WiFiNetwork(ssid: names.first, bssid: bssids.last, security: security ?? .unknown)
            network.akm = suites.last
            link.wifi = .joined(network)
        } else if let option = ["ssid", "ssid-hex", "bssid", "security", "akm"].first(where: { arguments.has($0) }) {
            throw UsageError(description: "--\(option) is of Wi-Fi links, not of kind \(kind.rawValue)")
        }
        if let interface = arguments["interface"] {
            // IFNAMSIZ
            guard (1...15).contains(interface.utf8.count) else {
                throw UsageError(description: "--interface is a name of 1 to 15 octets")
            }
        }
        let gateways = try arguments.all("gateway-mac", "a MAC address") { MACAddress($0) }
        link.evidence.gateways = gateways.enumerated().compactMap { position, address in
            IPAddress("192.0.2.\(position % 250 + 1)").map { Gateway(address: $0, hardwareAddress: address) }
        }
        let domains = try arguments.all("dns-suffix", "a domain") { text in
            text.isEmpty || text.utf8.count > 255 ? nil : text
        }
        if !domains.isEmpty { link.evidence.searchDomains = domains }
        if let authentication = try arguments.choice("authentication", Authentication.self) {
            let isMutual = authentication == .mutual
            link.evidence.authentication = EAPDemands(certificationAuthority: isMutual, serverName: isMutual)
        }
        return link
    }

    private static func link(besides text: String, index: Int32) throws(UsageError) -> Interface {
        let parts = text.split(separator: ":", maxSplits: 2, omittingEmptySubsequences: false).map { String($0) }
        let shown = text.utf8.displayText
        guard let kind = kind(parts[0]), kind == .wifi || parts.count == 1 else {
            throw UsageError(
                description: "--also is one of \(list(kinds.map(\.rawValue))), and wifi:SSID:SECURITY, not \(shown)")
        }
        var link = link(kind, index: index, name: nil)
        if kind == .wifi {
            let ssid = parts.count > 1 ? SSID(utf8: parts[1]) : nil
            guard parts.count < 2 || ssid != nil else {
                throw UsageError(description: "the name in --also \(shown) has more than 32 octets")
            }
            let security = parts.count > 2 ? Security(rawValue: parts[2]) : .unknown
            guard let security else {
                throw UsageError(
                    description: "the protection in --also \(shown) is one of "
                        + list(Security.allCases.map(\.rawValue)))
            }
            link.wifi = .joined(WiFiNetwork(ssid: ssid, bssid: nil, security: security))
        }
        return link
    }

    private static func link(_ kind: LinkKind, index: Int32, name: String?) -> Interface {
        let prefix =
            switch kind {
            case .wifi: "wlan"
            case .cellular: "wwan"
            case .bluetooth: "bnep"
            default: "eth"
            }
        var link = Interface(index: index, name: name ?? "\(prefix)\(index - 2)", kind: kind)
        link.isAdministrativelyUp = true
        link.operationalState = .up
        return link
    }

    private static func kind(_ text: String) -> LinkKind? { kinds.first { $0.rawValue == text } }

    private static func list(_ words: [String]) -> String { words.joined(separator: ", ") }

    // MARK: Addresses

    private mutating func setAddresses(_ arguments: Arguments) throws(UsageError) {
        let addresses = try arguments.all("address", "an IP address with the length of its prefix") { text in
            let parts = text.split(separator: "/", omittingEmptySubsequences: false)
            return parts.count == 2
                ? IPAddress(String(parts[0])).flatMap { address in
                    UInt8(parts[1]).flatMap { length in
                        Int(length) <= address.octets.count * 8
                            ? InterfaceAddress(address: address, prefixLength: length) : nil
                    }
                } : nil
        }
        if addresses.isEmpty {
            isAddressAssumed = !environment.interfaces.isEmpty
        } else {
            environment.interfaces[2]?.addresses = Set(addresses)
        }
    }

    /// Gives every link an address where nobody has said one and it is none that a network is told by.
    ///
    /// - Returns: what could not be assumed, for the person who asks.
    mutating func assumeAddresses(for ruleSet: RuleSet) -> String? {
        guard isAddressAssumed, let documentation = IPAddress("192.0.2.2") else { return nil }
        var assumed = environment
        for index in assumed.interfaces.keys {
            assumed.interfaces[index]?.addresses = [InterfaceAddress(address: documentation, prefixLength: 32)]
        }
        let (with, without) = (ruleSet.judge(assumed), ruleSet.judge(environment))
        guard with.matches == without.matches, with.doubts == without.doubts else {
            return "the address decides which network this is, so none is assumed: give it with --address"
        }
        environment = assumed
        if !isConnectivityGiven { environment.connectivity = .internet }
        return nil
    }
}
