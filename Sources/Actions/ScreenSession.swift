internal import Platform
internal import SystemBus

/// The session that this machine's own screen shows, by logind: `seat0`.
public struct ScreenSession: Hashable, Sendable {
    private static let name = "org.freedesktop.login1"
    private static let seat = "/org/freedesktop/login1/seat/seat0"

    /// logind's; no two of a boot have the same.
    public var id: String
    public var user: UInt32
    /// Whether it can show a window; else it is a text console.
    public var isGraphical: Bool
    public var isLocked: Bool

    public init(id: String, user: UInt32, isGraphical: Bool, isLocked: Bool) {
        self.id = id
        self.user = user
        self.isGraphical = isGraphical
        self.isLocked = isLocked
    }

    /// Whatever is not clearly a person's session at this machine is none.
    ///
    /// - Parameter bus: the machine's.
    @ActionActor
    public static func current(_ bus: Bus) async throws(PlaceError) -> ScreenSession {
        let found: ScreenSession?
        do throws(BusError) {
            let shown = try await bus.property(name, seat, "org.freedesktop.login1.Seat", "ActiveSession")
            guard let pair = shown.list, pair.count == 2, let id = pair[0].text, let path = pair[1].text else {
                throw .noAnswer
            }
            let session = id.isEmpty ? [:] : try await bus.properties(name, path, "org.freedesktop.login1.Session")
            found = ScreenSession(id, session)
        } catch {
            throw error.placeError("who sits at this machine", "systemd-logind")
        }
        guard let found else { throw .failed("nobody has an active session at this machine's screen") }
        return found
    }

    private init?(_ id: String, _ session: [String: BusValue]) {
        guard session["Id"]?.text == id, session["Class"]?.text == "user",
            session["Remote"]?.flag == false, session["Active"]?.flag == true,
            let isLocked = session["LockedHint"]?.flag, let type = session["Type"]?.text,
            ["x11", "wayland", "mir", "tty"].contains(type),
            let user = session["User"]?.list?.first?.number.flatMap({ UInt32(exactly: $0) })
        else { return nil }
        self.init(id: id, user: user, isGraphical: type != "tty", isLocked: isLocked)
    }
}
