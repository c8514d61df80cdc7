internal import Agent
internal import Environment
internal import Feed
internal import Glibc
internal import InstalledRules
internal import JSON
internal import Platform
internal import Rules
internal import SystemBus
internal import WiFi

extension DoctorFacts {
    /// Looks at this machine. Nothing is changed, and no daemon started.
    ///
    /// - Parameter socket: the agent's.
    static func gather(socket: String) -> DoctorFacts {
        var facts = DoctorFacts()
        facts.lookAtKernel()
        facts.lookAtUsers()
        facts.askAgent(at: socket)
        facts.lookAtFiles()
        facts.readRules()
        facts.askBuses()
        facts.lookAtOthers()
        return facts
    }

    private mutating func lookAtKernel() {
        now = Timestamp.now().wall
        bootIdentifier = Boot.identifier
        wirelessDevices = Files.names(in: "/sys/class/ieee80211").map(\.terminalText)
        guard let loop = try? EventLoop() else { return }
        let watcher = EnvironmentWatcher(on: loop)
        if (try? watcher.start()) != nil { hasWirelessFamily = watcher.hasWireless }
    }

    private mutating func lookAtUsers() {
        user = geteuid()
        if let entry = unsafe getpwuid(user) { userName = unsafe String(cString: entry.pointee.pw_name).terminalText }
        if let entry = unsafe getpwnam("vicinity") { agentUser = unsafe entry.pointee.pw_uid }
        if let entry = unsafe getgrnam("vicinity") {
            let identifier = unsafe entry.pointee.gr_gid
            agentGroup = identifier
            var member = unsafe entry.pointee.gr_mem
            while let list = unsafe member, let name = unsafe list.pointee {
                if unsafe String(cString: name).terminalText == userName { isMember = true }
                unsafe member = unsafe list + 1
            }
            var groups = [gid_t](repeating: 0, count: 65_536)
            let count = unsafe getgroups(Int32(groups.count), &groups)
            hasGroup = getegid() == identifier || groups.prefix(Int(max(count, 0))).contains(identifier)
        }
        if let entry = unsafe getgrnam("vicinity-analytics") { logGroup = unsafe entry.pointee.gr_gid }
        isInSession = unsafe getenv("XDG_RUNTIME_DIR") != nil
    }

    // MARK: The agent

    /// Seconds.
    private static let patience = 5

    private mutating func askAgent(at socket: String) {
        isInstalled = AgentPaths.isAgentInstalled
        var request = FeedRequest()
        request.follows = false
        // Of a line of another life: everything that is held, its start among it.
        request.since = ("0000000000000000", 0)
        request.filter.types = ["agent.started"]
        var client: FeedClient
        do throws(SystemError) {
            client = try FeedClient(connectingTo: socket, request: request, patience: Self.patience)
        } catch {
            answer = .unreachable(error.code)
            return
        }
        let other = try? client.peer()
        peer = other?.user
        guard let line = client.next(),
            let snapshot = try? JSONValue(parsing: line, maximumSize: 2 * FeedLine.maximumLength)
        else {
            answer = .silent
            return
        }
        var version: String?
        while let line = client.next() {
            let started = try? JSONValue(parsing: line, maximumSize: 2 * FeedLine.maximumLength)
            version = started?["agent"]?["version"]?.string?.terminalText ?? version
        }
        answer = .told(
            permission: snapshot["permission"]?.string?.terminalText ?? "unknown",
            problems: (snapshot["problems"]?.array ?? []).compactMap(\.string), version: version)
        if let process = other?.process, process > 1 { lookAtProcess(process) }
    }

    private mutating func lookAtProcess(_ process: Int32) {
        // Of a process that must not be dumped the kernel gives what only its owner may read to root, proc(5).
        var status = stat()
        if unsafe stat("/proc/\(process)/fd", &status) == 0, let peer, peer != 0 { isDumpable = status.st_uid == peer }
        var target = [CChar](repeating: 0, count: 4_096)
        let length = unsafe readlink("/proc/\(process)/exe", &target, target.count)
        if length > 0 {
            isOutdated = target.prefix(length).suffix(10).elementsEqual(" (deleted)".utf8.map { CChar($0) })
        }
    }

    // MARK: Files

