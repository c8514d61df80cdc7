internal import Glibc
internal import Platform

/// What has to be where, whose it is, and that there is room.
extension DoctorChecks {
    static let feedSocket = "/run/vicinity/events.sock"
    static let sessionSocket = "/run/vicinity/session.sock"
    static let actSocket = "/run/vicinity-act.sock"
    static let probeSocket = "/run/vicinity-probe.sock"
    static let stateDirectory = "/var/lib/vicinity"
    static let logDirectory = "/var/log/vicinity"
    static let helperState = "/var/lib/vicinity-act"
    static let policy = "/usr/share/polkit-1/actions/io.vicinity.policy"
    static let busPolicy = "/usr/share/dbus-1/system.d/io.vicinity.conf"

    static let paths = [
        "/run/vicinity", feedSocket, sessionSocket, actSocket, probeSocket, stateDirectory, logDirectory, helperState,
        policy, busPolicy, "/usr/libexec/vicinityd", "/usr/libexec/vicinity-act", "/usr/libexec/vicinity-probe",
    ]

    /// Whose something has to be, and what others must not be able to do with it.
    private struct Wish {
        let path: String
        let kind: DoctorFacts.FileFact.Kind
        let owner: UInt32?
        var group: UInt32?
        /// Bits that must not be set.
        let forbidden: UInt32
        let remedy: String
        var mayBeMissing = false
    }

    private static func finding(_ subject: String, _ wish: Wish, _ facts: DoctorFacts) -> DoctorFinding? {
        switch facts.files[wish.path] {
        case nil: return nil
        case .missing: return wish.mayBeMissing ? nil : .failure(subject, "\(wish.path) is missing", wish.remedy)
        case .unknown(let code):
            return .warning(
                subject, "\(wish.path) cannot be looked at: \(SystemError("stat", code: code))", "ask as root")
        case .there(let kind, let owner, let group, let mode):
            guard kind == wish.kind else {
                return .failure(
                    subject, "\(wish.path) is something else than it should be", "remove it; \(wish.remedy)")
            }
            if let wanted = wish.owner, owner != wanted {
                return .failure(subject, "\(wish.path) belongs to user \(owner), not to user \(wanted)", wish.remedy)
            }
            if let wanted = wish.group, group != wanted {
                return .failure(subject, "\(wish.path) is group \(group)'s, not group \(wanted)'s", wish.remedy)
            }
            guard mode & wish.forbidden == 0 else {
                let allowed = String(mode & ~wish.forbidden & 0o7777, radix: 8)
                return .failure(
                    subject, "\(wish.path) is open to others than it should be (\(String(mode & 0o7777, radix: 8)))",
                    "`sudo chmod \(allowed) \(wish.path)`")
            }
            return nil
        }
    }

    @Sendable static func sockets(_ facts: DoctorFacts) -> [DoctorFinding] {
        guard facts.isInstalled, let agent = facts.agentUser, let group = facts.agentGroup else { return [] }
        func restart(_ unit: String) -> String { "`sudo systemctl restart \(unit)`" }
        let feed = restart("vicinityd.socket vicinityd")
        let wishes = [
            Wish(path: "/run/vicinity", kind: .directory, owner: 0, forbidden: 0o022, remedy: feed),
            Wish(path: feedSocket, kind: .socket, owner: 0, forbidden: 0, remedy: feed),
            Wish(path: sessionSocket, kind: .socket, owner: 0, forbidden: 0, remedy: feed),
            Wish(
                path: actSocket, kind: .socket, owner: 0, group: group, forbidden: 0o007,
                remedy: restart("vicinity-act.socket")),
            Wish(
                path: probeSocket, kind: .socket, owner: agent, forbidden: 0o077,
                remedy: restart("vicinity-probe.socket")),
        ]
        let findings = wishes.compactMap { finding("sockets", $0, facts) }
        return findings.isEmpty ? [.ok("sockets", "there, each its owner's")] : findings
    }

