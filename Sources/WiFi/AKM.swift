/// An authentication and key management suite: how the two ends of an association convince each other and agree on
/// keys (IEEE 802.11-2020, table 9-151, and the lists of Wi-Fi Alliance, Microsoft, Cisco and WAPI).
public struct AKM: SuiteSelector {
    /// `oui << 8 | type`.
    public let rawValue: UInt32

    /// Any selector, known or not.
    public init(rawValue: UInt32) {
        self.rawValue = rawValue
    }

    /// What a suite asks of those who join.
    public enum Family: String, Hashable, Sendable, CaseIterable {
        /// A passphrase that every station shares, used directly (WPA and WPA2).
        case personal
        /// A passphrase behind a password-authenticated key exchange (WPA3).
        case sae
        /// Nothing: encrypted, but with anyone.
        case owe
        /// 802.1X or a key derived from it, FILS included.
        case enterprise
        /// 802.1X at the 192-bit level (CNSA).
        case suiteB192
        /// A connector handed out by a configurator (Wi-Fi Easy Connect).
        case dpp
        /// Online sign-up of Hotspot 2.0: authenticates the server only.
        case osen
        /// The Chinese national standard, by certificate or by key.
        case wapi
        /// Between stations, or before an association: says nothing about how a network is joined.
        case notANetwork
        /// Not in the table.
        case unknown
    }

    /// The suite `type` of IEEE 802.11 itself, `00-0f-ac`.
    public static func ieee80211(_ type: UInt8) -> AKM { AKM(oui: 0x00_0fac, type: type) }

    /// 802.1X with SHA-1, `00-0f-ac:1`: what counts where an RSN element names none.
    public static let ieee8021X = ieee80211(1)

    /// 802.1X of WPA, `00-50-f2:1`: what counts where a WPA element names none.
    public static let wpaIEEE8021X = AKM(oui: OUI.microsoft, type: 1)

    /// What the suite asks of those who join.
    public var family: Family { row.family }

    /// The usual short name, such as `FT-SAE`; nil for suites that are not in the table.
    public var name: String? { row.name }

    private var row: (name: String?, family: Family) {
        switch (oui, type) {
        case (OUI.ieee80211, let type): AKM.ieee80211Row(type)
        case (OUI.microsoft, 1): ("WPA-802.1X", .enterprise)
        case (OUI.microsoft, 2): ("WPA-PSK", .personal)
        case (OUI.wifiAlliance, 1): ("OSEN", .osen)
        case (OUI.wifiAlliance, 2): ("DPP", .dpp)
        case (OUI.cisco, 0): ("CCKM", .enterprise)
        case (OUI.wapi, 1): ("WAPI-certificate", .wapi)
        case (OUI.wapi, 2): ("WAPI-PSK", .wapi)
        default: (nil, .unknown)
        }
    }

    private static func ieee80211Row(_ type: UInt8) -> (name: String?, family: Family) {
        switch type {
        case 1: ("802.1X", .enterprise)
        case 2: ("PSK", .personal)
        case 3: ("FT-802.1X", .enterprise)
        case 4: ("FT-PSK", .personal)
        case 5: ("802.1X-SHA256", .enterprise)
        case 6: ("PSK-SHA256", .personal)
        case 7: ("TDLS", .notANetwork)
        case 8: ("SAE", .sae)
        case 9: ("FT-SAE", .sae)
        case 10: ("AP-PeerKey", .notANetwork)
        case 11: ("Suite-B", .enterprise)
        case 12: ("Suite-B-192", .suiteB192)
        case 13: ("FT-802.1X-SHA384", .enterprise)
        case 14: ("FILS-SHA256", .enterprise)
        case 15: ("FILS-SHA384", .enterprise)
        case 16: ("FT-FILS-SHA256", .enterprise)
        case 17: ("FT-FILS-SHA384", .enterprise)
        case 18: ("OWE", .owe)
        case 19: ("FT-PSK-SHA384", .personal)
        case 20: ("PSK-SHA384", .personal)
        case 21: ("PASN", .notANetwork)
        case 22: ("FT-802.1X-SHA384-unrestricted", .enterprise)
        case 23: ("802.1X-SHA384", .enterprise)
        case 24: ("SAE-EXT-KEY", .sae)
        case 25: ("FT-SAE-EXT-KEY", .sae)
        // 802.11bi: whom it authenticates depends on what it is combined with, which the selector does not tell.
        case 29: ("EPPKE", .unknown)
        default: (nil, .unknown)
        }
    }

    /// Whether WPA3-Enterprise allows it: every 802.1X suite but those whose keys rest on SHA-1.
    var isAllowedByWPA3Enterprise: Bool {
        family == .enterprise && oui == OUI.ieee80211 && type != 1
    }
}

/// The organisations whose lists are in use.
enum OUI {
    static let ieee80211: UInt32 = 0x00_0fac
    static let microsoft: UInt32 = 0x00_50f2
    static let wifiAlliance: UInt32 = 0x50_6f9a
    static let cisco: UInt32 = 0x00_4096
    static let wapi: UInt32 = 0x00_1472
}
