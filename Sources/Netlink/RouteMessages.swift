/// What rtnetlink(7) tells, as values. Messages of kinds not listed decode to nil.
public enum RouteMessage: Hashable, Sendable {
    case link(LinkMessage)
    case linkRemoved(index: Int32)
    case address(AddressMessage, isRemoved: Bool)
    case route(RouteEntry, isRemoved: Bool)
    case neighbour(Neighbour, isRemoved: Bool)
    /// `RTM_NEWRULE`, `RTM_DELRULE`: which table routes which packet; what it says is the kernel's to know.
    case rulesChanged

    public init?(_ message: NetlinkMessage) throws(MalformedMessage) {
        switch message.type {
        case 16, 17:  // RTM_NEWLINK, RTM_DELLINK
            let link = try LinkMessage(message.payload)
            // AF_BRIDGE copies tell of ports, not of links; a bridge port that goes away is still a link.
            guard link.family == 0 else { return nil }
            self = message.type == 16 ? .link(link) : .linkRemoved(index: link.index)
        case 20, 21: self = .address(try AddressMessage(message.payload), isRemoved: message.type == 21)
        case 24, 25: self = .route(try RouteEntry(message.payload), isRemoved: message.type == 25)
        case 32, 33: self = .rulesChanged
        case 28, 29: self = .neighbour(try Neighbour(message.payload), isRemoved: message.type == 29)
        default: return nil
        }
    }
}

/// `RTM_NEWLINK`. Attributes that a message leaves out are nil: some carry nothing but changed flags.
public struct LinkMessage: Hashable, Sendable {
    /// `AF_UNSPEC`, or `AF_BRIDGE` for a bridge's view of its port.
    public var family: UInt8
    public var index: Int32
    /// `ARPHRD_*`
    public var hardwareType: UInt16
    /// `IFF_*`
    public var flags: UInt32
    public var name: String?
    /// `IF_OPER_*`
    public var operationalState: UInt8?
    /// `IF_LINK_MODE_*`: 1 is DORMANT.
    public var linkMode: UInt8?
    public var hardwareAddress: MACAddress?
    /// `IFLA_INFO_KIND`, such as `bridge`, `tun`, `wireguard`; nil for real devices.
    public var kind: String?

    public var isUp: Bool { flags & 0x1 != 0 }
    public var isLoopback: Bool { flags & 0x8 != 0 }
    public var isPointToPoint: Bool { flags & 0x10 != 0 }

    init(_ payload: ArraySlice<UInt8>) throws(MalformedMessage) {
        // ifinfomsg: family, padding, type, index, flags, change.
        guard let family = payload.first, let hardwareType = payload.hostInteger(at: 2, as: UInt16.self),
            let index = payload.hostInteger(at: 4, as: Int32.self),
            let flags = payload.hostInteger(at: 8, as: UInt32.self), payload.count >= 16, index > 0
        else { throw MalformedMessage("ifinfomsg: \(payload.count) octets or no index") }
        self.family = family
        self.index = index
        self.hardwareType = hardwareType
        self.flags = flags
        var name: String?
        var operationalState: UInt8?
        var linkMode: UInt8?
        var hardwareAddress: MACAddress?
        var kind: String?
        try Attributes(payload.dropFirst(16)).forEach { attribute throws(MalformedMessage) in
            switch attribute.type {
            // Other lengths are other media: InfiniBand has 20 octets, a tunnel its IP address.
            case 1 where attribute.payload.count == 6: hardwareAddress = try attribute.macAddress()
            case 3: name = attribute.text
            case 16: operationalState = try attribute.integer()
            case 17: linkMode = try attribute.integer()
            case 18:
                try attribute.nested.forEach { information throws(MalformedMessage) in
                    if information.type == 1 { kind = information.text }
                }
            default: break
            }
        }
        self.name = name
        self.operationalState = operationalState
        self.linkMode = linkMode
        self.hardwareAddress = hardwareAddress
        self.kind = kind
    }

    /// Asks for every link, without the statistics (`RTEXT_FILTER_SKIP_STATS`).
    public static var all: NetlinkRequest {
        var request = NetlinkRequest("RTM_GETLINK", type: 18, isDump: true, header: [UInt8](repeating: 0, count: 16))
        request.append(29, UInt32(8))  // IFLA_EXT_MASK
        return request
    }
}

