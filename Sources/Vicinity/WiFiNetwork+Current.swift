public import Environment
internal import Feed
internal import Netlink
internal import Platform

extension WiFiNetwork {
    /// The Wi-Fi network that this machine has joined now.
    ///
    /// Of several, that of the interface with the way to the internet, else the one with the lowest index.
    ///
    /// - Returns: nil off Wi-Fi, and while a link is being authenticated: a name alone is a stranger's claim.
    /// - Throws: `VicinityError.notAuthorized` where the agent may not tell this program, and other cases where it
    ///   cannot be asked; `NetlinkError` where the kernel, as the source, cannot.
    public static func current(from source: EnvironmentSource = .agent) async throws -> WiFiNetwork? {
        switch source.kind {
        case .kernel: return try EnvironmentWatcher.read().joinedNetwork
        case .agent(let socket):
            let snapshot = try await AgentSnapshot.read(from: socket)
            guard snapshot.permission == .full else {
                throw VicinityError.notAuthorized(LocationAuthorization(snapshot.permission))
            }
            return snapshot.environment.joinedNetwork
        }
    }
}

extension NetworkEnvironment {
    fileprivate var joinedNetwork: WiFiNetwork? {
        if let primaryRoute, let network = interfaces[primaryRoute.interfaceIndex]?.wifi?.network { return network }
        return interfaces.values.sorted { $0.index < $1.index }.lazy.compactMap { $0.wifi?.network }.first
    }
}
