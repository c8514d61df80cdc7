internal import Glibc
internal import Netlink
internal import Platform
internal import SystemBus

/// Asks systemd-resolved for addresses, of one link's name servers only: org.freedesktop.resolve1(5).
///
/// The connection lasts as long as there are questions. Everything happens on the loop's thread.
final class LinkResolver {
    enum Answer: Hashable {
        /// At least one.
        case addresses([IPAddress])
        case unknownName
        case unavailable
    }

    /// A question that was asked.
    final class LookUp {
        fileprivate let completion: (Answer) -> Void

        fileprivate init(_ completion: @escaping (Answer) -> Void) {
            self.completion = completion
        }
    }

    /// `SD_RESOLVED_…` of systemd's resolved-def.h: by unicast DNS, the name as it is, and nothing of this machine's own:
    /// not made up (which is what comes from `/etc/hosts`), not remembered, not of its own zone. Caches are kept by link,
    /// so another link's would not be asked in any case; but this one's may be of the network it was in before.
    private static let flags: UInt64 = 1 << 0 | 1 << 8 | 1 << 11 | 1 << 12 | 1 << 13

    /// What is asked longer than this is forgotten by the bus, in microseconds; whoever asks has less patience.
    private static let patience: UInt64 = 10_000_000

    private let loop: EventLoop
    private let bus: SystemBus
    private var lookUps: [ObjectIdentifier: LookUp] = [:]

    /// - Parameter address: of the bus; nil for the system's.
    init(on loop: EventLoop, bus address: String?) {
        self.loop = loop
        bus = SystemBus(on: loop, address: address)
        bus.isPersistent = false
    }

    /// - Parameter completion: called once, from the loop and never from within this, unless it is cancelled.
    func lookUp(
        _ name: String, on interfaceIndex: UInt32, completion: @escaping (Answer) -> Void
    ) -> LookUp {
        let lookUp = LookUp(completion)
        let identifier = ObjectIdentifier(lookUp)
        lookUps[identifier] = lookUp
        if !bus.isConnected { bus.connect() }
        // A resolver that does not run is none of this machine's, and not started.
        bus.call(
            "org.freedesktop.resolve1", "/org/freedesktop/resolve1", "org.freedesktop.resolve1.Manager",
            "ResolveHostname",
            [
                .signed(Int32(bitPattern: interfaceIndex)), .text(name), .signed(AF_UNSPEC), .unsigned64(Self.flags),
            ], limit: Self.patience
        ) { [weak self] reply in
            let answer = LinkResolver.answer(reply, for: interfaceIndex)
            // Not from within the bus, since whoever hears it may let go of that.
            self?.loop.schedule(at: 0) { self?.finish(identifier, answer) }
        }
        return lookUp
    }

    func cancel(_ lookUp: LookUp) {
        lookUps[ObjectIdentifier(lookUp)] = nil
        closeIfIdle()
    }

    private func finish(_ identifier: ObjectIdentifier, _ answer: Answer) {
        lookUps.removeValue(forKey: identifier)?.completion(answer)
        closeIfIdle()
    }

    private func closeIfIdle() {
        if lookUps.isEmpty { bus.close() }
    }

    // MARK: Answers

    private static func answer(_ reply: SystemBus.Reply, for interfaceIndex: UInt32) -> Answer {
        switch reply {
        case .absent: return .unavailable
        case .failed(let error, _):
            switch error {
            case "org.freedesktop.resolve1.NoSuchRR", "org.freedesktop.resolve1.DnsError.NXDOMAIN": return .unknownName
            default: return .unavailable
            }
        case .values(let values):
            guard let entries = values.first?.list else { return .unavailable }
            let addresses = entries.compactMap { entry -> IPAddress? in
                guard let parts = entry.list, parts.count == 3,
                    // Another link's answer says nothing about this one.
                    parts[0].number == Int64(interfaceIndex),
                    let address = parts[2].octets.flatMap({ IPAddress(octets: $0) }),
                    Int64(address.family.rawValue) == parts[1].number
                else { return nil }
                return address
            }
            return addresses.isEmpty ? .unknownName : .addresses(addresses)
        }
    }
}
