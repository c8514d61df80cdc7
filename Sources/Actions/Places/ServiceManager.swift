internal import Platform
internal import SystemBus

/// systemd, the machine's or a user's, by org.freedesktop.systemd1(5).
@ActionActor
public final class ServiceManager {
    static let name = "org.freedesktop.systemd1"
    nonisolated static let path = "/org/freedesktop/systemd1"
    static let manager = "org.freedesktop.systemd1.Manager"
    static let unit = "org.freedesktop.systemd1.Unit"

    let bus: Bus
    /// For people: how one looks at a unit of its.
    let command: String
    private var isSubscribed = false
    private var known: (variables: [String], until: Int64)?

    /// How long what it hands on is taken for the same (µs): between a handshake's beginning and its end.
    private static let lifetime: Int64 = 10_000_000
    private var ownership: SignalWatch?

    /// - Parameters:
    ///   - bus: the machine's, or the user's.
    ///   - isOfUser: whether it is the manager of a user's units.
    public init(_ bus: Bus, isOfUser: Bool) {
        self.bus = bus
        command = isOfUser ? "systemctl --user" : "systemctl"
        bus.whenLost { [weak self] in
            self?.isSubscribed = false
            self?.ownership = nil
            self?.known = nil
        }
    }

    func call(
        _ member: String, _ arguments: [BusArgument] = []
    ) async throws(BusError) -> [BusValue] {
        try await bus.call(
            ServiceManager.name, ServiceManager.path, ServiceManager.manager, member, arguments)
    }

    /// Has it send signals, which it does only for those who asked.
    func subscribe() async throws(BusError) {
        guard !isSubscribed else { return }
        if ownership == nil {
            ownership = try bus.watch(Bus.ownership(of: ServiceManager.name))
            // Another one has been asked by nobody.
            ownership?.onSignal = { [weak self] _ in self?.isSubscribed = false }
        }
        do throws(BusError) {
            _ = try await call("Subscribe")
        } catch {
            // AlreadySubscribed: this connection has asked before.
            if case .refused = error {} else { throw error }
        }
        isSubscribed = true
    }

    /// What it hands on of its own environment to the units that it starts, `NAME=value`.
    func variables() async throws(BusError) -> [String] {
        let now = Timestamp.now().boottime
        if let known, now < known.until { return known.variables }
        let value = try await bus.property(
            ServiceManager.name, ServiceManager.path, ServiceManager.manager, "Environment")
        guard let variables = value.list?.compactMap(\.text) else { throw .noAnswer }
        known = (variables, now + ServiceManager.lifetime)
        return variables
    }

    /// They are asked for again.
    func forgetVariables() { known = nil }

    /// How a job ended: `done`, `failed`, `canceled`, `timeout`, `dependency`, `skipped` and others of systemd's words.
    func ended(_ job: String, _ watch: SignalWatch, until deadline: Int64?) async throws(BusError) -> String {
        try await watch.first(until: deadline) { signal in
            guard signal.values.count >= 4, signal.values[1].text == job else { return nil }
            return signal.values[3].text
        }
    }

    /// Ends of jobs, from now on.
    func watchJobs() throws(BusError) -> SignalWatch {
        // No `arg2` for the unit: sd-bus finds no argument that comes after a number, and drops the signal.
        try bus.watch(
            "path='\(ServiceManager.path)',interface='\(ServiceManager.manager)',member='JobRemoved'",
            of: ServiceManager.name)
    }

    /// Where the unit of that name is found on the bus, whether or not it is loaded.
    nonisolated static func path(of unit: String) -> String {
        let digits = Array("0123456789abcdef")
        var escaped = ""
        for (position, octet) in unit.utf8.enumerated() {
            switch octet {
            case 0x41...0x5A, 0x61...0x7A: escaped.append(Character(Unicode.Scalar(octet)))
            case 0x30...0x39 where position > 0: escaped.append(Character(Unicode.Scalar(octet)))
            default: escaped += "_\(digits[Int(octet >> 4)])\(digits[Int(octet & 15)])"
            }
        }
        return "\(path)/unit/\(escaped)"
    }

    /// systemd.unit(5): what may stand in a name.
    static func isName(_ unit: String) -> Bool {
        (1...255).contains(unit.utf8.count)
            && unit.utf8.allSatisfy { octet in
                switch octet {
                case 0x30...0x39, 0x41...0x5A, 0x61...0x7A: true
                default: ":-_.\\@".utf8.contains(octet)
                }
            }
    }
}
