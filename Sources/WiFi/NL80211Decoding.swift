public import Netlink

extension NL80211Message {
    /// Decodes a message of the family nl80211.
    ///
    /// - Throws: `MalformedMessage` when an attribute that is read has the wrong size, when one is repeated, or when
    ///   one without which the message means nothing is missing.
    public init(_ message: NetlinkMessage) throws(MalformedMessage) {
        guard message.payload.count >= 4, let command = message.payload.first else {
            throw MalformedMessage("generic netlink header: \(message.payload.count) octets, expected 4")
        }
        guard NL80211Message.isUnderstood(command) else {
            self = .other(command: command)
            return
        }
        var fields = Fields()
        try fields.read(Attributes(message.payload.dropFirst(4)))
        self = try fields.message(command)
    }

    private static func isUnderstood(_ command: UInt8) -> Bool {
        switch command {
        case 3, 4, 6, 7, 8, 19, 20, 34, 37, 38, 46, 47, 48, 88, 125, 154, 156: true
        default: false
        }
    }
}

/// The attributes of one message that matter, before the command gives them a meaning.
private struct Fields {
    private var radio: UInt32?
    private var index: Int32?
    private var name: String?
    private var kind: UInt32?
    private var address: MACAddress?
    private var frequency: UInt32?
    private var ssid: ArraySlice<UInt8>?
    private var reason: UInt16?
    private var status: UInt16?
    private var timedOut = false
    private var byAccessPoint = false
    private var requestElements: ArraySlice<UInt8>?
    private var frame: ArraySlice<UInt8>?
    private var links: [UInt8: BSSID] = [:]
    private var link: UInt8?
    private var stationInformation: Attributes?
    private var scanEntry: Attributes?

    mutating func read(_ attributes: Attributes) throws(MalformedMessage) {
        try attributes.forEach { attribute throws(MalformedMessage) in
            switch attribute.type {
            case 1: radio = try attribute.integer()
            case 3: index = try attribute.integer()
            case 4: name = attribute.text
            case 5: kind = try attribute.integer()
            case 6: address = try attribute.macAddress()
            case 21: stationInformation = attribute.nested
            case 38: frequency = try attribute.integer()
            case 47: scanEntry = attribute.nested
            case 51: frame = attribute.payload
            case 52: ssid = attribute.payload
            case 54: reason = try attribute.integer()
            case 65: timedOut = true
            case 71: byAccessPoint = true
            case 72: status = try attribute.integer()
            case 77: requestElements = attribute.payload
            case 312: links = try Fields.links(attribute.nested)
            case 313: link = try attribute.integer()
            default: break
            }
        }
    }

    func message(_ command: UInt8) throws(MalformedMessage) -> NL80211Message {
        switch command {
        case 3, 4: return .radioChanged
        case 6, 7, 8:
            // P2P devices and NAN have no netdev, and so no index.
            guard let index else { return .other(command: command) }
            if command == 8 { return .interfaceRemoved(index: index) }
            guard let kind else { throw MalformedMessage("interface \(index) without a type") }
            return .interface(
                WirelessInterface(
                    index: index, name: name, radio: radio, kind: InterfaceKind(kind), hardwareAddress: address,
                    ssid: try ssidValue(), frequency: frequency))
        case 19, 20:
            let index = try require(index, "NL80211_ATTR_IFINDEX")
            let address = try require(address, "NL80211_ATTR_MAC")
            if command == 20 { return .stationRemoved(index: index, address: address) }
            return .station(try station(index, address))
        case 34:
            // The event says only that there are results; the answers of GET_SCAN carry one each. Those about a P2P
            // device have no index.
            guard let scanEntry, let index else { return .other(command: command) }
            return try entry(scanEntry, index)
        case 37, 38: return try managementResult(command)
        case 46, 47:
            let result = ConnectionResult(
                index: try require(index, "NL80211_ATTR_IFINDEX"), bssid: address,
                // ROAM is always a success and has no status.
                status: command == 47 ? 0 : try require(status, "NL80211_ATTR_STATUS_CODE"), timedOut: timedOut,
                requestElements: requestElements, links: links)
            return command == 46 ? .connect(result) : .roam(result)
        case 48:
            return .disconnect(
                index: try require(index, "NL80211_ATTR_IFINDEX"), reason: reason, byAccessPoint: byAccessPoint)
        case 88:
            guard let frequency else { return .other(command: command) }
            return .channelSwitched(
                index: try require(index, "NL80211_ATTR_IFINDEX"), link: link, frequency: frequency)
        case 125:
            return .portAuthorized(
                index: try require(index, "NL80211_ATTR_IFINDEX"), address: try require(address, "NL80211_ATTR_MAC"))
        case 154, 156: return .linksChanged(index: try require(index, "NL80211_ATTR_IFINDEX"))
        default: return .other(command: command)
        }
    }

