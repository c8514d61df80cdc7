import CSystemd
import Foundation
import Glibc
import Platform
import Testing

/// A bus of the test's own, in the place of the system's, and a connection that says what no answer is needed for.
final class PrivateBus {
    private let daemon = Process()
    private var connection: OpaquePointer?
    private let directory = NSTemporaryDirectory() + "bus-\(UInt32.random(in: 0 ... .max))"

    /// - Parameter socket: a path of its own where nothing is said.
    init(socket: String? = nil) throws {
        try FileManager.default.createDirectory(atPath: directory, withIntermediateDirectories: true)
        let address = "unix:path=\(socket ?? "\(directory)/socket")"
        try """
        <busconfig><type>system</type><listen>\(address)</listen><auth>EXTERNAL</auth>
        <policy context="default"><allow send_destination="*"/><allow receive_sender="*"/>
        <allow eavesdrop="true"/><allow own="*"/><allow user="*"/></policy></busconfig>
        """.write(toFile: directory + "/bus.conf", atomically: true, encoding: .utf8)
        let ready = Pipe()
        daemon.executableURL = URL(fileURLWithPath: "/usr/bin/dbus-daemon")
        daemon.arguments = ["--config-file=\(directory)/bus.conf", "--nofork", "--print-address=1"]
        daemon.standardOutput = ready
        try daemon.run()
        _ = try ready.fileHandleForReading.read(upToCount: 1)
        setenv("DBUS_SYSTEM_BUS_ADDRESS", address, 1)
        #expect(sd_bus_open_system(&connection) >= 0)
    }

    deinit {
        sd_bus_flush_close_unref(connection)
        end()
        unsetenv("DBUS_SYSTEM_BUS_ADDRESS")
        try? FileManager.default.removeItem(atPath: directory)
    }

    /// The daemon dies.
    func end() {
        // Foundation starts it with SIGTERM blocked.
        kill(daemon.processIdentifier, SIGKILL)
        daemon.waitUntilExit()
    }

