import Testing

@testable import PAM

/// What is wrong with lines of second factors, and what is not.
@Suite struct PAMReviewTests {
    private static let common = """
        auth\t[success=1 default=ignore]\tpam_unix.so nullok
        auth\trequisite\t\t\tpam_deny.so
        auth\trequired\t\t\tpam_permit.so
        auth\toptional\t\t\tpam_cap.so

        """
    private static let include = "@include common-auth\n"
    private static let oath = "auth required pam_oath.so usersfile=/etc/users.oath window=2 digits=6\n"
    private static func helper(_ control: String = "[success=1 default=ignore]") -> String {
        "auth \(control) pam_exec.so quiet /usr/libexec/vicinity/second-factor-needed\n"
    }

    private func stack(_ text: String) throws -> PAMStack {
        try PAMStack(service: "test", directories: ["/etc/pam.d"]) { path in
            switch path {
            case "/etc/pam.d/test": Array(text.utf8)
            case "/etc/pam.d/common-auth": Array(PAMReviewTests.common.utf8)
            default: nil
            }
        }
    }

    /// A word for each remark, with the line it is about.
    private func remarks(_ text: String) throws -> [String] {
        try stack(text).remarks.map { remark in
            switch remark {
            case .loophole(let line, let word): "loophole \(line.name) \(word)"
            case .mayBeMissing(let line): "may be missing \(line.name)"
            case .passedBy(let line): "passed by \(line.name)"
            case .canBePassed: "can be passed"
            case .helperWithoutFactor: "no factor"
            case .helperElsewhere: "elsewhere"
            case .helperJump(_, let found, let factors): "jump \(found.map { "\($0)" } ?? "none") of \(factors)"
            case .helperFails: "fails"
            case .openWhereSkipped: "open"
            case .ownFile(let line, let path): "own \(line.name) \(path ?? "default")"
            case .noUsersFile: "no users file"
            case .accessByHost: "access"
            }
        }
    }

    @Test(arguments: [
        "", include, include + oath, include + helper() + oath, oath + include,
        include + helper("[success=2 default=ignore]")
            + "auth [success=1 default=ignore] pam_u2f.so authfile=/etc/u2f\n"
            + oath,
        "auth required pam_fprintd.so\n" + helper() + oath,
        include + "auth required pam_google_authenticator.so secret=/etc/google-authenticator/${USER} user=root\n",
        include + "auth required pam_access.so nodns\n" + oath, "auth sufficient pam_unix.so\n",
    ])
    func rightLinesHaveNone(text: String) throws {
        #expect(try remarks(text).isEmpty, "\(text)")
    }

    @Test(arguments: [
        // Above, in the place of the factor, or without one.
        (helper() + include + oath, "elsewhere"), (include + oath + helper(), "elsewhere"),
        (include + helper(), "no factor"),
        (include + helper() + "auth optional pam_gnome_keyring.so\n" + oath, "elsewhere"),
        // Jumps.
        (include + helper("[success=2 default=ignore]") + oath + "auth optional pam_gnome_keyring.so\n", "jump 2 of 1"),
        (include + helper("[success=2 default=ignore]") + oath, "jump 2 of 1"),
        (include + helper() + "auth [success=1 default=ignore] pam_u2f.so authfile=/etc/u2f\n" + oath, "jump 1 of 2"),
        (include + helper("sufficient") + oath, "jump none of 1"),
        (include + helper("[success=1 default=bad]") + oath, "fails"),
        (include + helper("[success=1 default=die]") + oath, "fails"),
        // Nothing else is asked for.
        (helper("sufficient") + include + oath, "open"),
        (
            "auth [success=1 default=ignore] pam_exec.so quiet /usr/libexec/vicinity/second-factor-needed\n" + oath
                + "auth required pam_permit.so\n", "open"
        ),
        // Past the factor.
        ("auth sufficient pam_unix.so\n" + oath, "passed by pam_unix"),
        ("auth sufficient pam_rootok.so\n" + include + oath, "passed by pam_rootok"),
        (include + "auth optional pam_oath.so usersfile=/etc/users.oath\n", "can be passed"),
        (
            include + "auth required pam_oath.so usersfile=/etc/users.oath no_usersfile_okay\n",
            "loophole pam_oath no_usersfile_okay"
        ),
        (
            include + "auth required pam_oath.so usersfile=/etc/users.oath null_usersfile_okay\n",
            "loophole pam_oath null_usersfile_okay"
        ),
        (include + "auth required pam_u2f.so authfile=/etc/u2f nouserok\n", "loophole pam_u2f nouserok"),
        (
            include + "auth required pam_google_authenticator.so secret=/etc/g/${USER} nullok\n",
            "loophole pam_google_authenticator nullok"
        ),
        (
            include + "auth [user_unknown=ignore success=ok] pam_oath.so usersfile=/etc/users.oath\n",
            "loophole pam_oath user_unknown=ignore"
        ),
        (include + "-auth required pam_oath.so usersfile=/etc/users.oath\n", "may be missing pam_oath"),
        // Files.
        (include + "auth required pam_oath.so usersfile=${HOME}/.oath\n", "own pam_oath ${HOME}/.oath"),
        (include + "auth required pam_oath.so usersfile=/home/ada/oath\n", "own pam_oath /home/ada/oath"),
        (include + "auth required pam_oath.so usersfile=~/oath\n", "own pam_oath ~/oath"),
        (include + "auth required pam_oath.so window=2\n", "no users file"),
        (include + "auth required pam_u2f.so cue\n", "own pam_u2f default"),
        (include + "auth required pam_google_authenticator.so\n", "own pam_google_authenticator default"),
        ("auth [success=1 default=ignore] pam_access.so\n" + oath + include, "access"),
    ])
    func wrongOnesHave(text: String, remark: String) throws {
        let found = try remarks(text)
        #expect(found.contains(remark), "\(text)\(found)")
    }