    private func require<Value>(_ value: Value?, _ name: String) throws(MalformedMessage) -> Value {
        guard let value else { throw MalformedMessage("no \(name)") }
        return value
    }

    private func ssidValue() throws(MalformedMessage) -> SSID? {
        guard let ssid else { return nil }
        guard let value = SSID(octets: ssid) else { throw MalformedMessage("an SSID of \(ssid.count) octets") }
        return value.isHidden ? nil : value
    }

    /// A nest that some kernels index by position and others by link: only the identifier inside counts.
    private static func links(_ list: Attributes) throws(MalformedMessage) -> [UInt8: BSSID] {
        var links: [UInt8: BSSID] = [:]
        try list.forEach(isList: true) { member throws(MalformedMessage) in
            var identifier: UInt8?
            var bssid: BSSID?
            var status: UInt16 = 0
            try member.nested.forEach { attribute throws(MalformedMessage) in
                switch attribute.type {
                case 72: status = try attribute.integer()
                case 245: bssid = try attribute.macAddress()
                case 313: identifier = try attribute.integer()
                default: break
                }
            }
            if let identifier, let bssid, status == 0 { links[identifier] = bssid }
        }
        return links
    }

    private func station(_ index: Int32, _ address: MACAddress) throws(MalformedMessage) -> Station {
        var station = Station(index: index, address: address, isAuthorized: nil, signal: nil)
        try stationInformation?.forEach { attribute throws(MalformedMessage) in
            switch attribute.type {
            case 7: station.signal = try attribute.integer()
            case 17:  // nl80211_sta_flag_update: which flags are reported, and those that are set. Bit 1 is AUTHORIZED.
                guard attribute.payload.count == 8, let mask = attribute.payload.hostInteger(at: 0, as: UInt32.self),
                    let set = attribute.payload.hostInteger(at: 4, as: UInt32.self)
                else { throw MalformedMessage("station flags: \(attribute.payload.count) octets, expected 8") }
                if mask & 2 != 0 { station.isAuthorized = set & 2 != 0 }
            case 42: station.associatedAt = Int64(clamping: try attribute.integer(UInt64.self) / 1_000)  // ns
            default: break
            }
        }
        return station
    }

    private func entry(_ attributes: Attributes, _ index: Int32) throws(MalformedMessage) -> NL80211Message {
        var bssid: BSSID?
        var frequency: UInt32?
        var elements: ArraySlice<UInt8>?
        var beaconElements: ArraySlice<UInt8>?
        var capability: UInt16 = 0
        var signal: Int8?
        var isAssociated = false
        var link: UInt8?
        var mldAddress: MACAddress?
        try attributes.forEach { attribute throws(MalformedMessage) in
            switch attribute.type {
            case 1: bssid = try attribute.macAddress()
            case 2: frequency = try attribute.integer()
            case 5: capability = try attribute.integer()
            case 6: elements = attribute.payload
            case 7: signal = Int8(clamping: try attribute.integer(Int32.self) / 100)  // mBm
            case 9: isAssociated = try attribute.integer(UInt32.self) == 1
            case 11: beaconElements = attribute.payload
            case 21: link = try attribute.integer()
            case 22: mldAddress = try attribute.macAddress()
            default: break
            }
        }
        return .scanEntry(
            ScanEntry(
                index: index, bssid: try require(bssid, "NL80211_BSS_BSSID"),
                frequency: frequency, elements: elements ?? beaconElements, capability: capability, signal: signal,
                isAssociated: isAssociated, link: link, mldAddress: mldAddress))
    }

    /// Status and address stand inside the frame of the access point (IEEE 802.11-2020, 9.3.3.11 and 9.3.3.6).
    private func managementResult(_ command: UInt8) throws(MalformedMessage) -> NL80211Message {
        var result = ManagementResult(
            index: try require(index, "NL80211_ATTR_IFINDEX"), bssid: address, status: nil, timedOut: timedOut,
            algorithm: nil)
        let isAuthentication = command == 37
        if let frame {
            guard frame.count >= 24 else { throw MalformedMessage("a management frame of \(frame.count) octets") }
            let body = frame.dropFirst(24)
            result.bssid = MACAddress(octets: frame.dropFirst(16).prefix(6))
            if isAuthentication { result.algorithm = body.littleEndian(at: 0) }
            // Only answers carry a status: their subtypes are 1 and 3 (association), 11 (authentication).
            result.status = body.littleEndian(at: isAuthentication ? 4 : 2)
        }
        return isAuthentication ? .authenticate(result) : .associate(result)
    }
}

extension ArraySlice<UInt8> {
    /// Frames are little-endian whatever the host is.
    fileprivate func littleEndian(at offset: Int) -> UInt16? {
        guard count >= offset + 2 else { return nil }
        return UInt16(self[startIndex + offset]) | UInt16(self[startIndex + offset + 1]) << 8
    }
}
