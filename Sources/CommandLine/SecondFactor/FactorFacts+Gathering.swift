internal import Glibc
internal import PAM
internal import Platform
internal import Rules
internal import WiFi

extension FactorFacts {
    static let tester = "/usr/bin/pamtester"
    private static let directories = ["/etc/pam.d", "/usr/lib/pam.d"]

    /// Looks at this machine, and changes nothing.
    ///
    /// - Parameters:
    ///   - names: of services; empty for those that are known and there.
    ///   - ruleSet: the rules in force, as far as the files say.
    static func gather(services names: [String] = [], of person: Person, rules ruleSet: RuleSet?) -> FactorFacts {
        var facts = FactorFacts()
        (facts.user, facts.home) = (person.name, person.home)
        facts.isRoot = geteuid() == 0
        facts.hasTester = Files.exists(tester)
        facts.helper = DoctorFacts.file(PAMStack.Module.helper)
        facts.isPushed = ruleSet.map(isPushing) ?? false
        let there = Set(directories.flatMap(Files.names))
        let siblings = names.flatMap { FactorFacts.siblings[$0] ?? [] }.filter(there.contains)
        for name in names.isEmpty ? knownServices.filter(there.contains) : names + siblings {
            guard !facts.services.contains(where: { $0.name == name }) else { continue }
            facts.services.append(
                Service(
                    name: name, stack: Result { () throws(PAMStackError) in try PAMStack(service: name) },
                    isNamed: names.contains(name)))
        }
        for service in facts.services {
            guard case .success(let stack) = service.stack else { continue }
            for module in stack.factorModules { facts.look(at: module) }
        }
        return facts
    }

    private static func isPushing(_ ruleSet: RuleSet) -> Bool {
        ruleSet.rules.contains { rule in
            rule.isEnabled
                && (rule.enter + rule.leave).contains { if case .secondFactor = $0.value { true } else { false } }
        }
    }

    private mutating func look(at module: PAMStack.Module) {
        modules[module.written] = FactorFacts.isInstalled(module.written)
        if module.name == "pam_fprintd" {
            // fprintd's, which nobody but root may look into.
            if isRoot { hasFingers = !Files.names(in: "/var/lib/fprint/\(user)").isEmpty }
            return
        }
        guard let path = Enrolment.path(of: module, for: user, home: home) else { return }
        var entry = files[path] ?? UsersFile(file: DoctorFacts.file(path))
        // Nothing but a file: a pipe of somebody's would never end.
        if case .there(kind: .file, _, _, _) = entry.file, let contents = try? Files.read(path, limit: 1 << 20) {
            entry.isListed[module.name] = Enrolment.isListed(user, in: contents, of: module.name)
        }
        files[path] = entry
    }

    /// Below the directories of libpam's: one for each architecture on Debian.
    private static func isInstalled(_ module: String) -> Bool {
        guard !module.hasPrefix("/") else { return Files.exists(module) }
        let roots = ["/lib", "/usr/lib", "/lib64", "/usr/lib64"]
        let below = roots.flatMap { root in Files.names(in: root).map { "\(root)/\($0)" } }
            .filter { $0.hasSuffix("-linux-gnu") || $0.hasSuffix("-linux-gnueabihf") }
        return (roots + below).contains { Files.exists("\($0)/security/\(module)") }
    }

    /// Somebody with an account.
    struct Person {
        var name: String
        var home: String

        /// Whose account has that name; nil where nobody's has.
        init?(named name: String) {
            guard let entry = unsafe getpwnam(name), let directory = unsafe entry.pointee.pw_dir else { return nil }
            self.name = name
            home = unsafe String(cString: directory)
        }

        /// Who runs this; through sudo(8), who ran that.
        static var caller: Person? {
            if geteuid() == 0, let name = unsafe getenv("SUDO_USER") {
                return Person(named: unsafe String(cString: name))
            }
            guard let entry = unsafe getpwuid(geteuid()), let name = unsafe entry.pointee.pw_name else { return nil }
            return Person(named: unsafe String(cString: name))
        }
    }
}
