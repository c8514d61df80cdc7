internal import ActionProtocol
internal import Actions
internal import Glibc
internal import InstalledRules
internal import Netlink
internal import Platform
internal import Rules
internal import SystemBus
internal import Vicinity

/// Keeps a connection to the agent, and undoes what lowers protection when there is none for a while.
@ActionActor
final class SessionClient {
    private static let retryDelay: Int64 = 2_000_000

    private let loop = ActionActor.shared.loop
    private let socket: String
    private let performer: Performer
    private let reconciler: Reconciler
    private let environment: UserEnvironmentPlace
    private let userRules: UserRules
    private let dialogues: SessionDialogues
    private var monitor: NetworkMonitor?
    private var conversation: Conversation?

    init(socket: String, state: String, rules: InstalledRules.Directories) {
        self.socket = socket
        let bus = Bus(.user)
        let manager = ServiceManager(bus, isOfUser: true)
        let places = SessionPlaces(
            manager,
            others: SessionProxyPlaces(variables: SessionClient.variables, bus: bus, manager: manager))
        let notifications = Notifications(bus)
        environment = UserEnvironmentPlace(manager)
        reconciler = Reconciler(
            places: places, journal: "\(state)/journal.json", boot: SessionClient.sessionIdentifier)
        performer = Performer(
            book: RuleBook(rules, lastGood: "\(state)/rules.json"), reconciler: reconciler,
            edges: Edges(
                places: places, commands: SystemCommands(manager),
                notify: { (notification) async throws(PlaceError) in try await notifications.notify(notification) }),
            isOfUser: true)
        userRules = UserRules(in: RuleFiles.userDirectory ?? "/nonexistent", state: state, performer: performer)
        dialogues = SessionDialogues(
            at: ActingPaths().dialogue, SessionClient.pinentry, by: systemPinentry(manager))
        performer.tell = { [unowned self] in conversation?.tell($0) }
    }

    private static let pinentry = "/usr/bin/pinentry"

    func start() async {
        await performer.start()
        await disownInherited()
        // Until the agent says that it may stay.
        performer.take(.protect(after: Performer.patience / 1_000))
        connect()
        userRules.start()
        follow()
    }

    /// The user's own rules go by what the agent tells this user.
    private func follow() {
        do throws(NetlinkError) {
            let monitor = try NetworkMonitor(source: .agent(at: SessionClient.feed(beside: socket)))
            self.monitor = monitor
            ActionActor.task { [userRules] in
                for await _ in monitor.changes where monitor.status.authorization == .authorized {
                    userRules.follow(monitor.environment)
                }
            }
            ActionActor.task { [userRules] in
                for await status in monitor.statusUpdates {
                    switch status {
                    case .connected(.authorized): userRules.follow(monitor.environment)
                    case .connected: userRules.follow(nil)
                    // Who knows nothing any more is not elsewhere for that.
                    case .connecting, .unavailable: break
                    }
                }
            }
        } catch {
            Log.write(.error, "\(error): rules of your own do nothing")
        }
    }

    /// The agent's two sockets lie in one directory.
    private static func feed(beside socket: String) -> String {
        "/" + (socket.split(separator: "/").dropLast() + ["events.sock"]).joined(separator: "/")
    }

    /// Undoes everything, not only what lowers protection: nobody will come to do so later.
    func release(then done: @escaping () -> Void) async {
        performer.tell = { report in
            guard case .state(let rule, _, .failed(let problem)) = report else { return }
            Log.write(.error, "rule \(rule): \(problem)")
        }
        await performer.start()
        performer.take(.release) { if case .settled = $0 { done() } }
    }

    /// Whether nothing of what was done has yet to be undone.
    var isReleased: Bool { performer.isReleased }

    /// Whoever logs in where a rule holds has its proxy from the beginning, and shall not keep it for that.
    private func disownInherited() async {
        guard !reconciler.holds(.userEnvironment) else { return }
        do throws(PlaceError) {
            try await environment.disownInherited()
        } catch {
            Log.write(.error, "\(error)")
        }
    }

    private func connect() {
        do throws(SystemError) {
            let connection = try UnixSocket.connect(to: socket, isBlocking: false)
            let peer = try UnixSocket.peer(of: connection.rawValue)
            guard isAgent(peer.user) else {
                Log.write(.error, "\(socket) is served by user \(peer.user), who is not the agent: nothing is believed")
                return tryAgain()
            }
            conversation = try Conversation(
                connection, isRoot: false,
                take: { [unowned self] request in
                    if request == .dialogue { dialogues.show() }
                    performer.take(request) { [unowned self] in conversation?.tell($0) }
                    return true
                }, ended: { [unowned self] in lost() })
        } catch {
            tryAgain()
        }
    }

    private func lost() {
        conversation = nil
        dialogues.end()
        performer.cancelAll()
        performer.take(.protect(after: Performer.patience / 1_000))
        tryAgain()
    }

    private func tryAgain() {
        loop.schedule(at: Timestamp.now().boottime + SessionClient.retryDelay) { [unowned self] in
            ActionActor.assumeIsolated { connect() }
        }
    }

    /// The agent's user; root, whose the whole machine is; or this user, trying something out.
    private func isAgent(_ user: UInt32) -> Bool {
        if user == 0 || user == geteuid() { return true }
        guard let entry = unsafe getpwnam("vicinity") else { return false }
        return unsafe entry.pointee.pw_uid == user
    }

    /// Those that say where the desktop keeps its things.
    private static var variables: [String: String] {
        let names = SessionProxyPlaces.passed + ["XDG_CONFIG_DIRS", "XDG_CURRENT_DESKTOP"]
        let known = names.compactMap { name in SessionProgram.variable(name).map { (name, $0) } }
        return Dictionary(known, uniquingKeysWith: { first, _ in first })
    }

    /// What the variables of the user's service manager last as long as: that manager, as its number and its start
    /// (proc(5), field 22 of stat) name it.
    private static var sessionIdentifier: String {
        guard let manager = SessionProgram.variable("MANAGERPID"), Int32(manager) != nil,
            let stat = try? Files.read("/proc/\(manager)/stat", limit: 4_096),
            let end = stat.lastIndex(of: UInt8(ascii: ")"))
        else { return Boot.identifier }
        let fields = String(decoding: stat[(end + 1)...], as: UTF8.self).split(separator: " ")
        return "\(Boot.identifier) \(manager) \(fields.count > 19 ? fields[19] : "")"
    }
}
