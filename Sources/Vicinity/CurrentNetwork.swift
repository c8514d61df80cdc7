public import Environment
internal import Netlink
internal import Platform

extension WiFiNetwork {
    /// The Wi-Fi network that this machine has joined now, read from the kernel once.
    ///
    /// Of several, that of the interface with the way to the internet, else the one with the lowest index.
    ///
    /// - Returns: nil off Wi-Fi, and while a link is being authenticated: a name alone is a stranger's claim.
    /// - Throws: `NetlinkError` when the kernel cannot be asked.
    public static func current() async throws -> WiFiNetwork? {
        let environment = try EnvironmentWatcher.read()
        if let primary = environment.primaryRoute,
            let network = environment.interfaces[primary.interfaceIndex]?.wifi?.network
        {
            return network
        }
        return environment.interfaces.values.sorted { $0.index < $1.index }.lazy.compactMap { $0.wifi?.network }.first
    }
}
