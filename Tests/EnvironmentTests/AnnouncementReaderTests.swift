import Glibc
import Netlink
import Platform
import Testing
import WiFi

@testable import Environment

/// The bus's edge, on a loop of its own, and what it observes.
private final class Listener: @unchecked Sendable {
    private let loop: EventLoop
    private var observer: SystemBusObserver?
    private var iterator: AsyncStream<Observation>.Iterator

    /// - Parameter hearsConnectivity: nothing else, then.
    init(hearsConnectivity: Bool = false) throws {
        loop = try EventLoop()
        let (stream, continuation) = AsyncStream.makeStream(of: Observation.self)
        iterator = stream.makeAsyncIterator()
        observer = SystemBusObserver(on: loop) { observation in
            let isConnectivity = if case .connectivity = observation { true } else { false }
            if isConnectivity == hearsConnectivity { continuation.yield(observation) }
        }
        try loop.start()
    }

    func stop() {
        loop.perform { [self] in observer = nil }
        loop.stop()
    }

    func ask(_ link: Interface, generation: UInt32 = 1) {
        loop.perform { [self] in
            observer?.answer(.announcements(index: link.index, generation: generation), about: link)
        }
    }

    /// The next observation, in words.
    func next() async -> String {
        switch await iterator.next() {
        case .answer(.announcements(let index, let generation, let announcements)):
            "answer \(index) \(generation) \(announcements.words)"
        case .announcementsChanged(let index): "changed \(index.map { "\($0)" } ?? "-")"
        case .deactivated(let index): "deactivated \(index)"
        case .metered(let isMetered): "metered \(isMetered.map { "\($0)" } ?? "-")"
        case .connectivity(let word, let witness): "\(witness.rawValue) \(word?.rawValue ?? "-")"
        case .lost(let cause): "lost \(cause.rawValue)"
        case let other: "\(String(describing: other))"
        }
    }

    /// Everything up to an observation that begins so.
    func observations(until beginning: String) async -> [String] {
        var seen: [String] = []
        repeat { seen.append(await next()) } while seen.last?.hasPrefix(beginning) == false
        return seen
    }

    func answer(_ link: Interface) async -> String {
        ask(link)
        return await observations(until: "answer").last ?? ""
    }
}

extension LinkAnnouncements {
    fileprivate var words: String {
        let domains =
            switch searchDomains {
            case .told(let names): "[\(names.joined(separator: ","))]"
            case .unknown: "unknown"
            case .file: "file"
            }
        guard let profile else { return domains }
        let demands = [profile.demands.certificationAuthority ? "ca" : "", profile.demands.serverName ? "name" : ""]
        return "\(domains) \(profile.ssid?.hexadecimal ?? "wire"):\(demands.joined(separator: "+"))"
    }
}

extension FakeDaemon {
    static let device = "/org/freedesktop/NetworkManager/Devices/2"
    private static let manager = "/org/freedesktop/NetworkManager"

    static func resolver(_ domains: [(String, Bool)], servers: [[UInt8]] = [[192, 0, 2, 53]]) -> FakeDaemon {
        let daemon = FakeDaemon("org.freedesktop.resolve1")
        daemon.answer("/org/freedesktop/resolve1 GetLink", .path("/org/freedesktop/resolve1/link/_35"))
        daemon.setResolver(domains, servers: servers)
        return daemon
    }

    func setResolver(_ domains: [(String, Bool)], servers: [[UInt8]] = [[192, 0, 2, 53]]) {
        answer(
            "/org/freedesktop/resolve1/link/_35 GetAll org.freedesktop.resolve1.Link",
            .properties([
                "ScopesMask": .long(1), "DNSSECNegativeTrustAnchors": .texts([]),
                "DNS": .list(servers.map { .structure([.signed(2), .octets($0)]) }, of: "(iay)"),
                "Domains": .list(domains.map { .structure([.text($0), .flag($1)]) }, of: "(sb)"),
            ]))
    }

