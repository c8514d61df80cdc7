internal import CSystemd
internal import Glibc
public import Platform

/// A connection to the system bus, or to the user's own, on which nothing is ever waited for. It comes back when the bus
/// does.
///
/// Without a bus there is nothing to ask and nothing to observe. Everything happens on the loop's thread.
@safe
public final class SystemBus {
    /// What a call brought.
    public enum Reply {
        case values([BusValue])
        /// Nobody has the name that was called.
        case absent
        /// An error of the callee's, by its name and in its words; nil where no answer came, or one that is absurdly
        /// large.
        case failed(error: String?, message: String? = nil)
    }

    public enum Owner: Hashable, Sendable {
        case system
        /// The bus of the user whose process this is.
        case user
        /// Another one, by its address, sd_bus_set_address(3).
        case address(String)
    }

    /// Signals that somebody asked for, until `ignore`.
    public struct Match: Hashable, Sendable {
        fileprivate let handler: ObjectIdentifier
    }

    /// A call that waits for its reply, or a match; sd-bus knows it by its address.
    @safe private final class Handler {
        enum Kind {
            case call((Reply) -> Void)
            /// Nil where none came.
            case descriptor((consuming FileDescriptor?) -> Void)
            case match((_ path: String, _ values: [BusValue]) -> Void)
        }

        weak var bus: SystemBus?
        let kind: Kind
        /// Of a match.
        var slot: OpaquePointer?

        init(_ bus: SystemBus, _ kind: Kind) {
            self.bus = bus
            self.kind = kind
        }
    }

    /// Messages that are handled in one go.
    private static let turn = 64
    /// A bus that went away, or is not there yet, is tried again after this long (µs), later half as often each time.
    private static let retryDelay: Int64 = 2_000_000
    private static let lastRetryDelay: Int64 = 60_000_000
    /// µs; whoever has not answered by then knows nothing that is worth waiting for.
    public static let callLimit: UInt64 = 2_000_000

    private let loop: EventLoop
    private let owner: Owner
    private var bus: OpaquePointer?
    private var descriptor: Int32 = -1
    private var timer: EventLoop.Timer?
    private var retries = 0
    private var handlers: [ObjectIdentifier: Handler] = [:]
    private var isProcessing = false

    /// Whether it is tried again when it went away or is not there.
    public var isPersistent = true
    /// Called on each new connection, to add the matches; at best by `connect`.
    public var onConnect: (() -> Void)?
    /// Called when the bus is there after it was not.
    public var onReturn: (() -> Void)?
    /// Called when the bus went away, after every open call has failed.
    public var onLoss: (() -> Void)?

    public init(on loop: EventLoop, of owner: Owner = .system) {
        self.loop = loop
        self.owner = owner
    }

    /// - Parameter address: of another bus than the machine's, sd_bus_set_address(3).
    public convenience init(on loop: EventLoop, address: String?) {
        self.init(on: loop, of: address.map { .address($0) } ?? .system)
    }

    deinit { close() }

    /// Ends the connection; every open call fails.
    public func close() {
        disconnect()
        if let timer { loop.cancel(timer) }
        timer = nil
    }

    /// Whether a text is the path of an object.
    public static func isPath(_ text: String) -> Bool { unsafe sd_bus_object_path_is_valid(text) > 0 }

    public var isConnected: Bool { unsafe bus != nil }
    /// For what else this room does with it.
    var connection: OpaquePointer? { unsafe bus }
    /// Whether there is a bus on this machine at all, be it away for a moment.
    public private(set) var exists = false

    public func connect() {
        if !open() { retry() }
    }

    private func open() -> Bool {
        guard openBus(), let bus = unsafe bus else { return false }
        exists = true
        descriptor = unsafe sd_bus_get_fd(bus)
        onConnect?()
        try? loop.watch(descriptor) { [unowned self] _ in process() }
        process()
        return true
    }

    private func openBus() -> Bool {
        let address: String
        switch owner {
        case .system: return unsafe sd_bus_open_system(&bus) >= 0
        case .user: return unsafe sd_bus_open_user(&bus) >= 0
        case .address(let text): address = text
        }
        guard unsafe sd_bus_new(&bus) >= 0 else { return false }
        if unsafe sd_bus_set_address(bus, address) >= 0 && sd_bus_set_bus_client(bus, 1) >= 0 && sd_bus_start(bus) >= 0
        {
            return true
        }
        unsafe sd_bus_unref(bus)
        unsafe bus = nil
        return false
    }

    private func disconnect() {
        guard unsafe bus != nil else { return }
        loop.forget(descriptor)
        // Nothing is called back after this. A match keeps the connection as its slot does.
        let former = handlers.values
        handlers = [:]
        for handler in former {
            unsafe sd_bus_slot_unref(handler.slot)
            unsafe handler.slot = nil
        }
        unsafe sd_bus_close(bus)
        unsafe sd_bus_unref(bus)
        unsafe bus = nil
        descriptor = -1
        for case .call(let reply) in former.map(\.kind) { reply(.failed(error: nil)) }
    }

