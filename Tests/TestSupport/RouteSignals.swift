public import Netlink

/// rtnetlink's messages. Attribute numbers are those of linux/if_link.h, if_addr.h and rtnetlink.h.
extension Signal {
    public static func route(_ type: UInt16, _ header: [UInt8], _ attributes: [UInt8]...) -> Signal {
        Signal(bus: 0, Wire.message(type, header + attributes.joined()))
    }

    /// `ifinfomsg`
    private static func linkHeader(_ index: Int32, _ flags: UInt32, family: UInt8, hardware: UInt16) -> [UInt8] {
        [family, 0] + Wire.number(hardware) + Wire.number(index) + Wire.number(flags) + Wire.number(UInt32.max)
    }

    /// - Parameters:
    ///   - state: `IF_OPER_*`: 2 is down, 5 dormant, 6 up.
    ///   - mode: `IF_LINK_MODE_*`: 1 is DORMANT.
    ///   - kind: `IFLA_INFO_KIND`
    public static func link(
        _ index: Int32 = 3, name: String = "wlan0", isUp: Bool = true, state: UInt8, mode: UInt8 = 1,
        kind: String? = nil, family: UInt8 = 0, hardware: UInt16 = 1, extraFlags: UInt32 = 0
    ) -> Signal {
        route(
            16, linkHeader(index, (isUp ? 1 : 0) | extraFlags, family: family, hardware: hardware),
            Wire.attribute(3, text: name), Wire.attribute(16, state), Wire.attribute(17, mode),
            Wire.attribute(1, [2, 0, 0, 0, 0, 0xee]),
            kind.map { Wire.nest(18, Wire.attribute(1, text: $0)) } ?? [])
    }

    /// As `dev_change_flags` sends it where nothing but flags changed.
    public static func linkFlags(_ index: Int32 = 3, isUp: Bool = true) -> Signal {
        route(16, linkHeader(index, isUp ? 1 : 0, family: 0, hardware: 1))
    }

    public static func linkRemoved(_ index: Int32 = 3, name: String = "wlan0", family: UInt8 = 0) -> Signal {
        route(17, linkHeader(index, 0, family: family, hardware: 1), Wire.attribute(3, text: name))
    }

    /// - Parameter peer: of a point-to-point link; then `IFA_LOCAL` is our own.
    public static func address(
        _ address: String, prefix: UInt8 = 24, on index: Int32 = 3, peer: String? = nil, flags: UInt32 = 0,
        isRemoved: Bool = false
    ) -> Signal {
        let own = ip(address)
        return route(
            isRemoved ? 21 : 20,
            [own.count == 4 ? 2 : 10, prefix, UInt8(truncatingIfNeeded: flags), 0] + Wire.number(index),
            Wire.attribute(1, peer.map { ip($0) } ?? own), own.count == 4 ? Wire.attribute(2, own) : [],
            Wire.attribute(8, flags))
    }

    /// A default route, or to a prefix of `length` bits.
    ///
    /// - Parameter kind: `RTN_*`: 1 is unicast.
    public static func defaultRoute(
        via gateway: String? = nil, on index: Int32? = 3, table: UInt32 = 254, priority: UInt32? = nil,
        length: UInt8 = 0, kind: UInt8 = 1, flags: UInt32 = 0, isIPv6: Bool = false, isRemoved: Bool = false,
        extra: [UInt8] = []
    ) -> Signal {
        let header: [UInt8] = [
            isIPv6 ? 10 : 2, length, 0, 0, table < 256 ? UInt8(table) : 252, 3, 0, kind,
        ]
        return route(
            isRemoved ? 25 : 24, header + Wire.number(flags), Wire.attribute(15, table),
            priority.map { Wire.attribute(6, $0) } ?? [], gateway.map { Wire.attribute(5, ip($0)) } ?? [],
            index.map { Wire.attribute(4, $0) } ?? [], extra)
    }

    public static func rule(isRemoved: Bool = false) -> Signal {
        route(isRemoved ? 33 : 32, [2, 0, 0, 0, 254, 0, 0, 1, 0, 0, 0, 0], Wire.attribute(15, UInt32(51_820)))
    }

    /// - Parameter state: `NUD_*`: 2 is REACHABLE, 1 INCOMPLETE, 0x20 FAILED.
    public static func neighbour(
        _ address: String, _ hardware: MACAddress?, on index: Int32 = 3, state: UInt16 = 2, isRemoved: Bool = false
    ) -> Signal {
        let octets = ip(address)
        return route(
            isRemoved ? 29 : 28,
            [octets.count == 4 ? 2 : 10, 0, 0, 0] + Wire.number(index) + Wire.number(state) + [0, 1],
            Wire.attribute(1, octets), hardware.map { Wire.attribute(2, $0.octets) } ?? [])
    }

    private static func ip(_ text: String) -> [UInt8] {
        guard let address = IPAddress(text) else { preconditionFailure("\(text) is no address") }
        return address.octets
    }
}
