public import Environment
internal import WiFi

/// How sure we are that the machine is where it seems to be.
public enum Assurance: Int, Hashable, Sendable, Comparable, CustomStringConvertible {
    /// No evidence, or a link that is not authorised.
    case unknown
    /// The name matches; anyone in range can do that.
    case claimed
    /// The other side knows the passphrase.
    case keyed
    /// Both sides have shown who they are. (No evidence leads here yet.)
    case mutual
    /// A host that exists only inside has shown who it is. (No evidence leads here yet.)
    case proven

    public var description: String {
        switch self {
        case .unknown: "unknown"
        case .claimed: "claimed"
        case .keyed: "keyed"
        case .mutual: "mutual"
        case .proven: "proven"
        }
    }

    public static func < (left: Assurance, right: Assurance) -> Bool { left.rawValue < right.rawValue }
}

/// One reason for a match or against it. It never tells an SSID, only where one is listed.
public struct Evidence: Hashable, Sendable, CustomStringConvertible {
    /// Such as `ssid`, `security` or `link`.
    public var kind: String
    public var detail: String
    public var location: SourceLocation?

    public init(kind: String, detail: String, location: SourceLocation? = nil) {
        self.kind = kind
        self.detail = detail
        self.location = location
    }

    public var description: String {
        let text = detail.isEmpty ? kind : "\(kind) \(detail)"
        return location.map { "\(text) (\($0))" } ?? text
    }
}

/// A network the machine is on, and by which links.
public struct NetworkMatch: Hashable, Sendable {
    /// The link that makes the match.
    public struct Link: Hashable, Sendable {
        public var interfaceIndex: Int32
        public var interfaceName: String
        public var kind: LinkKind
        /// What a Wi-Fi link is joined to.
        public var wifi: WiFiNetwork?

        public init(_ interface: Interface) {
            interfaceIndex = interface.index
            interfaceName = interface.name
            kind = interface.kind
            wifi = interface.wifi?.network
        }
    }

    public var name: String
    /// Nil for networks that files describe.
    public var builtIn: BuiltInNetwork?
    public var isPrivate: Bool
    /// The least of its links'.
    public var assurance: Assurance
    public var evidence: [Evidence]
    /// In the order of their kernel index; empty for `offline` only.
    public var links: [Link]

    /// Whether it is a place, so that entering and leaving it are told: every described network, and `unlisted`.
    public var isPlace: Bool { builtIn?.isPlace ?? true }
}

/// A network whose name matched and which was excluded all the same.
public struct NetworkExclusion: Hashable, Sendable {
    public var name: String
    public var evidence: Evidence
}

/// What an environment means under a rule set.
public struct Judgement: Hashable, Sendable {
    /// Described networks in the order of the links, then of the files; built-in ones after them.
    public var matches: [NetworkMatch] = []
    public var exclusions: [NetworkExclusion] = []
    /// The least that any physical link which is up can show for a described network: a second link to a strange
    /// network makes the whole place a strange one.
    public var assurance = Assurance.unknown

    public subscript(name: String) -> NetworkMatch? { matches.first { $0.name == name } }
}

extension RuleSet {
    /// Which networks an environment is on. The cost grows with the number of links, not of networks.
    ///
    /// Only links that are authorised count: one that associates, or whose roaming nobody knows the end of, matches
    /// nothing.
    public func judge(_ environment: NetworkEnvironment) -> Judgement {
        var judgement = Judgement()
        var links: [NetworkMatch.Link] = []
        for interface in environment.interfaces.values.sorted(by: { $0.index < $1.index }) where interface.places {
            let link = NetworkMatch.Link(interface)
            let assurance = match(link, into: &judgement)
            judgement.assurance = links.isEmpty ? assurance : min(judgement.assurance, assurance)
            links.append(link)
        }
        addBuiltIn(links, to: &judgement)
        return judgement
    }

    /// Adds the described networks of one link; answers the highest assurance among them.
    private func match(_ link: NetworkMatch.Link, into judgement: inout Judgement) -> Assurance {
        guard let wifi = link.wifi, let ssid = wifi.ssid else { return .unknown }
        var highest = Assurance.unknown
        var matched = -1
        for listing in listings(of: ssid) where listing.network != matched {
            // An SSID may be listed twice, as text and in hexadecimal.
            matched = listing.network
            let network = networks[matched]
            var evidence = [
                Evidence(kind: "ssid", detail: "listed", location: network.ssids[listing.ssid].location)
            ]
            if let allowed = network.security {
                let security = wifi.security.rawValue
                guard allowed.contains(wifi.security) else {
                    let reason = Evidence(
                        kind: "security", detail: "\(security) not allowed", location: network.securityLocation)
                    judgement.exclusions.append(NetworkExclusion(name: network.name, evidence: reason))
                    continue
                }
                evidence.append(
                    Evidence(kind: "security", detail: "\(security) allowed", location: network.securityLocation))
            }
            let assurance = wifi.security.assurance
            highest = max(highest, assurance)
            judgement.add(
                NetworkMatch(
                    name: network.name, builtIn: nil, isPrivate: network.isPrivate, assurance: assurance,
                    evidence: evidence, links: [link]))
        }
        return highest
    }

    private func addBuiltIn(_ links: [NetworkMatch.Link], to judgement: inout Judgement) {
        let isListed = !judgement.matches.isEmpty
        for network in BuiltInNetwork.allCases {
            let members: [NetworkMatch.Link] =
                switch network {
                case .anyWiFi: links.filter { $0.wifi != nil }
                case .openWiFi: links.filter { $0.wifi?.security == .open }
                case .wired: links.filter { $0.kind == .ethernet }
                case .cellular: links.filter { $0.kind == .cellular }
                case .offline: []
                case .unlisted: isListed ? [] : links
                }
            guard !members.isEmpty || network == .offline && links.isEmpty else { continue }
            let detail = members.isEmpty ? "none up" : members.map(\.interfaceName).joined(separator: ", ")
            judgement.matches.append(
                NetworkMatch(
                    name: network.rawValue, builtIn: network, isPrivate: false, assurance: .claimed,
                    evidence: [Evidence(kind: "link", detail: detail)], links: members))
        }
    }
}

extension Judgement {
    /// A network that two links are on is one match.
    fileprivate mutating func add(_ match: NetworkMatch) {
        guard let place = matches.firstIndex(where: { $0.name == match.name }) else {
            matches.append(match)
            return
        }
        matches[place].assurance = min(matches[place].assurance, match.assurance)
        matches[place].links += match.links
        for evidence in match.evidence where !matches[place].evidence.contains(evidence) {
            matches[place].evidence.append(evidence)
        }
    }
}

extension Interface {
    /// Whether it is a link that says where the machine is.
    fileprivate var places: Bool {
        // An access point or a monitor is no station: it has no Wi-Fi state and places nothing.
        kind == .wifi ? wifi?.network != nil : isPhysical && isUsable
    }
}

extension Security {
    /// What an authorised link of this class shows. Whether an 802.1X profile demands a server's name is not known
    /// yet, so those count as not demanding it.
    fileprivate var assurance: Assurance {
        switch self {
        case .wpaPSK, .wpa2PSK, .wpa3SAE: .keyed
        case .open, .owe, .wep, .wpa2Enterprise, .wpa3Enterprise, .wpa3Enterprise192, .unknown: .claimed
        }
    }
}
