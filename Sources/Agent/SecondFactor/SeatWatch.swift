internal import Platform
internal import SystemBus

/// Tells who sits at the machine, by logind: the session that `seat0` shows.
///
/// Whatever is not clearly a person's session at this machine's own screen is nobody.
final class SeatWatch {
    private static let logind = "org.freedesktop.login1"
    private static let seatPath = "/org/freedesktop/login1/seat/seat0"
    private static let sessionPaths = "/org/freedesktop/login1/session"
    private static let seatInterface = "org.freedesktop.login1.Seat"
    private static let sessionInterface = "org.freedesktop.login1.Session"
    private static let properties = "org.freedesktop.DBus.Properties"
    /// How often it is looked again where a session ends in the middle of it.
    private static let tries = 3

    private let bus: SystemBus
    private let loop: EventLoop
    private let tell: (Seat) -> Void
    private var matches: [SystemBus.Match] = []
    private var isLooking = false
    private var isNewer = false

    /// Whether it is told by itself when that changes.
    var isWatching = false {
        didSet { if isWatching != oldValue { follow() } }
    }

    /// - Parameter tell: given what each look finds.
    init(_ bus: SystemBus, on loop: EventLoop, _ tell: @escaping (Seat) -> Void) {
        self.bus = bus
        self.loop = loop
        self.tell = tell
    }

    /// To be called when the bus is there, and when it is again.
    func connected() {
        // Those of the last connection went with it.
        matches = []
        guard isWatching else { return }
        follow()
        look()
    }

    /// Looks, and tells at a later time.
    func look() {
        guard !isLooking else { return isNewer = true }
        isLooking = true
        // Who demands something as the agent starts does so before the bus is there.
        loop.schedule(at: Timestamp.now().boottime) { [weak self] in self?.findSession(SeatWatch.tries) }
    }

    private func follow() {
        for match in matches { bus.ignore(match) }
        matches = []
        guard isWatching else { return }
        let changes = "sender='\(SeatWatch.logind)',interface='\(SeatWatch.properties)',member='PropertiesChanged'"
        matches = [
            "\(changes),path='\(SeatWatch.seatPath)',arg0='\(SeatWatch.seatInterface)'",
            "\(changes),path_namespace='\(SeatWatch.sessionPaths)',arg0='\(SeatWatch.sessionInterface)'",
        ].compactMap { rule in bus.match(rule) { [weak self] _, _ in self?.look() } }
        bus.watchOwner(of: SeatWatch.logind) { [weak self] _ in self?.look() }.map { matches.append($0) }
    }

    // MARK: A look

    private func findSession(_ tries: Int) {
        bus.call(
            SeatWatch.logind, SeatWatch.seatPath, SeatWatch.properties, "Get",
            [.text(SeatWatch.seatInterface), .text("ActiveSession")], startsService: true
        ) { [weak self] reply in
            guard let self else { return }
            switch SeatWatch.activeSession(reply) {
            case .failure(let nobody): found(.nobody(nobody.because))
            case .success(let session): readSession(session, tries)
            }
        }
    }

    private func readSession(_ session: (id: String, path: String), _ tries: Int) {
        bus.call(
            SeatWatch.logind, session.path, SeatWatch.properties, "GetAll", [.text(SeatWatch.sessionInterface)]
        ) { [weak self] reply in
            guard let self else { return }
            if case .failed("org.freedesktop.DBus.Error.UnknownObject"?, _) = reply, tries > 1 {
                return findSession(tries - 1)
            }
            found(SeatWatch.seat(reply, session.id))
        }
    }

    private func found(_ seat: Seat) {
        isLooking = false
        if isNewer {
            isNewer = false
            look()
        }
        tell(seat)
    }

    // MARK: What logind says

    struct Nobody: Error {
        let because: String
    }

    private static let noAnswer = "systemd-logind does not say who sits at this machine"

    /// `v` of `(so)`; where no session is shown, the identifier is empty.
    static func activeSession(_ reply: SystemBus.Reply) -> Result<(id: String, path: String), Nobody> {
        switch reply {
        case .absent: return .failure(Nobody(because: "systemd-logind does not run: nobody knows who sits here"))
        // There is no such seat without a screen.
        case .failed("org.freedesktop.DBus.Error.UnknownObject"?, _):
            return .failure(Nobody(because: "this machine has no screen"))
        case .failed: return .failure(Nobody(because: noAnswer))
        case .values(let values):
            guard values.count == 1, let pair = values[0].list, pair.count == 2, let id = pair[0].text,
                let path = pair[1].text
            else { return .failure(Nobody(because: noAnswer)) }
            guard !id.isEmpty else { return .failure(Nobody(because: "nobody has a session at this machine's screen")) }
            guard isIdentifier(id), SystemBus.isPath(path) else { return .failure(Nobody(because: noAnswer)) }
            return .success((id, path))
        }
    }

    static func seat(_ reply: SystemBus.Reply, _ id: String) -> Seat {
        guard case .values(let values) = reply, values.count == 1, let session = values[0].dictionary,
            session["Id"]?.text == id, let kind = session["Class"]?.text, let type = session["Type"]?.text,
            let isRemote = session["Remote"]?.flag, let isActive = session["Active"]?.flag,
            let isLocked = session["LockedHint"]?.flag,
            let user = session["User"]?.list?.first?.number.flatMap({ UInt32(exactly: $0) }),
            let leader = session["Leader"]?.number.flatMap({ UInt32(exactly: $0) }), leader > 0
        else { return .nobody(noAnswer) }
        guard !isRemote else { return .nobody("the session at this machine's screen is a remote one") }
        guard kind == "user" else { return .nobody("nobody is logged in at this machine's screen") }
        guard isActive else { return .nobody("nobody has an active session at this machine's screen") }
        guard ["x11", "wayland", "mir", "tty"].contains(type) else {
            return .nobody("the session at this machine's screen has nothing to show a question on")
        }
        return .session(
            Seat.Session(id: id, user: user, leader: leader, name: session["Name"]?.text, isLocked: isLocked))
    }

    /// What logind makes them of: digits, and letters before those.
    private static func isIdentifier(_ text: String) -> Bool {
        (1...64).contains(text.utf8.count)
            && text.utf8.allSatisfy { octet in
                switch octet {
                case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "a")...UInt8(ascii: "z"),
                    UInt8(ascii: "A")...UInt8(ascii: "Z"):
                    true
                default: "-_".utf8.contains(octet)
                }
            }
    }
}
