@testable import Actions
import CSystemd
import Foundation
import Platform
@testable import Rules
import SystemBus
import TestSupport
import Testing

/// The variables of a service manager, as org.freedesktop.systemd1(5) has them, on a thread of its own.
private final class Manager: @unchecked Sendable {
    private struct State {
        var environment: [String]
        /// What environment.d(5) gave it: can be covered, never taken away.
        var inherited: [String]
        var isStopped = false

        var effective: [String] {
            inherited.filter { text in !environment.contains { Manager.name($0) == Manager.name(text) } } + environment
        }
    }

    private static func name(_ text: String) -> Substring { text.prefix { $0 != "=" } }

    private let state: Lock<State>
    private var bus: OpaquePointer?
    private let ended = DispatchSemaphore(value: 0)

    init(_ address: String, _ environment: [String], inherited: [String] = []) {
        state = Lock(State(environment: environment, inherited: inherited))
        #expect(sd_bus_new(&bus) >= 0)
        #expect(sd_bus_set_address(bus, address) >= 0 && sd_bus_set_bus_client(bus, 1) >= 0 && sd_bus_start(bus) >= 0)
        sd_bus_add_filter(
            bus, nil,
            { message, context, _ in
                guard let message, let context else { return 0 }
                return Unmanaged<Manager>.fromOpaque(context).takeUnretainedValue().take(message)
            }, Unmanaged.passUnretained(self).toOpaque())
        #expect(sd_bus_request_name(bus, "org.freedesktop.systemd1", 0) >= 0)
        Thread { [self] in run() }.start()
    }

    var environment: [String] { state.withLock { $0.effective.sorted() } }

    /// `daemon-reload`: the files of environment.d(5) say this by now.
    func reload(_ inherited: [String]) { state.withLock { $0.inherited = inherited } }

    func stop() {
        state.withLock { $0.isStopped = true }
        ended.wait()
    }

    private func run() {
        while !state.withLock({ $0.isStopped }) {
            while sd_bus_process(bus, nil) > 0 {}
            sd_bus_wait(bus, 5_000)
        }
        sd_bus_flush_close_unref(bus)
        ended.signal()
    }

    private func take(_ message: OpaquePointer) -> Int32 {
        guard sd_bus_message_is_method_call(message, nil, nil) > 0, let member = sd_bus_message_get_member(message)
        else {
            return 0
        }
        switch String(cString: member) {
        case "Get":
            var reply: OpaquePointer?
            sd_bus_message_new_method_return(message, &reply)
            sd_bus_message_open_container(reply, CChar(UInt8(ascii: "v")), "as")
            sd_bus_message_open_container(reply, CChar(UInt8(ascii: "a")), "s")
            for text in environment { sd_bus_message_append_basic(reply, CChar(UInt8(ascii: "s")), text) }
            sd_bus_message_close_container(reply)
            sd_bus_message_close_container(reply)
            sd_bus_send(nil, reply, nil)
            sd_bus_message_unref(reply)
        case "UnsetAndSetEnvironment" where String(cString: sd_bus_message_get_signature(message, 1)) == "asas":
            let (gone, new) = (texts(in: message), texts(in: message))
            state.withLock { state in
                let names = gone.map { $0[...] } + new.map(Manager.name)
                state.environment.removeAll { names.contains(Manager.name($0)) }
                state.environment += new
            }
            var reply: OpaquePointer?
            sd_bus_message_new_method_return(message, &reply)
            sd_bus_send(nil, reply, nil)
            sd_bus_message_unref(reply)
        default: sd_bus_reply_method_errno(message, -ENOENT, nil)
        }
        return 1
    }

    private func texts(in message: OpaquePointer) -> [String] {
        var texts: [String] = []
        sd_bus_message_enter_container(message, CChar(UInt8(ascii: "a")), "s")
        var text: UnsafePointer<CChar>?
        while sd_bus_message_read_basic(message, CChar(UInt8(ascii: "s")), &text) > 0, let text {
            texts.append(String(cString: text))
        }
        sd_bus_message_exit_container(message)
        return texts
    }
}

@Suite(.enabled(if: Files.exists("/usr/bin/dbus-daemon"), "dbus-daemon is not installed"))
struct UserEnvironmentTests {
    init() { #expect(ActionLoop.isRunning) }

    private static let users = [
        "HOME=/home/u", "HTTP_PROXY=http://u:p@mine:1/?a=b", "http_proxy=http://mine:1", "no_proxy=",
    ]

    @ActionActor private func place(_ session: GNOMEPlaceTests.Session) -> UserEnvironmentPlace {
        UserEnvironmentPlace(ServiceManager(Bus(.address(session.address)), isOfUser: true))
    }

    @Test @ActionActor func holdsTheProxyAndGivesBackTheUsers() async throws {
        let session = try GNOMEPlaceTests.Session()
        let manager = Manager(session.address, UserEnvironmentTests.users)
        defer { manager.stop() }
        let place = place(session)
        var proxy = StateAction.Proxy(mode: .manual)
        proxy.http = "http://proxy.example:3128"
        for proxy in [proxy, StateAction.Proxy(mode: .none)] {
            let wanted = try #require(try proxy.wishes().first { $0.place == .userEnvironment }?.settings)
            let before = try #require(try await place.read(Set(wanted.keys)))
            #expect(before["HTTP_PROXY"] == .value("http://u:p@mine:1/?a=b") && before["no_proxy"] == .value(""))
            try await place.write(wanted)
            #expect(try await place.read(Set(wanted.keys)) == wanted)
            // What is empty covers what the manager was given.
            #expect(
                manager.environment.filter { !$0.hasSuffix("=") }
                    == ["HOME=/home/u"] + (proxy.mode == .none ? [] : ["http_proxy=http://proxy.example:3128"]))
            try await place.write(before)
            #expect(manager.environment == UserEnvironmentTests.users)
        }
    }