    @Sendable static func state(_ facts: DoctorFacts) -> [DoctorFinding] {
        guard facts.isInstalled, let agent = facts.agentUser else { return [] }
        let again = "`sudo systemctl restart vicinityd` makes it anew"
        let wishes = [
            Wish(path: stateDirectory, kind: .directory, owner: agent, forbidden: 0o077, remedy: again),
            Wish(
                path: logDirectory, kind: .directory, owner: agent, group: facts.logGroup, forbidden: 0o027,
                remedy: "`sudo systemd-tmpfiles --create vicinity.conf`"),
            Wish(
                path: helperState, kind: .directory, owner: 0, forbidden: 0o077,
                remedy: "`sudo systemctl restart vicinity-act.socket` makes it anew", mayBeMissing: true),
        ]
        let findings = wishes.compactMap { finding("state", $0, facts) }
        return findings.isEmpty
            ? [.ok("state", "directories of state and logs are theirs alone who write there")] : findings
    }

    /// Enough for a history of the full length and what follows it.
    private static let leastSpace: UInt64 = 64 << 20

    @Sendable static func disks(_ facts: DoctorFacts) -> [DoctorFinding] {
        var findings: [DoctorFinding] = []
        for disk in facts.disks {
            if disk.isReadOnly {
                findings.append(
                    .failure(
                        "disk", "\(disk.path) is read-only: nothing can be remembered, and only what protects is set",
                        "`dmesg` tells why; mount it writable again"))
            } else if disk.free == 0 || disk.freeFiles == 0 {
                findings.append(
                    .failure("disk", "there is no room below \(disk.path)", "`df -h -i \(disk.path)`; make room"))
            } else if disk.free < leastSpace || (disk.freeFiles ?? .max) < 1_000 {
                findings.append(
                    .warning(
                        "disk", "\(disk.free >> 20) MiB are left below \(disk.path)",
                        "`df -h -i \(disk.path)`; make room before history and journal cannot be written"))
            }
        }
        return findings.isEmpty
            ? facts.disks.isEmpty ? [] : [.ok("disk", "there is room for state and logs")] : findings
    }

    @Sendable static func policies(_ facts: DoctorFacts) -> [DoctorFinding] {
        guard facts.isInstalled else { return [] }
        let again = "install the package again"
        var wishes = [policy, busPolicy].map {
            Wish(path: $0, kind: .file, owner: 0, forbidden: 0o022, remedy: again)
        }
        wishes += ["vicinityd", "vicinity-act", "vicinity-probe"].map {
            Wish(path: "/usr/libexec/\($0)", kind: .file, owner: 0, forbidden: 0o022, remedy: again)
        }
        let findings = wishes.compactMap { finding("files", $0, facts) }
        return findings.isEmpty
            ? [.ok("files", "programs and the policies of polkit and D-Bus are in place")] : findings
    }

    @Sendable static func bus(_ facts: DoctorFacts) -> [DoctorFinding] {
        guard facts.isInstalled else { return [] }
        guard let names = facts.busNames else {
            return [
                .failure(
                    "bus", "the system bus does not answer: no rule can be held by hand, and no unit be started",
                    "`sudo systemctl start dbus`")
            ]
        }
        var findings: [DoctorFinding] = []
        if case .told = facts.answer, !names.contains("io.vicinity") {
            findings.append(
                .failure(
                    "bus", "the agent has not got its name io.vicinity: `vicinity hold` and `run` reach nobody",
                    "`sudo systemctl reload dbus`, then `sudo systemctl restart vicinityd`"))
        }
        if !names.contains("org.freedesktop.PolicyKit1") {
            findings.append(
                .warning(
                    "bus", "polkit is not there: only root may hold rules by hand", "`sudo apt install polkitd`"))
        }
        return findings.isEmpty ? [.ok("bus", "the agent and polkit have their names")] : findings
    }
}