    /// The helper is what is run, and not a word of what something else is told.
    @Test func anotherProgramIsNotTheHelper() throws {
        let other =
            "auth [success=1 default=ignore] pam_exec.so quiet /bin/true "
            + "/usr/libexec/vicinity/second-factor-needed\n"
        #expect(try !stack(other + Self.oath + Self.include).demandsFactor)
        #expect(try stack(Self.helper() + Self.oath + Self.include).demandsFactor)
        let logged =
            "auth [success=1 default=ignore] pam_exec.so log=/var/log/x seteuid "
            + "/usr/libexec/vicinity/second-factor-needed\n"
        #expect(try stack(logged + Self.oath + Self.include).demandsFactor)
    }

    @Test func aFingerAloneIsOneFactor() throws {
        let finger = try stack("auth required pam_fprintd.so\n")
        let others = PAMStack.factors.subtracting(["pam_fprintd"])
        #expect(finger.demandsFactor && !finger.demands(others) && finger.canBePassed(without: others))
        #expect(try stack("auth required pam_fprintd.so\n" + Self.oath).demands(others))
        #expect(try !stack("auth required pam_deny.so\n").canBePassed(without: others))
    }

    // MARK: Enrolment

    @Test(arguments: [
        ("pam_oath", "HOTP/T30/6 ada - 00aa\n", true), ("pam_oath", "# x\nHOTP\tada\t-\t00\n", true),
        ("pam_oath", "HOTP/T30/6 adam - 00aa\n", false), ("pam_oath", "#HOTP/T30/6 ada - 00aa\n", false),
        ("pam_oath", "HOTP/T30/6 ada\n", false), ("pam_oath", "", false), ("pam_oath", "\u{0}\u{ff}\n", false),
        ("pam_u2f", "bob:x,y\nada:handle,key\n", true), ("pam_u2f", "adam:x\n", false), ("pam_u2f", "ada:\n", false),
        ("pam_google_authenticator", "SECRET\n", true), ("pam_google_authenticator", "\n", false),
    ])
    func whoIsEnrolledStandsInTheFile(module: String, text: String, isListed: Bool) {
        #expect(Enrolment.isListed("ada", in: Array(text.utf8), of: module) == isListed)
    }

    @Test(arguments: [
        ("pam_oath.so usersfile=/etc/users.oath", "/etc/users.oath"),
        ("pam_oath.so usersfile=${HOME}/${USER}.oath", "/home/ada/ada.oath"), ("pam_oath.so", nil),
        ("pam_u2f.so", "/home/ada/.config/Yubico/u2f_keys"), ("pam_u2f.so authfile=/etc/keys/%u", "/etc/keys/ada"),
        ("pam_google_authenticator.so secret=~/.g", "/home/ada/.g"), ("pam_fprintd.so", nil),
    ])
    func theFileIsTheOneThatTheModuleReads(line: String, path: String?) throws {
        let module = try #require(try stack("auth required \(line)\n").factorModules.first)
        #expect(Enrolment.path(of: module, for: "ada", home: "/home/ada") == path)
    }
}
