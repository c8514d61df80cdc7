import Analytics
import Dispatch
import Environment
import Foundation
import Glibc
import Hashing
import JSON
import Platform
@testable import Rules
import SystemBus
import TestSupport
import Testing
import WiFi

@testable import Agent

/// What is written, when, and with which key: a keeper on a loop of its own, with a logind of the test's.
final class AnalyticsStage: @unchecked Sendable {
    let bus: TestBus
    let directory = "/tmp/vicinity-test-\(UInt32.random(in: 0 ... .max))"
    private var logind: FakeService?
    private let sessions: Lock<[(user: UInt32, kind: String)]>
    private let loop: EventLoop
    private var system: SystemBus?
    private var keeper: AnalyticsKeeper?
    private let problems = Lock([String: String]())
    private let keys = Lock(0)
    let ruleSet: RuleSet

    static let rules = """
        [network.office]
        ssid = ["Corp-Staff"]
        [network.home]
        ssid = ["Seven Oaks"]
        private = true
        [network.branch]
        ssid-glob = ["Branch-*"]
        """

    /// - Parameter users: who is logged in; nil: there is no logind.
    init(users: [UInt32]? = [], _ configuration: AnalyticsConfiguration? = AnalyticsConfiguration()) throws {
        bus = try TestBus()
        let loaded = RuleSet.load([RuleFile(path: "a.toml", contents: Array(Self.rules.utf8))])
        ruleSet = try #require(loaded.ruleSet)
        sessions = Lock((users ?? []).map { ($0, "user") })
        loop = try EventLoop()
        mkdir(directory, 0o700)
        mkdir(directory + "/state", 0o700)
        if users != nil {
            logind = try FakeService("org.freedesktop.login1", at: bus.address) { [unowned self] in answer($0) }
        }
        try loop.start()
        start(configuration)
    }

    deinit { try? FileManager.default.removeItem(atPath: directory) }

    func start(_ configuration: AnalyticsConfiguration?) {
        onLoop { [self] in
            let system = SystemBus(on: loop, address: bus.address)
            var paths = AgentPaths()
            (paths.state, paths.logs) = (directory + "/state", directory)
            let keeper = AnalyticsKeeper(on: loop, system, paths) { [self] subject, problem in
                problems.withLock { $0[subject] = problem }
            }
            keeper.onKey = { [self] in keys.withLock { $0 += 1 } }
            keeper.start(configuration, ruleSet)
            system.onConnect = { [unowned keeper] in keeper.connected() }
            system.connect()
            (self.system, self.keeper) = (system, keeper)
        }
    }

    func end() {
        onLoop { [self] in
            keeper?.stop()
            system?.close()
            (keeper, system) = (nil, nil)
        }
    }

    /// To be called at the end of a test.
    func stop() {
        end()
        loop.stop()
        logind?.stop()
    }

    func perform<Result: Sendable>(_ body: @escaping @Sendable (AnalyticsKeeper) -> Result) -> Result? {
        let result = Lock<Result?>(nil)
        onLoop { [self] in
            let value = keeper.map(body)
            result.withLock { $0 = value }
        }
        return result.withLock { $0 }
    }

    private func onLoop(_ body: @escaping @Sendable () -> Void) {
        let done = DispatchSemaphore(value: 0)
        loop.perform {
            body()
            done.signal()
        }
        #expect(done.wait(timeout: .now() + 20) == .success)
    }

    // MARK: logind

    private func answer(_ call: FakeService.Call) -> FakeService.Answer {
        let sessions = sessions.withLock { $0 }
        switch call.member {
        case "ListSessions":
            return .value(
                .list(
                    sessions.enumerated().map { index, session in
                        .structure([
                            .text("\(index)"), .unsigned(session.user), .text("u\(session.user)"), .text("seat0"),
                            .path("/org/freedesktop/login1/session/_3\(index)"),
                        ])
                    }, of: "(susso)"))
        case "GetAll":
            guard let index = call.path.last?.wholeNumberValue, sessions.indices.contains(index) else {
                return .error("org.freedesktop.DBus.Error.UnknownObject", "gone")
            }
            return .value(
                .properties([
                    "Class": .text(sessions[index].kind), "State": .text("online"), "Remote": .flag(false),
                    "Name": .text("u\(sessions[index].user)"),
                    "User": .structure([.unsigned(sessions[index].user), .path("/user")]),
                ]))
        default: return .unknown
        }
    }

    /// Others are logged in from now on.
    func logIn(_ users: [UInt32], kind: String = "user") {
        sessions.withLock { $0 = users.map { ($0, kind) } }
        logind?.emit(
            "/org/freedesktop/login1", "org.freedesktop.login1.Manager", "SessionNew", [.text("x"), .path("/x")])
    }

