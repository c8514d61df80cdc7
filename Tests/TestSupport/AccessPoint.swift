public import Netlink
public import WiFi

/// An access point as beacons describe it and as stations ask for it.
public struct AccessPoint: Hashable, Sendable {
    public enum Protection: Hashable, Sendable {
        case open, wep, wpa2, wpa3, owe, enterprise

        /// The suite `00-0f-ac:N`.
        var akm: UInt8? {
            switch self {
            case .open, .wep: nil
            case .enterprise: 1
            case .wpa2: 2
            case .wpa3: 8
            case .owe: 18
            }
        }
    }

    public var ssid: [UInt8]
    public var bssid: BSSID
    public var protection: Protection
    public var frequency: UInt32
    /// Its beacons do not tell the name.
    public var isHidden = false
    /// The kernel tells the name of an interface only where there is a Country element (Linux 6.1).
    public var hasCountry = true
    /// Of a multi-link device: `bssid` is the MLD's address, these are its links'.
    public var links: [UInt8: BSSID] = [:]

    public init(_ name: String, _ number: UInt8, _ protection: Protection = .wpa2, frequency: UInt32 = 2412) {
        ssid = Array(name.utf8)
        bssid = .numbered(number)
        self.protection = protection
        self.frequency = frequency
    }

    public func with(_ body: (inout AccessPoint) -> Void) -> AccessPoint {
        var copy = self
        body(&copy)
        return copy
    }

    private var rsn: [UInt8] {
        guard let akm = protection.akm else { return [] }
        let capabilities: UInt8 = protection == .wpa3 || protection == .owe ? 0xc0 : 0
        return octets("30 14 0100 000fac04 0100 000fac04 0100 000fac") + [akm, capabilities, 0]
    }

    private var rates: [UInt8] { octets("0108 02040b160c121824") }

    /// What a station puts into its association request, from the SSID on.
    public var requestElements: [UInt8] { [0, UInt8(ssid.count)] + ssid + rates + rsn }

    public var beaconElements: [UInt8] {
        let country: [UInt8] = hasCountry ? octets("0706 464900 010d14") : []
        return [0, isHidden ? 0 : UInt8(ssid.count)] + (isHidden ? [] : ssid) + rates + country + rsn
    }

    /// ESS, and Privacy where anything is encrypted.
    public var capability: UInt16 { protection == .open ? 0x0401 : 0x0411 }
}

extension MACAddress {
    /// `02:00:00:00:00:NN`
    public static func numbered(_ number: UInt8) -> MACAddress {
        guard let address = MACAddress(octets: [2, 0, 0, 0, 0, number]) else { preconditionFailure() }
        return address
    }
}
