public import Hashing
public import WiFi

/// What stands for a network's name where the name itself is not told.
public enum PlaceHash {
    /// A class and no hash: whoever runs the network asks not to be kept on record.
    public static let optedOut = "nomap"

    /// `sha256:` and 64 lower-case hexadecimal digits, over the raw octets: what `printf %s NAME | sha256sum` prints,
    /// so that the log can be joined with other systems.
    ///
    /// Names are few and guessable, so this hides one from a glance and not from a reader of the log. Only names that
    /// an organisation lists for everybody to know are hashed so.
    public static func plain(_ octets: [UInt8]) -> String {
        "sha256:\(SHA256.hexadecimal(octets))"
    }

    public static func plain(_ ssid: SSID) -> String {
        plain(ssid.octets)
    }

    /// For every other name: `hmac-sha256:`, the key's identifier, `:` and 64 digits, which only a holder of the key can
    /// compare with anything.
    public static func keyed(_ ssid: SSID, by key: HashKey) -> String {
        key.hash(ssid.octets)
    }

    /// - Parameter isOpen: whether everybody may guess the name.
    public static func of(_ ssid: SSID, isOpen: Bool, by key: HashKey) -> String {
        if ssid.isOptedOut { return optedOut }
        return isOpen ? plain(ssid) : keyed(ssid, by: key)
    }
}