    // MARK: Signals and calls

    /// Calls `handle` with the path and the contents of each signal; the daemon passes on only what the rule's `sender`
    /// sends, who has to own that name. What is called after this, hears no signal too early: the daemon reads in order.
    ///
    /// - Returns: nil without a connection.
    @discardableResult
    public func match(
        _ rule: String, _ handle: @escaping (_ path: String, _ values: [BusValue]) -> Void
    ) -> Match? {
        guard let bus = unsafe bus else { return nil }
        let handler = Handler(self, .match(handle))
        let context = unsafe Unmanaged.passUnretained(handler).toOpaque()
        guard
            unsafe sd_bus_add_match_async(
                bus, &handler.slot, "type='signal',\(rule)", SystemBus.received, nil, context) >= 0
        else { return nil }
        handlers[ObjectIdentifier(handler)] = handler
        if !isProcessing { wakeSoon() }
        return Match(handler: ObjectIdentifier(handler))
    }

    /// Nothing of it is handed over any more.
    public func ignore(_ match: Match) {
        guard let handler = handlers.removeValue(forKey: match.handler) else { return }
        unsafe sd_bus_slot_unref(handler.slot)
        unsafe handler.slot = nil
    }

    /// Calls a method, and `reply` once, at a later time.
    ///
    /// - Parameters:
    ///   - limit: how long to wait for the answer, in µs.
    ///   - startsService: whether a daemon is started for it that does not run.
    ///   - mayAsk: whether the callee may have a person asked, which takes as long as it takes.
    public func call(
        _ name: String, _ path: String, _ interface: String, _ member: String, _ arguments: [BusArgument] = [],
        limit: UInt64 = callLimit, startsService: Bool = false, mayAsk: Bool = false, _ reply: @escaping (Reply) -> Void
    ) {
        send(
            name, path, interface, member, arguments, limit: limit, startsService: startsService, mayAsk: mayAsk,
            .call(reply)
        ) { reply(.failed(error: nil)) }
    }

    /// As `call`, of a method that answers with one descriptor, which is the caller's then; nil where none came.
    public func callForDescriptor(
        _ name: String, _ path: String, _ interface: String, _ member: String, _ arguments: [BusArgument],
        limit: UInt64 = callLimit, _ reply: @escaping (consuming FileDescriptor?) -> Void
    ) {
        send(name, path, interface, member, arguments, limit: limit, .descriptor(reply)) { reply(nil) }
    }

    private func send(
        _ name: String, _ path: String, _ interface: String, _ member: String, _ arguments: [BusArgument],
        limit: UInt64, startsService: Bool = false, mayAsk: Bool = false, _ kind: Handler.Kind,
        failed: @escaping () -> Void
    ) {
        var message: OpaquePointer?
        guard let bus = unsafe bus,
            unsafe sd_bus_message_new_method_call(bus, &message, name, path, interface, member) >= 0,
            let message = unsafe message
        else { return fail(failed) }
        defer { unsafe sd_bus_message_unref(message) }
        if !startsService { unsafe sd_bus_message_set_auto_start(message, 0) }
        if mayAsk { unsafe sd_bus_message_set_allow_interactive_authorization(message, 1) }
        guard arguments.allSatisfy({ unsafe $0.append(to: message) }) else { return fail(failed) }
        let handler = Handler(self, kind)
        let context = unsafe Unmanaged.passUnretained(handler).toOpaque()
        guard
            unsafe sd_bus_call_async(bus, nil, message, SystemBus.received, context, limit) >= 0
        else { return fail(failed) }
        handlers[ObjectIdentifier(handler)] = handler
        // Sends it, and learns until when to wait.
        flush()
    }

    /// Sends a signal to everybody. False without a connection.
    @discardableResult
    public func emit(_ path: String, _ interface: String, _ member: String, _ arguments: [BusArgument] = []) -> Bool {
        var message: OpaquePointer?
        guard let bus = unsafe bus, unsafe sd_bus_message_new_signal(bus, &message, path, interface, member) >= 0
        else { return false }
        defer { unsafe sd_bus_message_unref(message) }
        for argument in arguments {
            guard unsafe argument.append(to: message) else { return false }
        }
        guard unsafe sd_bus_send(bus, message, nil) >= 0 else { return false }
        flush()
        return true
    }

    /// To be called after something was sent.
    func flush() { if !isProcessing, isConnected { wakeSoon() } }

    /// A property of an object's.
    public func properties(_ name: String, _ path: String, of interface: String, _ reply: @escaping (Reply) -> Void) {
        call(name, path, "org.freedesktop.DBus.Properties", "GetAll", [.text(interface)], reply)
    }

    private func fail(_ failed: @escaping () -> Void) {
        loop.schedule(at: Timestamp.now().boottime, failed)
    }

