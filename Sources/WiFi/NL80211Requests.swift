public import Netlink

/// What is asked of nl80211. All of it is answered to any user; nothing here changes a thing.
extension NetlinkRequest {
    public static func wirelessInterfaces(_ family: GenericNetlinkFamily) -> NetlinkRequest {
        NetlinkRequest("NL80211_CMD_GET_INTERFACE", family: family, command: 5, isDump: true)
    }

    public static func wirelessInterface(_ index: Int32, _ family: GenericNetlinkFamily) -> NetlinkRequest {
        about(index, NetlinkRequest("NL80211_CMD_GET_INTERFACE", family: family, command: 5, isDump: false))
    }

    /// The peers of an interface: for a station, its access point and TDLS peers.
    public static func stations(of index: Int32, _ family: GenericNetlinkFamily) -> NetlinkRequest {
        about(index, NetlinkRequest("NL80211_CMD_GET_STATION", family: family, command: 17, isDump: true))
    }

    /// One peer, for drivers that cannot list them.
    public static func station(
        _ address: MACAddress, of index: Int32, _ family: GenericNetlinkFamily
    ) -> NetlinkRequest {
        var request = about(
            index, NetlinkRequest("NL80211_CMD_GET_STATION", family: family, command: 17, isDump: false))
        request.append(6, octets: address.octets)
        return request
    }

    /// What the last scans heard. No scan is made.
    public static func scanEntries(of index: Int32, _ family: GenericNetlinkFamily) -> NetlinkRequest {
        about(index, NetlinkRequest("NL80211_CMD_GET_SCAN", family: family, command: 32, isDump: true))
    }

    private static func about(_ index: Int32, _ request: NetlinkRequest) -> NetlinkRequest {
        var request = request
        request.append(3, index)
        return request
    }
}

extension NL80211Message {
    /// The attributes that carry keys: `KEY_DATA`, `KEY`, `PMKID`, `PMK`, `FILS_KEK`, `SAE_PASSWORD`.
    private static let secrets: Set<UInt16> = [7, 80, 85, 242, 254, 277]

    /// The same message with zeros for every octet of key material, as `CONNECT` and `ROAM` carry it where the
    /// driver offloads FILS; nil when it cannot be read to its end, so that nothing of it may be kept.
    public static func redacted(_ message: NetlinkMessage) -> NetlinkMessage? {
        guard message.payload.count >= 4 else { return nil }
        var redacted = message
        do throws(MalformedMessage) {
            try Attributes(message.payload.dropFirst(4)).forEach { attribute throws(MalformedMessage) in
                guard secrets.contains(attribute.type) else { return }
                for position in attribute.payload.indices { redacted.payload[position] = 0 }
            }
        } catch {
            return nil
        }
        return redacted
    }
}
