internal import ActionProtocol
internal import Actions
internal import Glibc
internal import InstalledRules
internal import Platform
internal import SystemBus

/// Listens for the agent and puts the pieces together.
@ActionActor
final class ActServer {
    /// How long it stays when there is nothing to do (µs): the agent often has more to ask soon.
    private static let idleTime: Int64 = 15_000_000
    /// Who connects beyond that is refused.
    private static let connectionLimit = 8

    private let loop = ActionActor.shared.loop
    private let agentUser: UInt32?
    private let performer: Performer
    private let questions: FactorQuestions
    private let done: () -> Void
    private var listener: FileDescriptor?
    private var conversations: [UInt64: Conversation] = [:]
    private var nextConversation: UInt64 = 0
    /// The one who asked for what only an agent asks for, and is told what comes of it. Who comes for `--protect` or
    /// `--release` never is: nothing that runs ends with them.
    private var agent: (number: UInt64, user: UInt32)?
    private var isEnding = false

    /// Whether what was asked for once could be done.
    func hasDone(_ request: HelperRequest) -> Bool {
        if case .release = request { performer.isReleased } else { !performer.isProtecting }
    }

    /// - Parameter agentUser: nil where this machine has no such user: then only root, who tries an agent out, can be it.
    init(_ paths: ActingPaths, agentUser: UInt32?, done: @escaping () -> Void) {
        self.agentUser = agentUser
        self.done = done
        let book = RuleBook(paths.ruleDirectories, lastGood: paths.lastGoodRules)
        let bus = Bus(.system)
        let manager = ServiceManager(bus, isOfUser: false)
        let places = SystemPlaces(bus, manager, others: MachineProxyPlaces())
        let reconciler = Reconciler(places: places, journal: paths.journal, boot: Boot.identifier)
        // NetworkManager sets zones anew with each connection.
        places.onLoss = { [unowned reconciler] in reconciler.reassert($0) }
        let edges = Edges(
            places: places, commands: SystemCommands(manager),
            lock: { () async throws(PlaceError) in try await SessionLock(bus).lock() },
            disconnect: { (links) async throws(PlaceError) in try await LinkCut(bus).cut(links) })
        performer = Performer(book: book, reconciler: reconciler, edges: edges, isOfUser: false)
        questions = FactorQuestions(book: book, bus: bus, paths: paths)
        performer.tell = { [unowned self] report in tellAgent(report) }
        questions.tell = { [unowned self] report in tellAgent(report) }
        performer.onQuiet = { [unowned self] in if isEnding { done() } }
    }

    private func tellAgent(_ report: HelperReport) {
        if let agent { conversations[agent.number]?.tell(report) }
    }

    func start() async {
        await performer.start()
        lookAgain()
    }

    func listen(_ listener: consuming FileDescriptor) {
        let descriptor = listener.rawValue
        self.listener = consume listener
        do throws(SystemError) {
            try loop.watch(descriptor) { [unowned self] _ in ActionActor.assumeIsolated { accept(descriptor) } }
        } catch {
            Log.write(.error, "\(error)")
            done()
        }
    }

    /// Does what root asks for, and ends when that has been tried and nobody is connected.
    func takeOnce(_ request: HelperRequest) {
        performer.take(request) { [unowned self] report in
            if case .settled = report, conversations.isEmpty { done() }
        }
    }

    /// Ends when no action is under way: each is cancelled, since nobody would hear how it ends.
    func end() {
        isEnding = true
        cancelAll()
        if performer.isQuiet { done() }
    }

    private func accept(_ descriptor: Int32) {
        while let connection = try? UnixSocket.accept(on: descriptor) {
            guard conversations.count < ActServer.connectionLimit,
                let peer = try? UnixSocket.peer(of: connection.rawValue),
                peer.user == 0 || peer.user == agentUser || peer.user == geteuid()
            else {
                Log.write(.warning, "a connection was refused: not the agent's, or one too many")
                continue
            }
            begin(connection, user: peer.user)
        }
    }

    private func begin(_ connection: consuming FileDescriptor, user: UInt32) {
        nextConversation += 1
        let number = nextConversation
        do throws(SystemError) {
            conversations[number] = try Conversation(
                connection, isRoot: user == 0, take: { [unowned self] in take($0, from: number, user) },
                ended: { [unowned self] in end(number) })
        } catch {
            Log.write(.error, "\(error)")
        }
    }

    /// False where it is not done, since this is not the agent.
    private func take(_ request: HelperRequest, from number: UInt64, _ user: UInt32) -> Bool {
        guard request.takesRoot || isAgent(number, user) else { return false }
        guard !isEnding, !questions.take(request) else { return true }
        performer.take(request) { [unowned self] in conversations[number]?.tell($0) }
        return true
    }

    /// Whether this connection is the agent's by now. There is one at a time: the agent's own user takes the place of
    /// whoever is it, since a new one is there as soon as the old one has died, and others wait until nobody is.
    private func isAgent(_ number: UInt64, _ user: UInt32) -> Bool {
        if agent?.number == number { return true }
        if let agent {
            guard user == agentUser, number > agent.number || agent.user != agentUser else {
                Log.write(.warning, "user \(user) asks as the agent, which user \(agent.user) is: nothing is done")
                return false
            }
            cancelAll()
        }
        agent = (number, user)
        return true
    }

    private func end(_ number: UInt64) {
        conversations[number] = nil
        guard agent?.number == number else { return }
        agent = nil
        cancelAll()
    }

    /// Nobody would hear how it ends.
    private func cancelAll() {
        performer.cancelAll()
        questions.withdraw()
    }

    /// Ends when nothing has been going on for a while.
    private func lookAgain() {
        let wasIdle = isIdle
        loop.schedule(at: Timestamp.now().boottime + ActServer.idleTime) { [unowned self] in
            ActionActor.assumeIsolated {
                if wasIdle && isIdle { done() } else { lookAgain() }
            }
        }
    }

    private var isIdle: Bool { conversations.isEmpty && performer.isIdle && questions.isIdle }
}