    private static let received: sd_bus_message_handler_t = { message, context, _ in
        guard let message = unsafe message, let context = unsafe context else { return 0 }
        let handler = unsafe Unmanaged<Handler>.fromOpaque(context).takeUnretainedValue()
        switch handler.kind {
        case .call(let reply):
            handler.bus?.handlers[ObjectIdentifier(handler)] = nil
            reply(unsafe SystemBus.reply(in: message))
            // Handled: of a bus that went away sd_bus_process(3) would say otherwise that there is nothing more to do, and
            // who is told that his call has failed would find it there still.
            return 1
        case .descriptor(let reply):
            handler.bus?.handlers[ObjectIdentifier(handler)] = nil
            reply(unsafe SystemBus.descriptor(in: message))
            return 1
        case .match(let handle):
            // The daemon looks at the sender of what is for everybody. What somebody sends to us alone it hands over
            // unasked, and sd-bus takes any sender for the owner of a name.
            guard unsafe sd_bus_message_get_destination(message) == nil else { break }
            let path = unsafe sd_bus_message_get_path(message).map { unsafe String(cString: $0) }
            handle(path ?? "", unsafe BusValue.contents(of: message) ?? [])
        }
        return 0
    }

    private static func reply(in message: OpaquePointer) -> Reply {
        guard unsafe sd_bus_message_is_method_error(message, nil) == 0 else {
            let isAbsent = ["ServiceUnknown", "NameHasNoOwner"].contains { name in
                unsafe sd_bus_message_is_method_error(message, "org.freedesktop.DBus.Error.\(name)") > 0
            }
            if isAbsent { return .absent }
            let error = unsafe sd_bus_message_get_error(message)?.pointee
            return .failed(
                error: unsafe (error?.name).map { unsafe String(cString: $0) },
                message: unsafe (error?.message).map { unsafe String(cString: $0) })
        }
        return unsafe BusValue.contents(of: message).map { .values($0) } ?? .failed(error: nil)
    }

    /// The message owns the one it brings.
    private static func descriptor(in message: OpaquePointer) -> FileDescriptor? {
        var descriptor: Int32 = -1
        guard unsafe sd_bus_message_is_method_error(message, nil) == 0,
            unsafe sd_bus_message_read_basic(message, CChar(UInt8(ascii: "h")), &descriptor) > 0
        else { return nil }
        let copy = fcntl(descriptor, F_DUPFD_CLOEXEC, 3)
        return copy < 0 ? nil : FileDescriptor(owning: copy)
    }

    // MARK: The connection

    /// sd-bus(3) wants to be called until it has nothing more to do, and says what it waits for then.
    private func process() {
        guard unsafe bus != nil, !isProcessing else { return }
        isProcessing = true
        // Whoever is called back may close it; whoever sends without end is heard in turn with everything else.
        var isOver = false
        for _ in 0..<SystemBus.turn {
            guard let open = unsafe bus else { break }
            let result = unsafe sd_bus_process(open, nil)
            if result == 0 {
                isOver = true
                break
            }
            guard result > 0 else {
                isProcessing = false
                disconnect()
                onLoss?()
                retry()
                return
            }
        }
        isProcessing = false
        guard unsafe bus != nil else { return }
        retries = 0
        let events = unsafe sd_bus_get_events(bus)
        try? loop.change(descriptor, to: events & Int32(POLLOUT) != 0 ? [.readable, .writable] : .readable)
        // What has been read already makes nothing readable.
        if isOver { schedule() } else { wakeSoon() }
    }

    private func schedule() {
        var due: UInt64 = .max
        guard unsafe sd_bus_get_timeout(bus, &due) >= 0, due != .max else {
            wake(at: nil)
            return
        }
        // sd-bus counts without the time asleep; the loop's deadline may only be too early.
        var now = timespec()
        unsafe clock_gettime(CLOCK_MONOTONIC, &now)
        let remaining = Int64(clamping: due) - Int64(now.tv_sec) * 1_000_000 - Int64(now.tv_nsec) / 1_000
        wake(at: Timestamp.now().boottime + max(remaining, 0) + 1_000)
    }

    private func wakeSoon() { wake(at: Timestamp.now().boottime) }

    private func wake(at moment: Int64?) {
        if let timer { loop.cancel(timer) }
        timer = moment.map { moment in
            loop.schedule(at: moment) { [unowned self] in
                timer = nil
                process()
            }
        }
    }

    /// The bus is restarted on upgrades, and with it, managers.
    private func retry() {
        guard isPersistent else { return }
        // At first it is often a restart.
        let delay = min(SystemBus.retryDelay << max(min(retries, 9) - 4, 0), SystemBus.lastRetryDelay)
        retries += 1
        if let timer { loop.cancel(timer) }
        timer = loop.schedule(at: Timestamp.now().boottime + delay) { [unowned self] in
            timer = nil
            if !open() { retry() } else if isConnected { onReturn?() }
        }
    }
}
