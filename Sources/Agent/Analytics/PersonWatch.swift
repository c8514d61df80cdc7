internal import Platform
internal import SystemBus

/// Tells who is logged in at the machine itself, by logind: whoever has a session on a seat, be it shown or not.
final class PersonWatch {
    private static let logind = "org.freedesktop.login1"
    private static let manager = "org.freedesktop.login1.Manager"
    private static let path = "/org/freedesktop/login1"
    private static let session = "org.freedesktop.login1.Session"
    private static let properties = "org.freedesktop.DBus.Properties"
    /// Sessions on seats; nobody has more screens.
    private static let limit = 64

    private let bus: SystemBus
    private let loop: EventLoop
    private let tell: ([Consents.Person]?) -> Void
    private var matches: [SystemBus.Match] = []
    private var look: Look?
    private var isNewer = false

    /// What one look has found so far.
    private final class Look {
        var people: [Consents.Person] = []
        var open = 0
        var hasFailed = false
    }

    /// Whether it is told by itself.
    var isWatching = false {
        didSet { if isWatching != oldValue { begin() } }
    }

    /// - Parameter tell: given everybody who is there, nil where nobody can tell.
    init(_ bus: SystemBus, on loop: EventLoop, _ tell: @escaping ([Consents.Person]?) -> Void) {
        self.bus = bus
        self.loop = loop
        self.tell = tell
    }

    /// To be called when the bus is there, and when it is again.
    func connected() {
        // Those of the last connection went with it.
        matches = []
        look = nil
        begin()
    }

    private func begin() {
        for match in matches { bus.ignore(match) }
        matches = []
        guard isWatching else { return }
        matches = [
            "sender='\(Self.logind)',interface='\(Self.manager)',member='SessionNew'",
            "sender='\(Self.logind)',interface='\(Self.manager)',member='SessionRemoved'",
            "sender='\(Self.logind)',interface='\(Self.properties)',member='PropertiesChanged',"
                + "path_namespace='\(Self.path)/session',arg0='\(Self.session)'",
        ].compactMap { rule in bus.match(rule) { [weak self] _, _ in self?.lookAgain() } }
        bus.watchOwner(of: Self.logind) { [weak self] _ in self?.lookAgain() }.map { matches.append($0) }
        lookAgain()
    }

    private func lookAgain() {
        guard isWatching else { return }
        guard look == nil else { return isNewer = true }
        let look = Look()
        self.look = look
        // Where there is no bus the answer comes at once.
        loop.schedule(at: Timestamp.now().boottime) { [weak self] in self?.list(look) }
    }

    private func list(_ look: Look) {
        bus.call(Self.logind, Self.path, Self.manager, "ListSessions", startsService: true) { [weak self] reply in
            guard let self, self.look === look else { return }
            guard case .values(let values) = reply, values.count == 1, let sessions = values[0].list else {
                return finish(look, nil)
            }
            // Identifier, user, name, seat, object.
            let seated = sessions.filter { $0.list?.count != 5 || $0.list?[3].text?.isEmpty != true }
            guard seated.count <= Self.limit else { return finish(look, nil) }
            look.open = seated.count
            if seated.isEmpty { return finish(look, []) }
            for session in seated { read(session.list?.last?.text ?? "", look) }
        }
    }

    private func read(_ path: String, _ look: Look) {
        guard SystemBus.isPath(path) else { return close(look, .failure(Unclear())) }
        bus.call(Self.logind, path, Self.properties, "GetAll", [.text(Self.session)]) { [weak self] reply in
            self?.close(look, PersonWatch.person(reply))
        }
    }

    private func close(_ look: Look, _ person: Result<Consents.Person?, Unclear>) {
        guard self.look === look else { return }
        switch person {
        case .success(let person): if let person { look.people.append(person) }
        case .failure: look.hasFailed = true
        }
        look.open -= 1
        if look.open == 0 { finish(look, look.hasFailed ? nil : look.people) }
    }

    private func finish(_ look: Look, _ people: [Consents.Person]?) {
        self.look = nil
        if isNewer {
            isNewer = false
            lookAgain()
        }
        tell(people)
    }

    // MARK: What logind says

    struct Unclear: Error {}

    /// Nil for a session that is nobody's: over already, a greeter's, or from afar.
    static func person(_ reply: SystemBus.Reply) -> Result<Consents.Person?, Unclear> {
        if case .failed("org.freedesktop.DBus.Error.UnknownObject"?, _) = reply { return .success(nil) }
        guard case .values(let values) = reply, values.count == 1, let session = values[0].dictionary,
            let kind = session["Class"]?.text, let state = session["State"]?.text,
            let isRemote = session["Remote"]?.flag,
            let user = session["User"]?.list?.first?.number.flatMap({ UInt32(exactly: $0) })
        else { return .failure(Unclear()) }
        // `user-early`, `user-light` and `user-incomplete` are people's as well.
        guard kind == "user" || kind.hasPrefix("user-"), state != "closing", !isRemote else { return .success(nil) }
        return .success(Consents.Person(user: user, name: session["Name"]?.text))
    }
}