    func own(_ name: String) { #expect(sd_bus_request_name(connection, name, 0) >= 0) }
    func disown(_ name: String) { #expect(sd_bus_release_name(connection, name) >= 0) }

    func prepareForSleep(_ isStarting: Bool) {
        signal("/org/freedesktop/login1", "org.freedesktop.login1.Manager", "PrepareForSleep", [.flag(isStarting)])
    }

    /// The same from a stranger, straight to everybody: the daemon asks nobody whether they want to hear that.
    func whisperOfSleep(_ isStarting: Bool) {
        var stranger: OpaquePointer?
        #expect(sd_bus_open_system(&stranger) >= 0)
        defer { sd_bus_flush_close_unref(stranger) }
        var names: UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>?
        #expect(sd_bus_list_names(stranger, &names, nil) >= 0)
        var place = names
        while let name = place?.pointee {
            if name.pointee == CChar(UInt8(ascii: ":")) {
                BusDatum.signal(
                    stranger, "/org/freedesktop/login1", "org.freedesktop.login1.Manager", "PrepareForSleep",
                    [.flag(isStarting)], to: name)
            }
            free(name)
            place = place?.successor()
        }
        free(names)
    }

    func signal(_ path: String, _ interface: String, _ member: String, _ contents: [BusDatum]) {
        BusDatum.signal(connection, path, interface, member, contents)
        sd_bus_flush(connection)
    }
}

/// A value of a message, with its type.
indirect enum BusDatum: Sendable {
    case text(String)
    case path(String)
    case flag(Bool)
    case signed(Int32)
    case unsigned(UInt32)
    case long(UInt64)
    case octets([UInt8])
    /// Of one type, which is that of the first; of none, the one said.
    case list([BusDatum], of: String)
    case structure([BusDatum])
    /// `a{sv}`
    case properties([String: BusDatum])
    /// `a{sa{sv}}`
    case settings([String: BusDatum])

    static func texts(_ texts: [String]) -> BusDatum { .list(texts.map { .text($0) }, of: "s") }

    var signature: String {
        switch self {
        case .text: "s"
        case .path: "o"
        case .flag: "b"
        case .signed: "i"
        case .unsigned: "u"
        case .long: "t"
        case .octets: "ay"
        case .list(_, let type): "a\(type)"
        case .structure(let members): "(\(members.map(\.signature).joined()))"
        case .properties: "a{sv}"
        case .settings: "a{sa{sv}}"
        }
    }

    func append(to message: OpaquePointer?) {
        switch self {
        case .text(let text): basic(message, "s", text)
        case .path(let text): basic(message, "o", text)
        case .flag(let flag):
            var value: Int32 = flag ? 1 : 0
            sd_bus_message_append_basic(message, CChar(UInt8(ascii: "b")), &value)
        case .signed(var value): sd_bus_message_append_basic(message, CChar(UInt8(ascii: "i")), &value)
        case .unsigned(var value): sd_bus_message_append_basic(message, CChar(UInt8(ascii: "u")), &value)
        case .long(var value): sd_bus_message_append_basic(message, CChar(UInt8(ascii: "t")), &value)
        case .octets(let octets):
            sd_bus_message_append_array(message, CChar(UInt8(ascii: "y")), octets, octets.count)
        case .list(let values, let type):
            container(message, "a", type) { for value in values { value.append(to: message) } }
        case .structure(let members):
            container(message, "r", members.map(\.signature).joined()) {
                for member in members { member.append(to: message) }
            }
        case .properties(let members):
            container(message, "a", "{sv}") {
                for (key, value) in members {
                    container(message, "e", "sv") {
                        basic(message, "s", key)
                        container(message, "v", value.signature) { value.append(to: message) }
                    }
                }
            }
        case .settings(let members):
            container(message, "a", "{sa{sv}}") {
                for (key, value) in members {
                    container(message, "e", "sa{sv}") {
                        basic(message, "s", key)
                        value.append(to: message)
                    }
                }
            }
        }
    }

    private func basic(_ message: OpaquePointer?, _ type: Unicode.Scalar, _ text: String) {
        _ = text.withCString { sd_bus_message_append_basic(message, CChar(UInt8(ascii: type)), $0) }
    }

    private func container(_ message: OpaquePointer?, _ type: Unicode.Scalar, _ contents: String, _ body: () -> Void) {
        sd_bus_message_open_container(message, CChar(UInt8(ascii: type)), contents)
        body()
        sd_bus_message_close_container(message)
    }

    static func signal(
        _ bus: OpaquePointer?, _ path: String, _ interface: String, _ member: String, _ contents: [BusDatum],
        to receiver: UnsafePointer<CChar>? = nil
    ) {
        var message: OpaquePointer?
        sd_bus_message_new_signal(bus, &message, path, interface, member)
        if let receiver { sd_bus_message_set_destination(message, receiver) }
        for datum in contents { datum.append(to: message) }
        sd_bus_send(bus, message, nil)
        sd_bus_message_unref(message)
    }
}

/// A daemon on the private bus, on a thread of its own: answers calls with what the test wrote down.
final class FakeDaemon: @unchecked Sendable {
    private struct State {
        var answers: [String: [BusDatum]] = [:]
        /// Calls that are to wait, and those that do.
        var held: Set<String> = []
        var waiting: [(key: String, message: OpaquePointer)] = []
        var calls: [String] = []
        var work: [(OpaquePointer?) -> Void] = []
        var isStopped = false
    }

    private let state = Lock(State())
    private var connection: OpaquePointer?
    private let ended = DispatchSemaphore(value: 0)

    init(_ names: String...) {
        #expect(sd_bus_open_system(&connection) >= 0)
        let context = Unmanaged.passUnretained(self).toOpaque()
        sd_bus_add_filter(
            connection, nil,
            { message, context, _ in
                guard let message, let context else { return 0 }
                return Unmanaged<FakeDaemon>.fromOpaque(context).takeUnretainedValue().take(message)
            }, context)
        for name in names { #expect(sd_bus_request_name(connection, name, 0) >= 0) }
        Thread { [self] in run() }.start()
    }

    /// To be called at the end of a test.
    func stop() {
        state.withLock { $0.isStopped = true }
        ended.wait()
    }

    private func run() {
        while !state.withLock({ $0.isStopped }) {
            while sd_bus_process(connection, nil) > 0 {}
            for work in state.withLock({ state in
                defer { state.work = [] }
                return state.work
            }) {
                work(connection)
            }
            sd_bus_wait(connection, 5_000)
        }
        sd_bus_flush_close_unref(connection)
        ended.signal()
    }

    /// - Parameter call: the path and the member, and of `GetAll` the interface.
    func answer(_ call: String, _ contents: BusDatum...) { state.withLock { $0.answers[call] = contents } }

    /// Has these calls wait for `release`.
    func hold(_ call: String) { state.withLock { _ = $0.held.insert(call) } }

    var calls: [String] { state.withLock { $0.calls } }
    var waitingCalls: [String] { state.withLock { $0.waiting.map(\.key) } }

    func release(_ call: String) {
        perform { [self] _ in
            let released = state.withLock { state in
                state.held.remove(call)
                defer { state.waiting.removeAll { $0.key == call } }
                return state.waiting.filter { $0.key == call }
            }
            for (key, message) in released {
                reply(to: message, key)
                sd_bus_message_unref(message)
            }
        }
    }

    func signal(_ path: String, _ interface: String, _ member: String, _ contents: BusDatum...) {
        perform { BusDatum.signal($0, path, interface, member, contents) }
    }

    func changed(_ path: String, _ interface: String, _ properties: [String: BusDatum]) {
        signal(
            path, "org.freedesktop.DBus.Properties", "PropertiesChanged", .text(interface), .properties(properties),
            .texts([]))
    }

    func disown(_ name: String) { perform { sd_bus_release_name($0, name) } }

    private func perform(_ work: @escaping (OpaquePointer?) -> Void) { state.withLock { $0.work.append(work) } }

    private func take(_ message: OpaquePointer) -> Int32 {
        guard sd_bus_message_is_method_call(message, nil, nil) > 0, let path = sd_bus_message_get_path(message),
            let member = sd_bus_message_get_member(message)
        else { return 0 }
        var key = "\(String(cString: path)) \(String(cString: member))"
        var text: UnsafePointer<CChar>?
        if key.hasSuffix("GetAll"), sd_bus_message_read_basic(message, CChar(UInt8(ascii: "s")), &text) > 0, let text {
            key += " \(String(cString: text))"
        }
        // Nobody wants a daemon started that does not run.
        #expect(sd_bus_message_get_auto_start(message) == 0, "\(key)")
        let isHeld = state.withLock { state in
            state.calls.append(key)
            guard state.held.contains(key) else { return false }
            state.waiting.append((key, sd_bus_message_ref(message)))
            return true
        }
        if !isHeld { reply(to: message, key) }
        return 1
    }

    private func reply(to message: OpaquePointer, _ key: String) {
        guard let contents = state.withLock({ $0.answers[key] }) else {
            sd_bus_reply_method_errno(message, -ENOENT, nil)
            return
        }
        var reply: OpaquePointer?
        sd_bus_message_new_method_return(message, &reply)
        for datum in contents { datum.append(to: reply) }
        sd_bus_send(nil, reply, nil)
        sd_bus_message_unref(reply)
    }
}
