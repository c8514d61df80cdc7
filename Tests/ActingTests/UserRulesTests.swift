import ActionProtocol
import Actions
import Environment
import Foundation
import Glibc
import Netlink
import Platform
import TestSupport
import Testing
import WiFi

@testable import Acting
@testable import Rules

/// A user's own rules, as far as the session's helper decides.
@Suite(.timeLimit(.minutes(10))) struct UserRulesTests {
    init() { #expect(ActionLoop.isRunning) }

    /// Carries nothing out, and says what was asked for.
    @ActionActor private final class Stage: UserRulePerforming {
        nonisolated let directory = "/run/vicinity-user-\(UInt32.random(in: 0 ... .max))"
        var held: [String] = []
        var done: [String] = []
        var rules: UserRules?
        private var waiting: [CheckedContinuation<Void, Never>] = []

        init(_ text: String) throws {
            try FileManager.default.createDirectory(atPath: directory + "/rules.d", withIntermediateDirectories: true)
            try write(text)
            begin()
        }

        nonisolated deinit { try? FileManager.default.removeItem(atPath: directory) }

        func write(_ text: String) throws {
            try Files.replace(directory + "/rules.d/mine.toml", with: Array(text.utf8), mode: 0o644)
        }

        /// The helper is started, once more after it was killed.
        func begin() {
            rules = UserRules(in: directory + "/rules.d", state: directory, performer: self)
            rules?.start()
        }

        func hold(_ wanted: [Reconciler.Wanted]) {
            held = wanted.map { "\($0.rule) \($0.index)" }
            tell()
        }

        func perform(_ action: EdgeAction, of rule: Rule, _ record: EventRecord) async -> ActionEnd {
            done.append("\(rule.name) \(action.kind) \(record.event) \(record.network ?? "-")")
            tell()
            return ActionEnd(.succeeded)
        }

        private func tell() {
            for wait in waiting { wait.resume() }
            waiting = []
        }

        /// Lets whatever is under way happen until it is so.
        func until(_ condition: () -> Bool) async {
            while !condition() { await withCheckedContinuation { waiting.append($0) } }
        }

        func go(_ ssid: String?) { rules?.follow(UserRulesTests.environment(ssid)) }
    }

    private static func environment(_ ssid: String?) -> NetworkEnvironment {
        var link = Interface(index: 3, name: "wlan0", kind: .wifi)
        link.isAdministrativelyUp = true
        link.operationalState = ssid == nil ? .dormant : .up
        link.wifi = ssid.map { .joined(WiFiNetwork(ssid: SSID(utf8: $0), bssid: nil, security: .wpa2PSK)) } ?? .idle
        if ssid != nil, let address = IPAddress("192.0.2.7") {
            link.addresses = [InterfaceAddress(address: address, prefixLength: 24)]
        }
        var environment = NetworkEnvironment()
        environment.interfaces[3] = link
        environment.connectivity = ssid == nil ? .none : .internet
        return environment
    }

    private static let rules = """
        [network.home]
        ssid = ["Seven Oaks"]
        [rule.music]
        on = "home"
        settle = "0s"
        unit = { name = "music.service", state = "running", scope = "user" }
        enter = [ { command = ["/bin/true"] } ]
        leave = [ { notify = "gone" } ]
        """

    @Test @ActionActor func theyHoldWhereTheirNetworkIs() async throws {
        let stage = try Stage(Self.rules)
        stage.go(nil)
        #expect(stage.held.isEmpty && stage.done.isEmpty)
        stage.go("Seven Oaks")
        #expect(stage.held == ["user:music 0"])
        await stage.until { stage.done == ["music command rule.activated home"] }
        stage.go("Elsewhere")
        #expect(stage.held.isEmpty)
        await stage.until { stage.done.last == "music notify rule.deactivated home" }
    }

    @Test @ActionActor func aHelperThatWasKilledRunsNothingTwice() async throws {
        let stage = try Stage(Self.rules)
        stage.go("Seven Oaks")
        await stage.until { stage.done.count == 1 }
        stage.begin()
        stage.go("Seven Oaks")
        #expect(stage.held == ["user:music 0"])
        // The loop is first in, first out: what the helper runs has begun when this has.
        await ActionActor.task {}.value
        #expect(stage.done.count == 1)
        // Moved in between: it has been left, and nobody was there to say so.
        stage.begin()
        stage.go("Elsewhere")
        #expect(stage.held.isEmpty)
        stage.go("Seven Oaks")
        await stage.until { stage.done == Array(repeating: "music command rule.activated home", count: 2) }
        let memory = try String(contentsOfFile: stage.directory + "/user-rules.json", encoding: .utf8)
        #expect(memory.contains("music") && !memory.contains("Seven") && !memory.contains("536576656e"))
    }

    /// Of a network without a name nobody can say that it is not home.
    @Test @ActionActor func whoMayNotKnowWhereTheMachineIsHasNoRules() async throws {
        let stage = try Stage(
            Self.rules + "\n[rule.away]\noff = \"home\"\nsettle = \"0s\"\nenter = [ { notify = \"x\" } ]")
        stage.go("Seven Oaks")
        await stage.until { !stage.done.isEmpty }
        stage.rules?.follow(nil)
        #expect(stage.held.isEmpty)
        #expect(!stage.done.contains { $0.hasPrefix("away") })
        stage.go("Seven Oaks")
        #expect(stage.held == ["user:music 0"])
    }

    @Test @ActionActor func changedFilesCountAndThoseWithErrorsDoNot() async throws {
        let stage = try Stage(Self.rules)
        stage.go("Seven Oaks")
        #expect(stage.held == ["user:music 0"])
        try stage.write(Self.rules.replacingOccurrences(of: "music", with: "radio"))
        await stage.until { stage.held == ["user:radio 0"] }
        try stage.write("[rule.radio]\nof = 1")
        try stage.write(Self.rules.replacingOccurrences(of: "music", with: "news"))
        await stage.until { stage.held == ["user:news 0"] }
    }

    @Test(arguments: [
        "vpn = { networkmanager = \"x\", state = \"up\" }": "is about a VPN",
        "firewall = { zone = \"public\" }": "is about the firewall",
        "pam = \"require\"": "is about PAM stacks",
        "unit = { name = \"a.service\", state = \"running\" }": "is about a unit of the machine's",
        "proxy = { http = \"http://p:1\", targets = [\"apt\"] }": "sets a proxy for the machine only",
        "enter = [ { command = [\"/bin/true\"], user = \"root\" } ]": "runs a command as somebody else",
        "leave = [ { lock = true } ]": "locks sessions",
        "enter = [ { second-factor = { message = \"x\" } } ]": "asks for a second factor",
        "enter = [ { unit = { name = \"a.service\", state = \"running\" } } ]": "is about a unit of the machine's",
    ])
    func whatIsTheMachinesIsNotAUsers(line: String, problem: String) throws {
        let directory = "/run/vicinity-user-\(UInt32.random(in: 0 ... .max))"
        try FileManager.default.createDirectory(atPath: directory, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(atPath: directory) }
        let text =
            "[network.home]\nssid = [\"x\"]\n[rule.a]\noff = \"home\"\naccept-weak-evidence = \"a test\"\n\(line)\n"
        try Files.replace(directory + "/a.toml", with: Array(text.utf8), mode: 0o644)
        let result = RuleSet.loadOfUser(RuleFiles(directories: [directory], trust: .user(geteuid())))
        #expect(result.ruleSet == nil)
        let problems = result.diagnostics.map(\.description)
        #expect(
            problems.contains { $0.hasPrefix("\(directory)/a.toml:6:") && $0.contains("rule \"a\" \(problem)") },
            "\(problems)")
    }

    private func load(_ directory: String) -> RuleSet.LoadResult {
        RuleSet.loadOfUser(RuleFiles(directories: [directory], trust: .user(geteuid())))
    }

    @Test func filesThatOthersCanWriteAreRefused() throws {
        let directory = "/run/vicinity-user-\(UInt32.random(in: 0 ... .max))"
        try FileManager.default.createDirectory(atPath: directory, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(atPath: directory) }
        try Files.replace(directory + "/a.toml", with: Array(Self.rules.utf8), mode: 0o644)
        #expect(load(directory).ruleSet?.rules.count == 1)
        chmod(directory + "/a.toml", 0o666)
        #expect(load(directory).ruleSet == nil)
        chmod(directory + "/a.toml", 0o644)
        chmod(directory, 0o777)
        #expect(load(directory).ruleSet == nil)
        #expect(load(directory + "/nowhere").diagnostics.isEmpty)
    }
}
