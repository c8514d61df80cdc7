import Agent
import JSON
import PAM
import Rules
import Testing
import WiFi

@testable import CommandLine

/// Each check, with values.
@Suite struct DoctorTests {
    private typealias Files = DoctorChecks

    /// A machine on which everything is right.
    private static var healthy: DoctorFacts {
        var facts = DoctorFacts()
        facts.hasWirelessFamily = true
        facts.wirelessDevices = ["phy0"]
        facts.now = 1_796_040_000_000_000
        facts.bootIdentifier = "0b"
        facts.answer = .told(permission: "full", problems: [], version: AgentVersion.current)
        (facts.peer, facts.agentUser, facts.agentGroup) = (990, 990, 991)
        (facts.isOutdated, facts.isDumpable, facts.isInstalled) = (false, false, true)
        facts.units = Dictionary(
            uniqueKeysWithValues: DoctorChecks.wantedUnits.map {
                ($0.name, DoctorFacts.UnitFact(activity: $0.isRunning ? "active" : "inactive", enablement: "enabled"))
            })
        func there(_ kind: DoctorFacts.FileFact.Kind, _ owner: UInt32, _ group: UInt32, _ mode: UInt32)
            -> DoctorFacts.FileFact
        { .there(kind: kind, owner: owner, group: group, mode: mode) }
        for path in DoctorChecks.paths { facts.files[path] = there(.file, 0, 0, 0o755) }
        facts.files["/run/vicinity"] = there(.directory, 0, 0, 0o755)
        facts.files[Files.feedSocket] = there(.socket, 0, 0, 0o666)
        facts.files[Files.sessionSocket] = there(.socket, 0, 0, 0o666)
        facts.files[Files.actSocket] = there(.socket, 0, 991, 0o660)
        facts.files[Files.probeSocket] = there(.socket, 990, 991, 0o600)
        facts.files[Files.stateDirectory] = there(.directory, 990, 991, 0o700)
        facts.files[Files.logDirectory] = there(.directory, 990, 991, 0o750)
        facts.files[Files.helperState] = there(.directory, 0, 0, 0o700)
        facts.disks = [.init(path: "/var/lib/vicinity", free: 1 << 33, freeFiles: 1 << 20, isReadOnly: false)]
        facts.busNames = ["io.vicinity", "org.freedesktop.PolicyKit1", "org.freedesktop.NetworkManager"]
        (facts.user, facts.userName, facts.isMember, facts.hasGroup) = (1_000, "alice", true, true)
        (facts.isInSession, facts.hasSessionHelper) = (true, true)
        return facts
    }

    @Test func aHealthyMachineHasNothingToDo() {
        let findings = DoctorChecks.findings(Self.healthy)
        #expect(findings.allSatisfy { $0.status == .ok && $0.remedy == nil }, "\(findings)")
        #expect(Set(findings.map(\.subject)).count == 18)
        #expect(DoctorCommand.text(findings, width: 80, isColored: false).last?.hasSuffix("as it must be") == true)
    }

    struct Case: Sendable, CustomTestStringConvertible {
        let subject: String
        let status: DoctorFinding.Status
        let words: String
        let change: @Sendable (inout DoctorFacts) -> Void

        init(
            _ subject: String, _ status: DoctorFinding.Status, _ words: String,
            _ change: @escaping @Sendable (inout DoctorFacts) -> Void
        ) {
            (self.subject, self.status, self.words, self.change) = (subject, status, words, change)
        }

        var testDescription: String { "\(subject): \(words)" }
    }

    private static func file(_ path: String, _ owner: UInt32, _ group: UInt32, _ mode: UInt32)
        -> @Sendable (
            inout DoctorFacts
        ) -> Void
    {
        { facts in
            guard case .there(let kind, _, _, _) = facts.files[path] else { return }
            facts.files[path] = .there(kind: kind, owner: owner, group: group, mode: mode)
        }
    }

    private static func unit(_ name: String, _ activity: String, _ enablement: String)
        -> @Sendable (
            inout DoctorFacts
        ) -> Void
    {
        { $0.units?[name] = .init(activity: activity, enablement: enablement) }
    }

