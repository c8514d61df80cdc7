internal import Hashing
public import WiFi

/// What stands for a network's name in the analytics log.
public enum PlaceHash {
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
}
