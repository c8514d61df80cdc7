import CSystemd
import Foundation
import Glibc
import Netlink
import Platform
import ProbeProtocol
import Probing
import Testing

extension ProbingTests {
    /// The prober against a systemd-resolved that the test plays, on a bus of its own.
    @Suite(.serialized) struct ResolverTests {
        private let identity: Identity

        init() throws {
            identity = try #require(Identity.elliptic)
        }

        private func question(_ port: UInt16, timeout: Int64 = 3_000_000) -> ProbeQuestion {
            var question = ProbeQuestion.local(port, identity.pin, timeout: timeout)
            question.address = nil
            return question
        }

        private func result(of question: ProbeQuestion, _ resolver: Resolver?) throws -> Stage.Result {
            var paths = ProbePaths.spawning
            if let resolver { paths.bus = resolver.address }
            return try Stage.result(of: question, paths: paths)
        }

        @Test func asksTheServersOfThisLinkOnly() throws {
            let server = try TLSServer(identity)
            let resolver = try Resolver { _ in .addresses([(1, "127.0.0.1")]) }
            #expect(try result(of: question(server.port), resolver).outcome == .proven(identity.pin))
            let asked = resolver.asked.withLock { $0 }
            #expect(asked.count == 1)
            #expect(
                asked.first?.index == 1 && asked.first?.name == "inside.example" && asked.first?.family == AF_UNSPEC)
            // By DNS, no search domain, not made up, not from the cache, not of its own zone.
            #expect(asked.first?.flags == 0x3901)
        }

        @Test func triesOneAddressAfterTheOther() throws {
            let server = try TLSServer(identity)
            // One where nobody listens, one without a way to it.
            let resolver = try Resolver { _ in
                .addresses([(1, "127.0.0.2"), (1, "2001:db8::1"), (1, "127.0.0.1"), (1, "127.0.0.3")])
            }
            #expect(try result(of: question(server.port), resolver).outcome == .proven(identity.pin))
        }

        /// One that swallows everything does not take all the time.
        @Test func givesEachAddressItsShare() throws {
            let server = try TLSServer(identity)
            let silent = try Listener(host: 2, port: server.port) { Listener.waitForEnd($0) }
            let resolver = try Resolver { _ in .addresses([(1, "127.0.0.2"), (1, "127.0.0.1")]) }
            let result = try result(of: question(server.port, timeout: 1_000_000), resolver)
            #expect(result.outcome == .proven(identity.pin))
            #expect(silent.connections == 1)
        }