    func crash() { logind?.vanish() }

    // MARK: What is there

    func match(_ network: String, _ ssid: [UInt8]) -> NetworkMatch {
        var interface = Interface(index: 3, name: "wlan0", kind: .wifi)
        interface.wifi = .joined(WiFiNetwork(ssid: SSID(octets: ssid), bssid: nil, security: .wpa2PSK))
        let isBuiltIn = network == "unlisted"
        return NetworkMatch(
            name: network, builtIn: isBuiltIn ? .unlisted : nil,
            isPrivate: ruleSet.network(named: network)?.isPrivate ?? false, assurance: .keyed, evidence: [],
            links: [NetworkMatch.Link(interface)])
    }

    func enter(_ network: String = "office", _ ssid: String = "Corp-Staff") {
        let match = match(network, Array(ssid.utf8))
        _ = perform { $0.record(.networkEntered(match), at: .now()) }
    }

    var lines: [JSONValue] {
        let contents = (try? Files.read(directory + "/analytics.jsonl", limit: 1 << 20)) ?? []
        return contents.split(separator: UInt8(ascii: "\n")).compactMap {
            try? JSONValue(parsing: $0, maximumSize: 4_096)
        }
    }

    var status: JSONValue? {
        perform { Array($0.status(of: 1).utf8) }.flatMap { try? JSONValue(parsing: $0, maximumSize: 1 << 16) }
    }

    var isWriting: Bool { status?["writing"]?.bool == true }
    func problem(_ subject: String) -> String? { problems.withLock { $0[subject] } }
    var keyChanges: Int { keys.withLock { $0 } }

    func until(_ condition: () -> Bool, sourceLocation: Testing.SourceLocation = #_sourceLocation) throws {
        let end = Timestamp.now().boottime + 20_000_000
        while !condition() {
            try #require(Timestamp.now().boottime < end, "\(lines) \(status as Any)", sourceLocation: sourceLocation)
            sched_yield()
        }
    }
}

