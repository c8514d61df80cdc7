internal import Agent
internal import Glibc
internal import Platform

/// Each thing that must be right: from facts to findings, without looking at anything.
enum DoctorChecks {
    static let all: [@Sendable (DoctorFacts) -> [DoctorFinding]] = [
        kernel, clock, installation, agent, version, units, sockets, state, disks, rules, needs, policies, bus, memory,
        secondFactor, analytics, caller, session, others,
    ]

    static func findings(_ facts: DoctorFacts) -> [DoctorFinding] { all.flatMap { $0(facts) } }

    // MARK: The machine

    @Sendable static func kernel(_ facts: DoctorFacts) -> [DoctorFinding] {
        switch facts.hasWirelessFamily {
        case nil:
            return [
                .failure("kernel", "it cannot be asked over netlink", "allow AF_NETLINK sockets where this runs")
            ]
        case false:
            return [
                .note(
                    "kernel", "it has no nl80211: no driver of a Wi-Fi device is loaded",
                    "if there should be Wi-Fi, see `dmesg` for its driver and firmware")
            ]
        default:
            let devices = facts.wirelessDevices.sorted().joined(separator: ", ")
            return devices.isEmpty
                ? [
                    .note(
                        "kernel", "nl80211 is there, but no Wi-Fi device",
                        "if there should be one, see `dmesg` for its driver and firmware")
                ]
                : [.ok("kernel", "nl80211 is there, with \(devices)")]
        }
    }

    @Sendable static func clock(_ facts: DoctorFacts) -> [DoctorFinding] {
        // 2025-01-01: earlier than this program.
        guard facts.now >= 1_735_689_600_000_000 else {
            return [
                .failure(
                    "clock", "it stands before this program was made: rules with times are wrong, and probes fail",
                    "set it: `sudo timedatectl set-ntp true`")
            ]
        }
        guard !facts.bootIdentifier.isEmpty else {
            return [
                .failure(
                    "clock",
                    "the kernel does not say which boot this is, so that rules are entered again at every start",
                    "mount /proc with sys/kernel/random readable")
            ]
        }
        return [.ok("clock", "set, and the kernel tells one boot from the next")]
    }

    // MARK: The agent

    @Sendable static func installation(_ facts: DoctorFacts) -> [DoctorFinding] {
        guard facts.isInstalled else {
            return [
                .failure(
                    "installation", "this machine has no vicinityd.service",
                    "install the package: `sudo apt install ./vicinity_*.deb`")
            ]
        }
        guard facts.agentUser != nil, facts.agentGroup != nil else {
            return [
                .failure(
                    "installation", "there is no user or no group vicinity",
                    "`sudo systemd-sysusers vicinity.conf`")
            ]
        }
        return [.ok("installation", "the unit, the user and the group vicinity are there")]
    }

    @Sendable static func agent(_ facts: DoctorFacts) -> [DoctorFinding] {
        switch facts.answer {
        case .unreachable(let code):
            let remedy = "`sudo systemctl restart vicinityd.socket vicinityd`, then `systemctl status vicinityd`"
            let reason = SystemError("connect", code: code).description
            return [
                .failure(
                    "agent", code == ENOENT || code == ECONNREFUSED ? "it does not run" : "no connection: \(reason)",
                    facts.isInstalled ? remedy : "install it first")
            ]
        case .silent:
            return [
                .failure(
                    "agent", "it does not answer", "`journalctl -u vicinityd`, then `sudo systemctl restart vicinityd`")
            ]
        case .told(_, let problems, _):
            if let peer = facts.peer, let user = facts.agentUser, facts.isInstalled, peer != user {
                return [
                    .failure(
                        "agent", "who answers is user \(peer), not vicinity: do not believe what it tells",
                        "`sudo ss -xlp src /run/vicinity/events.sock` shows which process it is")
                ]
            }
            return problems.isEmpty
                ? [.ok("agent", "it runs and answers, and knows of no problem")]
                : problems.map { problem in
                    let first = problem.split(separator: "\n").first.map { String($0) } ?? ""
                    return .warning("agent", first, "`vicinity status` shows all of it; \(Remedy.ofProblem(problem))")
                }
        }
    }