    static let cases: [Case] = [
        Case("kernel", .failure, "cannot be asked") { $0.hasWirelessFamily = nil },
        Case("kernel", .note, "no nl80211") { $0.hasWirelessFamily = false },
        Case("kernel", .note, "no Wi-Fi device") { $0.wirelessDevices = [] },
        Case("clock", .failure, "before this program") { $0.now = 0 },
        Case("clock", .failure, "which boot") { $0.bootIdentifier = "" },
        Case("installation", .failure, "no vicinityd.service") { $0.isInstalled = false },
        Case("installation", .failure, "no user") { $0.agentUser = nil },
        Case("agent", .failure, "does not run") { $0.answer = .unreachable(111) },
        Case("agent", .failure, "Permission denied") { $0.answer = .unreachable(13) },
        Case("agent", .failure, "does not answer") { $0.answer = .silent },
        Case("agent", .failure, "user 1000, not vicinity") { $0.peer = 1_000 },
        Case("agent", .warning, "history: full") {
            $0.answer = .told(permission: "full", problems: ["history: full\nmore"], version: AgentVersion.current)
        },
        Case("version", .warning, "has been replaced") { $0.isOutdated = true },
        Case("version", .warning, "the agent is 0.0.9") {
            $0.answer = .told(permission: "full", problems: [], version: "0.0.9")
        },
        Case("version", .note, "too long ago") { $0.answer = .told(permission: "full", problems: [], version: nil) },
        Case("units", .warning, "systemd does not run") { $0.units = nil },
        Case("units", .failure, "vicinityd.socket is missing", unit("vicinityd.socket", "inactive", "")),
        Case("units", .warning, "is disabled", unit("vicinityd.service", "inactive", "disabled")),
        Case("units", .warning, "is masked", unit("vicinity-act.socket", "inactive", "masked")),
        Case("units", .failure, "is failed", unit("vicinity-protect.service", "failed", "enabled")),
        Case("units", .failure, "is inactive", unit("vicinity-probe.socket", "inactive", "enabled")),
        Case("sockets", .failure, "is missing") { $0.files[Files.actSocket] = .missing },
        Case("sockets", .failure, "open to others", file("/run/vicinity", 0, 0, 0o777)),
        Case("sockets", .failure, "belongs to user 1000", file("/run/vicinity", 1_000, 0, 0o755)),
        Case("sockets", .failure, "open to others", file(Files.actSocket, 0, 991, 0o666)),
        Case("sockets", .failure, "group 0's", file(Files.actSocket, 0, 0, 0o660)),
        Case("sockets", .failure, "open to others", file(Files.probeSocket, 990, 991, 0o660)),
        Case("sockets", .failure, "something else", { $0.files[Files.feedSocket] = $0.files["/run/vicinity"] }),
        Case("sockets", .warning, "cannot be looked at") { $0.files[Files.feedSocket] = .unknown(13) },
        Case("state", .failure, "open to others", file(Files.stateDirectory, 990, 991, 0o755)),
        Case("state", .failure, "belongs to user 0", file(Files.logDirectory, 0, 0, 0o750)),
        Case("state", .failure, "open to others", file(Files.helperState, 0, 0, 0o711)),
        Case("disk", .failure, "read-only") { $0.disks[0].isReadOnly = true },
        Case("disk", .failure, "no room") { $0.disks[0].free = 0 },
        Case("disk", .failure, "no room") { $0.disks[0].freeFiles = 0 },
        Case("disk", .warning, "1 MiB") { $0.disks[0].free = 1 << 20 },
        Case("rules", .failure, "a.toml:1:1: error: x, and 1 more") {
            $0.ruleErrors = ["a.toml:1:1: error: x\n^", "y"]
        },
        Case("needs", .warning, "need firewalld") { $0.needs = [.firewalld] },
        Case("needs", .warning, "need nft") { $0.needs = [.nft] },
        Case("needs", .warning, "need systemd-resolved") {
            $0.needs = [.resolver]
            $0.busNames = ["io.vicinity", "org.freedesktop.PolicyKit1"]
        },
        Case("files", .failure, "io.vicinity.policy is missing") { $0.files[Files.policy] = .missing },
        Case("files", .failure, "open to others", file("/usr/libexec/vicinity-act", 0, 0, 0o757)),
        Case("bus", .failure, "does not answer") { $0.busNames = nil },
        Case("bus", .failure, "has not got its name") { $0.busNames?.remove("io.vicinity") },
        Case("bus", .warning, "only root") { $0.busNames?.remove("org.freedesktop.PolicyKit1") },
        Case("memory", .warning, "core file") { $0.isDumpable = true },
        Case("permission", .warning, "since the login") { $0.hasGroup = false },
        Case("permission", .warning, "may not see") {
            $0.answer = .told(permission: "denied", problems: [], version: AgentVersion.current)
            $0.isMember = false
        },
        Case("permission", .note, "hashes") {
            $0.answer = .told(permission: "hashed", problems: [], version: AgentVersion.current)
        },
        Case("session", .warning, "does not run") { $0.hasSessionHelper = false },
        Case("second factor", .failure, "polkit-1: it asks for a password alone") {
            $0.factor.isPushed = true
            $0.factor.services = [FactorDoctorTests.service("polkit-1", "auth required pam_unix.so\n")]
        },
        Case("second factor", .warning, "sudo: pam_access can take") {
            $0.factor.services = [
                FactorDoctorTests.service("sudo", "auth required pam_unix.so\nauth required pam_access.so\n")
            ]
        },
        Case("others", .note, "dispatcher.d/1") { $0.otherScripts = ["/etc/NetworkManager/dispatcher.d/1"] },
    ]

