import Foundation
import Testing

@testable import PAM

/// Every file below packaging/pam demands what its comment says, with Debian's common-auth around it.
@Suite struct ShippedExampleTests {
    private static let directory = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
        .deletingLastPathComponent().deletingLastPathComponent().appendingPathComponent("packaging/pam")

    private static let common = """
        auth [success=1 default=ignore] pam_unix.so nullok
        auth requisite pam_deny.so
        auth required pam_permit.so
        auth optional pam_cap.so
        """

    /// The factors that are asked for, and whether the agent may let them be skipped.
    private static let expected: [String: (factors: [String], maySkip: Bool, first: String)] = [
        "sudo": (["pam_oath"], true, "pam_unix"), "login": (["pam_oath"], true, "pam_unix"),
        "gdm-password": (["pam_oath"], true, "pam_unix"),
        "gdm-fingerprint": (["pam_fprintd", "pam_oath"], true, "pam_fprintd"),
        "locker": (["pam_u2f"], true, "pam_unix"), "polkit-1": (["pam_oath"], false, "pam_unix"),
        "vicinity": (["pam_oath"], false, "pam_unix"),
    ]

    private static func text(_ name: String) throws -> String {
        try String(contentsOf: directory.appendingPathComponent(name), encoding: .utf8)
    }

    private static func stack(_ name: String, without removed: (String) -> Bool = { _ in false }) throws -> PAMStack {
        let lines = try text(name).split(separator: "\n").map { String($0) }.filter { !removed($0) }
        return try PAMStack(service: name, directories: ["/etc/pam.d"]) { path in
            switch path {
            case "/etc/pam.d/\(name)": Array(lines.joined(separator: "\n").utf8)
            case "/etc/pam.d/common-auth": Array(common.utf8)
            default: nil
            }
        }
    }

    @Test func everyFileIsExpected() throws {
        let names = try FileManager.default.contentsOfDirectory(atPath: Self.directory.path)
        #expect(Set(names) == Set(Self.expected.keys).union(["README"]))
    }

    @Test(arguments: expected.keys.sorted())
    func itDemandsWhatItSays(name: String) throws {
        let (factors, maySkip, first) = try #require(Self.expected[name])
        let stack = try Self.stack(name)
        #expect(stack.demandsFactor && stack.remarks.isEmpty, "\(stack.remarks)")
        #expect(stack.factorModules.map(\.name) == factors && stack.modules.first?.name == first)
        #expect(stack.modules.contains(where: \.isHelper) == maySkip)
        let comment = try Self.text(name).split(separator: "\n").filter { $0.hasPrefix("#") }.joined()
        #expect(comment.contains(maySkip ? "unless the agent lets it be skipped" : "always"))
        #expect(comment.contains("/etc/pam.d/"))
        // Each factor by itself, so that a finger does not stand for a code.
        for factor in factors { #expect(stack.demands([factor])) }
    }

    /// Who knows neither password nor factor passes nowhere, whatever the agent says.
    @Test(arguments: expected.keys.sorted())
    func whoKnowsNothingPassesNowhere(name: String) throws {
        for maySkip in [true, false] {
            let isOpen = try Self.stack(name).canBePassed { module in
                switch module.name {
                case "pam_exec": maySkip ? ["success"] : ["system_err"]
                case "pam_permit": ["success"]
                case "pam_cap": ["success", "ignore"]
                default: ["auth_err", "user_unknown"]
                }
            }
            #expect(!isOpen, "\(maySkip)")
        }
    }

    /// Who has the password passes where it may be skipped, and nowhere else; with both everywhere.
    @Test(arguments: expected.keys.sorted())
    func itLetsThoseThroughWhomItShould(name: String) throws {
        let expectation = try #require(Self.expected[name])
        func passes(maySkip: Bool, hasCode: Bool) throws -> Bool {
            try Self.stack(name).canBePassed { module in
                switch module.name {
                case "pam_exec": maySkip ? ["success"] : ["system_err"]
                case "pam_unix", "pam_permit", "pam_cap", "pam_fprintd": ["success"]
                case "pam_oath", "pam_u2f": hasCode ? ["success"] : ["auth_err"]
                default: ["auth_err"]
                }
            }
        }
        #expect(try passes(maySkip: false, hasCode: true))
        #expect(try !passes(maySkip: false, hasCode: false))
        #expect(try passes(maySkip: true, hasCode: false) == expectation.maySkip)
    }

    /// The tests above see it where a line is taken away.
    @Test(arguments: expected.keys.sorted())
    func withoutItsLastLineItDemandsLess(name: String) throws {
        let factors = try #require(Self.expected[name]).factors
        let stack = try Self.stack(name) { $0.contains("\(factors.last ?? "").so") }
        #expect(!stack.demands(Set(factors.suffix(1))))
    }
}