    private mutating func lookAtFiles() {
        for path in DoctorChecks.paths { files[path] = Self.file(path) }
        for path in ["/run", DoctorChecks.stateDirectory, DoctorChecks.logDirectory] {
            var system = statvfs()
            guard unsafe statvfs(path, &system) == 0 else { continue }
            disks.append(
                DiskFact(
                    path: path, free: UInt64(system.f_bavail) * UInt64(system.f_frsize),
                    freeFiles: system.f_files > 0 ? UInt64(system.f_favail) : nil,
                    isReadOnly: system.f_flag & UInt(ST_RDONLY) != 0))
        }
        if ["/usr/sbin/nft", "/sbin/nft"].contains(where: Files.exists) { programs.insert("nft") }
    }

    static func file(_ path: String) -> FileFact {
        var status = stat()
        guard unsafe lstat(path, &status) == 0 else {
            return errno == ENOENT ? .missing : .unknown(errno)
        }
        let kind: FileFact.Kind =
            switch status.st_mode & S_IFMT {
            case S_IFREG: .file
            case S_IFDIR: .directory
            case S_IFSOCK: .socket
            default: .other
            }
        return .there(kind: kind, owner: status.st_uid, group: status.st_gid, mode: status.st_mode & 0o7777)
    }

    private mutating func readRules() {
        let paths = AgentPaths()
        let own = RuleFiles.configuration(in: paths.ruleDirectories.configuration, trust: .root)
        let (configuration, wrong) = AgentConfiguration.load(own)
        let result = RuleSet.load(RuleFiles(directories: paths.ruleDirectories.rules, trust: .root))
        ruleErrors = (wrong + result.diagnostics).filter { $0.severity == .error }.map(\.description)
        if let person = FactorFacts.Person.caller { factor = .gather(of: person, rules: result.ruleSet) }
        if let ruleSet = result.ruleSet {
            needs = RuleNeed.needs(of: ruleSet, hasLookout: configuration?.connectivity != nil)
        }
    }

    // MARK: Buses

    private mutating func askBuses() {
        let names = DoctorChecks.wantedUnits.map(\.name)
        let answers = BusQuestions.ask(
            .system,
            [.ofBus("ListNames"), .ofBus("ListActivatableNames"), .ofManager("ListUnitsByNames", [.texts(names)])]
                + names.map { .ofManager("GetUnitFileState", [.text($0)]) } + [.ofAgent("AnalyticsStatus")])
        analytics = answers?.last.flatMap { $0?.first?.text }.flatMap { AnalyticsFact(Array($0.utf8)) }
        if let answers, let running = answers[0] {
            // What a bus can start is polkit's and others' to be needed; of the rest only what runs counts.
            let startable = Set(Self.texts(answers[1])).intersection(["org.freedesktop.PolicyKit1"])
            busNames = Set(Self.texts(running)).union(startable)
            if let units = answers[2]?.first?.list {
                var found: [String: UnitFact] = [:]
                for (index, name) in names.enumerated() {
                    let unit = units.first { $0.list?.first?.text == name }
                    found[name] = UnitFact(
                        activity: unit?.list?.dropFirst(3).first?.text?.terminalText ?? "not loaded",
                        enablement: answers[3 + index]?.first?.text?.terminalText ?? "")
                }
                self.units = found
            }
        }
        guard isInSession, user != 0 else { return }
        let helper = BusQuestions.ask(.user, [.ofManager("ListUnitsByNames", [.texts(["vicinity-session.service"])])])
        if let unit = helper?.first??.first?.list?.first?.list {
            hasSessionHelper = unit.dropFirst(3).first?.text == "active"
        }
    }

    private static func texts(_ values: [BusValue]?) -> [String] { values?.first?.list?.compactMap(\.text) ?? [] }

    // MARK: Others

    private mutating func lookAtOthers() {
        let directories =
            ["/etc/NetworkManager/dispatcher.d", "/etc/network/if-up.d", "/etc/network/if-post-down.d"]
            + Files.names(in: "/etc/networkd-dispatcher").filter { $0.hasSuffix(".d") }
            .map { "/etc/networkd-dispatcher/\($0)" }
        for directory in directories {
            for name in Files.names(in: directory) {
                guard case .there(kind: .file, _, _, let mode) = Self.file("\(directory)/\(name)"), mode & 0o111 != 0
                else { continue }
                otherScripts.append("\(directory)/\(name)".terminalText)
            }
        }
    }
}

extension DoctorFacts.AnalyticsFact {
    /// - Parameter status: as the agent says it.
    init?(_ status: [UInt8]) {
        guard let value = try? JSONValue(parsing: status, maximumSize: 1 << 16), let isWriting = value["writing"]?.bool
        else { return nil }
        self.init(
            isWriting: isWriting, because: value["because"]?.string?.terminalText ?? "",
            days: value["retention_days"]?.integer ?? 0)
    }
}
