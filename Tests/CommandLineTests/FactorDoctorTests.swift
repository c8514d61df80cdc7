import Foundation
import JSON
import PAM
import SystemBus
import Testing

@testable import CommandLine

/// What is found about second factors, with values.
@Suite(.timeLimit(.minutes(1))) struct FactorDoctorTests {
    private static let common = """
        auth [success=1 default=ignore] pam_unix.so nullok
        auth requisite pam_deny.so
        auth required pam_permit.so

        """
    private static let helper =
        "auth [success=1 default=ignore] pam_exec.so quiet /usr/libexec/vicinity/second-factor-needed\n"
    private static let oath = "auth required pam_oath.so usersfile=/etc/users.oath\n"
    private static let key = "auth required pam_u2f.so authfile=/etc/u2f_mappings\n"

    static func service(_ name: String, _ text: String) -> FactorFacts.Service {
        FactorFacts.Service(
            name: name,
            stack: Result { () throws(PAMStackError) in
                try PAMStack(service: name, directories: ["/etc/pam.d"]) { path in
                    path == "/etc/pam.d/\(name)" ? Array(text.utf8) : nil
                }
            })
    }

    private static func file(_ owner: UInt32 = 0, _ mode: UInt32 = 0o600, listed: Bool? = true) -> FactorFacts.UsersFile
    {
        var file = FactorFacts.UsersFile(file: .there(kind: .file, owner: owner, group: 0, mode: mode))
        for module in ["pam_oath", "pam_u2f"] { file.isListed[module] = listed }
        return file
    }

    /// Everything is there, and ada is enrolled.
    private static func facts(_ services: [(String, String)]) -> FactorFacts {
        var facts = FactorFacts()
        facts.services = services.map { service($0.0, $0.1) }
        for name in ["pam_oath", "pam_u2f", "pam_fprintd"] { facts.modules["\(name).so"] = true }
        facts.files = ["/etc/users.oath": file(), "/etc/u2f_mappings": file(0, 0o644)]
        facts.helper = .there(kind: .file, owner: 0, group: 0, mode: 0o755)
        (facts.user, facts.home, facts.hasFingers) = ("ada", "/home/ada", true)
        return facts
    }

    private static let right: [(String, String)] = [
        ("sudo", common + helper + oath), ("polkit-1", common + oath), ("swaylock", common + helper + key),
        ("gdm-password", common + helper + oath), ("gdm-fingerprint", "auth required pam_fprintd.so\n" + helper + oath),
        ("gdm-smartcard", "auth required pam_deny.so\n"),
    ]

    @Test func whatIsRightIsOk() {
        let findings = FactorChecks.findings(Self.facts(Self.right))
        #expect(findings.allSatisfy { $0.status == .ok || $0.subject == "gdm-smartcard" }, "\(findings)")
        let sudo = findings.first { $0.subject == "sudo" }
        #expect(
            sudo?.text
                == "nobody passes without pam_oath (/etc/pam.d/sudo:5), unless the agent lets it be skipped")
        #expect(
            FactorChecks.asking(Self.facts(Self.right))
                == ["sudo", "polkit-1", "swaylock", "gdm-password", "gdm-fingerprint"])
    }

    struct Case: Sendable, CustomTestStringConvertible {
        let subject: String
        let status: DoctorFinding.Status
        let words: String
        let change: @Sendable (inout FactorFacts) -> Void

        init(
            _ subject: String, _ status: DoctorFinding.Status, _ words: String,
            _ change: @escaping @Sendable (inout FactorFacts) -> Void
        ) {
            (self.subject, self.status, self.words, self.change) = (subject, status, words, change)
        }

        var testDescription: String { "\(subject): \(words)" }
    }

    private static func stack(_ name: String, _ text: String) -> @Sendable (inout FactorFacts) -> Void {
        { facts in
            facts.services.removeAll { $0.name == name }
            facts.services.append(service(name, text))
        }
    }

    static let cases: [Case] = [
        Case("sudo", .failure, "cannot be read", stack("sudo", "auth requird pam_oath.so\n")),
        Case("sudo", .note, "asks for no second factor", stack("sudo", common)),
        Case("polkit-1", .failure, "every second factor that a rule demands") {
            stack("polkit-1", common)(&$0)
            $0.isPushed = true
        },
        Case("sudo", .failure, "pam_unix is enough", stack("sudo", "auth sufficient pam_unix.so\n" + oath)),
        Case("sudo", .failure, "nullok", stack("sudo", common + "auth required pam_google_authenticator.so nullok\n")),
        Case("sudo", .failure, "CVE-2024-47191", stack("sudo", "auth required pam_oath.so usersfile=${HOME}/x\n")),
        Case("sudo", .warning, "the person's own directory", stack("sudo", common + "auth required pam_u2f.so\n")),
        Case("sudo", .warning, "CVE-2024-10963", stack("sudo", "auth required pam_access.so\n" + oath)),
        Case("sudo", .failure, "2 lines are left out, of which 1 should be") {
            stack("sudo", common + helper.replacing("success=1", with: "success=2") + oath)(&$0)
        },
        Case("sudo", .failure, "nothing else is asked for") {
            stack("sudo", helper.replacing("[success=1 default=ignore]", with: "sufficient") + common + oath)(&$0)
        },
        Case("gdm-fingerprint", .failure, "runs beside gdm-password") {
            stack("gdm-fingerprint", "auth required pam_fprintd.so\n")(&$0)
        },
        Case("sudo", .failure, "pam_oath.so is not installed") { $0.modules["pam_oath.so"] = false },
        Case("helper", .failure, "is missing") { $0.helper = .missing },
        Case("helper", .failure, "not as it was installed") {
            $0.helper = .there(kind: .file, owner: 1_000, group: 0, mode: 0o755)
        },
        Case("enrolment", .failure, "/etc/users.oath is missing") { $0.files["/etc/users.oath"]?.file = .missing },
        Case("enrolment", .failure, "belongs to user 1000") { $0.files["/etc/users.oath"] = file(1_000) },
        Case("enrolment", .failure, "open to others than root (640)") { $0.files["/etc/users.oath"] = file(0, 0o640) },
        Case("enrolment", .failure, "open to others than root (666)") {
            $0.files["/etc/u2f_mappings"] = file(0, 0o666)
        },
        Case("enrolment", .failure, "is no file") {
            $0.files["/etc/users.oath"]?.file = .there(kind: .other, owner: 0, group: 0, mode: 0o777)
        },
        Case("enrolment", .failure, "ada is not in /etc/users.oath") {
            $0.files["/etc/users.oath"] = file(listed: false)
        },
        Case("enrolment", .note, "only root can see") { $0.files["/etc/users.oath"] = file(listed: nil) },
        Case("enrolment", .warning, "no finger") { $0.hasFingers = false },
        Case("swaylock", .failure, "runs as the user", stack("swaylock", common + helper + oath)),
        Case("sudo", .failure, "not passed") { $0.services[0].trial = .failed },
        Case("sudo", .warning, "was not tried: no") { $0.services[0].trial = .impossible("no") },
        Case("sudo", .ok, "tried with pamtester") { $0.services[0].trial = .passed },
        Case("services", .note, "none of the services") { $0.services = [] },
    ]

    @Test(arguments: cases) func whatIsWrongIsFound(wrong: Case) throws {
        var facts = Self.facts(Self.right)
        wrong.change(&facts)
        let findings = FactorChecks.findings(facts)
        let found = try #require(
            findings.first {
                $0.subject == wrong.subject && $0.status == wrong.status && $0.text.contains(wrong.words)
            }, "\(findings)")
        #expect(found.remedy?.isEmpty == false || found.status == .note || found.status == .ok)
        // One file is told of once, however many services look into it.
        for (index, one) in findings.enumerated() { #expect(!findings[..<index].contains { $0 == one }) }
    }

    // MARK: status

    @Test func whatIsNoAnswerIsNone() {
        #expect(FactorStatusText(nil) == nil && FactorStatusText(.text("no")) == nil)
        #expect(FactorStatusText(.dictionary([:])) == nil)
        #expect(FactorStatusText(.dictionary(["needed": .text("no")])) == nil)
        #expect(FactorStatusText(.dictionary(["needed": .flag(false)]))?.isNeeded == false)
        // Of two answers the stricter.
        #expect(FactorStatusText(.dictionary(["needed": .flag(false), "state": .text("required")]))?.isNeeded == true)
    }

    @Test func nothingOfAnAnswerReachesTheTerminalRaw() throws {
        let answer = BusValue.dictionary([
            "needed": .flag(true), "state": .text("inactive"), "rule": .text("\u{1b}[2J"), "because": .text("\u{7}"),
            "file": .text("/\u{9b}"), "line": .number(3),
        ])
        let text = try #require(FactorStatusText(answer))
        for scalar in text.lines.joined().unicodeScalars {
            #expect(scalar.properties.generalCategory != .control)
        }
        #expect(text.json.allSatisfy { (0x20...0x7E).contains($0) || $0 == 0x0A })
        let json = try JSONValue(parsing: text.json, maximumSize: 4_096)
        #expect(json.object?.members.map(\.key) == ["needed", "state", "rule", "file", "line", "because"])
    }

    // MARK: The command

    @Test(arguments: [
        [], ["walk"], ["status", "x"], ["require", "x"], ["status", "--reason", "x"], ["doctor", "--reason", "x"],
        ["status", "--test"], ["doctor", "--test"], ["doctor", "../shadow"], ["doctor", ".x"], ["doctor", "a b"],
        ["doctor", "sudo", "--test", "--format", "json"],
    ])
    func whatCannotBeFollowedIsUsage(words: [String]) {
        #expect(VicinityCommand.run(["vicinity", "second-factor"] + words) == 64)
    }

    @Test func aServiceThatIsNotThereIsAFailure() {
        #expect(VicinityCommand.run(["vicinity", "second-factor", "doctor", "no-such-service"]) == 1)
        #expect(VicinityCommand.run(["vicinity", "second-factor", "doctor", "--account", "no-such-user"]) == 68)
    }
}
