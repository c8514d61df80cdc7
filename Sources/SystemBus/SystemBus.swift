internal import CSystemd
internal import Glibc
public import Platform

/// A connection to the system bus, on which nothing is ever waited for. It comes back when the bus does.
///
/// Without a bus there is nothing to ask and nothing to observe. Everything happens on the loop's thread.
@safe
public final class SystemBus {
    /// What a call brought.
    public enum Reply {
        case values([BusValue])
        /// Nobody has the name that was called.
        case absent
        /// An error of the callee's, by its name; nil where no answer came in time, or one that is absurdly large.
        case failed(error: String?)
    }

    public enum Argument {
        case text(String)
        case signed(Int32)
        case unsigned(UInt32)
        case unsigned64(UInt64)
    }

    /// A call that waits for its reply, or a match; sd-bus knows it by its address.
    private final class Handler {
        enum Kind {
            case call((Reply) -> Void)
            case match((_ path: String, _ values: [BusValue]) -> Void)
        }

        weak var bus: SystemBus?
        let kind: Kind

        init(_ bus: SystemBus, _ kind: Kind) {
            self.bus = bus
            self.kind = kind
        }
    }

    /// Messages that are handled in one go.
    private static let turn = 64
    /// A bus that went away, or is not there yet, is tried again after this long, so many times (µs).
    private static let retryDelay: Int64 = 2_000_000
    private static let retryLimit = 5
    /// µs; whoever has not answered by then knows nothing that is worth waiting for.
    public static let callLimit: UInt64 = 2_000_000

    private let loop: EventLoop
    private let address: String?
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

    /// - Parameter address: of another bus than the machine's, sd_bus_set_address(3).
    public init(on loop: EventLoop, address: String? = nil) {
        self.loop = loop
        self.address = address
    }

    deinit { close() }

    /// Ends the connection; every open call fails.
    public func close() {
        disconnect()
        if let timer { loop.cancel(timer) }
        timer = nil
    }

