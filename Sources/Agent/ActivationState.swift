internal import Environment
internal import Glibc
internal import JSON
internal import Platform

/// Which rules held, and on which associations: so that a restarted agent does not enter again where it already is.
///
/// Associations are told apart by when they began, so the file holds no name.
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

    init(_ environment: NetworkEnvironment, rules: [String], pending: [String]) {
        boot = Boot.identifier
        links = ActivationState.links(of: environment)
        self.rules = rules.sorted()
        self.pending = pending.sorted()
    }

    static func links(of environment: NetworkEnvironment) -> [Link] {
        environment.interfaces.values.compactMap { interface in
            interface.wifi?.network.map { Link(index: interface.index, since: $0.associatedAt) }
        }.sorted { $0.index < $1.index }
    }

    /// Whether the rules may be resumed: not after another boot or on other associations.
    func isResumable(in environment: NetworkEnvironment) -> Bool {
        Boot.identifier == boot && ActivationState.links(of: environment) == links
    }

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
        }
        writer.endLine()
        try Files.replace(path, with: writer.octets, mode: 0o600)
    }
}