/// `RTM_NEWADDR`, `RTM_DELADDR`.
public struct AddressMessage: Hashable, Sendable {
    public var index: Int32
    public var prefixLength: UInt8
    /// `RT_SCOPE_*`
    public var scope: UInt8
    /// `IFA_F_*`
    public var flags: UInt32
    /// The machine's own address (`IFA_LOCAL`, where the link has a peer), nil where the message has none.
    public var address: IPAddress?

    /// `IFA_F_TENTATIVE`, `IFA_F_DADFAILED`: not to be used (yet).
    public var isTentative: Bool { flags & 0x48 != 0 }

    init(_ payload: ArraySlice<UInt8>) throws(MalformedMessage) {
        // ifaddrmsg: family, prefix length, flags, scope, index.
        guard payload.count >= 8, let index = payload.hostInteger(at: 4, as: Int32.self), index > 0 else {
            throw MalformedMessage("ifaddrmsg: \(payload.count) octets or no index")
        }
        self.index = index
        prefixLength = payload[payload.startIndex + 1]
        scope = payload[payload.startIndex + 3]
        var flags = UInt32(payload[payload.startIndex + 2])
        var address: IPAddress?
        var local: IPAddress?
        try Attributes(payload.dropFirst(8)).forEach { attribute throws(MalformedMessage) in
            switch attribute.type {
            case 1: address = try attribute.ipAddress()
            case 2: local = try attribute.ipAddress()
            case 8: flags = try attribute.integer()
            default: break
            }
        }
        self.flags = flags
        self.address = local ?? address
    }

    public static var all: NetlinkRequest {
        NetlinkRequest("RTM_GETADDR", type: 22, isDump: true, header: [UInt8](repeating: 0, count: 8))
    }
}

/// `RTM_NEWROUTE`, `RTM_DELROUTE`, and the answer of a look-up.
public struct RouteEntry: Hashable, Sendable {
    public var family: IPAddress.Family
    /// 0 for a default route; 1 for the two halves with which some VPNs cover it.
    public var destinationLength: UInt8
    public var table: UInt32
    /// `RTN_*`: 1 is unicast, 7 unreachable.
    public var kind: UInt8
    /// `RTM_F_*`
    public var flags: UInt32
    public var interfaceIndex: Int32?
    public var gateway: IPAddress?
    /// Lower wins.
    public var priority: UInt32

    init(_ payload: ArraySlice<UInt8>) throws(MalformedMessage) {
        // rtmsg: family, destination and source length, TOS, table, protocol, scope, type, flags.
        guard payload.count >= 12, let flags = payload.hostInteger(at: 8, as: UInt32.self) else {
            throw MalformedMessage("rtmsg: \(payload.count) octets")
        }
        // Multicast routing and MPLS share the message; they lead nowhere we could be.
        family = IPAddress.Family(rawValue: payload[payload.startIndex]) ?? .v4
        let isInternet = IPAddress.Family(rawValue: payload[payload.startIndex]) != nil
        destinationLength = payload[payload.startIndex + 1]
        kind = isInternet ? payload[payload.startIndex + 7] : 0
        self.flags = flags
        var table = UInt32(payload[payload.startIndex + 4])
        var interfaceIndex: Int32?
        var gateway: IPAddress?
        var priority: UInt32 = 0
        guard isInternet else {
            (self.table, self.interfaceIndex, self.gateway, self.priority) = (table, nil, nil, 0)
            return
        }
        try Attributes(payload.dropFirst(12)).forEach { attribute throws(MalformedMessage) in
            switch attribute.type {
            case 4: interfaceIndex = try attribute.integer()
            case 5: gateway = try attribute.ipAddress()
            case 6: priority = try attribute.integer()
            case 9:  // RTA_MULTIPATH: rtnexthop (length, flags, hops, index), then attributes. The first one speaks.
                guard let length = attribute.payload.hostInteger(at: 0, as: UInt16.self), length >= 8,
                    Int(length) <= attribute.payload.count
                else { throw MalformedMessage("rtnexthop: \(attribute.payload.count) octets") }
                interfaceIndex = attribute.payload.hostInteger(at: 4, as: Int32.self)
                try Attributes(attribute.payload.prefix(Int(length)).dropFirst(8)).forEach {
                    member throws(MalformedMessage) in
                    switch member.type {
                    case 5: gateway = try member.ipAddress()
                    case 18: gateway = member.via
                    default: break
                    }
                }
            case 15: table = try attribute.integer()
            case 18: gateway = attribute.via
            default: break
            }
        }
        self.table = table
        self.interfaceIndex = interfaceIndex
        self.gateway = gateway
        self.priority = priority
    }

