internal import Glibc
internal import PAM
internal import Platform

/// What PAM does about second factors: from facts to findings, without looking at anything.
enum FactorChecks {
    private typealias Module = PAMStack.Module

    private static let examples = "/usr/share/doc/vicinity/examples/pam"
    private static let packages = [
        "pam_oath": "libpam-oath", "pam_u2f": "libpam-u2f", "pam_google_authenticator": "libpam-google-authenticator",
        "pam_fprintd": "libpam-fprintd",
    ]

    static func findings(_ facts: FactorFacts) -> [DoctorFinding] {
        var findings = facts.services.flatMap { FactorChecks.findings(on: $0, facts) }
        findings += besides(facts)
        // One file serves several services, and is told of once.
        findings = findings.reduce(into: []) { if !$0.contains($1) { $0.append($1) } }
        return findings.isEmpty ? [.note("services", "none of the services that could ask is there")] : findings
    }

    /// The services that nobody gets through without a second factor.
    static func asking(_ facts: FactorFacts) -> [String] {
        facts.services.filter { (try? $0.stack.get())?.demandsFactor ?? false }.map(\.name)
    }

    // MARK: One service

    private static func findings(on service: FactorFacts.Service, _ facts: FactorFacts) -> [DoctorFinding] {
        let subject = service.name
        let stack: PAMStack
        switch service.stack {
        case .success(let read): stack = read
        case .failure(let error):
            return [
                .failure(
                    subject, "its stack cannot be read: \(error)", "correct that; PAM refuses everybody where it cannot"
                )
            ]
        }
        var findings = stack.remarks.map { finding(subject, $0) }
        findings += modules(subject, stack, facts)
        findings += usersFiles(subject, stack, facts)
        if stack.modules.contains(where: \.isHelper) { findings += helper(facts) }
        findings += trial(service, stack)
        guard stack.factorModules.isEmpty, !stack.modules.contains(where: \.isHelper) else {
            if !findings.contains(where: { $0.status == .failure || $0.status == .warning }) {
                findings.insert(.ok(subject, description(of: stack)), at: 0)
            }
            return findings
        }
        let remedy = "\(examples) has the lines, for most services"
        if subject == "polkit-1", facts.isPushed {
            return findings + [
                .failure(
                    subject, "it asks for a password alone, so that every second factor that a rule demands fails",
                    remedy)
            ]
        }
        return findings + [.note(subject, "it asks for no second factor", remedy)]
    }

    private static func description(of stack: PAMStack) -> String {
        let factors = stack.factorModules.map { "\($0.name) (\(place($0)))" }.joined(separator: ", ")
        let exception = stack.modules.contains(where: \.isHelper) ? ", unless the agent lets it be skipped" : ""
        return "nobody passes without \(factors)\(exception)"
    }

    private static func place(_ module: PAMStack.Module) -> String { "\(module.file):\(module.line)" }

