import CSystemd
import Dispatch
import Glibc
import Platform
public import SystemBus

/// A service on a bus of the test's own, on a thread of its own: answers calls as the test says, be it never, with an
/// error or with nonsense, and can go and come back.
public final class FakeService: @unchecked Sendable {
    /// A call that came in.
    public struct Call: Sendable {
        public let path: String
        public let interface: String
        public let member: String
        public let values: [BusValue]

        public init(path: String = "", interface: String = "", member: String, values: [BusValue]) {
            (self.path, self.interface, self.member, self.values) = (path, interface, member, values)
        }

        public func text(_ position: Int) -> String { values.dropFirst(position).first?.text ?? "" }
    }

    public enum Answer: Sendable {
        case values([BusArgument])
        case error(String, String)
        /// None comes.
        case nothing

        public static let done = Answer.values([])
        public static func value(_ value: BusArgument) -> Answer { .values([value]) }
        public static let unknown = Answer.error("org.freedesktop.DBus.Error.UnknownMethod", "there is no such method")
        public static let noProperty = Answer.error("org.freedesktop.DBus.Error.UnknownProperty", "there is none")
    }

    public typealias Behaviour = @Sendable (Call) -> Answer

    private struct State {
        var behaviours: [String: Behaviour] = [:]
        var calls: [Call] = []
        var waiting: [(member: String, count: Int, continuation: CheckedContinuation<Void, Never>)] = []
    }

    private let name: String
    private let address: String
    private let loop: EventLoop
    private let state = Lock(State())
    private let answer: Behaviour
    // Of the loop's thread.
    private var connection: OpaquePointer?
    private var descriptor: Int32 = -1

    /// Returns when it has its name.
    ///
    /// - Parameter answer: what it says as long as nothing else is said for a method; called on its thread.
    public init(_ name: String, at address: String, _ answer: @escaping Behaviour) throws {
        self.name = name
        self.address = address
        self.answer = answer
        loop = try EventLoop()
        try loop.start()
        appear()
    }

    /// To be called at the end of a test.
    public func stop() {
        onLoop { [self] in
            // The daemon knows of it when this returns; of a connection that was closed, some time later.
            if let connection { sd_bus_release_name(connection, name) }
            disconnect()
        }
        loop.stop()
    }

    // MARK: Misbehaving

    /// What a method answers from now on; of a property, `Get NAME`. Nil: as it should.
    public func on(_ member: String, _ behaviour: Behaviour?) { state.withLock { $0.behaviours[member] = behaviour } }

    /// It crashes, or is stopped; not to be called on its own thread.
    public func vanish() { onLoop { [self] in disconnect() } }

    /// It is started again, on the bus that is there now; not to be called on its own thread.
    public func appear() { onLoop { [self] in connect() } }

    /// From a behaviour: it crashes before it has answered.
    public func crash() { disconnect() }

    /// As `appear` for who is on its thread.
    public func rise() { connect() }

    // MARK: What happened

    public var calls: [String] { state.withLock { $0.calls.map(\.member) } }
    public func calls(of member: String) -> [Call] { state.withLock { $0.calls.filter { $0.member == member } } }

    /// Until a method has been called so many times.
    public func called(_ member: String, times count: Int = 1) async {
        await withCheckedContinuation { continuation in
            let isOver = state.withLock { state in
                if state.calls.count(where: { $0.member == member }) >= count { return true }
                state.waiting.append((member, count, continuation))
                return false
            }
            if isOver { continuation.resume() }
        }
    }

    /// Sends a signal to everybody.
    public func emit(_ path: String, _ interface: String, _ member: String, _ arguments: [BusArgument]) {
        onLoop { [self] in send(path, interface, member, arguments) }
    }