        @Test func tellsWhatCameFarthest() throws {
            let server = try TLSServer(try #require(Identity.other))
            let resolver = try Resolver { _ in
                .addresses([(1, "2001:db8::1"), (1, "127.0.0.1"), (1, "127.0.0.2")])
            }
            let seen = try #require(Identity.other).pin
            #expect(try result(of: question(server.port), resolver).outcome == .pinMismatch(seen: seen))
        }

        @Test func looksUpNoAddress() throws {
            let server = try TLSServer(identity)
            var question = question(server.port)
            question.serverName = "127.0.0.1"
            #expect(try result(of: question, nil).outcome == .proven(identity.pin))
        }

        @Test func takesNoAnswerForAnotherLink() throws {
            let server = try TLSServer(identity)
            let resolver = try Resolver { _ in .addresses([(2, "127.0.0.1")]) }
            #expect(try result(of: question(server.port), resolver).outcome == .nameUnknown)
        }

        @Test(arguments: [
            ("org.freedesktop.resolve1.DnsError.NXDOMAIN", ProbeOutcome.nameUnknown),
            ("org.freedesktop.resolve1.NoSuchRR", .nameUnknown),
            ("org.freedesktop.resolve1.NoNameServers", .noResolver),
            ("org.freedesktop.resolve1.DnsError.SERVFAIL", .noResolver),
        ])
        func tellsWhenThereIsNoAddress(_ error: String, _ expected: ProbeOutcome) throws {
            let resolver = try Resolver { _ in .error(error) }
            #expect(try result(of: question(443), resolver).outcome == expected)
        }

        @Test func tellsWhenThereIsNoResolver() throws {
            let resolver = try Resolver(name: "org.example.another") { _ in .silence }
            #expect(try result(of: question(443), resolver).outcome == .noResolver)
            #expect(try result(of: question(443), nil).outcome == .noResolver)
        }

        @Test func tellsWhenTheBusGoes() throws {
            let resolver = try Resolver { _ in .silence }
            var paths = ProbePaths.spawning
            paths.bus = resolver.address
            let stage = try Stage(paths: paths)
            var outcome: ProbeOutcome?
            stage.prober.probe(question(443)) { outcome = $0 }
            stage.play(
                until: {
                    guard resolver.asked.withLock({ !$0.isEmpty }) else { return false }
                    resolver.killBus()
                    return true
                }, { outcome != nil })
            #expect(outcome == .noResolver)
        }

        @Test func waitsNoLongerForASilentResolver() throws {
            let resolver = try Resolver { _ in .silence }
            let result = try result(of: question(443, timeout: 400_000), resolver)
            #expect(result.outcome == .timedOut)
            #expect((0.4...1.0).contains(result.duration))
        }

        /// Look-up and handshake share the time.
        @Test func givesTheHelperWhatIsLeft() throws {
            let server = try Listener { Listener.waitForEnd($0) }
            let resolver = try Resolver { _ in
                poll(nil, 0, 600)
                return .addresses([(1, "127.0.0.1")])
            }
            let result = try result(of: question(server.port, timeout: 1_000_000), resolver)
            #expect(result.outcome == .timedOut)
            #expect(server.connections == 1)
            #expect((0.9...1.4).contains(result.duration))
        }

        @Test func cancelsALookUp() throws {
            let resolver = try Resolver { _ in .silence }
            var paths = ProbePaths.spawning
            paths.bus = resolver.address
            let stage = try Stage(paths: paths)
            var outcomes: [ProbeOutcome] = []
            let identifier = stage.prober.probe(question(443)) { outcomes.append($0) }
            stage.play(
                until: {
                    guard resolver.asked.withLock({ !$0.isEmpty }) else { return false }
                    stage.prober.cancel(identifier)
                    return true
                }, { !outcomes.isEmpty })
            #expect(outcomes == [.cancelled])
        }

        @Test func answersManyAtOnce() throws {
            let server = try TLSServer(identity)
            let resolver = try Resolver { asked in
                asked.name == "inside.example"
                    ? .addresses([(1, "127.0.0.1")])
                    : .error("org.freedesktop.resolve1.DnsError.NXDOMAIN")
            }
            var paths = ProbePaths.spawning
            paths.bus = resolver.address
            let stage = try Stage(paths: paths)
            var outcomes: [Int: ProbeOutcome] = [:]
            for number in 0..<12 {
                var question = question(server.port)
                if number % 2 == 1 { question.serverName = "outside.example" }
                stage.prober.probe(question) { outcomes[number] = $0 }
            }
            stage.play { outcomes.count == 12 }
            for (number, outcome) in outcomes {
                #expect(outcome == (number % 2 == 1 ? .nameUnknown : .proven(identity.pin)))
            }
        }
    }
}

/// A bus with one service on it that answers as the test wants; on a thread of its own.
private final class Resolver: @unchecked Sendable {
    struct Asked: Sendable {
        var index: Int32 = 0
        var name = ""
        var family: Int32 = 0
        var flags: UInt64 = 0
    }

    enum Reply {
        /// The number of the link, and the address.
        case addresses([(Int32, String)])
        case error(String)
        case silence
    }

    let address: String
    let asked = Lock([Asked]())
    private let scratch: Scratch
    private let daemon = Process()
    private let isOver = Lock(false)
    private let ended = DispatchSemaphore(value: 0)
    private let answer: @Sendable (Asked) -> Reply

