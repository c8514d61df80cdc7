public import Netlink
internal import WiFi

/// nl80211's messages. Attribute numbers are those of linux/nl80211.h.
extension Signal {
    public static func wireless(_ command: UInt8, _ attributes: [UInt8]...) -> Signal {
        Signal(bus: 16, Wire.message(Wire.family, [command, 1, 0, 0] + attributes.joined()))
    }

    private static func index(_ index: Int32) -> [UInt8] { Wire.attribute(3, index) }
    private static let radio = Wire.attribute(1, UInt32(0))
    private static func address(_ address: MACAddress?) -> [UInt8] {
        address.map { Wire.attribute(6, $0.octets) } ?? []
    }

    // MARK: Interfaces

    /// - Parameter type: `NL80211_IFTYPE_*`: 2 is a station.
    public static func interface(
        _ index: Int32 = 3, name: String = "wlan0", type: UInt32 = 2, ssid: [UInt8]? = nil, command: UInt8 = 7
    ) -> Signal {
        wireless(
            command, self.index(index), Wire.attribute(4, text: name), radio, Wire.attribute(5, type),
            Wire.attribute(153, UInt64(1)), address(.numbered(0xee)), Wire.attribute(46, UInt32(1)),
            ssid.map { Wire.attribute(52, $0) } ?? [])
    }

    public static func interfaceRemoved(_ index: Int32 = 3) -> Signal {
        wireless(8, self.index(index), Wire.attribute(4, text: "wlan0"), radio, Wire.attribute(5, UInt32(2)))
    }

    /// What wpa_supplicant makes at its start: no index, no name.
    public static let peerToPeerDevice = wireless(7, radio, Wire.attribute(5, UInt32(10)), Wire.attribute(153, UInt64(2)))

    // MARK: Associations

    /// - Parameter request: nil for drivers that do not tell it.
    public static func connect(
        _ accessPoint: AccessPoint, on index: Int32 = 3, status: UInt16 = 0, isTimeout: Bool = false,
        request: [UInt8]? = [], hasAddress: Bool = true
    ) -> Signal {
        let request = request.map { $0.isEmpty ? accessPoint.requestElements : $0 }
        return wireless(
            46, radio, self.index(index), address(hasAddress ? accessPoint.bssid : nil), Wire.attribute(72, status),
            isTimeout ? Wire.attribute(65) + Wire.attribute(248, UInt32(1)) : [],
            request.map { Wire.attribute(77, $0) } ?? [], links(accessPoint))
    }

    /// - Parameter secrets: further attributes.
    public static func roam(
        _ accessPoint: AccessPoint, on index: Int32 = 3, request: [UInt8]? = [], secrets: [UInt8] = []
    ) -> Signal {
        let request = request.map { $0.isEmpty ? accessPoint.requestElements : $0 }
        return wireless(
            47, radio, self.index(index), address(accessPoint.bssid), request.map { Wire.attribute(77, $0) } ?? [],
            secrets, links(accessPoint))
    }

    /// `NL80211_ATTR_MLO_LINKS`, whose members some kernels number by position: 1, 2, …
    private static func links(_ accessPoint: AccessPoint) -> [UInt8] {
        guard !accessPoint.links.isEmpty else { return [] }
        let members = accessPoint.links.sorted { $0.key < $1.key }.enumerated().map { place, link in
            Wire.nest(UInt16(place + 1), Wire.attribute(313, link.key), Wire.attribute(245, link.value.octets))
        }
        return Wire.attribute(312, Array(members.joined()))
    }

    /// A reason of 0 is not told.
    public static func disconnect(reason: UInt16, byAccessPoint: Bool = false, on index: Int32 = 3) -> Signal {
        wireless(
            48, radio, self.index(index), reason == 0 ? [] : Wire.attribute(54, reason),
            byAccessPoint ? Wire.attribute(71) : [])
    }

    public static func portAuthorized(_ accessPoint: AccessPoint, on index: Int32 = 3) -> Signal {
        wireless(125, radio, self.index(index), address(accessPoint.bssid))
    }

    public static func linksChanged(on index: Int32 = 3, isReconfiguration: Bool = false) -> Signal {
        wireless(isReconfiguration ? 156 : 154, radio, self.index(index))
    }