    /// As `emit` for who is on its thread: it comes after the answer to the call before and before the next one.
    public func send(_ path: String, _ interface: String, _ member: String, _ arguments: [BusArgument]) {
        var message: OpaquePointer?
        guard connection != nil, sd_bus_message_new_signal(connection, &message, path, interface, member) >= 0 else {
            return
        }
        for argument in arguments { _ = argument.append(to: message) }
        sd_bus_send(connection, message, nil)
        sd_bus_message_unref(message)
        sd_bus_flush(connection)
    }

    /// Says that properties of an object have changed; on its thread.
    public func changed(_ path: String, _ interface: String, _ properties: [String: BusArgument]) {
        send(
            path, "org.freedesktop.DBus.Properties", "PropertiesChanged",
            [.text(interface), .properties(properties), .texts([])])
    }

    /// Does something on its thread, in turn with the calls.
    public func perform(_ body: @escaping @Sendable () -> Void) { loop.perform(body) }

    // MARK: The connection

    private func onLoop(_ body: @escaping @Sendable () -> Void) {
        let done = DispatchSemaphore(value: 0)
        loop.perform {
            body()
            done.signal()
        }
        done.wait()
    }

    private func connect() {
        guard connection == nil else { return }
        guard sd_bus_new(&connection) >= 0, sd_bus_set_address(connection, address) >= 0,
            sd_bus_set_bus_client(connection, 1) >= 0, sd_bus_start(connection) >= 0
        else { fatalError("no connection to \(address)") }
        sd_bus_add_filter(
            connection, nil,
            { message, context, _ in
                guard let message, let context else { return 0 }
                return Unmanaged<FakeService>.fromOpaque(context).takeUnretainedValue().take(message)
            }, Unmanaged.passUnretained(self).toOpaque())
        guard sd_bus_request_name(connection, name, 0) >= 0 else { fatalError("\(name) cannot be had") }
        descriptor = sd_bus_get_fd(connection)
        try? loop.watch(descriptor) { [unowned self] _ in process() }
        process()
    }

    private func process() {
        while connection != nil {
            let result = sd_bus_process(connection, nil)
            if result < 0 { return disconnect() }
            if result == 0 { break }
        }
        if connection != nil { sd_bus_flush(connection) }
    }

    private func disconnect() {
        guard connection != nil else { return }
        loop.forget(descriptor)
        sd_bus_close(connection)
        // A filter that is being called keeps it.
        sd_bus_unref(connection)
        connection = nil
    }

    private func take(_ message: OpaquePointer) -> Int32 {
        guard sd_bus_message_is_method_call(message, nil, nil) > 0, let path = sd_bus_message_get_path(message),
            let member = sd_bus_message_get_member(message)
        else { return 0 }
        let call = Call(
            path: String(cString: path),
            interface: sd_bus_message_get_interface(message).map { String(cString: $0) } ?? "",
            member: String(cString: member), values: BusValue.contents(of: message) ?? [])
        let (behaviour, over) = state.withLock { state in
            state.calls.append(call)
            let over = state.waiting.filter { wait in
                state.calls.count(where: { $0.member == wait.member }) >= wait.count
            }
            state.waiting.removeAll { wait in state.calls.count(where: { $0.member == wait.member }) >= wait.count }
            return (state.behaviours["\(call.member) \(call.text(1))"] ?? state.behaviours[call.member], over)
        }
        let said = (behaviour ?? answer)(call)
        for wait in over { wait.continuation.resume() }
        switch said {
        case .nothing: break
        case .values(let values):
            var reply: OpaquePointer?
            sd_bus_message_new_method_return(message, &reply)
            for value in values { _ = value.append(to: reply) }
            // Nowhere where it has crashed.
            if connection != nil { sd_bus_send(connection, reply, nil) }
            sd_bus_message_unref(reply)
        case .error(let name, let text):
            var error = sd_bus_error()
            sd_bus_error_set(&error, name, text)
            if connection != nil { sd_bus_reply_method_error(message, &error) }
            sd_bus_error_free(&error)
        }
        return 1
    }
}
