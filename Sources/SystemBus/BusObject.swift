internal import CBus
internal import CSystemd
internal import Glibc
public import Platform

/// An object of ours on a bus, of one interface. Its methods answer when they know what to.
///
/// sd-bus(3) answers by itself what is asked with other arguments than a method takes, and what the object looks like.
/// Everything happens on the loop's thread. Not to be let go while it is being called.
@safe
public final class BusObject {
    public struct Method {
        let name: StaticString
        let takes: StaticString
        let returns: StaticString
        let parameters: StaticString

        /// - Parameters:
        ///   - takes: a D-Bus signature, as `returns` is.
        ///   - parameters: the names of what it takes and returns, each ended by NUL: `"rule\0on\0"`.
        public init(
            _ name: StaticString, takes: StaticString, returns: StaticString = "", parameters: StaticString
        ) {
            self.name = name
            self.takes = takes
            self.returns = returns
            self.parameters = parameters
        }
    }

    private let bus: SystemBus
    private let path: String
    private let interface: String
    private let methods: [Method]
    private let called: (BusCall) -> Void
    private var object: UnsafeMutableRawPointer?

    /// - Parameter called: given each call, to be answered at once or at a later time.
    public init(
        _ path: String, _ interface: String, _ methods: [Method], on bus: SystemBus,
        _ called: @escaping (BusCall) -> Void
    ) {
        self.bus = bus
        self.path = path
        self.interface = interface
        self.methods = methods
        self.called = called
    }

    deinit { withdraw() }

    /// To be called on each new connection, before a name is asked for.
    ///
    /// - Throws: where there is no connection, or the path or the interface is none.
    public func export() throws(SystemError) {
        withdraw()
        let entries = unsafe methods.map { method in
            unsafe vicinity_bus_method(
                name: method.name.pointer, takes: method.takes.pointer, returns: method.returns.pointer,
                parameters: method.parameters.pointer)
        }
        let context = unsafe Unmanaged.passUnretained(self).toOpaque()
        guard let connection = unsafe bus.connection else {
            throw SystemError("sd_bus_add_object", path, code: ENOTCONN)
        }
        unsafe object = vicinity_bus_export(
            UnsafeMutableRawPointer(connection), path, interface, entries, entries.count, BusObject.received, context)
        guard unsafe object != nil else { throw SystemError("sd_bus_add_object", path) }
    }

    /// To be called when the connection is lost, at the latest.
    public func withdraw() {
        if let object = unsafe object { unsafe vicinity_bus_withdraw(object) }
        unsafe object = nil
    }

    private static let received: @convention(c) (UnsafeMutableRawPointer?, UnsafeMutableRawPointer?) -> Int32 = {
        message, context in
        guard let message = unsafe message, let context = unsafe context else { return 0 }
        let object = unsafe Unmanaged<BusObject>.fromOpaque(context).takeUnretainedValue()
        object.called(unsafe BusCall(OpaquePointer(message), on: object.bus))
        return 1
    }
}

/// A call of one of our methods, to be answered once; a second answer goes nowhere. Whoever forgets to answer has the
/// call refused, so that nobody waits for ever.
@safe
public final class BusCall {
    private let bus: SystemBus
    private let message: OpaquePointer
    private var isAnswered = false

    public let method: String
    /// The caller's unique name, which the daemon vouches for and gives to nobody else.
    public let sender: String
    /// What it was called with, by the method's signature.
    public let values: [BusValue]
    /// Whether the caller is ready to wait for a person who is asked.
    public let mayAsk: Bool

    fileprivate init(_ message: OpaquePointer, on bus: SystemBus) {
        self.bus = bus
        unsafe self.message = sd_bus_message_ref(message)
        method = unsafe sd_bus_message_get_member(message).map { unsafe String(cString: $0) } ?? ""
        sender = unsafe sd_bus_message_get_sender(message).map { unsafe String(cString: $0) } ?? ""
        mayAsk = unsafe sd_bus_message_get_allow_interactive_authorization(message) > 0
        values = unsafe BusValue.contents(of: message) ?? []
    }

    deinit {
        refuse("org.freedesktop.DBus.Error.Failed", "not answered")
        unsafe sd_bus_message_unref(message)
    }

    /// Answers, by the method's signature.
    public func answer(_ values: [BusArgument] = []) {
        guard !isAnswered else { return }
        var reply: OpaquePointer?
        guard unsafe sd_bus_message_new_method_return(message, &reply) >= 0, let reply = unsafe reply else {
            return refuse("org.freedesktop.DBus.Error.NoMemory", "no reply could be made")
        }
        defer { unsafe sd_bus_message_unref(reply) }
        // What the method does not return is not sent; and whoever is gone does not wait for it.
        guard values.allSatisfy({ unsafe $0.append(to: reply) }), unsafe sd_bus_send(nil, reply, nil) >= 0 else {
            return refuse("org.freedesktop.DBus.Error.Failed", "no reply could be made")
        }
        isAnswered = true
        bus.flush()
    }

    /// Answers with an error.
    ///
    /// - Parameter name: such as `org.freedesktop.DBus.Error.AccessDenied`.
    public func refuse(_ name: String, _ text: String) {
        guard !isAnswered else { return }
        isAnswered = true
        unsafe name.withCString { name in
            unsafe text.withCString { text in
                var error = unsafe sd_bus_error(name: name, message: text, _need_free: 0)
                unsafe sd_bus_reply_method_error(message, &error)
            }
        }
        bus.flush()
    }
}

extension StaticString {
    /// Ended by NUL, for as long as the program runs.
    fileprivate var pointer: UnsafePointer<CChar> {
        unsafe UnsafeRawPointer(utf8Start).assumingMemoryBound(to: CChar.self)
    }
}
