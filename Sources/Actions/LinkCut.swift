internal import Netlink
internal import Platform
internal import SystemBus

/// Takes links down until somebody brings them up again: by NetworkManager where it manages them, else in the kernel.
@ActionActor
public final class LinkCut {
    private static let service = "org.freedesktop.NetworkManager"
    private static let path = "/org/freedesktop/NetworkManager"
    private static let device = "org.freedesktop.NetworkManager.Device"
    /// NMDeviceState: NM_DEVICE_STATE_DISCONNECTED; what is less is no connection either.
    private static let disconnected: Int64 = 30
    /// µs
    public nonisolated static let limit: Int64 = 10_000_000

    private let bus: Bus
    private let limit: Int64

    /// - Parameters:
    ///   - bus: the machine's.
    ///   - limit: how long a link may take, in µs.
    public init(_ bus: Bus, limit: Int64 = LinkCut.limit) {
        self.bus = bus
        self.limit = limit
    }

    /// Returns when each of the links has been read back as down; tries every one, whatever becomes of the others.
    public func cut(_ links: [String]) async throws(PlaceError) {
        guard !links.isEmpty else { throw .failed("disconnect: nobody knows which link led here") }
        var problems: [String] = []
        for link in links {
            do throws(PlaceError) {
                try await cut(link)
            } catch {
                if error == .cancelled { throw error }
                problems.append(error.description)
            }
        }
        if !problems.isEmpty { throw .failed(problems.joined(separator: "; ")) }
    }

    private func cut(_ link: String) async throws(PlaceError) {
        do throws(BusError) {
            if let device = try await managedDevice(of: link) { return try await disconnect(device) }
        } catch {
            if error == .cancelled { throw .cancelled }
            // Whatever NetworkManager says, the link does not stay up.
            let problem = error.placeError("disconnection of \(link)", "NetworkManager")
            if Self.isThere(error) { Log.write(.warning, "\(problem): the link is taken down in the kernel") }
        }
        try takeDown(link)
    }

    private static func isThere(_ error: BusError) -> Bool {
        switch error {
        case .noBus, .absent: false
        default: true
        }
    }

    // MARK: NetworkManager

    /// Nil where NetworkManager has nothing to do with the link.
    private func managedDevice(of link: String) async throws(BusError) -> String? {
        let reply = try await bus.call(LinkCut.service, LinkCut.path, LinkCut.service, "GetAllDevices")
        guard let paths = reply.first?.list else { throw .noAnswer }
        for path in paths.compactMap(\.text) {
            do throws(BusError) {
                let properties = try await bus.properties(LinkCut.service, path, LinkCut.device)
                guard properties["Interface"]?.text == link else { continue }
                return properties["Managed"]?.flag == true ? path : nil
            } catch {
                // It went away meanwhile.
                guard error.isUnknownObject else { throw error }
            }
        }
        return nil
    }

    private func disconnect(_ device: String) async throws(BusError) {
        let deadline = Timestamp.now().boottime + limit
        let watch = try bus.watch(
            "path='\(device)',interface='\(LinkCut.device)',member='StateChanged'", of: LinkCut.service)
        defer { watch.end() }
        do throws(BusError) {
            _ = try await bus.call(LinkCut.service, device, LinkCut.device, "Disconnect", limit: limit)
        } catch {
            // It went down by itself.
            guard error.name == "\(LinkCut.device).NotActive" else { throw error }
        }
        while try await !isDisconnected(device) {
            _ = try await watch.first(until: deadline) { _ in true }
        }
    }

    private func isDisconnected(_ device: String) async throws(BusError) -> Bool {
        let state = try await bus.property(LinkCut.service, device, LinkCut.device, "State")
        guard let number = state.number else { throw .noAnswer }
        return number <= LinkCut.disconnected
    }

    // MARK: The kernel

    private func takeDown(_ link: String) throws(PlaceError) {
        do throws(NetlinkError) {
            let kernel = try NetlinkRequester(.route)
            guard let present = try Self.look(link, kernel) else { return }
            _ = try kernel.answer(to: LinkMessage.takeDown(present.index))
            guard let left = try Self.look(link, kernel), left.isUp else { return }
            throw .library(operation: "RTM_NEWLINK", explanation: "the link is up all the same")
        } catch {
            throw .failed("disconnect: \(link) cannot be taken down: \(error)")
        }
    }

    /// Nil where there is no such link, and so nothing that leads anywhere.
    private static func look(_ link: String, _ kernel: NetlinkRequester) throws(NetlinkError) -> LinkMessage? {
        do throws(NetlinkError) {
            for message in try kernel.answer(to: LinkMessage.lookUp(link)) {
                do throws(MalformedMessage) {
                    if case .link(let found)? = try RouteMessage(message) { return found }
                } catch {
                    throw .malformed(operation: "RTM_GETLINK", error)
                }
            }
            throw .library(operation: "RTM_GETLINK", explanation: "the kernel's answer has no link in it")
        } catch .refused(_, code: 19, _) {  // ENODEV
            return nil
        }
    }
}