    public var isConnected: Bool { unsafe bus != nil }
    /// For what else this room does with it.
    var connection: OpaquePointer? { unsafe bus }
    /// What the error says for people that a reply has just brought.
    public private(set) var errorText = ""
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
        guard let address else { return unsafe sd_bus_open_system(&bus) >= 0 }
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
        // Matches and calls live as long as the connection; nothing is called back after this.
        unsafe sd_bus_close(bus)
        unsafe sd_bus_unref(bus)
        unsafe bus = nil
        descriptor = -1
        let former = handlers.values
        handlers = [:]
        for case .call(let reply) in former.map(\.kind) { reply(.failed(error: nil)) }
    }

    // MARK: Signals and calls

    /// Calls `handle` with the path and the contents of each signal; the daemon passes on only what the rule's `sender`
    /// sends, who has to own that name.
    public func match(_ rule: String, _ handle: @escaping (_ path: String, _ values: [BusValue]) -> Void) {
        guard let bus = unsafe bus else { return }
        let handler = Handler(self, .match(handle))
        handlers[ObjectIdentifier(handler)] = handler
        let context = unsafe Unmanaged.passUnretained(handler).toOpaque()
        unsafe sd_bus_add_match_async(bus, nil, "type='signal',\(rule)", SystemBus.received, nil, context)
    }

    /// Calls a method, and `reply` once, at a later time. No daemon is started for it.
    ///
    /// - Parameter limit: how long to wait for the answer, in µs.
    public func call(
        _ name: String, _ path: String, _ interface: String, _ member: String, _ arguments: [Argument] = [],
        limit: UInt64 = callLimit, _ reply: @escaping (Reply) -> Void
    ) {
        unsafe call(
            name, path, interface, member, limit: limit,
            appending: { [self] message in arguments.allSatisfy { unsafe append($0, to: message) >= 0 } }, reply)
    }

    /// The same with arguments of any type.
    ///
    /// - Parameters:
    ///   - isStarting: whether the daemon is started for it, where it can be.
    ///   - mayAsk: whether the callee may have a person asked, which takes as long as it takes.
    public func call(
        _ name: String, _ path: String, _ interface: String, _ member: String, limit: UInt64 = callLimit,
        isStarting: Bool = false, mayAsk: Bool = false, writing write: (inout BusWriter) -> Void,
        _ reply: @escaping (Reply) -> Void
    ) {
        unsafe call(
            name, path, interface, member, limit: limit, isStarting: isStarting, mayAsk: mayAsk,
            appending: { message in
                var writer = unsafe BusWriter(message)
                write(&writer)
                return writer.isWhole
            }, reply)
    }

    private func call(
        _ name: String, _ path: String, _ interface: String, _ member: String, limit: UInt64,
        isStarting: Bool = false, mayAsk: Bool = false, appending append: (OpaquePointer) -> Bool,
        _ reply: @escaping (Reply) -> Void
    ) {
        var message: OpaquePointer?
        guard let bus = unsafe bus,
            unsafe sd_bus_message_new_method_call(bus, &message, name, path, interface, member) >= 0,
            let message = unsafe message
        else { return fail(reply) }
        defer { unsafe sd_bus_message_unref(message) }
        if !isStarting { unsafe sd_bus_message_set_auto_start(message, 0) }
        if mayAsk { unsafe sd_bus_message_set_allow_interactive_authorization(message, 1) }
        guard unsafe append(message) else { return fail(reply) }
        let handler = Handler(self, .call(reply))
        let context = unsafe Unmanaged.passUnretained(handler).toOpaque()
        guard
            unsafe sd_bus_call_async(bus, nil, message, SystemBus.received, context, limit) >= 0
        else { return fail(reply) }
        handlers[ObjectIdentifier(handler)] = handler
        // Sends it, and learns until when to wait.
        flush()
    }

    /// To be called after something was sent.
    func flush() { if !isProcessing, isConnected { wakeSoon() } }

    /// A property of an object's.
    public func properties(_ name: String, _ path: String, of interface: String, _ reply: @escaping (Reply) -> Void) {
        call(name, path, "org.freedesktop.DBus.Properties", "GetAll", [.text(interface)], reply)
    }

    private func fail(_ reply: @escaping (Reply) -> Void) {
        loop.schedule(at: Timestamp.now().boottime) { reply(.failed(error: nil)) }
    }

    private func append(_ argument: Argument, to message: OpaquePointer?) -> Int32 {
        switch argument {
        case .text(let text):
            unsafe text.withCString { unsafe sd_bus_message_append_basic(message, CChar(UInt8(ascii: "s")), $0) }
        case .signed(var number):
            unsafe sd_bus_message_append_basic(message, CChar(UInt8(ascii: "i")), &number)
        case .unsigned(var number):
            unsafe sd_bus_message_append_basic(message, CChar(UInt8(ascii: "u")), &number)
        case .unsigned64(var number):
            unsafe sd_bus_message_append_basic(message, CChar(UInt8(ascii: "t")), &number)
        }
    }

    private static let received: sd_bus_message_handler_t = { message, context, _ in
        guard let message = unsafe message, let context = unsafe context else { return 0 }
        let handler = unsafe Unmanaged<Handler>.fromOpaque(context).takeUnretainedValue()
        switch handler.kind {
        case .call(let reply):
            handler.bus?.handlers[ObjectIdentifier(handler)] = nil
            let text = unsafe sd_bus_message_get_error(message)?.pointee.message
            handler.bus?.errorText = unsafe text.map { unsafe String(cString: $0) } ?? ""
            reply(unsafe SystemBus.reply(in: message))
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
            let error = unsafe sd_bus_message_get_error(message)?.pointee.name
            return .failed(error: unsafe error.map { unsafe String(cString: $0) })
        }
        return unsafe BusValue.contents(of: message).map { .values($0) } ?? .failed(error: nil)
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
        guard isPersistent, retries < SystemBus.retryLimit else { return }
        retries += 1
        if let timer { loop.cancel(timer) }
        timer = loop.schedule(at: Timestamp.now().boottime + SystemBus.retryDelay) { [unowned self] in
            timer = nil
            if !open() { retry() } else if isConnected { onReturn?() }
        }
    }
}

/// A value of a message, taken out of it.
public enum BusValue: Hashable, Sendable {
    case text(String)
    case number(Int64)
    case flag(Bool)
    /// Their beginning: a certificate is not kept, only that there is one.
    case octets([UInt8])
    case list([BusValue])
    case dictionary([String: BusValue])
    /// A floating-point number, a descriptor, or a dictionary whose keys are no text.
    case other

    public var text: String? { if case .text(let text) = self { text } else { nil } }
    public var number: Int64? { if case .number(let number) = self { number } else { nil } }
    public var flag: Bool? { if case .flag(let flag) = self { flag } else { nil } }
    public var octets: [UInt8]? { if case .octets(let octets) = self { octets } else { nil } }
    public var list: [BusValue]? { if case .list(let values) = self { values } else { nil } }
    public var dictionary: [String: BusValue]? { if case .dictionary(let members) = self { members } else { nil } }