    private static func finding(_ subject: String, _ remark: PAMRemark) -> DoctorFinding {
        switch remark {
        case .loophole(let line, let word):
            .failure(
                subject, "who has no factor passes: \(line.name) with \(word) (\(place(line)))",
                "enrol everybody, then take \(word) away")
        case .mayBeMissing(let line):
            .failure(
                subject, "without the file of \(line.name) nobody is asked: -auth (\(place(line)))",
                "write auth, without the -")
        case .passedBy(let line):
            .failure(
                subject, "\(line.name) is enough to pass without the second factor (\(place(line)))",
                "put the lines of the factor above it, or make it required")
        case .canBePassed:
            .failure(
                subject, "it can be passed without its second factor",
                "make the line of the factor required; \(examples) has lines that are right")
        case .helperWithoutFactor(let line):
            .failure(
                subject, "the agent is asked, and no line asks for a second factor (\(place(line)))",
                "put the line of the factor right below it")
        case .helperElsewhere(let line):
            .failure(
                subject, "the agent is asked, and what follows is no second factor (\(place(line)))",
                "put it right above the line of the factor")
        case .helperJump(let line, let found?, let factors):
            .failure(
                subject,
                "where the factor may be skipped \(found) line\(found == 1 ? "" : "s") are left out, of which "
                    + "\(factors) should be (\(place(line)))", "write [success=\(factors) default=ignore]")
        case .helperJump(let line, nil, let factors):
            .failure(
                subject, "where the factor may be skipped its line is not jumped over (\(place(line)))",
                "write [success=\(factors) default=ignore]")
        case .helperFails(let line):
            .failure(
                subject, "where the factor is needed nobody gets in, even with it (\(place(line)))",
                "write default=ignore in its control")
        case .openWhereSkipped(let line):
            .failure(
                subject, "where the factor may be skipped nothing else is asked for either (\(place(line)))",
                "have the password asked for by a line that can fail, such as @include common-auth")
        case .ownFile(let line, let path?) where line.name == "pam_oath":
            .failure(
                subject, "usersfile=\(path) lets a person have root write anywhere: CVE-2024-47191 (\(place(line)))",
                "usersfile=/etc/users.oath, root's and 0600")
        case .ownFile(let line, let path):
            .warning(
                subject,
                "\(line.name) looks into \(path ?? "the person's own directory"), so who has the password can enrol "
                    + "anything (\(place(line)))", remedyOfOwnFile(line.name))
        case .noUsersFile(let line):
            .failure(
                subject, "pam_oath is told no file, so that nobody passes (\(place(line)))",
                "usersfile=/etc/users.oath, root's and 0600")
        case .accessByHost(let line):
            .warning(
                subject,
                "pam_access can take a word for a host's name, which a neighbour's DNS answers: CVE-2024-10963 "
                    + "(\(place(line)))", "add nodns where it is known (Linux-PAM 1.7.1), or let the agent decide")
        }
    }

    private static func remedyOfOwnFile(_ module: String) -> String {
        module == "pam_u2f"
            ? "authfile=/etc/u2f_mappings, root's" : "secret=/etc/google-authenticator/${USER} user=root"
    }

    // MARK: What it takes

    private static func modules(_ subject: String, _ stack: PAMStack, _ facts: FactorFacts) -> [DoctorFinding] {
        stack.factorModules.filter { facts.modules[$0.written] == false && !$0.maySkip }.map { line in
            .failure(
                subject, "\(line.written) is not installed, so that nobody passes (\(place(line)))",
                packages[line.name].map { "`sudo apt install \($0)`" } ?? "install it, or take the line away")
        }
    }

    private static func helper(_ facts: FactorFacts) -> [DoctorFinding] {
        let again = "install the package again"
        return switch facts.helper {
        case .there(kind: .file, owner: 0, _, let mode) where mode & 0o111 == 0o111 && mode & 0o022 == 0: []
        case .there: [.failure("helper", "\(Module.helper) is not as it was installed", again)]
        case .missing:
            [.failure("helper", "\(Module.helper) is missing, so that the factor is always asked for", again)]
        case .unknown: []
        }
    }

    private static func usersFiles(_ subject: String, _ stack: PAMStack, _ facts: FactorFacts) -> [DoctorFinding] {
        stack.factorModules.flatMap { line -> [DoctorFinding] in
            if line.name == "pam_fprintd" {
                return facts.hasFingers == false
                    ? [.warning("enrolment", "\(facts.user) has no finger enrolled", "`fprintd-enroll \(facts.user)`")]
                    : []
            }
            guard let path = Enrolment.path(of: line, for: facts.user, home: facts.home), let file = facts.files[path]
            else { return [] }
            // What is the person's own is complained of already.
            guard !stack.remarks.contains(where: { if case .ownFile(line, _) = $0 { true } else { false } }) else {
                return []
            }
            var findings = owner(line, path, file.file)
            if FactorFacts.lockers.contains(subject), isRootsAlone(file.file) {
                findings.append(
                    .failure(
                        subject, "it runs as the user, who cannot read \(path): nobody unlocks with \(line.name)",
                        "use pam_u2f with an authfile of root's that everybody may read; \(examples)/locker"))
            }
            guard case .there(kind: .file, _, _, _) = file.file else { return findings }
            switch file.isListed[line.name] {
            case true?: break
            case false?:
                findings.append(
                    .failure(
                        "enrolment", "\(facts.user) is not in \(path), and passes nowhere where \(line.name) is asked",
                        "enrol them: /usr/share/doc/vicinity/second-factor.md"))
            case nil:
                findings.append(.note("enrolment", "who is in \(path) only root can see", "ask as root"))
            }
            return findings
        }
    }