    @Sendable static func version(_ facts: DoctorFacts) -> [DoctorFinding] {
        guard case .told(_, _, let version) = facts.answer else { return [] }
        let remedy = "`sudo systemctl restart vicinityd`"
        if facts.isOutdated == true {
            return [.warning("version", "the agent's program has been replaced since it was started", remedy)]
        }
        guard let version else {
            return [.note("version", "which one the agent has it told too long ago", nil)]
        }
        return version == AgentVersion.current
            ? [.ok("version", "\(version), of agent and command alike")]
            : [.warning("version", "the agent is \(version), this command \(AgentVersion.current)", remedy)]
    }

    /// What has to be enabled, and what has to run all the time.
    static let wantedUnits: [(name: String, isRunning: Bool)] = [
        ("vicinityd.service", true), ("vicinityd.socket", true), ("vicinity-act.socket", true),
        ("vicinity-probe.socket", true), ("vicinity-protect.service", false),
    ]

    @Sendable static func units(_ facts: DoctorFacts) -> [DoctorFinding] {
        guard facts.isInstalled else { return [] }
        guard let units = facts.units else {
            return [
                .warning(
                    "units", "systemd does not run here: nobody starts the agent and its helpers",
                    "boot with systemd, or start vicinityd as user vicinity by other means")
            ]
        }
        var findings: [DoctorFinding] = []
        for (name, isRunning) in wantedUnits {
            let unit = units[name]
            if unit == nil || unit?.enablement == "" {
                findings.append(.failure("units", "\(name) is missing", "install the package again"))
            } else if let unit, unit.enablement != "enabled" {
                let unmask = unit.enablement.hasPrefix("masked") ? "sudo systemctl unmask \(name); " : ""
                findings.append(
                    .warning("units", "\(name) is \(unit.enablement)", "`\(unmask)sudo systemctl enable --now \(name)`")
                )
            } else if let unit, unit.activity == "failed" || isRunning && unit.activity != "active" {
                findings.append(
                    .failure(
                        "units", "\(name) is \(unit.activity)",
                        "`systemctl status \(name)` says why; `sudo systemctl restart \(name)`"))
            }
        }
        return findings.isEmpty ? [.ok("units", "enabled and running, all of them")] : findings
    }

    // MARK: Rules

    @Sendable static func rules(_ facts: DoctorFacts) -> [DoctorFinding] {
        guard let first = facts.ruleErrors.first else { return [.ok("rules", "every file is right")] }
        let line = first.split(separator: "\n").first.map { String($0) } ?? first
        let more = facts.ruleErrors.count > 1 ? ", and \(facts.ruleErrors.count - 1) more" : ""
        return [
            .failure(
                "rules", "\(line)\(more)", "`vicinity check` shows them; the last good rules stay in force till then")
        ]
    }

    @Sendable static func needs(_ facts: DoctorFacts) -> [DoctorFinding] {
        let names = facts.busNames ?? []
        let manager = "org.freedesktop.NetworkManager"
        func isMet(_ need: RuleNeed) -> Bool {
            switch need {
            case .networkManager, .lookout: names.contains(manager)
            case .resolver: names.contains(manager) || names.contains("org.freedesktop.resolve1")
            case .firewalld: names.contains("org.fedoraproject.FirewallD1")
            case .nft: facts.programs.contains("nft")
            }
        }
        let missing = RuleNeed.allCases.filter { facts.needs.contains($0) && !isMet($0) }
        guard missing.isEmpty else {
            return missing.map { need in
                .warning(
                    "needs", "rules need \(need.rawValue), which does not run here",
                    need == .lookout
                        ? "without it rules with ready = \"internet\" wait for ever: start one of the two"
                        : need == .nft ? "`sudo apt install nftables`" : "start it, or change the rules that need it")
            }
        }
        let supplicants = [
            ("fi.w1.wpa_supplicant1", "wpa_supplicant"), ("net.connman.iwd", "iwd"), (manager, "NetworkManager"),
        ]
        let running = supplicants.filter { names.contains($0.0) }.map(\.1)
        return [
            .ok(
                "needs",
                (facts.needs.isEmpty ? "rules need no other daemon" : "what rules need is there")
                    + (running.isEmpty ? "" : "; Wi-Fi is \(running.joined(separator: ", "))'s"))
        ]
    }

