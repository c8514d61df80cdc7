/// How an association is protected, by the names the feed and the rule files use.
public enum Security: String, Hashable, Sendable, CaseIterable {
    case open
    case owe
    case wep
    case wpaPSK = "wpa-psk"
    case wpa2PSK = "wpa2-psk"
    case wpa3SAE = "wpa3-sae"
    case wpa2Enterprise = "wpa2-enterprise"
    case wpa3Enterprise = "wpa3-enterprise"
    case wpa3Enterprise192 = "wpa3-enterprise-192"
    case unknown
}