    /// `RT_TABLE_MAIN`
    public static let mainTable: UInt32 = 254

    /// A unicast route that covers the internet.
    public var isDefault: Bool { kind == 1 && destinationLength == 0 && flags & 0x200 == 0 }  // not RTM_F_CLONED

    public static var all: NetlinkRequest {
        NetlinkRequest("RTM_GETROUTE", type: 26, isDump: true, header: [UInt8](repeating: 0, count: 12))
    }

    /// Asks for the main table's routes of one family through a link; kernels before 4.20 answer with all routes.
    ///
    /// Each family by itself: MPLS, which answers for `AF_UNSPEC` too, refuses a question about a table.
    public static func all(through interfaceIndex: Int32, _ family: IPAddress.Family) -> NetlinkRequest {
        var header = [UInt8](repeating: 0, count: 12)
        header[0] = family.rawValue
        header[4] = UInt8(mainTable)
        var request = NetlinkRequest("RTM_GETROUTE", type: 26, isDump: true, header: header)
        request.append(4, interfaceIndex)  // RTA_OIF
        return request
    }

    /// Asks which way a packet to `destination` would take, policy rules and all tables heeded. Nothing is sent.
    public static func lookUp(_ destination: IPAddress) -> NetlinkRequest {
        var header = [UInt8](repeating: 0, count: 12)
        header[0] = destination.family.rawValue
        header[1] = UInt8(destination.octets.count * 8)
        var request = NetlinkRequest("RTM_GETROUTE", type: 26, isDump: false, header: header)
        request.append(1, octets: destination.octets)
        return request
    }
}

extension Attribute {
    /// `RTA_VIA`: a gateway of the other family, after two octets that name the family.
    fileprivate var via: IPAddress? { IPAddress(octets: payload.dropFirst(2)) }
}

/// `RTM_NEWNEIGH`: who answers to an address on a link.
public struct Neighbour: Hashable, Sendable {
    public var interfaceIndex: Int32
    /// `NUD_*`
    public var state: UInt16
    public var address: IPAddress?
    public var hardwareAddress: MACAddress?

    /// Whether the hardware address is one that answered: REACHABLE, STALE, DELAY, PROBE or PERMANENT.
    public var isValid: Bool { state & (0x02 | 0x04 | 0x08 | 0x10 | 0x80) != 0 && hardwareAddress != nil }

    init(_ payload: ArraySlice<UInt8>) throws(MalformedMessage) {
        // ndmsg: family, padding, index, state, flags, type.
        guard payload.count >= 12, let interfaceIndex = payload.hostInteger(at: 4, as: Int32.self),
            let state = payload.hostInteger(at: 8, as: UInt16.self)
        else { throw MalformedMessage("ndmsg: \(payload.count) octets") }
        self.interfaceIndex = interfaceIndex
        self.state = state
        var address: IPAddress?
        var hardwareAddress: MACAddress?
        try Attributes(payload.dropFirst(12)).forEach { attribute throws(MalformedMessage) in
            switch attribute.type {
            case 1: address = IPAddress(octets: attribute.payload)
            case 2 where attribute.payload.count == 6: hardwareAddress = try attribute.macAddress()
            default: break
            }
        }
        self.address = address
        self.hardwareAddress = hardwareAddress
    }

    public static func lookUp(_ address: IPAddress, on interfaceIndex: Int32) -> NetlinkRequest {
        var header: [UInt8] = [address.family.rawValue, 0, 0, 0]
        header.appendHostOrder(interfaceIndex)
        header += [0, 0, 0, 0]
        var request = NetlinkRequest("RTM_GETNEIGH", type: 30, isDump: false, header: header)
        request.append(1, octets: address.octets)
        return request
    }
}

/// `RTNLGRP_*`
public enum RouteGroup: UInt32, Sendable {
    case link = 1
    case neighbour = 3
    case ipv4Address = 5
    case ipv4Route = 7
    case ipv4Rule = 8
    case ipv6Address = 9
    case ipv6Route = 11
    case ipv6Rule = 19
}
