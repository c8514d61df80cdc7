/// What shall hold as long as a rule does.
public enum StateAction: Hashable, Sendable {
    case proxy(Proxy)
    case vpn(VPN)
    case unit(Unit)
    case firewall(Firewall)
    case pam(SecondFactorDemand)

    public struct Proxy: Hashable, Sendable {
        public enum Mode: String, Hashable, Sendable, CaseIterable {
            /// The proxies named.
            case manual
            /// What a script at a fixed address says.
            case pac
            /// What the network itself proposes (WPAD).
            case auto
            /// No proxy at all.
            case none
        }

        /// Where it is set.
        public enum Target: String, Hashable, Sendable, CaseIterable {
            /// dconf, for GNOME and GTK.
            case gnome
            /// kioslaverc.
            case kde
            /// The variables of the user's units and login shells.
            case environment
            case apt
            /// `/run/vicinity/proxy.env` and `.json`.
            case file
        }

        public var mode: Mode
        /// Of the grammar that `ProxyURL` accepts.
        public var http: String?
        public var https: String?
        public var socks: String?
        public var pac: String?
        public var exclusions: [String] = []
        /// All of them where none is named.
        public var targets: Set<Target> = Set(Target.allCases)

        public init(
            mode: Mode, http: String? = nil, https: String? = nil, socks: String? = nil, pac: String? = nil,
            exclusions: [String] = [], targets: Set<Target> = Set(Target.allCases)
        ) {
            self.mode = mode
            self.http = http
            self.https = https
            self.socks = socks
            self.pac = pac
            self.exclusions = exclusions
            self.targets = targets
        }
    }

    public struct VPN: Hashable, Sendable {
        public enum Connection: Hashable, Sendable {
            case networkManager(String)
            /// An interface of wg-quick(8).
            case wgQuick(String)
            case unit(String)

            public var name: String {
                switch self {
                case .networkManager(let name), .wgQuick(let name), .unit(let name): name
                }
            }
        }

        public enum Portal: String, Hashable, Sendable, CaseIterable {
            /// Start only when the portal is behind us, 5 minutes at most.
            case wait
            case ignore
        }

        public var connection: Connection
        public var isUp: Bool
        public var portal = Portal.wait

        /// Whether its start is put off at a captive portal.
        public var waitsForPortal: Bool { isUp && portal == .wait }
    }

    public struct Unit: Hashable, Sendable {
        public enum Scope: String, Hashable, Sendable, CaseIterable {
            case system, user
        }

        /// With its suffix, such as `sshd.service`.
        public var name: String
        public var isRunning: Bool
        public var scope = Scope.system
        /// It protects: to stop it is relaxing.
        public var isProtective = false
        public var isRelaxing = false
    }

    public enum Firewall: Hashable, Sendable {
        /// firewalld's zone of the link.
        case zone(String)
        /// A set of nftables that gets the element, or the name of the link where there is none.
        case set(family: String, table: String, name: String, element: String?)
    }

    /// Whether PAM stacks that ask us demand the second factor.
    public enum SecondFactorDemand: String, Hashable, Sendable, CaseIterable {
        case require, skip
    }
}

/// What an action does to protection.
public enum Effect: Hashable, Sendable {
    case relaxing, neutral, tightening
}

extension StateAction {
    /// The name of its key.
    public var kind: String {
        switch self {
        case .proxy: "proxy"
        case .vpn: "vpn"
        case .unit: "unit"
        case .firewall: "firewall"
        case .pam: "pam"
        }
    }

    /// What it does as it begins. The end of a tightening one is relaxing.
    public var effect: Effect {
        switch self {
        case .proxy(let proxy): proxy.mode == .auto ? .relaxing : .neutral
        case .vpn(let vpn): vpn.isUp ? .tightening : .relaxing
        case .unit(let unit):
            if unit.isRelaxing || unit.isProtective && !unit.isRunning {
                .relaxing
            } else {
                unit.isProtective ? .tightening : .neutral
            }
        case .firewall(.zone(let zone)): StateAction.protectiveZones.contains(zone) ? .tightening : .relaxing
        case .firewall(.set): .relaxing
        case .pam(let demand): demand == .require ? .tightening : .relaxing
        }
    }

    /// Whether it counts whatever the priority of rules that want something else: PAM stacks let nobody off while any rule
    /// demands the factor.
    var isUndeniable: Bool { self == .pam(.require) }

    /// Zones of firewalld that let nothing in of their own accord.
    static let protectiveZones: Set = ["public", "drop", "block"]

    /// What it acts on: of two rules that want something else of the same target, one has to give way.
    public var target: Target {
        switch self {
        case .proxy: Target(kind: kind, name: "")
        case .vpn(let vpn):
            switch vpn.connection {
            case .networkManager(let name): Target(kind: "networkmanager", name: name)
            case .wgQuick(let name): Target(kind: "unit", name: "wg-quick@\(name).service")
            case .unit(let name): Target(kind: "unit", name: name)
            }
        case .unit(let unit): Target(kind: unit.scope == .user ? "user unit" : "unit", name: unit.name)
        case .firewall(.zone): Target(kind: "firewall", name: "")
        case .firewall(.set(let family, let table, let name, let element)):
            Target(kind: "nft-set", name: "\(family) \(table) \(name)\(element.map { " \($0)" } ?? "")")
        case .pam: Target(kind: kind, name: "")
        }
    }

    public struct Target: Hashable, Sendable, CustomStringConvertible {
        public var kind: String
        /// Empty where there is one for the whole machine.
        public var name: String

        public var description: String { name.isEmpty ? kind : "\(kind) \(name)" }
    }

    /// In a few words, for people.
    public var summary: String {
        switch self {
        case .proxy(let proxy): "proxy \(proxy.mode.rawValue)"
        case .vpn(let vpn): "\(target) \(vpn.isUp ? "up" : "down")"
        case .unit(let unit): "\(target) \(unit.isRunning ? "running" : "stopped")"
        case .firewall(.zone(let zone)): "firewall zone \(zone)"
        case .firewall(.set): "\(target)"
        case .pam(let demand): "pam \(demand.rawValue)"
        }
    }
}
