internal import Environment
internal import Glibc
internal import JSON
internal import Platform
internal import Rules

/// Where the machine was, which rules held, and on which associations: so that a restarted agent does not enter again
/// where it already is. And which rules somebody holds, until when.
///
/// Associations are told apart by when they began, and places by their names in the rule files, so the file has no name
/// from the air.
struct ActivationState: Hashable {
    struct Link: Hashable {
        var index: Int32
        /// µs, boot time; nil where the driver does not tell.
        var since: Int64?
    }

    var boot: String
    var links: [Link]
    var rules: [String]
    /// Those of them whose enter actions have not been started yet.
    var pending: [String]
    /// By the name of the rule. Boot time goes on in the same boot, whatever happens to the agent.
    var holds: [String: Hold]
    var owed: FactorDebts
    /// By the name of the network: since when (µs, boot time).
    var places: [String: Int64]

    init(
        _ environment: NetworkEnvironment, rules: [String], pending: [String], holds: [String: Hold],
        owed: FactorDebts = FactorDebts(), places: [String: Int64] = [:]
    ) {
        boot = Boot.identifier
        links = ActivationState.links(of: environment)
        self.rules = rules.sorted()
        self.pending = pending.sorted()
        self.holds = holds
        self.owed = owed
        self.places = places
    }

    static func links(of environment: NetworkEnvironment) -> [Link] {
        environment.interfaces.values.compactMap { interface in
            interface.wifi?.network.map { Link(index: interface.index, since: $0.associatedAt) }
        }.sorted { $0.index < $1.index }
    }

    /// Whether the rules may be resumed: not after another boot or on other associations.
    func isResumable(in environment: NetworkEnvironment) -> Bool {
        isOfThisBoot && ActivationState.links(of: environment) == links
    }

    var isOfThisBoot: Bool { Boot.identifier == boot }

    // MARK: File

    /// A hundred thousand rules, the longest names, all of them waiting.
    private static let maximumSize = 16 << 20

    /// Nil where there is none that can be read: then everything is entered anew.
    init?(readingFrom path: String) {
        guard let contents = try? Files.read(path, limit: ActivationState.maximumSize),
            let value = try? JSONValue(parsing: contents, maximumSize: ActivationState.maximumSize),
            let boot = value["boot"]?.string,
            let links = value["links"]?.array, let rules = value["rules"]?.array
        else { return nil }
        self.boot = boot
        self.links = links.compactMap { link in
            guard let index = link["ifindex"]?.integer.flatMap({ Int32(exactly: $0) }) else { return nil }
            return Link(index: index, since: link["since"]?.integer)
        }
        self.rules = rules.compactMap(\.string)
        pending = (value["pending"]?.array ?? []).compactMap(\.string)
        holds = ActivationState.holds(in: value["holds"])
        // Without them everything is entered anew, and demanded.
        guard let owed = FactorDebts(value["owed"]) else { return nil }
        self.owed = owed
        places = ActivationState.places(in: value["places"])
    }

    private static func places(in value: JSONValue?) -> [String: Int64] {
        let now = Timestamp.now().boottime
        var places: [String: Int64] = [:]
        for entry in value?.array ?? [] {
            guard let name = entry["network"]?.string, let since = entry["since"]?.integer, (0...now).contains(since)
            else { return [:] }
            places[name] = since
        }
        return places
    }

    /// One that makes no sense spoils all of them: a rule that nobody holds is what its condition says.
    private static func holds(in value: JSONValue?) -> [String: Hold] {
        var holds: [String: Hold] = [:]
        for entry in value?.array ?? [] {
            guard let rule = entry["rule"]?.string, let hold = Hold(entry), holds.updateValue(hold, forKey: rule) == nil
            else { return [:] }
        }
        return holds
    }

    func write(to path: String) throws(SystemError) {
        var writer = JSONWriter()
        writer.object { writer in
            writer.field("boot", boot)
            writer.array("links") { writer in
                for link in links {
                    writer.object { writer in
                        writer.field("ifindex", link.index)
                        writer.field("since", link.since)
                    }
                }
            }
            writer.array("rules") { writer in
                for rule in rules { writer.string(rule) }
            }
            writer.array("pending") { writer in
                for rule in pending { writer.string(rule) }
            }
            writer.array("holds") { writer in
                for (rule, hold) in holds.sorted(by: { $0.key < $1.key }) { hold.write(of: rule, to: &writer) }
            }
            owed.write(to: &writer)
            writer.array("places") { writer in
                for (name, since) in places.sorted(by: { $0.key < $1.key }) {
                    writer.object { writer in
                        writer.field("network", name)
                        writer.field("since", since)
                    }
                }
            }
        }
        writer.endLine()
        try Files.replace(path, with: writer.octets, mode: 0o600)
    }
}

extension Hold {
    fileprivate init?(_ value: JSONValue) {
        guard let isOn = value["on"]?.bool, let holder = value["by"]?.string, let isUsers = value["user"]?.bool,
            let since = value["since"]?.integer, let until = value["until"]?.integer,
            let endsWithPlace = value["until_network_change"]?.bool,
            // What began in the future would never be over.
            since <= Timestamp.now().boottime, since < until
        else { return nil }
        self.init(
            isOn: isOn, by: holder, isUsers: isUsers, since: since, until: until, endsWithPlace: endsWithPlace,
            networks: value["networks"]?.array.map { Set($0.compactMap(\.string)) })
    }

    fileprivate func write(of rule: String, to writer: inout JSONWriter) {
        writer.object { writer in
            writer.field("rule", rule)
            writer.field("on", isOn)
            writer.field("by", holder)
            writer.field("user", isUsers)
            writer.field("since", since)
            writer.field("until", until)
            writer.field("until_network_change", endsWithPlace)
            guard let networks else { return }
            writer.array("networks") { writer in
                for network in networks.sorted() { writer.string(network) }
            }
        }
    }
}