    public subscript(key: String) -> BusValue? { dictionary?[key] }

    public static let octetLimit = 256
    /// Values of one message, and how deep they may nest; sd-bus itself allows 64 levels.
    private static let countLimit = 8_192
    private static let depthLimit = 12

    /// All values of a message; nil where there are more than anybody has a use for.
    static func contents(of message: OpaquePointer) -> [BusValue]? {
        var budget = countLimit
        return unsafe values(in: message, depth: 0, &budget)
    }

    /// The values up to the end of the container, or of the message.
    private static func values(in message: OpaquePointer, depth: Int, _ budget: inout Int) -> [BusValue]? {
        var values: [BusValue] = []
        while true {
            var type: CChar = 0
            var contents: UnsafePointer<CChar>?
            let result = unsafe sd_bus_message_peek_type(message, &type, &contents)
            guard result > 0 else { return result == 0 ? values : nil }
            budget -= 1
            let inner = unsafe contents.map { unsafe String(cString: $0) } ?? ""
            guard budget > 0, depth < depthLimit,
                let value = unsafe value(in: message, Character(Unicode.Scalar(UInt8(type))), inner, depth, &budget)
            else { return nil }
            values.append(value)
        }
    }

    private static func value(
        in message: OpaquePointer, _ type: Character, _ inner: String, _ depth: Int, _ budget: inout Int
    ) -> BusValue? {
        switch type {
        case "s", "o", "g":
            var text: UnsafePointer<CChar>?
            guard unsafe read(message, type, &text), let text = unsafe text else { return nil }
            return .text(unsafe String(cString: text))
        case "b":
            var flag: Int32 = 0
            return unsafe read(message, type, &flag) ? .flag(flag != 0) : nil
        case "y": return unsafe number(in: message, type, UInt8(0))
        case "n": return unsafe number(in: message, type, Int16(0))
        case "q": return unsafe number(in: message, type, UInt16(0))
        case "i": return unsafe number(in: message, type, Int32(0))
        case "u": return unsafe number(in: message, type, UInt32(0))
        case "x": return unsafe number(in: message, type, Int64(0))
        case "t": return unsafe number(in: message, type, UInt64(0))
        case "a" where inner == "y":
            var octets: UnsafeRawPointer?
            var count = 0
            guard unsafe sd_bus_message_read_array(message, CChar(UInt8(ascii: "y")), &octets, &count) >= 0 else {
                return nil
            }
            let buffer = unsafe UnsafeRawBufferPointer(start: octets, count: min(count, octetLimit))
            return .octets(unsafe Array(buffer))
        case "a" where inner.hasPrefix("{s"):
            guard let entries = unsafe contents(in: message, "a", inner, depth, &budget) else { return nil }
            var members: [String: BusValue] = [:]
            for case .list(let pair) in entries where pair.count == 2 {
                if let key = pair[0].text { members[key] = pair[1] }
            }
            return .dictionary(members)
        case "a" where inner.hasPrefix("{"), "d", "h":
            return unsafe sd_bus_message_skip(message, type == "a" ? "a\(inner)" : "\(type)") >= 0 ? .other : nil
        case "a", "r", "e": return unsafe contents(in: message, type, inner, depth, &budget).map { .list($0) }
        case "v": return unsafe contents(in: message, "v", inner, depth, &budget)?.first
        default: return nil
        }
    }

    private static func contents(
        in message: OpaquePointer, _ type: Character, _ inner: String, _ depth: Int, _ budget: inout Int
    ) -> [BusValue]? {
        guard let code = type.asciiValue, unsafe sd_bus_message_enter_container(message, CChar(code), inner) >= 0,
            let values = unsafe values(in: message, depth: depth + 1, &budget),
            unsafe sd_bus_message_exit_container(message) >= 0
        else { return nil }
        return values
    }

    private static func number<Integer: FixedWidthInteger>(
        in message: OpaquePointer, _ type: Character, _ zero: Integer
    ) -> BusValue? {
        var number = zero
        return unsafe read(message, type, &number) ? .number(Int64(clamping: number)) : nil
    }

    private static func read(_ message: OpaquePointer, _ type: Character, _ value: UnsafeMutableRawPointer) -> Bool {
        guard let code = type.asciiValue else { return false }
        return unsafe sd_bus_message_read_basic(message, CChar(code), value) > 0
    }
}