    init(name: String = "org.freedesktop.resolve1", _ answer: @escaping @Sendable (Asked) -> Reply) throws {
        self.answer = answer
        scratch = try Scratch()
        address = "unix:path=\(scratch.path)/socket"
        let configuration = "\(scratch.path)/bus.conf"
        try """
        <busconfig><type>system</type><listen>\(address)</listen><auth>EXTERNAL</auth>
        <policy context="default"><allow send_destination="*"/><allow receive_sender="*"/>
        <allow own="*"/><allow user="*"/></policy></busconfig>
        """.write(toFile: configuration, atomically: true, encoding: .utf8)
        let ready = Pipe()
        daemon.executableURL = URL(fileURLWithPath: "/usr/bin/dbus-daemon")
        daemon.arguments = ["--config-file=\(configuration)", "--nofork", "--print-address=1"]
        daemon.standardOutput = ready
        try daemon.run()
        _ = try ready.fileHandleForReading.read(upToCount: 1)
        var bus: OpaquePointer?
        sd_bus_new(&bus)
        sd_bus_set_address(bus, address)
        sd_bus_set_bus_client(bus, 1)
        try #require(sd_bus_start(bus) >= 0)
        let context = Unmanaged.passUnretained(self).toOpaque()
        sd_bus_add_object(
            bus, nil, "/org/freedesktop/resolve1",
            { message, context, _ in
                guard let context else { return 0 }
                return Unmanaged<Resolver>.fromOpaque(context).takeUnretainedValue().receive(message)
            }, context)
        try #require(sd_bus_request_name(bus, name, 0) >= 0)
        nonisolated(unsafe) let connection = bus
        let (isOver, ended) = (isOver, ended)
        Thread.detachNewThread {
            while !isOver.withLock({ $0 }) {
                let code = sd_bus_process(connection, nil)
                if code < 0 { break }
                if code == 0 { sd_bus_wait(connection, 20_000) }
            }
            sd_bus_unref(connection)
            ended.signal()
        }
    }

    deinit {
        isOver.withLock { $0 = true }
        ended.wait()
        killBus()
        daemon.waitUntilExit()
    }

    /// Foundation starts it with SIGTERM blocked.
    func killBus() { kill(daemon.processIdentifier, SIGKILL) }

    private func receive(_ message: OpaquePointer?) -> Int32 {
        guard sd_bus_message_is_method_call(message, "org.freedesktop.resolve1.Manager", "ResolveHostname") > 0 else {
            return 0
        }
        var question = Asked()
        var name: UnsafePointer<CChar>?
        sd_bus_message_read_basic(message, CChar(UInt8(ascii: "i")), &question.index)
        sd_bus_message_read_basic(message, CChar(UInt8(ascii: "s")), &name)
        sd_bus_message_read_basic(message, CChar(UInt8(ascii: "i")), &question.family)
        sd_bus_message_read_basic(message, CChar(UInt8(ascii: "t")), &question.flags)
        question.name = name.map { String(cString: $0) } ?? ""
        asked.withLock { $0.append(question) }
        switch answer(question) {
        case .silence: break
        case .error(let name):
            name.withCString { name in
                "no".withCString { text in
                    var error = sd_bus_error(name: name, message: text, _need_free: 0)
                    sd_bus_reply_method_error(message, &error)
                }
            }
        case .addresses(let addresses):
            var reply: OpaquePointer?
            sd_bus_message_new_method_return(message, &reply)
            sd_bus_message_open_container(reply, CChar(UInt8(ascii: "a")), "(iiay)")
            for (link, text) in addresses {
                guard let address = IPAddress(text) else { continue }
                var (link, family) = (link, Int32(address.family.rawValue))
                sd_bus_message_open_container(reply, CChar(UInt8(ascii: "r")), "iiay")
                sd_bus_message_append_basic(reply, CChar(UInt8(ascii: "i")), &link)
                sd_bus_message_append_basic(reply, CChar(UInt8(ascii: "i")), &family)
                sd_bus_message_append_array(reply, CChar(UInt8(ascii: "y")), address.octets, address.octets.count)
                sd_bus_message_close_container(reply)
            }
            sd_bus_message_close_container(reply)
            question.name.withCString { _ = sd_bus_message_append_basic(reply, CChar(UInt8(ascii: "s")), $0) }
            sd_bus_message_append_basic(reply, CChar(UInt8(ascii: "t")), &question.flags)
            sd_bus_send(nil, reply, nil)
            sd_bus_message_unref(reply)
        }
        return 1
    }
}
