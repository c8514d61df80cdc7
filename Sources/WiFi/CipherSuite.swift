/// A cipher suite (IEEE 802.11-2020, table 9-149).
public struct CipherSuite: SuiteSelector {
    /// `oui << 8 | type`.
    public let rawValue: UInt32

    /// Any selector, known or not.
    public init(rawValue: UInt32) {
        self.rawValue = rawValue
    }

    /// The suite `type` of IEEE 802.11 itself, `00-0f-ac`.
    public static func ieee80211(_ type: UInt8) -> CipherSuite { CipherSuite(oui: OUI.ieee80211, type: type) }

    /// AES-CCMP with 128-bit keys: what counts where an RSN element names none.
    public static let ccmp128 = ieee80211(4)

    /// TKIP as a WPA element names it, `00-50-f2:2`: what counts where one names none.
    public static let wpaTKIP = CipherSuite(oui: OUI.microsoft, type: 2)

    /// The usual short name, such as `CCMP-128`; nil for suites that are not in the table.
    public var name: String? {
        switch (oui, type) {
        case (OUI.ieee80211, 0): "group"
        case (OUI.ieee80211, 1), (OUI.microsoft, 1): "WEP-40"
        case (OUI.ieee80211, 2), (OUI.microsoft, 2): "TKIP"
        case (OUI.ieee80211, 4), (OUI.microsoft, 4): "CCMP-128"
        case (OUI.ieee80211, 5), (OUI.microsoft, 5): "WEP-104"
        case (OUI.ieee80211, 6): "BIP-CMAC-128"
        case (OUI.ieee80211, 7): "no-group-traffic"
        case (OUI.ieee80211, 8): "GCMP-128"
        case (OUI.ieee80211, 9): "GCMP-256"
        case (OUI.ieee80211, 10): "CCMP-256"
        case (OUI.ieee80211, 11): "BIP-GMAC-128"
        case (OUI.ieee80211, 12): "BIP-GMAC-256"
        case (OUI.ieee80211, 13): "BIP-CMAC-256"
        case (OUI.wapi, 1): "SMS4"
        default: nil
        }
    }
}