    static func networkManager() -> FakeDaemon {
        let daemon = FakeDaemon("org.freedesktop.NetworkManager")
        daemon.answer("\(manager) GetAll org.freedesktop.NetworkManager", .properties(["Metered": .unsigned(4)]))
        daemon.answer("\(manager) GetDeviceByIpIface", .path(device))
        daemon.setDevice()
        for (family, names) in [("4", ["Four.example."]), ("6", ["six.example", "four.example"])] {
            daemon.answer(
                "\(manager)/IP\(family)Config/1 GetAll org.freedesktop.NetworkManager.IP\(family)Config",
                .properties(["Domains": .texts(names), "Searches": .texts([])]))
        }
        daemon.setProfile(["ca-cert": .octets([1]), "domain-suffix-match": .text("radius.example")])
        return daemon
    }

    func setDevice(state: UInt32 = 100, address: String = "02:00:00:00:00:EE", hasIPv6: Bool = true) {
        answer(
            "\(FakeDaemon.device) GetAll org.freedesktop.NetworkManager.Device",
            .properties([
                "State": .unsigned(state), "HwAddress": .text(address), "Metered": .unsigned(0),
                "Ip4Config": .path("\(FakeDaemon.manager)/IP4Config/1"),
                "Ip6Config": .path(hasIPv6 ? "\(FakeDaemon.manager)/IP6Config/1" : "/"),
            ]))
    }

    /// - Parameter setting: of 802.1X; nil for none.
    func setProfile(_ setting: [String: BusDatum]?, ssid: [UInt8]? = [0x61, 0, 0xff]) {
        var settings: [String: BusDatum] = ["connection": .properties(["id": .text("office"), "timestamp": .long(1)])]
        if let ssid { settings["802-11-wireless"] = .properties(["ssid": .octets(ssid)]) }
        if let setting {
            settings["802-1x"] = .properties(setting.merging(["eap": .texts(["peap"])]) { $1 })
        }
        answer("\(FakeDaemon.device) GetAppliedConnection", .settings(settings), .long(7))
    }

    func setState(_ new: UInt32, from old: UInt32) {
        signal(
            FakeDaemon.device, "org.freedesktop.NetworkManager.Device", "StateChanged", .unsigned(new), .unsigned(old),
            .unsigned(0))
    }

    func waitForCall(_ call: String) async {
        while !waitingCalls.contains(call) { await Task.yield() }
    }
}

/// What daemons are asked, on a private bus.
extension SystemBusTests {
    private var link: Interface {
        var link = Interface(index: 5, name: "wlan0", kind: .wifi)
        link.hardwareAddress = MACAddress("02:00:00:00:00:ee")
        return link
    }

    private func listen(
        hearingConnectivity: Bool = false, _ body: (Listener) async throws -> Void
    ) async throws {
        let listener = try Listener(hearsConnectivity: hearingConnectivity)
        defer { listener.stop() }
        try await body(listener)
    }