    /// In one line: all of it is `vicinity second-factor doctor`'s.
    @Sendable static func secondFactor(_ facts: DoctorFacts) -> [DoctorFinding] {
        let findings = FactorChecks.findings(facts.factor)
        let wrong = findings.filter { $0.status == .failure } + findings.filter { $0.status == .warning }
        guard let first = wrong.first else {
            let asking = FactorChecks.asking(facts.factor)
            return [
                .ok(
                    "second factor",
                    asking.isEmpty
                        ? "no PAM service asks for one" : "\(asking.joined(separator: ", ")) ask for one, and rightly")
            ]
        }
        let more = wrong.count > 1 ? ", and \(wrong.count - 1) more" : ""
        let text = "\(first.subject): \(first.text)\(more)"
        let remedy = "`sudo vicinity second-factor doctor` tells what is wrong and what to do"
        return [
            first.status == .failure
                ? .failure("second factor", text, remedy) : .warning("second factor", text, remedy)
        ]
    }

    // MARK: Who asks

    @Sendable static func memory(_ facts: DoctorFacts) -> [DoctorFinding] {
        guard let isDumpable = facts.isDumpable else { return [] }
        return isDumpable
            ? [
                .warning(
                    "memory", "the agent's memory, with names of networks in it, would be written to a core file",
                    "install the package again, and look at what stands in drop-ins of vicinityd.service")
            ] : [.ok("memory", "the agent writes no core file")]
    }

    @Sendable static func analytics(_ facts: DoctorFacts) -> [DoctorFinding] {
        guard let analytics = facts.analytics else { return [] }
        guard analytics.isWriting else {
            return [
                .note(
                    "analytics", "nothing is written about where this machine is: \(analytics.because)",
                    "`vicinity analytics status` tells more")
            ]
        }
        return [
            .ok(
                "analytics",
                "where this machine is is written for the group vicinity-analytics, names as hashes, for "
                    + "\(analytics.days) days")
        ]
    }

    @Sendable static func caller(_ facts: DoctorFacts) -> [DoctorFinding] {
        var findings: [DoctorFinding] = []
        if facts.user != 0, facts.isMember, !facts.hasGroup {
            findings.append(
                .warning(
                    "permission", "\(facts.userName) is in the group vicinity, but not since the login",
                    "log out and in again"))
        }
        guard case .told(let permission, _, _) = facts.answer else { return findings }
        switch permission {
        case "full": findings.append(.ok("permission", "\(facts.userName) may see everything"))
        case "denied", "restricted":
            if findings.isEmpty {
                findings.append(
                    .warning("permission", "\(facts.userName) may not see where this machine is", Remedy.permission))
            }
        default:
            findings.append(
                .note(
                    "permission", "\(facts.userName) sees hashes in place of names (\(permission))", Remedy.permission))
        }
        return findings
    }

    @Sendable static func session(_ facts: DoctorFacts) -> [DoctorFinding] {
        guard facts.user != 0, facts.isInSession, facts.isInstalled, let runs = facts.hasSessionHelper else {
            return []
        }
        return runs
            ? [.ok("session", "its helper runs")]
            : [
                .warning(
                    "session", "its helper does not run: what rules set on the desktop has no effect here",
                    "`systemctl --user enable --now vicinity-session`")
            ]
    }

    @Sendable static func others(_ facts: DoctorFacts) -> [DoctorFinding] {
        guard !facts.otherScripts.isEmpty else {
            return [.ok("others", "no scripts of other tools on the same occasions")]
        }
        let shown = facts.otherScripts.sorted().prefix(6).joined(separator: ", ")
        let more = facts.otherScripts.count > 6 ? " and \(facts.otherScripts.count - 6) more" : ""
        return [
            .note(
                "others", "also run when networks change: \(shown)\(more)",
                "see that they do not set what rules set as well")
        ]
    }
}
