internal import Agent
internal import Glibc
internal import InstalledRules
internal import PAM
internal import Platform
internal import Rules
internal import WiFi

/// `vicinity second-factor doctor`: do PAM's stacks ask for a second factor, and of whom?
enum FactorDoctor {
    static func run(services: [String], user: String?, isTest: Bool, _ format: OutputFormat) throws -> Int32 {
        for name in services where !isService(name) {
            throw UsageError(description: "\(name.utf8.displayText) is no name of a PAM service")
        }
        guard !isTest || !services.isEmpty else { throw UsageError(description: "--test needs a service to try") }
        guard !isTest || format == .text else { throw UsageError(description: "--test asks people, not programs") }
        guard let person = user.map(FactorFacts.Person.init(named:)) ?? FactorFacts.Person.caller else {
            Output.error("there is no user \(user?.utf8.displayText ?? "who runs this")")
            return 68
        }
        let files = RuleFiles(directories: AgentPaths().ruleDirectories.rules, trust: .root)
        var facts = FactorFacts.gather(services: services, of: person, rules: RuleSet.load(files).ruleSet)
        if isTest { facts.tryNamed() }
        return DoctorCommand.report(FactorChecks.findings(facts), format)
    }

    /// What can be a file in pam.d(5), and no option of pamtester's.
    private static func isService(_ name: String) -> Bool {
        (1...64).contains(name.utf8.count) && !name.hasPrefix(".") && !name.hasPrefix("-")
            && name.utf8.allSatisfy { octet in
                switch octet {
                case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "a")...UInt8(ascii: "z"),
                    UInt8(ascii: "A")...UInt8(ascii: "Z"):
                    true
                default: "._+-".utf8.contains(octet)
                }
            }
    }
}

extension FactorFacts {
    /// Has the person pass each service that was named and can be read, here and now.
    mutating func tryNamed() {
        for index in services.indices where services[index].isNamed {
            guard case .success = services[index].stack else { continue }
            services[index].trial = attempt(services[index].name)
        }
    }

    private func attempt(_ service: String) -> Trial {
        guard hasTester else { return .impossible("pamtester is not installed: `sudo apt install pamtester`") }
        guard isRoot else { return .impossible("it takes root, whom the services run as") }
        guard isatty(STDIN_FILENO) == 1 else { return .impossible("there is no terminal to ask on") }
        Output.line("\(service), as \(user):".terminalText)
        // On this terminal, of which it is the only reader meanwhile.
        var process: pid_t = 0
        let words = [FactorFacts.tester, service, user, "authenticate"]
        var arguments = unsafe words.map { unsafe strdup($0) } + [nil]
        defer { unsafe arguments.forEach { unsafe free($0) } }
        let code = unsafe posix_spawn(&process, FactorFacts.tester, nil, nil, &arguments, environ)
        guard code == 0 else { return .impossible("\(SystemError("posix_spawn", FactorFacts.tester, code: code))") }
        var status: Int32 = 0
        while unsafe waitpid(process, &status, 0) < 0 {
            guard errno == EINTR else { return .impossible("\(SystemError("waitpid"))") }
        }
        // WIFEXITED and WEXITSTATUS are macros.
        return status == 0 ? .passed : .failed
    }
}
