import Testing

@testable import PAM

@Suite struct PAMStackTests {
    /// Debian's /etc/pam.d/common-auth.
    private static let common = """
        auth\t[success=1 default=ignore]\tpam_unix.so nullok
        auth\trequisite\t\t\tpam_deny.so
        auth\trequired\t\t\tpam_permit.so
        auth\toptional\t\t\tpam_cap.so
        """
    private static let oath = "auth required pam_oath.so usersfile=/etc/users.oath window=2 digits=6\n"

    private func stack(_ text: String, files: [String: String] = [:]) throws -> PAMStack {
        let all = files.merging(["test": text, "common-auth": PAMStackTests.common]) { $1 }
        return try PAMStack(service: "test", directories: ["/etc/pam.d"]) { path in
            all[String(path.dropFirst("/etc/pam.d/".count))].map { Array($0.utf8) }
        }
    }

    @Test(arguments: [
        oath, "@include common-auth\n" + oath, oath + "@include common-auth\n",
        "auth include common-auth\n" + oath, "auth substack common-auth\n" + oath,
        "auth requisite pam_u2f.so\n@include common-auth\n",
        "auth [success=ok default=die] pam_google_authenticator.so\n@include common-auth\n",
        // Either of two.
        "auth sufficient pam_u2f.so\n" + oath,
        "auth [success=1 default=ignore] pam_u2f.so\n" + oath + "@include common-auth\n",
        // Only where the agent says so, and for a prompt of its own it does not.
        "auth [success=1 default=ignore] pam_exec.so quiet /usr/libexec/vicinity/second-factor-needed\n" + oath
            + "@include common-auth\n",
        "AUTH Required /usr/lib/security/pam_oath.so\n",
        "auth required \\\n  pam_oath.so # a comment\n",
        "auth sufficient pam_deny.so\n" + oath,
        "auth [success=done default=die] pam_fprintd.so\nauth required pam_permit.so\n",
    ])
    func itIsDemanded(text: String) throws {
        #expect(try stack(text).demandsFactor, "\(text)")
    }

    @Test(arguments: [
        "", "# nothing\n", "@include common-auth\n", "auth required pam_permit.so\n", "account required pam_oath.so\n",
        // Enough without it.
        "auth sufficient pam_unix.so\n" + oath, "auth sufficient pam_rootok.so\n" + oath,
        "auth optional pam_oath.so\n@include common-auth\n", "auth sufficient pam_oath.so\n@include common-auth\n",
        "auth [success=1 default=ignore] pam_unix.so\n" + oath + "auth required pam_permit.so\n",
        "auth [success=1 default=ignore] pam_exec.so quiet /usr/local/bin/at-office\n" + oath
            + "auth required pam_permit.so\n",
        "auth [success=1 default=ignore] pam_access.so\n" + oath + "@include common-auth\n",
        // Those who are not enrolled, or a file that is not there, pass.
        "auth required pam_google_authenticator.so nullok\n@include common-auth\n",
        "auth required pam_u2f.so nouserok\n@include common-auth\n",
        "auth required pam_oath.so usersfile=/etc/users.oath no_usersfile_okay\n@include common-auth\n",
        "auth [user_unknown=ignore success=ok] pam_oath.so\n@include common-auth\n",
        "auth [success=ok ignore=ignore auth_err=ignore default=die] pam_oath.so\n@include common-auth\n",
        "-auth required pam_oath.so\n@include common-auth\n",
        // What fails is forgotten.
        oath + "auth [success=reset default=reset] pam_echo.so\n@include common-auth\n",
        "auth sufficient pam_ldap.so\nauth substack with-factor\n",
    ])
    func itIsNotDemanded(text: String) throws {
        #expect(try !stack(text, files: ["with-factor": PAMStackTests.oath]).demandsFactor, "\(text)")
    }

    /// In a substack `done` ends the substack alone.
    @Test func aSubstackEndsItself() throws {
        let files = ["inner": "auth sufficient pam_unix.so\nauth required pam_deny.so\n"]
        #expect(try stack("auth substack inner\n" + PAMStackTests.oath, files: files).demandsFactor)
        #expect(try !stack("auth include inner\n" + PAMStackTests.oath, files: files).demandsFactor)
        let other = ["inner": PAMStackTests.oath + "auth [success=die default=reset] pam_echo.so\n"]
        #expect(try !stack("auth required pam_unix.so\nauth substack inner\n", files: other).demandsFactor)
    }

    @Test func linesAreKnownByTheirPlace() throws {
        let modules = try stack("# first\n@include common-auth\n\nauth required \\\n  pam_oath.so window=2\n").modules
        #expect(modules.map { "\($0.file):\($0.line) \($0.name)" }.last == "/etc/pam.d/test:4 pam_oath")
        #expect(modules.last?.arguments == ["window=2"])
        #expect(modules.first?.file == "/etc/pam.d/common-auth")
    }

    @Test func whatIsNotUnderstoodIsSaid() {
        func error(_ text: String, files: [String: String] = [:]) -> String? {
            do {
                _ = try stack(text, files: files)
                return nil
            } catch {
                return "\(error)"
            }
        }
        #expect(error("auth required\n") == "/etc/pam.d/test:1: expected a control and a module")
        #expect(
            error("\n\nauth requird pam_oath.so\n") == "/etc/pam.d/test:3: the control requird is not to be understood")
        #expect(error("auth [success=ok pam_oath.so\n") == "/etc/pam.d/test:1: a [ without its ]")
        #expect(error("auth [success=0] pam_oath.so\n") != nil)
        #expect(error("auth [success] pam_oath.so\n") != nil)
        #expect(error("@include nothing\n") == "there is no PAM service nothing, which /etc/pam.d/test includes")
        #expect(error("@include test\n") == "/etc/pam.d/test is included within itself")
        #expect(error("auth substack test\n") == "/etc/pam.d/test is included within itself")
        #expect(throws: PAMStackError.noService("absent", includedBy: nil)) {
            try PAMStack(service: "absent", directories: ["/nonexistent"])
        }
    }
}
