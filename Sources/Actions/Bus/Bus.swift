internal import Platform
public import SystemBus

/// A bus for who waits: each call suspends its caller until the answer is there. It is connected to when it is needed.
@ActionActor
public final class Bus {
    /// µs; a daemon that is busy for longer than that is told to be.
    public static let callLimit: Int64 = 10_000_000

    private let connection: SystemBus
    private let limit: Int64
    private var watches: [ObjectIdentifier: SignalWatch] = [:]
    private var losses: [() -> Void] = []

    /// - Parameter limit: how long to wait for an answer unless a call says otherwise, in µs.
    public init(_ owner: SystemBus.Owner, limit: Int64 = callLimit) {
        self.limit = limit
        connection = SystemBus(on: ActionActor.shared.loop, of: owner)
        // Whoever needs it comes back.
        connection.isPersistent = false
        connection.onLoss = { [unowned self] in
            ActionActor.assumeIsolated {
                for watch in watches.values { watch.end(.noBus) }
                watches = [:]
                for tell in losses { tell() }
            }
        }
    }

    /// The connection is the loop's, whoever lets go of this last.
    isolated deinit { connection.close() }

    /// Calls `tell` whenever the bus went away, after every open call has failed and every watch has ended.
    func whenLost(_ tell: @escaping () -> Void) { losses.append(tell) }

    private var open: SystemBus? {
        if !connection.isConnected { connection.connect() }
        return connection.isConnected ? connection : nil
    }

    /// Calls a method and waits for its answer.
    ///
    /// - Parameters:
    ///   - limit: how long to wait, in µs; nil: as long as for any call.
    ///   - startsService: whether a daemon is started for it that does not run.
    public func call(
        _ name: String, _ path: String, _ interface: String, _ member: String, _ arguments: [BusArgument] = [],
        limit: Int64? = nil, startsService: Bool = false
    ) async throws(BusError) -> [BusValue] {
        if Task.isCancelled { throw .cancelled }
        // Paths come from other answers.
        guard SystemBus.isPath(path) else { throw .noAnswer }
        guard let bus = open else { throw .noBus }
        let limit = limit ?? self.limit
        let promise = Promise<Result<[BusValue], BusError>>()
        let deadline = Timestamp.now().boottime + limit
        bus.call(
            name, path, interface, member, arguments, limit: UInt64(clamping: limit), startsService: startsService
        ) { reply in
            let result: Result<[BusValue], BusError> =
                switch reply {
                case .values(let values): .success(values)
                case .absent: .failure(.absent(name))
                case .failed(let error, let message): .failure(Bus.error(error, message))
                }
            ActionActor.assumeIsolated { promise.fulfil(result) }
        }
        // sd-bus counts no time asleep.
        switch await promise.value(until: deadline + 100_000) {
        case .value(let result): return try result.get()
        case .late: throw .noAnswer
        case .cancelled: throw .cancelled
        }
    }

    private static func error(_ error: String?, _ message: String?) -> BusError {
        switch error {
        case nil, "org.freedesktop.DBus.Error.Disconnected": .noBus
        // The daemon's, or sd-bus' own where the time is over; a callee that goes away leaves the first of them.
        case "org.freedesktop.DBus.Error.NoReply"?, "org.freedesktop.DBus.Error.Timeout"?: .noAnswer
        case let error?: .refused(error: error, message: message ?? "")
        }
    }

    /// One property of an object.
    public func property(
        _ name: String, _ path: String, _ interface: String, _ property: String, limit: Int64? = nil
    ) async throws(BusError) -> BusValue {
        let values = try await call(
            name, path, "org.freedesktop.DBus.Properties", "Get", [.text(interface), .text(property)], limit: limit)
        guard let value = values.first else { throw .noAnswer }
        return value
    }

    /// All properties of an object's interface.
    public func properties(
        _ name: String, _ path: String, _ interface: String, limit: Int64? = nil
    ) async throws(BusError) -> [String: BusValue] {
        let values = try await call(
            name, path, "org.freedesktop.DBus.Properties", "GetAll", [.text(interface)], limit: limit)
        guard let properties = values.first?.dictionary else { throw .noAnswer }
        return properties
    }

    /// Collects signals of a service from now on: what is called after this, sends none too early. Ends when that
    /// service does, which has forgotten by its return what it was about to tell.
    ///
    /// - Parameters:
    ///   - rule: of the D-Bus Specification, "Match Rules", without a type and a sender.
    ///   - name: the sender.
    func watch(_ rule: String, of name: String) throws(BusError) -> SignalWatch {
        let watch = try watch("sender='\(name)',\(rule)")
        let end = try self.watch(Bus.ownership(of: name))
        end.onSignal = { [weak watch] signal in
            // A new start has no former owner.
            if signal.values.dropFirst().first?.text?.isEmpty == false { watch?.end(.ended(name)) }
        }
        let former = watch.onEnd
        watch.onEnd = {
            former()
            end.end(.noBus)
        }
        return watch
    }

    /// The signal that the owner of a name is another one.
    static func ownership(of name: String) -> String {
        "sender='org.freedesktop.DBus',interface='org.freedesktop.DBus',member='NameOwnerChanged',arg0='\(name)'"
    }

    /// Collects signals from now on, whatever becomes of who sends them.
    ///
    /// - Parameter rule: as above; with a `sender`.
    func watch(_ rule: String) throws(BusError) -> SignalWatch {
        guard let bus = open else { throw .noBus }
        let watch = SignalWatch()
        let identifier = ObjectIdentifier(watch)
        let match = bus.match(rule) { [weak watch] path, values in
            ActionActor.assumeIsolated { watch?.take(SignalWatch.Signal(path: path, values: values)) }
        }
        guard let match else { throw .noBus }
        watches[identifier] = watch
        watch.onEnd = { [weak self] in
            self?.watches[identifier] = nil
            self?.connection.ignore(match)
        }
        return watch
    }

    /// Sends a signal to everybody.
    public func emit(
        _ path: String, _ interface: String, _ member: String, _ arguments: [BusArgument] = []
    ) throws(BusError) {
        guard let bus = open, bus.emit(path, interface, member, arguments) else { throw .noBus }
    }
}
