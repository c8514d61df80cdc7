public import Netlink

/// The other half of an open network that is also there encrypted: the name and address of the hidden OWE network.
public struct OWETransition: Hashable, Sendable {
    /// The address of the hidden network's access point.
    public let bssid: BSSID
    /// Its name, which is not the name of the open network.
    public let ssid: SSID
}

extension InformationElements {
    /// The network's name; nil where it is missing or longer than an SSID can be. A hidden network's is empty or
    /// zeros.
    public var ssid: SSID? { body(at: index.ssid).flatMap { SSID(octets: $0) } }

    /// Element 48; nil where it is missing or malformed, which are not the same: ask `Security` for a judgement.
    public var rsn: RSN? { body(at: index.rsn).flatMap { RSN(body: $0) } }

    /// The WPA element; nil where it is missing or malformed.
    public var wpa: RSN? { body(at: index.wpa).flatMap { RSN(wpaBody: $0.dropFirst(4)) } }

    /// RSNE Override and RSNE Override 2: what an access point offers to stations that know them, beside a plain RSN
    /// element for those that do not. Empty in most beacons.
    public var rsnOverrides: [RSN] {
        [index.rsnOverride, index.rsnOverride2].compactMap { body(at: $0).flatMap { RSN(body: $0.dropFirst(4)) } }
    }

    /// Element 244.
    public var rsnExtension: RSNExtension? { body(at: index.rsnExtension).flatMap { RSNExtension(body: $0) } }

    /// Set in the beacon of an open network that has an encrypted twin, and in the twin's, pointing back.
    public var oweTransition: OWETransition? {
        guard let body = body(at: index.oweTransition) else { return nil }
        var reader = OctetReader(body.dropFirst(4))
        guard let address = reader.read(6).flatMap({ BSSID(octets: $0) }), let length = reader.readUInt8(),
            let ssid = reader.read(Int(length)).flatMap({ SSID(octets: $0) })
        else { return nil }
        return OWETransition(bssid: address, ssid: ssid)
    }

    /// The two ASCII letters or digits by which the access point says whose radio rules it follows, `FI`. Not always
    /// where it stands.
    public var country: String? {
        guard let body = body(at: index.country), body.count >= 3 else { return nil }
        let code = body.prefix(2)
        guard code.allSatisfy({ 0x30...0x39 ~= $0 || 0x41...0x5a ~= $0 }) else { return nil }
        return String(decoding: code, as: UTF8.self)
    }

    /// The channel that the access point says it is on: of the HE operation element at 6 GHz, else of the DS parameter
    /// set, else of the HT operation element. A frame is also heard beside its channel, so this is the one to believe.
    public var primaryChannel: Channel? {
        if let number = sixGigahertzChannel { return Channel(band: .six, number: number) }
        guard let number = body(at: index.dsParameter)?.first ?? body(at: index.htOperation)?.first else { return nil }
        return Channel(band: number <= 14 ? .twoPointFour : .five, number: number)
    }

    /// IEEE 802.11ax-2021, 9.4.2.249: parameters (3), colour (1), MCS (2), then up to three fields, announced by bits
    /// of the parameters.
    private var sixGigahertzChannel: UInt8? {
        guard let body = body(at: index.heOperation)?.dropFirst(1), body.count >= 6 else { return nil }
        let flags = body[body.startIndex + 1]
        guard body[body.startIndex + 2] & 1 << 1 != 0 else { return nil }
        let offset = 6 + (flags & 1 << 6 != 0 ? 3 : 0) + (flags & 1 << 7 != 0 ? 1 : 0)
        // The field has five octets; the first is the channel.
        guard body.count >= offset + 5 else { return nil }
        return body[body.startIndex + offset]
    }

    /// Whether the network says that its name is UTF-8 (extended capability 48). Almost none does, and it binds nobody.
    public var supportsUTF8SSID: Bool {
        guard let body = body(at: index.extendedCapabilities), body.count > 6 else { return false }
        return body[body.startIndex + 6] & 1 != 0
    }

    /// Whether it takes part in Hotspot 2.0 (Passpoint).
    public var isHotspot20: Bool { index.hotspot20 != 0 }

    /// Whether it takes part in Wi-Fi Protected Setup.
    var hasWPS: Bool { index.wps != 0 }

    /// The address of the multi-link device (802.11be): in a beacon the access point's, in an association request the
    /// station's own.
    public var mldAddress: MACAddress? {
        guard let body = body(at: index.multiLink) else { return nil }
        // Extension identifier (1), control (2), then the common information: its length (1), the address (6).
        var reader = OctetReader(body.dropFirst(3))
        guard let length = reader.readUInt8(), length >= 7 else { return nil }
        return reader.read(6).flatMap { MACAddress(octets: $0) }
    }

    private func body(at start: Int) -> ArraySlice<UInt8>? {
        guard start > 0 else { return nil }
        return octets[start..<start + Int(octets[start - 1])]
    }
}