    @Test(arguments: cases) func whatIsWrongIsFound(wrong: Case) throws {
        var facts = Self.healthy
        wrong.change(&facts)
        let findings = DoctorChecks.findings(facts)
        let found = try #require(
            findings.first { $0.subject == wrong.subject && $0.status == wrong.status }, "\(findings)")
        #expect(found.text.contains(wrong.words), "\(found.text)")
        #expect(found.remedy?.isEmpty == false || found.status == .note)
    }

    @Test func nothingFromElsewhereReachesTheTerminal() {
        var facts = Self.healthy
        facts.answer = .told(permission: "\u{1b}[2J", problems: ["a\u{1b}]0;x\u{7}\u{202e}"], version: "\u{9b}")
        facts.ruleErrors = ["/etc/\u{1b}.toml: error"]
        facts.otherScripts = ["/etc/\u{7}"]
        facts.userName = "\u{1b}"
        for width in [30, 60, 200] {
            for line in DoctorCommand.text(DoctorChecks.findings(facts), width: width, isColored: false) {
                #expect(line.displayWidth <= width)
                for scalar in line.unicodeScalars {
                    #expect(
                        scalar.properties.generalCategory != .control && scalar.properties.generalCategory != .format)
                }
            }
        }
        let json = DoctorCommand.json(DoctorChecks.findings(facts))
        #expect(json.allSatisfy { (0x20...0x7E).contains($0) || $0 == 0x0A })
    }

    @Test func theAnswerForProgramsCounts() throws {
        var facts = Self.healthy
        facts.disks[0].free = 0
        facts.isDumpable = true
        let json = try JSONValue(parsing: DoctorCommand.json(DoctorChecks.findings(facts)), maximumSize: 1 << 16)
        #expect(json["failures"]?.integer == 1 && json["warnings"]?.integer == 1)
        let disk = json["checks"]?.array?.first { $0["subject"]?.string == "disk" }
        #expect(disk?.object?.members.map(\.key) == ["subject", "status", "text", "remedy"])
    }

    @Test func rulesSayWhatTheyNeed() throws {
        let text = """
            [network.office]
            ssid = ["Corp"]
            security = ["wpa2-enterprise"]
            dns-suffix = ["corp.example"]
            [rule.a]
            on = "metered"
            ready = "internet"
            firewall = { zone = "public" }
            [rule.b]
            on = "office"
            firewall = { nft-set = "inet filter inside" }
            accept-weak-evidence = "a test"
            """
        let ruleSet = try #require(RuleSet.load([RuleFile(path: "x", contents: Array(text.utf8))]).ruleSet)
        #expect(RuleNeed.needs(of: ruleSet, hasLookout: false) == Set(RuleNeed.allCases))
        #expect(RuleNeed.needs(of: ruleSet, hasLookout: true) == Set(RuleNeed.allCases).subtracting([.lookout]))
        #expect(RuleNeed.needs(of: RuleSet(), hasLookout: false).isEmpty)
    }

    /// The machine of the tests, whatever it is: nothing crashes, and everything is told.
    @Test func thisMachineCanBeLookedAt() {
        let findings = DoctorChecks.findings(.gather(socket: "/nonexistent/vicinity.sock"))
        #expect(findings.contains { $0.subject == "agent" && $0.status == .failure })
    }
}