@Suite(.timeLimit(.minutes(2))) struct AnalyticsKeeperTests {
    private func required() -> AnalyticsConfiguration {
        var configuration = AnalyticsConfiguration()
        configuration.consent = .required
        return configuration
    }

    @Test func eachNameIsHashedAsItShallBe() throws {
        let stage = try AnalyticsStage()
        defer { stage.stop() }
        stage.enter("office", "Corp-Staff")
        for (network, ssid) in [("home", "Seven Oaks"), ("branch", "Branch-7"), ("unlisted", "Corp-Staff ")] {
            stage.enter(network, ssid)
        }
        stage.enter("unlisted", "x_nomap")
        let hashes = stage.lines.map { $0["wifi_environment"]?.string ?? "" }
        let key = try #require(stage.perform { $0.hashing.key })
        #expect(hashes.count == 5)
        #expect(hashes[0] == PlaceHash.plain(Array("Corp-Staff".utf8)))
        #expect(
            hashes[1..<4].elementsEqual(["Seven Oaks", "Branch-7", "Corp-Staff "].map { key.hash(Array($0.utf8)) }))
        #expect(hashes[4] == "nomap")
        #expect(
            stage.lines.allSatisfy { $0["network_type"]?.string == "wifi" && $0["type"]?.string == "network.entered" })
    }

    @Test func bareHashesOfEverythingLeavePrivateNetworksOut() throws {
        var configuration = AnalyticsConfiguration()
        configuration.hash = .sha256
        let stage = try AnalyticsStage(configuration)
        defer { stage.stop() }
        for (network, ssid) in [
            ("branch", "Branch-7"), ("unlisted", "x"), ("home", "Seven Oaks"), ("unlisted", "_nomap"),
        ] {
            stage.enter(network, ssid)
        }
        let hashes = stage.lines.map { $0["wifi_environment"]?.string ?? "" }
        #expect(hashes[0] == PlaceHash.plain(Array("Branch-7".utf8)) && hashes[1] == PlaceHash.plain([0x78]))
        #expect(hashes[2].hasPrefix("hmac-sha256:") && hashes[3] == "nomap")
        // Who reads the feed without permission is not who was chosen to read the log.
        let ssid = try #require(SSID(utf8: "x"))
        #expect(stage.perform { $0.hashing.told(ssid) }?.hasPrefix("hmac-sha256:") == true)
    }

    @Test func whatIsOffWritesNothing() throws {
        var off = AnalyticsConfiguration()
        off.isEnabled = false
        for configuration in [off, nil] {
            let stage = try AnalyticsStage(users: [1], configuration)
            defer { stage.stop() }
            stage.enter()
            #expect(stage.lines.isEmpty && !stage.isWriting)
            #expect(access(stage.directory + "/analytics.jsonl", F_OK) != 0)
        }
    }

    // MARK: Consent

    @Test func nothingIsWrittenBeforeEverybodyAgrees() throws {
        let stage = try AnalyticsStage(users: [1], required())
        defer { stage.stop() }
        stage.enter()
        try stage.until { stage.status?["because"]?.string == "somebody who is logged in has not agreed" }
        stage.enter()
        #expect(stage.lines.isEmpty)
        _ = stage.perform { try? $0.consent(true, of: 1, named: "u1") }
        #expect(stage.isWriting && stage.status?["your_consent"]?.string == "yes")
        stage.enter()
        #expect(stage.lines.count == 1)
        // Somebody else comes, and goes.
        stage.logIn([1, 2])
        try stage.until { !stage.isWriting }
        stage.enter()
        _ = stage.perform { try? $0.consent(false, of: 2, named: "u2") }
        #expect(stage.status?["because"]?.string == "somebody who is logged in has refused")
        stage.logIn([1])
        try stage.until { stage.isWriting }
        stage.enter()
        #expect(stage.lines.count == 2)
        // A greeter is nobody.
        stage.logIn([1], kind: "greeter")
        try stage.until { stage.status?["because"]?.string == "nobody is logged in who has agreed" }
        stage.logIn([1])
        try stage.until { stage.isWriting }
        stage.crash()
        try stage.until { stage.status?["because"]?.string == "systemd-logind does not say who is logged in" }
        stage.enter()
        #expect(stage.lines.count == 2)
    }

    @Test func aRefusalOutlivesTheAgentAndCountsWhoeverIsThere() throws {
        let stage = try AnalyticsStage(users: [1])
        defer { stage.stop() }
        stage.enter()
        #expect(stage.lines.count == 1)
        _ = stage.perform { try? $0.consent(false, of: 1, named: "u1") }
        stage.enter()
        try stage.until { stage.status?["because"]?.string == "somebody who is logged in has refused" }
        stage.end()
        stage.start(AnalyticsConfiguration())
        stage.enter()
        try stage.until { stage.status?["because"]?.string == "somebody who is logged in has refused" }
        stage.logIn([])
        try stage.until { stage.status?["because"]?.string?.hasPrefix("nobody is logged in, and somebody") == true }
        stage.enter()
        #expect(stage.lines.count == 1)
        stage.logIn([2])
        try stage.until { stage.isWriting }
        stage.enter()
        #expect(stage.lines.count == 2)
        _ = stage.perform { try? $0.consent(true, of: 1, named: "u1") }
        #expect(stage.isWriting)
    }

    @Test func whereNobodyKnowsWhoIsHereNothingIsWritten() throws {
        let stage = try AnalyticsStage(users: nil, required())
        defer { stage.stop() }
        _ = stage.perform { try? $0.consent(true, of: 1, named: "u1") }
        stage.enter()
        try stage.until { stage.status?["because"]?.string == "systemd-logind does not say who is logged in" }
        #expect(stage.lines.isEmpty)
        let presumed = try AnalyticsStage(users: nil)
        defer { presumed.stop() }
        presumed.enter()
        #expect(presumed.lines.count == 1)
    }

    @Test func anAnswerThatIsLostIsNone() throws {
        let stage = try AnalyticsStage(users: [1])
        defer { stage.stop() }
        stage.end()
        try "{".write(toFile: stage.directory + "/state/consents.json", atomically: false, encoding: .utf8)
        for _ in 0..<2 {
            stage.start(AnalyticsConfiguration())
            try stage.until { stage.status?["because"]?.string == "somebody who is logged in has not agreed" }
            stage.enter()
            #expect(stage.lines.isEmpty)
            stage.end()
        }
        #expect(stage.problem("consent")?.contains("damaged") == true)
        #expect(access(stage.directory + "/state/consents.json.damaged", F_OK) == 0)
    }

    /// A yes that cannot be kept is none; a no is one all the same.
    @Test func whatCannotBeKeptIsNotAgreedTo() throws {
        let stage = try AnalyticsStage(users: [1], required())
        defer { stage.stop() }
        let file = stage.directory + "/state/consents.json"
        mkdir(file + ".new", 0o700)
        #expect(stage.perform { (try? $0.consent(true, of: 1, named: "u1")) == nil } == true)
        try stage.until { stage.status?["because"]?.string == "somebody who is logged in has not agreed" }
        rmdir(file + ".new")
        #expect(stage.perform { (try? $0.consent(true, of: 1, named: "u1")) == nil } == false)
        #expect(stage.isWriting)
        mkdir(file + ".new", 0o700)
        #expect(stage.perform { (try? $0.consent(false, of: 1, named: "u1")) == nil } == true)
        #expect(!stage.isWriting)
        rmdir(file + ".new")
    }

    // MARK: The key, and time

    @Test func theKeyIsRenewedAndTheOldOneDestroyed() throws {
        let stage = try AnalyticsStage()
        defer { stage.stop() }
        let path = stage.directory + "/state/hash.key"
        let first = try #require(stage.perform { $0.hashing.key })
        let open = FileDescriptor(owning: Glibc.open(path, O_RDONLY | O_CLOEXEC))
        stage.enter("unlisted", "x")
        let second = try #require(stage.perform { try? $0.rotateKey() } ?? nil)
        stage.enter("unlisted", "x")
        #expect(second != first.identifier && stage.keyChanges == 1)
        #expect(
            stage.lines.map { $0["wifi_environment"]?.string?.split(separator: ":")[1] } == [
                first.identifier[...], second[...],
            ])
        // Who still has the file open reads nothing of it.
        var octets = [UInt8](repeating: 1, count: 32)
        #expect(pread(open.rawValue, &octets, 32, 0) == 32 && octets == [UInt8](repeating: 0, count: 32))
        #expect(HashKey.load(path).key.identifier == second)
        #expect(try FileManager.default.contentsOfDirectory(atPath: stage.directory + "/state") == ["hash.key"])
    }

    @Test func aKeyThatIsTooOldIsRenewedAtTheStart() throws {
        let stage = try AnalyticsStage()
        defer { stage.stop() }
        let path = stage.directory + "/state/hash.key"
        let first = try #require(stage.perform { $0.hashing.key.identifier })
        func restart(aged days: Int) -> String? {
            stage.end()
            var times = [timeval(), timeval()]
            for place in 0..<2 { times[place].tv_sec = time(nil) - days * 86_400 }
            utimes(path, times)
            stage.start(AnalyticsConfiguration())
            return stage.perform { $0.hashing.key.identifier }
        }
        #expect(restart(aged: 89) == first)
        let second = try #require(restart(aged: 91))
        #expect(second != first)
        #expect(restart(aged: 0) == second)
        // From the future: nobody knows how old it is, so that it is taken for new.
        #expect(restart(aged: -400) == second)
        let birth = try #require(HashKey.birth(of: path))
        #expect(abs(birth / 1_000_000 - Int64(time(nil))) < 60)
    }

    @Test func theOrganisationsKeyIsNotRenewedHere() throws {
        var configuration = AnalyticsConfiguration()
        configuration.scope = .organisation
        let stage = try AnalyticsStage()
        defer { stage.stop() }
        stage.end()
        let path = stage.directory + "/organisation.key"
        configuration.keyFile = path
        let digits = (0..<32).map { "0" + String($0 % 16, radix: 16) }.joined()
        try (digits + "\n").write(toFile: path, atomically: false, encoding: .utf8)
        chmod(path, 0o640)
        let key = try #require(HashKey((0..<32).map { UInt8($0 % 16) }))
        stage.start(configuration)
        #expect(stage.perform { $0.hashing.key.identifier } == key.identifier && stage.problem("hash key") == nil)
        #expect(stage.perform { (try? $0.rotateKey()) == nil } == true)
        #expect(stage.status?["key_until"]?.isNull == true)
        // What others can read is nobody's secret; then the host's own is better than none.
        for (mode, text) in [(0o644, digits), (0o660, digits), (0o640, "x"), (0o640, digits + "00")]
            as [(mode_t, String)]
        {
            stage.end()
            try text.write(toFile: path, atomically: false, encoding: .utf8)
            chmod(path, mode)
            stage.start(configuration)
            #expect(stage.perform { $0.hashing.key.identifier } != key.identifier)
            #expect(stage.problem("hash key")?.contains("this host's own key") == true)
        }
    }

    @Test func linesThatAreTooOldAreDroppedAtTheStartAndByTheClock() throws {
        let stage = try AnalyticsStage()
        defer { stage.stop() }
        stage.end()
        let file = stage.directory + "/analytics.jsonl"
        let old =
            "{\"time\":\"2025-06-01T00:00:00Z\",\"type\":\"network.entered\",\"network\":\"x\",\"network_type\":\"wifi\"}\n"
        try old.write(toFile: file, atomically: false, encoding: .utf8)
        try old.write(toFile: file + ".3", atomically: false, encoding: .utf8)
        stage.start(nil)
        #expect(stage.lines.count == 1)
        stage.end()
        var off = AnalyticsConfiguration()
        off.isEnabled = false
        stage.start(off)
        #expect(stage.lines.isEmpty && access(file + ".3", F_OK) != 0)
        try old.write(toFile: file, atomically: false, encoding: .utf8)
        _ = stage.perform { $0.clockChanged() }
        #expect(stage.lines.isEmpty)
    }
}
