internal import Rules

/// What `vicinity doctor` goes by: gathered at the edge, so that every check is a function of values.
struct DoctorFacts {
    // MARK: The machine

    /// Nil where the kernel could not be asked.
    var hasWirelessFamily: Bool?
    /// As the kernel calls them, such as `phy0`.
    var wirelessDevices: [String] = []
    /// µs since 1970.
    var now: Int64 = 0
    var bootIdentifier = ""

    // MARK: The agent

    enum Answer: Equatable {
        /// `errno(3)` of connect(2).
        case unreachable(Int32)
        case silent
        case told(permission: String, problems: [String], version: String?)
    }

    var answer = Answer.unreachable(2)
    /// Who is at the other end of the agent's socket.
    var peer: UInt32?
    /// Whether the program that runs has been replaced since; nil where that cannot be seen.
    var isOutdated: Bool?
    /// What is written about where the machine is; nil where the agent was not asked, or does not say.
    var analytics: AnalyticsFact?
    /// Whether the kernel would write its memory to a file.
    var isDumpable: Bool?
    var isInstalled = false

    struct AnalyticsFact: Equatable {
        var isWriting: Bool
        /// Why not.
        var because: String
        var days: Int64
    }

    /// Of a unit, by the service manager's word.
    struct UnitFact: Equatable {
        /// `active`, `inactive`, `failed`, …
        var activity: String
        /// `enabled`, `disabled`, `masked`, …; empty where there is no such file.
        var enablement: String
    }

    /// By name; nil where no service manager of systemd's runs.
    var units: [String: UnitFact]?

    // MARK: Files

    enum FileFact: Equatable {
        enum Kind: Equatable {
            case file, directory, socket, other
        }

        case missing
        /// It could not be looked at; `errno(3)`.
        case unknown(Int32)
        case there(kind: Kind, owner: UInt32, group: UInt32, mode: UInt32)
    }

    /// By path; what is not among them was not looked at.
    var files: [String: FileFact] = [:]

    struct DiskFact: Equatable {
        var path: String
        /// Octets that others than root can still write.
        var free: UInt64
        /// Nil where the file system does not count them.
        var freeFiles: UInt64?
        var isReadOnly: Bool
    }

    var disks: [DiskFact] = []

    // MARK: Rules

    var ruleErrors: [String] = []
    var needs: Set<RuleNeed> = []
    /// Names on the system bus, running or to be started; nil where there is no bus.
    var busNames: Set<String>?
    /// Programs that were looked for and are there.
    var programs: Set<String> = []

    /// Of second factors.
    var factor = FactorFacts()

    // MARK: Who asks

    var user: UInt32 = 0
    var userName = "?"
    /// Of the user `vicinity`; nil where there is none.
    var agentUser: UInt32?
    /// Of the group `vicinity`.
    var agentGroup: UInt32?
    /// Of the group `vicinity-analytics`, which reads the log.
    var logGroup: UInt32?
    /// Whether the group's list has the user.
    var isMember = false
    /// Whether this process has the group.
    var hasGroup = false
    var isInSession = false
    /// Whether the helper of this user's session runs; nil where that cannot be seen.
    var hasSessionHelper: Bool?

    // MARK: Others

    /// Scripts of other tools that act on the same occasions.
    var otherScripts: [String] = []
}

/// A daemon that rules need to be of effect.
enum RuleNeed: String, CaseIterable {
    case networkManager = "NetworkManager"
    case resolver = "systemd-resolved or NetworkManager"
    case firewalld
    case nft
    case lookout = "NetworkManager, or [connectivity] in vicinity.toml"

    /// What a rule set takes.
    ///
    /// - Parameter hasLookout: whether the agent itself looks how far packets get.
    static func needs(of ruleSet: RuleSet, hasLookout: Bool) -> Set<RuleNeed> {
        var needs: Set<RuleNeed> = []
        for rule in ruleSet.rules where rule.isEnabled {
            for state in rule.states {
                switch state.value {
                case .vpn(let vpn): if case .networkManager = vpn.connection { needs.insert(.networkManager) }
                case .firewall(.zone): needs.insert(.firewalld)
                case .firewall(.set): needs.insert(.nft)
                case .proxy, .unit, .pam: break
                }
            }
            for case .vpn(let vpn) in (rule.enter + rule.leave).map(\.value) {
                if case .networkManager = vpn.connection { needs.insert(.networkManager) }
            }
            if rule.readiness == .internet, !hasLookout { needs.insert(.lookout) }
            if rule.condition.networks.contains(where: { $0.name == BuiltInNetwork.metered.rawValue }) {
                needs.insert(.networkManager)
            }
        }
        for network in ruleSet.networks {
            if !network.domains.isEmpty { needs.insert(.resolver) }
            if network.highestAssurance == .mutual { needs.insert(.networkManager) }
        }
        return needs
    }
}
