public import WiFi

/// Which names readers may be told who may not see where the machine is. Whatever is not listed is not told.
public struct FeedDisclosure: Sendable {
    /// Names of networks, as rule files and the built-in ones have them.
    public var networks: Set<String>
    public var rules: Set<String>
    /// What stands for the name of a Wi-Fi network, `sha256:…` or `hmac-sha256:…`; nil where nothing may.
    public var environment: @Sendable (SSID) -> String?

    /// Nothing.
    public init() {
        self.init(networks: [], rules: []) { _ in nil }
    }

    public init(networks: Set<String>, rules: Set<String>, environment: @escaping @Sendable (SSID) -> String?) {
        self.networks = networks
        self.rules = rules
        self.environment = environment
    }
}

/// Names of interfaces that tell nothing but a slot: those of the kernel, and of systemd by the place of the hardware.
///
/// Others can be anything: an administrator's name for a tunnel to an employer, or `enx…` with the hardware address.
enum InterfaceName {
    private static let numbered = ["lo", "eth", "wlan", "wwan", "usb"]
    private static let placed = ["en", "wl", "ww"]
    /// systemd.net-naming-scheme(7): domain, bus, slot, function, on board, USB port, configuration and interface,
    /// device and port.
    private static let parts = Array("Ppsofuidnv".utf8)

    /// `if4` in the place of a name that may not be told.
    static func shown(_ name: String, _ index: Int32) -> String { isPlain(name) ? name : "if\(index)" }

    private static func isPlain(_ name: String) -> Bool {
        let octets = Array(name.utf8)
        guard octets.count <= 15 else { return false }
        for prefix in numbered where octets.starts(with: prefix.utf8) {
            let rest = octets.dropFirst(prefix.utf8.count)
            if rest.count <= 3, rest.allSatisfy(isDigit), rest.isEmpty == (prefix == "lo") { return true }
        }
        guard placed.contains(where: { octets.starts(with: $0.utf8) }) else { return false }
        var rest = octets.dropFirst(2)
        guard !rest.isEmpty else { return false }
        while let letter = rest.first {
            let digits = rest.dropFirst().prefix(while: isDigit)
            // `np0` is a port's own name.
            let isPort = letter == UInt8(ascii: "n") && rest.dropFirst().first == UInt8(ascii: "p")
            guard parts.contains(letter), isPort || (1...4).contains(digits.count) else { return false }
            rest = rest.dropFirst(1 + digits.count)
        }
        return true
    }

    private static func isDigit(_ octet: UInt8) -> Bool { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(octet) }
}
