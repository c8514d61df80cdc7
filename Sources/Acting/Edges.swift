internal import ActionProtocol
internal import Actions
internal import Platform
internal import Rules

/// What happens once, by whatever this process has to do with.
@ActionActor
final class Edges: EdgePerforming {
    private let places: any Places
    private let commands: any CommandPerforming
    /// Locks the session; nil where that is another process's business.
    private let lock: (() async throws(PlaceError) -> Void)?
    /// Takes links down; nil where that is another process's business.
    private let disconnect: (([String]) async throws(PlaceError) -> Void)?
    /// Tells the person; nil where that is another process's business.
    private let notify: ((EdgeAction.Notification) async throws(PlaceError) -> Void)?

    init(
        places: any Places, commands: any CommandPerforming,
        lock: (() async throws(PlaceError) -> Void)? = nil,
        disconnect: (([String]) async throws(PlaceError) -> Void)? = nil,
        notify: ((EdgeAction.Notification) async throws(PlaceError) -> Void)? = nil
    ) {
        self.places = places
        self.commands = commands
        self.lock = lock
        self.disconnect = disconnect
        self.notify = notify
    }

    func stopLeftovers() async { await commands.stopLeftovers() }

    func prepare() { commands.prepare() }

    func perform(
        _ action: EdgeAction, of rule: Rule, _ record: EventRecord, id: UInt64, started: @escaping () -> Void
    ) async -> ActionEnd {
        if case .command(let command) = action {
            return ActionEnd(
                await commands.run(
                    Command(command, of: rule, record), id: id, user: command.user, started: started))
        }
        let begin = Timestamp.now().boottime
        var end: ActionEnd
        do throws(PlaceError) {
            started()
            try await perform(action, on: record.links)
            end = ActionEnd(.succeeded)
        } catch {
            end = ActionEnd(error == .cancelled ? .cancelled : .failed, because: error.description)
        }
        end.duration = Timestamp.now().boottime - begin
        return end
    }

    private func perform(_ action: EdgeAction, on links: [String]) async throws(PlaceError) {
        switch action {
        case .unit(let unit): try await put(.unit(unit), on: links)
        case .vpn(let vpn): try await put(.vpn(vpn), on: links)
        case .lock:
            guard let lock else { throw .failed("this process locks no session") }
            try await lock()
        case .disconnect:
            guard let disconnect else { throw .failed("this process takes down no link") }
            try await disconnect(links)
        case .notify(let notification):
            guard let notify else { throw .failed("this process notifies nobody") }
            try await notify(notification)
        case .secondFactor: throw .failed("the agent asks for second factors itself")
        case .command: break
        }
    }

    /// Done once: nothing is noted to be put back.
    private func put(_ state: StateAction, on links: [String]) async throws(PlaceError) {
        for (name, settings) in try state.wishes(on: links) {
            guard let place = places.place(name) else { throw .failed("this process has nothing to do with \(name)") }
            let current = try await place.read(Set(settings.keys)) ?? [:]
            let changes = settings.filter { current[$0.key] != $0.value }
            if !changes.isEmpty { try await place.write(changes) }
        }
    }
}