    private static func isRootsAlone(_ file: DoctorFacts.FileFact) -> Bool {
        if case .there(_, owner: 0, _, let mode) = file { mode & 0o004 == 0 } else { false }
    }

    /// Secrets are root's alone; keys that are none may be read.
    private static func owner(
        _ line: PAMStack.Module, _ path: String, _ file: DoctorFacts.FileFact
    ) -> [DoctorFinding] {
        let forbidden: UInt32 = line.name == "pam_u2f" ? 0o022 : 0o077
        let subject = "enrolment"
        switch file {
        case .missing:
            return [
                .failure(
                    subject, "\(path) is missing, so that nobody passes \(line.name)",
                    "make it, root's and \(line.name == "pam_u2f" ? "0644" : "0600"), with a line for everybody")
            ]
        case .unknown(EACCES): return [.note(subject, "\(path) only root can look at", "ask as root")]
        case .unknown(let code):
            return [.warning(subject, "\(path): \(SystemError("stat", code: code))", "ask as root")]
        case .there(let kind, let owner, _, let mode):
            guard kind == .file else {
                return [.failure(subject, "\(path) is no file", "replace it by one, root's and of root's making")]
            }
            guard owner == 0 else {
                return [.failure(subject, "\(path) belongs to user \(owner), not to root", "`sudo chown root \(path)`")]
            }
            guard mode & forbidden == 0 else {
                return [
                    .failure(
                        subject, "\(path) is open to others than root (\(String(mode & 0o7777, radix: 8)))",
                        "`sudo chmod \(String(mode & ~forbidden & 0o777, radix: 8)) \(path)`; what others could read is "
                            + "no secret any more: enrol anew")
                ]
            }
            return []
        }
    }

    private static func trial(_ service: FactorFacts.Service, _ stack: PAMStack) -> [DoctorFinding] {
        switch service.trial {
        case nil: []
        case .passed?:
            [
                .ok(
                    service.name,
                    "tried with pamtester, and passed"
                        + (stack.modules.contains(where: \.isHelper)
                            ? "; if no factor was asked for, the agent let it be skipped" : ""))
            ]
        case .failed?:
            [
                .failure(
                    service.name, "tried with pamtester, and not passed",
                    "keep a root shell open; `journalctl -t pamtester` tells which line refused")
            ]
        case .impossible(let because)?:
            [.warning(service.name, "it was not tried: \(because)", "try it before relying on it")]
        }
    }

    // MARK: Several services

    private static func besides(_ facts: FactorFacts) -> [DoctorFinding] {
        let read = facts.services.compactMap { service in
            (try? service.stack.get()).map { (service.name, $0) }
        }
        let stacks = Dictionary(read) { first, _ in first }
        var findings: [DoctorFinding] = []
        for (main, others) in FactorFacts.siblings.sorted(by: { $0.key < $1.key }) {
            guard stacks[main]?.demandsFactor ?? false else { continue }
            for name in others {
                // A finger is one factor: it takes another.
                guard let other = stacks[name],
                    other.canBePassed(without: PAMStack.factors.subtracting(["pam_fprintd"]))
                else { continue }
                findings.append(
                    .failure(
                        name, "it runs beside \(main) and asks for no second factor, so that \(main)'s is passed by it",
                        "put the same lines into both, as in \(examples)/gdm-fingerprint, or have it deny"))
            }
        }
        return findings
    }
}