    /// Without WIPHY and WDEV, as the kernel sends it.
    public static func channelSwitched(to frequency: UInt32, link: UInt8? = nil, on index: Int32 = 3) -> Signal {
        wireless(
            88, self.index(index), link.map { Wire.attribute(313, $0) } ?? [], Wire.attribute(38, frequency))
    }

    // MARK: Frames

    /// The access point's answer: frame control, duration, three addresses, sequence, then the body.
    private static func frame(_ type: UInt8, _ accessPoint: AccessPoint, _ body: [UInt16]) -> [UInt8] {
        let bssid = accessPoint.bssid.octets
        return [type, 0, 0x3a, 1] + MACAddress.numbered(0xee).octets + bssid + bssid + [0x20, 0]
            + body.flatMap { [UInt8($0 & 0xff), UInt8($0 >> 8)] }
    }

    /// - Parameter algorithm: 0 is open, 3 SAE.
    public static func authenticate(
        _ accessPoint: AccessPoint, status: UInt16 = 0, algorithm: UInt16 = 0, transaction: UInt16 = 2,
        on index: Int32 = 3
    ) -> Signal {
        wireless(
            37, radio, self.index(index),
            Wire.attribute(51, frame(0xb0, accessPoint, [algorithm, transaction, status])))
    }

    public static func associate(_ accessPoint: AccessPoint, status: UInt16 = 0, on index: Int32 = 3) -> Signal {
        wireless(
            38, radio, self.index(index), Wire.attribute(51, frame(0x10, accessPoint, [0x0411, status, 0xc001])),
            Wire.attribute(77, accessPoint.requestElements))
    }

    /// Nobody answered: `AUTHENTICATE` or `ASSOCIATE` with `TIMED_OUT`.
    public static func unanswered(_ accessPoint: AccessPoint, command: UInt8 = 37, on index: Int32 = 3) -> Signal {
        wireless(command, radio, self.index(index), Wire.attribute(65), address(accessPoint.bssid))
    }

    /// - Parameter command: 39 is DEAUTHENTICATE, 70 UNPROT_DEAUTHENTICATE, 71 UNPROT_DISASSOCIATE.
    public static func deauthenticate(
        _ accessPoint: AccessPoint, reason: UInt16 = 3, command: UInt8 = 39, on index: Int32 = 3
    ) -> Signal {
        wireless(command, radio, self.index(index), Wire.attribute(51, frame(0xc0, accessPoint, [reason])))
    }

    // MARK: Stations and scans

    /// - Parameter isAuthorized: nil for drivers that do not report the flag.
    public static func station(
        _ address: MACAddress, isAuthorized: Bool? = nil, signal: Int8? = nil, command: UInt8 = 19, on index: Int32 = 3
    ) -> Signal {
        // ASSOCIATED and AUTHENTICATED are always set, AUTHORIZED is bit 1.
        let flags = isAuthorized.map { Wire.attribute(17, Wire.number(UInt32(0xa2)) + Wire.number(UInt32($0 ? 0xa2 : 0xa0))) }
        return wireless(
            command, self.index(index), self.address(address), Wire.attribute(46, UInt32(1)),
            Wire.attribute(21, (flags ?? []) + (signal.map { Wire.attribute(7, $0) } ?? [])))
    }

    public static func stationRemoved(_ address: MACAddress, on index: Int32 = 3) -> Signal {
        station(address, command: 20, on: index)
    }

    /// One entry of the answer to GET_SCAN.
    ///
    /// - Parameter link: of a multi-link association, the link whose entry it is.
    public static func scanEntry(
        _ accessPoint: AccessPoint, isAssociated: Bool = true, link: UInt8? = nil, on index: Int32 = 3
    ) -> Signal {
        let bssid = link.flatMap { accessPoint.links[$0] } ?? accessPoint.bssid
        let multiLink =
            link.map { Wire.attribute(21, $0) + Wire.attribute(22, accessPoint.bssid.octets) } ?? []
        return wireless(
            34, Wire.attribute(46, UInt32(7)), self.index(index),
            Wire.nest(
                47, Wire.attribute(1, bssid.octets), Wire.attribute(2, accessPoint.frequency),
                Wire.attribute(5, accessPoint.capability), Wire.attribute(6, accessPoint.beaconElements),
                Wire.attribute(7, Int32(-3_000)), isAssociated ? Wire.attribute(9, UInt32(1)) : [], multiLink))
    }
}