    /// Somebody logs in where a rule holds already.
    @Test @ActionActor func whatTheManagerWasGivenByUsIsNotTheUsers() async throws {
        let session = try GNOMEPlaceTests.Session()
        let root = "/tmp/vicinity-inherited-\(UInt32.random(in: 0 ... .max))"
        defer { try? FileManager.default.removeItem(atPath: root) }
        var proxy = StateAction.Proxy(mode: .manual)
        proxy.http = "http://proxy.example:3128"
        let wishes = try proxy.wishes()
        try FileManager.default.createDirectory(atPath: "\(root)/run", withIntermediateDirectories: true)
        try EnvironmentPlace(root: root).write(try #require(wishes.first { $0.place == .environment }?.settings))
        let mine = "no_proxy=mine.example"
        let given = ["http_proxy=http://proxy.example:3128", "ALL_PROXY=", "all_proxy=", "HTTPS_PROXY=http://mine:1"]
        let manager = Manager(session.address, [mine], inherited: given)
        defer { manager.stop() }
        let place = place(session)
        try await place.disownInherited(root: root)
        let wanted = try #require(wishes.first { $0.place == .userEnvironment }?.settings)
        let before = try #require(try await place.read(Set(wanted.keys)))
        #expect(before["http_proxy"] == .value("") && before["HTTPS_PROXY"] == .value("http://mine:1"))
        #expect(before["no_proxy"] == .value("mine.example"))
        try await place.write(wanted)
        #expect(try await place.read(Set(wanted.keys)) == wanted)
        try await place.write(before)
        #expect(
            manager.environment.filter { !$0.hasSuffix("=") } == ["HTTPS_PROXY=http://mine:1", "no_proxy=mine.example"])
    }

    /// A package is installed, say, while a rule holds: its files of ours are the manager's own from then on.
    @Test @ActionActor func whatTheManagerReadAgainIsCovered() async throws {
        let session = try GNOMEPlaceTests.Session()
        let manager = Manager(session.address, ["HTTPS_PROXY=http://mine:1", "HOME=/home/u"])
        defer { manager.stop() }
        let place = place(session)
        var proxy = StateAction.Proxy(mode: .manual)
        proxy.http = "http://proxy.example:3128"
        let wanted = try #require(try proxy.wishes().first { $0.place == .userEnvironment }?.settings)
        let names = Set(wanted.keys)
        let before = try #require(try await place.read(names))
        for _ in 0..<2 {
            try await place.write(wanted)
            manager.reload(["http_proxy=http://proxy.example:3128", "ALL_PROXY="])
            #expect(try await place.read(names) == wanted)
            try await place.write(before)
            // As it was, for whoever compares; and nobody goes through the proxy.
            #expect(try await place.read(names) == before)
            #expect(
                manager.environment.filter { !$0.hasSuffix("=") } == ["HOME=/home/u", "HTTPS_PROXY=http://mine:1"])
        }
        // A value of somebody else is theirs.
        manager.reload(["http_proxy=http://other:1"])
        try await place.write(["http_proxy": .unset])
        #expect(try await place.read(["http_proxy"]) == ["http_proxy": .value("http://other:1")])
    }

    @Test @ActionActor func takesNoOtherVariableAndNoSecondLine() async throws {
        let session = try GNOMEPlaceTests.Session()
        let manager = Manager(session.address, UserEnvironmentTests.users)
        defer { manager.stop() }
        let place = place(session)
        for (name, value) in [
            ("LD_PRELOAD", "/x"), ("http_proxy=x\nLD_PRELOAD", "/x"), ("http_proxy", "a\nLD_PRELOAD=/x"),
            ("http_proxy", "a\u{0}b"), ("http_proxy", "a\r"),
        ] {
            await #expect(throws: PlaceError.self) { try await place.write([name: .value(value)]) }
        }
        await #expect(throws: PlaceError.self) { try await place.write(["PATH": .unset]) }
        #expect(manager.environment == UserEnvironmentTests.users)
    }

    @Test @ActionActor func withoutAManagerThereIsNoSuchPlace() async throws {
        let session = try GNOMEPlaceTests.Session()
        #expect(try await place(session).read(["http_proxy"]) == nil)
        // One that runs and has not found the bus again is to be asked later.
        let manager = ServiceManager(Bus(.address(session.address)), isOfUser: true)
        await #expect(throws: PlaceError.self) {
            _ = try await UserEnvironmentPlace(manager, socket: "/proc/self/status").read(["http_proxy"])
        }
    }
}
