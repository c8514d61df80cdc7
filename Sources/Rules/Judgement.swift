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
    /// Both sides have shown who they are: 802.1X that demanded a certification authority and a server's name.
    case mutual
    /// A host that exists only inside has shown who it is.
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

    public init(_ kind: String, _ detail: String, at location: SourceLocation? = nil) {
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

/// A network that a link might be on, but is not, or is not known to be.
public struct NetworkObjection: Hashable, Sendable {
    public var name: String
    public var interfaceName: String
    /// What agreed.
    public var evidence: [Evidence]
    /// What did not, or is not known.
    public var objection: Evidence
}

/// What an environment means under a rule set.
public struct Judgement: Hashable, Sendable {
    /// Described networks in the order of the links, then of the files; built-in ones after them.
    public var matches: [NetworkMatch] = []
    /// Networks that listed evidence speaks against.
    public var exclusions: [NetworkObjection] = []
    /// Networks of which nothing disagrees, but something is not known yet.
    public var doubts: [NetworkObjection] = []
    /// What each physical link that is up can show for a described network at most, by kernel index.
    public var linkAssurances: [Int32: Assurance] = [:]
    /// Whether nothing is to be concluded from any of it: the machine is about to sleep.
    public var isSuspended = false

    /// The least of all physical links: a second link to a strange network makes the whole place a strange one.
    public var assurance: Assurance { linkAssurances.values.min() ?? .unknown }

    public subscript(name: String) -> NetworkMatch? { matches.first { $0.name == name } }

    public func doubt(_ name: String) -> NetworkObjection? { doubts.first { $0.name == name } }

    /// Whether a match may lower protection: it and every link besides is at least so sure.
    func isTrusted(_ match: NetworkMatch, _ demanded: Assurance) -> Bool {
        !isSuspended && match.assurance >= demanded
            && linkAssurances.allSatisfy { index, assurance in
                assurance >= demanded || match.links.contains { $0.interfaceIndex == index }
            }
    }
}

/// A host that exists only inside was reached over a link.
public struct Proof: Hashable, Sendable {
    public var network: String
    public var interfaceIndex: Int32

    public init(network: String, interfaceIndex: Int32) {
        self.network = network
        self.interfaceIndex = interfaceIndex
    }
}

extension RuleSet {
    /// Which networks an environment is on. The cost grows with the number of links and of the networks that could
    /// match, not with that of all.
    ///
    /// Only links that are authorised count: one that associates, or whose roaming nobody knows the end of, matches
    /// nothing.
    public func judge(_ environment: NetworkEnvironment, proofs: Set<Proof> = []) -> Judgement {
        var judgement = Judgement()
        judgement.isSuspended = environment.isSuspended
        var links: [(link: NetworkMatch.Link, interface: Interface)] = []
        for interface in environment.interfaces.values.sorted(by: { $0.index < $1.index }) where interface.places {
            let link = NetworkMatch.Link(interface)
            judgement.linkAssurances[link.interfaceIndex] = .unknown
            let places = Dictionary(
                judgement.matches.enumerated().map { ($1.name, $0) }, uniquingKeysWith: { first, _ in first })
            for candidate in index.candidates(for: interface, in: self) {
                judge(networks[candidate], link, interface, proofs, places, into: &judgement)
            }
            links.append((link, interface))
        }
        addBuiltIn(links.map(\.link), environment, to: &judgement)
        return judgement
    }

    /// - Parameter places: of the matches that other links have made.
    private func judge(
        _ network: NetworkDefinition, _ link: NetworkMatch.Link, _ interface: Interface, _ proofs: Set<Proof>,
        _ places: [String: Int], into judgement: inout Judgement
    ) {
        var evidence: [Evidence] = []
        var doubt: Evidence?
        for finding in network.findings(on: interface) {
            switch finding.truth {
            case .yes: evidence.append(finding.evidence)
            case .maybe: doubt = doubt ?? finding.evidence
            case .no:
                // Of the names only the beginning was alike.
                if evidence.isEmpty, network.hasNames { return }
                judgement.exclusions.append(
                    NetworkObjection(
                        name: network.name, interfaceName: link.interfaceName, evidence: evidence,
                        objection: finding.evidence))
                return
            }
        }
        if let doubt {
            judgement.doubts.append(
                NetworkObjection(
                    name: network.name, interfaceName: link.interfaceName, evidence: evidence, objection: doubt))
            return
        }
        var assurance = network.assurance(on: interface)
        if assurance == .mutual { evidence.append(Evidence("802.1X", "demanded an authority and the server's name")) }
        let proof = Proof(network: network.name, interfaceIndex: link.interfaceIndex)
        if let probe = network.probe, network.canBeProven(on: interface), proofs.contains(proof) {
            assurance = .proven
            evidence.append(Evidence("probe", "\(probe.host) showed its key", at: probe.location))
        }
        let known = judgement.linkAssurances[link.interfaceIndex] ?? .unknown
        judgement.linkAssurances[link.interfaceIndex] = max(known, assurance)
        judgement.add(
            NetworkMatch(
                name: network.name, builtIn: nil, isPrivate: network.isPrivate, assurance: assurance,
                evidence: evidence, links: [link]), to: places[network.name])
    }

    private func addBuiltIn(
        _ links: [NetworkMatch.Link], _ environment: NetworkEnvironment, to judgement: inout Judgement
    ) {
        let isListed = !judgement.matches.isEmpty
        for network in BuiltInNetwork.allCases {
            let members: [NetworkMatch.Link]
            switch network {
            case .anyWiFi: members = links.filter { $0.wifi != nil }
            case .openWiFi: members = links.filter { $0.wifi?.security == .open }
            case .wired: members = links.filter { $0.kind == .ethernet }
            case .cellular: members = links.filter { $0.kind == .cellular }
            case .metered:
                // Where nobody tells it never will be known.
                guard environment.isMetered == true else { continue }
                members = links.filter { $0.interfaceIndex == environment.primaryRoute?.interfaceIndex }
            case .vpn:
                members = environment.interfaces.values.filter { $0.kind == .tunnel && $0.isUsable }
                    .sorted { $0.index < $1.index }.map { NetworkMatch.Link($0) }
            case .offline: members = []
            case .unlisted: members = isListed ? [] : links
            }
            guard !members.isEmpty || network == .metered || network == .offline && links.isEmpty else { continue }
            let detail = members.isEmpty ? "" : members.map(\.interfaceName).joined(separator: ", ")
            judgement.matches.append(
                NetworkMatch(
                    name: network.rawValue, builtIn: network, isPrivate: false, assurance: .claimed,
                    evidence: [Evidence("link", network == .offline ? "none up" : detail)], links: members))
        }
    }
}

extension Judgement {
    /// A network that two links are on is one match.
    fileprivate mutating func add(_ match: NetworkMatch, to place: Int?) {
        guard let place else {
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
    var places: Bool {
        // An access point or a monitor is no station: it has no Wi-Fi state and places nothing.
        kind == .wifi ? wifi?.network != nil : isPhysical && isUsable
    }
}
