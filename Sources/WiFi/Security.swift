/// How an association is protected, by the names the feed and the rule files use.
public enum Security: String, Hashable, Sendable, CaseIterable {
    /// No key at all.
    case open
    /// Enhanced Open: encrypted, but with anyone.
    case owe
    /// The broken cipher of 1997, static or with keys from 802.1X.
    case wep
    /// WPA of 2003 with a passphrase.
    case wpaPSK = "wpa-psk"
    /// WPA2 with a passphrase.
    case wpa2PSK = "wpa2-psk"
    /// WPA3 with a passphrase.
    case wpa3SAE = "wpa3-sae"
    /// 802.1X under WPA2; also where WPA3's conditions are not all met, or not known to be.
    case wpa2Enterprise = "wpa2-enterprise"
    /// 802.1X with SHA-256 or better, management frames always protected.
    case wpa3Enterprise = "wpa3-enterprise"
    /// 802.1X at the 192-bit level.
    case wpa3Enterprise192 = "wpa3-enterprise-192"
    /// Not told, contradictory, malformed or of a kind not known. Nothing is to be concluded from it.
    ///
    /// WPA of 2003 with 802.1X is here as well: no other name would be true of it.
    case unknown
}

extension Security {
    /// A key that all stations share: WPA, WPA2 or WPA3 with a passphrase. WEP is not among them.
    public var isPersonal: Bool {
        switch self {
        case .wpaPSK, .wpa2PSK, .wpa3SAE: true
        default: false
        }
    }

    /// 802.1X of any level.
    public var isEnterprise: Bool {
        switch self {
        case .wpa2Enterprise, .wpa3Enterprise, .wpa3Enterprise192: true
        default: false
        }
    }

    /// No key and no handshake. Enhanced Open is not open in this sense: it has a handshake, which can fail.
    public var isOpen: Bool { self == .open }

    /// Whether a link of this class withstands everybody whom a link of class `other` withstands, so that moving from
    /// `other` to this class is no loss.
    ///
    /// It is a partial order: reflexive, antisymmetric and transitive, but of two classes it can be that neither is at
    /// least the other, since they trust different things (a passphrase, a server's certificate).
    ///
    ///     unknown < open < wep < wpa-psk < wpa2-psk < wpa3-sae
    ///                      wep < wpa2-enterprise < wpa3-enterprise < wpa3-enterprise-192
    ///               open < owe < wpa3-sae, wpa3-enterprise
    ///
    /// `unknown` is weaker than everything else. OWE is below those only that protect management frames as it does
    /// and from whose passphrase or credentials an eavesdropper gains nothing.
    public func isAtLeast(_ other: Security) -> Bool {
        if self == other || other == .unknown { return true }
        if self == .unknown { return false }
        switch other {
        case .unknown, .open: return true
        case .wep: return isPersonal || isEnterprise
        case .owe: return self == .wpa3SAE || self == .wpa3Enterprise || self == .wpa3Enterprise192
        case .wpaPSK, .wpa2PSK, .wpa3SAE: return isPersonal && rank >= other.rank
        case .wpa2Enterprise, .wpa3Enterprise, .wpa3Enterprise192: return isEnterprise && rank >= other.rank
        }
    }

    /// A place in a total order that agrees with `isAtLeast`, to pick the weakest of a mixed offer. Where that leaves
    /// it open, a passphrase is weaker than 802.1X: more people know it.
    var rank: UInt8 {
        switch self {
        case .unknown: 0
        case .open: 1
        case .wep: 2
        case .owe: 3
        case .wpaPSK: 4
        case .wpa2PSK: 5
        case .wpa3SAE: 6
        case .wpa2Enterprise: 7
        case .wpa3Enterprise: 8
        case .wpa3Enterprise192: 9
        }
    }
}