    @Test func nobodyToAsk() async throws {
        let bus = try PrivateBus()
        try await listen { listener in #expect(await listener.answer(link) == "answer 5 1 file") }
        bus.end()
    }

    @Test func noBusToAskOn() async throws {
        setenv("DBUS_SYSTEM_BUS_ADDRESS", "unix:path=/nonexistent/bus", 1)
        defer { unsetenv("DBUS_SYSTEM_BUS_ADDRESS") }
        try await listen { listener in #expect(await listener.answer(link) == "answer 5 1 file") }
    }

    /// The machine starts: the bus comes later than we, and a manager with it.
    @Test func aBusThatComesLate() async throws {
        let directory = "/tmp/vicinity-late-\(getpid())"
        mkdir(directory, 0o700)
        defer {
            unlink("\(directory)/socket")
            rmdir(directory)
        }
        setenv("DBUS_SYSTEM_BUS_ADDRESS", "unix:path=\(directory)/socket", 1)
        defer { unsetenv("DBUS_SYSTEM_BUS_ADDRESS") }
        try await listen { listener in
            #expect(await listener.answer(link) == "answer 5 1 file")
            let bus = try PrivateBus(socket: "\(directory)/socket")
            let manager = FakeDaemon.networkManager()
            defer { manager.stop() }
            _ = await listener.observations(until: "lost manager_changed")
            #expect(await listener.answer(link) == "answer 5 1 [four.example,six.example] 6100ff:ca+name")
            bus.end()
        }
    }

    @Test func resolvedTellsTheDomainsOfTheLink() async throws {
        let bus = try PrivateBus()
        let resolver = FakeDaemon.resolver([("Corp.example", false), (".", true), ("168.192.in-addr.arpa", true)])
        defer { resolver.stop() }
        try await listen { listener in
            #expect(await listener.answer(link) == "answer 5 1 [corp.example]")
            resolver.setResolver([])
            #expect(await listener.answer(link) == "answer 5 1 []")
            resolver.setResolver([], servers: [])
            #expect(await listener.answer(link) == "answer 5 1 unknown")
            resolver.changed(
                "/org/freedesktop/resolve1", "org.freedesktop.resolve1.Manager", ["DNS": .list([], of: "(iiay)")])
            #expect(await listener.next() == "changed -")
        }
        bus.end()
    }

    /// More than anybody has a use for is nothing; what is long is cut.
    @Test func absurdAnswers() async throws {
        let bus = try PrivateBus()
        let resolver = FakeDaemon.resolver((0..<200).map { ("n\($0).example", false) })
        defer { resolver.stop() }
        try await listen { listener in
            let names = (0..<32).map { "n\($0).example" }.joined(separator: ",")
            #expect(await listener.answer(link) == "answer 5 1 [\(names)]")
            resolver.setResolver((0..<20_000).map { ("n\($0).example", false) })
            #expect(await listener.answer(link) == "answer 5 1 unknown")
            resolver.answer(
                "/org/freedesktop/resolve1/link/_35 GetAll org.freedesktop.resolve1.Link",
                .properties(["Domains": .unsigned(3), "DNS": .text("x")]))
            #expect(await listener.answer(link) == "answer 5 1 unknown")
            var nested = BusDatum.text("x")
            for _ in 0..<20 { nested = .properties(["x": nested]) }
            resolver.answer("/org/freedesktop/resolve1 GetLink", nested)
            #expect(await listener.answer(link) == "answer 5 1 unknown")
        }
        bus.end()
    }

    @Test func networkManagerTellsDomainsAndWhatItDemanded() async throws {
        let bus = try PrivateBus()
        let manager = FakeDaemon.networkManager()
        defer { manager.stop() }
        try await listen { listener in
            #expect(await listener.answer(link) == "answer 5 1 [four.example,six.example] 6100ff:ca+name")
            manager.setDevice(hasIPv6: false)
            manager.setProfile(["ca-cert": .octets([])])
            #expect(await listener.answer(link) == "answer 5 1 [four.example] 6100ff:+")
            manager.setProfile(nil)
            #expect(await listener.answer(link) == "answer 5 1 [four.example]")
            manager.setProfile(["system-ca-certs": .flag(true)], ssid: nil)
            #expect(await listener.answer(link) == "answer 5 1 [four.example] wire:ca+")
            manager.answer("\(FakeDaemon.device) GetAppliedConnection", .text("nonsense"))
            #expect(await listener.answer(link) == "answer 5 1 [four.example]")
        }
        bus.end()
    }

    @Test func onlyAnActivatedDeviceOfThisMachineCounts() async throws {
        let bus = try PrivateBus()
        let manager = FakeDaemon.networkManager()
        defer { manager.stop() }
        try await listen { listener in
            manager.setDevice(state: 70)
            #expect(await listener.answer(link) == "answer 5 1 unknown")
            manager.setDevice(state: 10)
            #expect(await listener.answer(link) == "answer 5 1 file")
            manager.setDevice(address: "02:00:00:00:00:99")
            #expect(await listener.answer(link) == "answer 5 1 file")
            #expect(!manager.calls.contains("\(FakeDaemon.device) GetAppliedConnection"))
        }
        bus.end()
    }

    @Test func resolvedKnowsBetterThanNetworkManager() async throws {
        let bus = try PrivateBus()
        let resolver = FakeDaemon.resolver([("corp.example", false)])
        let manager = FakeDaemon.networkManager()
        defer {
            resolver.stop()
            manager.stop()
        }
        try await listen { listener in
            #expect(await listener.answer(link) == "answer 5 1 [corp.example] 6100ff:ca+name")
            resolver.setResolver([], servers: [])
            #expect(await listener.answer(link) == "answer 5 1 [four.example,six.example] 6100ff:ca+name")
        }
        bus.end()
    }

    /// An answer that was under way when the activation ended is told after that, so that its generation is over.
    @Test func activationsBeginAndEnd() async throws {
        let bus = try PrivateBus()
        let manager = FakeDaemon.networkManager()
        defer { manager.stop() }
        try await listen { listener in
            #expect(await listener.next() == "metered false")
            _ = await listener.answer(link)
            manager.setState(100, from: 90)
            #expect(await listener.next() == "changed 5")
            manager.hold("\(FakeDaemon.device) GetAppliedConnection")
            listener.ask(link, generation: 2)
            await manager.waitForCall("\(FakeDaemon.device) GetAppliedConnection")
            manager.setState(110, from: 100)
            manager.setState(30, from: 110)
            manager.release("\(FakeDaemon.device) GetAppliedConnection")
            #expect(await listener.next() == "deactivated 5")
            #expect(await listener.next() == "answer 5 2 [four.example,six.example] 6100ff:ca+name")
            manager.changed(FakeDaemon.device, "org.freedesktop.NetworkManager.Device", ["Ip4Config": .path("/")])
            manager.changed(
                FakeDaemon.device, "org.freedesktop.NetworkManager.Device.Wireless", ["Bitrate": .unsigned(1)])
            #expect(await listener.next() == "changed -")
        }
        bus.end()
    }

    /// Whoever does not own the name is not believed.
    @Test func aStrangerIsNotBelieved() async throws {
        let bus = try PrivateBus()
        let manager = FakeDaemon.networkManager()
        defer { manager.stop() }
        try await listen { listener in
            _ = await listener.answer(link)
            bus.signal(
                FakeDaemon.device, "org.freedesktop.NetworkManager.Device", "StateChanged",
                [.unsigned(110), .unsigned(100), .unsigned(0)])
            bus.own("com.example.last")
            manager.setState(100, from: 90)
            #expect(await listener.next() == "changed 5")
        }
        bus.end()
    }

    /// While a round is going on the last question is kept, and only that.
    @Test func theLastOfManyQuestionsIsAnswered() async throws {
        let bus = try PrivateBus()
        let manager = FakeDaemon.networkManager()
        defer { manager.stop() }
        try await listen { listener in
            #expect(await listener.next() == "metered false")
            manager.hold("\(FakeDaemon.device) GetAppliedConnection")
            listener.ask(link, generation: 1)
            await manager.waitForCall("\(FakeDaemon.device) GetAppliedConnection")
            for generation in 2...9 as ClosedRange<UInt32> { listener.ask(link, generation: generation) }
            manager.release("\(FakeDaemon.device) GetAppliedConnection")
            #expect(await listener.next().hasPrefix("answer 5 1"))
            #expect(await listener.next().hasPrefix("answer 5 9"))
        }
        bus.end()
    }

    @Test func whatItCosts() async throws {
        let bus = try PrivateBus()
        let manager = FakeDaemon.networkManager()
        try await listen { listener in
            #expect(await listener.next() == "metered false")
            for (number, told) in [(1, "metered true"), (2, "metered false"), (0, "metered -")] as [(UInt32, String)] {
                manager.changed(
                    "/org/freedesktop/NetworkManager", "org.freedesktop.NetworkManager", ["Metered": .unsigned(number)])
                #expect(await listener.next() == told)
            }
            manager.changed(
                "/org/freedesktop/NetworkManager", "org.freedesktop.NetworkManager", ["Connectivity": .unsigned(4)])
            manager.changed(
                "/org/freedesktop/NetworkManager", "org.freedesktop.NetworkManager", ["Metered": .unsigned(3)])
            #expect(await listener.next() == "metered true")
            manager.answer(
                "/org/freedesktop/NetworkManager GetAll org.freedesktop.NetworkManager",
                .properties(["Metered": .unsigned(3)]))
            _ = await listener.answer(link)
            // What it said ends with it.
            manager.stop()
            #expect(
                await listener.observations(until: "metered") == ["deactivated 5", "lost manager_changed", "metered -"])
        }
        bus.end()
    }

    /// Where it does not look, its `full` is only a default route.
    @Test func howFarPacketsGet() async throws {
        let bus = try PrivateBus()
        let manager = FakeDaemon.networkManager()
        let path = "/org/freedesktop/NetworkManager"
        let name = "org.freedesktop.NetworkManager"
        func state(_ state: UInt32, isAvailable: Bool = true, isEnabled: Bool = true) {
            manager.answer(
                "\(path) GetAll \(name)",
                .properties([
                    "Connectivity": .unsigned(state), "ConnectivityCheckAvailable": .flag(isAvailable),
                    "ConnectivityCheckEnabled": .flag(isEnabled),
                ]))
        }
        state(4, isAvailable: false, isEnabled: false)
        try await listen(hearingConnectivity: true) { listener in
            #expect(await listener.next() == "manager -")
            manager.changed(path, name, ["ConnectivityCheckAvailable": .flag(true)])
            #expect(await listener.next() == "manager -")
            manager.changed(path, name, ["ConnectivityCheckEnabled": .flag(true)])
            #expect(await listener.next() == "manager internet")
            for (number, word) in [(2, "portal"), (3, "local"), (1, "none"), (4, "internet"), (0, "-"), (9, "-")] {
                manager.changed(path, name, ["Connectivity": .unsigned(UInt32(number))])
                #expect(await listener.next() == "manager \(word)")
            }
            manager.changed(path, name, ["Connectivity": .text("full")])
            #expect(await listener.next() == "manager -")
            // Told again with what is told of a link: it may be in another network, and the word the same.
            state(2)
            listener.ask(link)
            #expect(await listener.next() == "manager portal")
            state(2, isEnabled: false)
            listener.ask(link)
            #expect(await listener.next() == "manager -")
            state(2)
            listener.ask(link)
            #expect(await listener.next() == "manager portal")
            manager.stop()
            #expect(await listener.next() == "manager -")
        }
        bus.end()
    }

    @Test func aBusThatDiesInTheMiddle() async throws {
        let bus = try PrivateBus()
        let manager = FakeDaemon.networkManager()
        try await listen { listener in
            #expect(await listener.next() == "metered false")
            _ = await listener.answer(link)
            manager.hold("\(FakeDaemon.device) GetAppliedConnection")
            listener.ask(link, generation: 2)
            await manager.waitForCall("\(FakeDaemon.device) GetAppliedConnection")
            bus.end()
            // What the bus said ends with it, and so does the question.
            #expect(
                await listener.observations(until: "answer") == ["deactivated 5", "metered -", "answer 5 2 unknown"])
            #expect(await listener.answer(link) == "answer 5 1 unknown")
        }
        manager.stop()
    }

    /// 2 s later it is as if it had nothing to say; nothing else waits for it.
    @Test func aDaemonThatDoesNotAnswer() async throws {
        let bus = try PrivateBus()
        let resolver = FakeDaemon.resolver([("corp.example", false)])
        defer { resolver.stop() }
        try await listen { listener in
            resolver.hold("/org/freedesktop/resolve1 GetLink")
            let start = Timestamp.now().boottime
            #expect(await listener.answer(link) == "answer 5 1 unknown")
            #expect(Timestamp.now().boottime - start > 1_900_000)
        }
        bus.end()
    }
}
