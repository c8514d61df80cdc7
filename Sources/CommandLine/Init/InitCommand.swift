internal import Environment
internal import Glibc
internal import Netlink
internal import Platform
internal import Rules
internal import WiFi

/// `vicinity init`: a first rule file, for the network that the machine is on.
enum InitCommand: Subcommand {
    static let name = "init"
    static let operands = ""
    static let summary = "Write a first rule file, with comments, for the network that this machine is on."
    static let options: [Arguments.Option] = [
        .init("print", nil, "print it and write nothing"),
        .init("output", "FILE", "where to; /etc/vicinity/rules.d/NAME.toml unless given", .file),
        .init("force", nil, "replace a file that is there"),
        .init("name", "NAME", "what to call the network; home, office, … unless given"),
        .init("interface", "NAME", "the link; the one to the internet unless given", .interface),
    ]
    static let notes = """
        The rule in it observes: it tells what it would do and does nothing. The network's name on the air stands in the
        file octet by octet; a network with a passphrase is marked private.

        Exit status: 0, 64 usage, 69 the machine is on no network that could be told by anything, 73 the file is there already
        or cannot be made, 74 it cannot be written, 77 you may not write there.
        """

    static let directory = "/etc/vicinity/rules.d"
    static let examples = [
        (line: "vicinity init --print", meaning: "see it first"),
        (line: "sudo vicinity init --name home", meaning: "write /etc/vicinity/rules.d/home.toml"),
    ]

    static func run(_ arguments: Arguments) throws -> Int32 {
        try arguments.expectOperands(0...0, "nothing but options")
        if arguments.has("print"), arguments.has("output") || arguments.has("force") {
            throw UsageError(description: "--print writes no file, so it goes with neither --output nor --force")
        }
        let given = try arguments.all("name", "1 to 64 of A-Z a-z 0-9 _ -, without a hyphen at the beginning") { text in
            RuleSet.isName(text) && BuiltInNetwork(rawValue: text) == nil ? text : nil
        }.last
        let environment = try observe()
        guard let link = link(in: environment, named: arguments["interface"]) else {
            let name = arguments["interface"].map { " over \($0.utf8.displayText)" } ?? ""
            Output.error(
                "this machine is on no network\(name): join one, then try again; `vicinity status` shows the links")
            return 69  // EX_UNAVAILABLE
        }
        let installed = RuleSet.load(RuleFiles(trust: .root)).ruleSet ?? RuleSet()
        let name = given ?? unused(FirstRules.name(of: link), in: installed)
        // As long as names may be; a rule can be called as a network is.
        let rules = FirstRules(link: link, name: name, rule: name.utf8.count > 61 ? name : "at-\(name)")
        guard rules.hasEvidence else {
            Output.error("\(link.name.terminalText) shows nothing that its network could be told by")
            return 69
        }
        let text = Array(rules.text.utf8)
        let path = arguments["output"] ?? "\(directory)/\(name).toml"
        for match in installed.judge(environment).matches where installed.network(named: match.name) != nil {
            Output.error("note: the rule files know where this is already: network \(match.name)")
        }
        // Whoever looks at it is to find it right.
        let result = RuleSet.load([RuleFile(path: path, contents: text)])
        for diagnostic in result.diagnostics { Output.diagnostic(diagnostic.description) }
        guard result.ruleSet != nil else { return 70 }  // EX_SOFTWARE
        guard !arguments.has("print") else {
            Output.write(text[...])
            return 0
        }
        return write(text, to: path, name, replaces: arguments.has("force"), isDefault: !arguments.has("output"))
    }

    private static func write(
        _ text: [UInt8], to path: String, _ name: String, replaces: Bool, isDefault: Bool
    ) -> Int32 {
        let shown = path.terminalText
        do throws(SystemError) {
            if isDefault { try Files.makeDirectory(directory, mode: 0o755) }
            try NewFile.write(text, to: path, replaces: replaces)
        } catch {
            switch error.code {
            case EEXIST:
                Output.error("\(shown) is there already; --force replaces it, --output or --name makes another one")
                return 73  // EX_CANTCREAT
            case EACCES, EPERM:
                Output.error("you may not write \(shown): `sudo vicinity init`, or --print to see it")
                return 77  // EX_NOPERM
            case ENOSPC, EIO, EDQUOT:
                Output.error("\(error)".terminalText)
                return 74  // EX_IOERR
            default:
                Output.error("\(error)".terminalText)
                return 73
            }
        }
        Output.line("wrote \(shown): network \(name), and a rule that observes")
        if isDefault { Output.line("the agent reads it by itself; `vicinity why \(name)` tells what it makes of it") }
        return 0
    }

    // MARK: The place

    /// µs that daemons have to say which domains are the link's.
    private static let patience: Int64 = 1_000_000

    private static func observe() throws -> NetworkEnvironment {
        let loop = try EventLoop()
        let watcher = EnvironmentWatcher(on: loop)
        try watcher.start()
        func isComplete() -> Bool {
            watcher.environment.interfaces.values.filter { $0.isPhysical && $0.isConnected }
                .allSatisfy { $0.evidence.searchDomains != nil }
        }
        if !isComplete() {
            watcher.onChange = { _ in if isComplete() { loop.stop() } }
            loop.schedule(at: Timestamp.now().boottime + patience) { loop.stop() }
            loop.run()
        }
        return watcher.environment
    }

    /// The link that is meant: by its name, or the one that leads to the internet, or the first Wi-Fi, or any.
    private static func link(in environment: NetworkEnvironment, named name: String?) -> Interface? {
        let links = environment.interfaces.values
            .filter { $0.isPhysical && ($0.wifi == nil ? $0.isUsable : $0.wifi?.network != nil) }
            .sorted { ($0.wifi == nil ? 1 : 0, $0.index) < ($1.wifi == nil ? 1 : 0, $1.index) }
        if let name { return links.first { $0.name == name } }
        return links.first { $0.index == environment.primaryRoute?.interfaceIndex } ?? links.first
    }

    private static func unused(_ name: String, in ruleSet: RuleSet) -> String {
        func isUsed(_ name: String) -> Bool {
            ruleSet.network(named: name) != nil || ruleSet.rule(named: "at-\(name)") != nil
        }
        guard isUsed(name) else { return name }
        return (2...).lazy.map { "\(name)-\($0)" }.first { !isUsed($0) } ?? name
    }
}
