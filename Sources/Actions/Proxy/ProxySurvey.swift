public import JSON
internal import Glibc
internal import Rules

/// What the places for a proxy hold now, for people and for programs.
@ActionActor
public struct ProxySurvey {
    public struct Row: Sendable {
        public enum State: String, Sendable {
            /// Nothing is set there.
            case empty
            /// What the rule in force asks for.
            case ours
            /// What somebody else set.
            case foreign
            /// A machine or a session without such a place.
            case absent
            case unreadable
        }

        public var place: PlaceName
        public var state: State
        /// Without those that are unset.
        public var values: [String: String] = [:]
        /// Why it cannot be read.
        public var problem: String?
        /// Who has other variables than those of this place.
        var running: RunningPrograms?

        /// Who does not see it, though it is set.
        public var blind: String {
            switch place {
            case .apt: "runs of APT that have begun"
            case .environment, .userEnvironment: running.map { "\($0)" } ?? "programs that run already"
            case .kde: "programs without KDE's signal, until they start"
            default: ""
            }
        }
    }

    /// The machine's, which everybody can read, then the session's.
    public nonisolated static let machine: [PlaceName] = [.proxyFile, .apt, .environment]
    public nonisolated static let session: [PlaceName] = [.userEnvironment, .gnome, .kde]

    public private(set) var rows: [Row] = []

    /// Reads every place; one after the other, none is changed. Whose a value is follows from what `proxyFile` says of
    /// the rule in force.
    public init(_ names: [PlaceName], in places: any Places, machine: any Places) async {
        let expected = await ProxySurvey.expected(in: machine)
        for name in names {
            guard let place = places.place(name) ?? machine.place(name) else { continue }
            rows.append(await ProxySurvey.row(name, place, expected[name]))
        }
    }

    /// What each place holds where the rule in force had it set.
    private static func expected(in machine: any Places) async -> [PlaceName: Settings] {
        let names = Set(ProxyNotation.keys)
        guard let place = machine.place(.proxyFile), let held = try? await place.read(names),
            let proxy = ProxyParts.proxy(in: held), let wishes = try? proxy.wishes()
        else { return [:] }
        return Dictionary(wishes.map { ($0.place, $0.settings) }, uniquingKeysWith: { $1 })
    }

    private static func row(_ name: PlaceName, _ place: any Place, _ expected: Settings?) async -> Row {
        do throws(PlaceError) {
            let names = Set(ProxyNotation.names(of: name))
            guard let held = try await place.read(names) else { return Row(place: name, state: .absent) }
            var values: [String: String] = [:]
            for (key, setting) in held { if case .value(let value) = setting { values[key] = value } }
            let isOurs = expected.map { wanted in wanted.allSatisfy { held[$0.key] == $0.value } } ?? false
            var row = Row(
                place: name, state: values.isEmpty && !isOurs ? .empty : isOurs ? .ours : .foreign, values: values)
            let user = geteuid()
            // The machine's variables are for everybody who logs in, the session's for one user.
            if name == (user == 0 ? .environment : .userEnvironment) {
                row.running = RunningPrograms(of: user == 0 ? nil : user, without: values)
            }
            return row
        } catch {
            return Row(place: name, state: .unreadable, problem: error.description)
        }
    }

    /// One object: `places`, each with `place`, `state`, `values`, `not_seen_by`, and perhaps `problem` and `running`: how many `programs` there are, and how many of
    /// them were started with `other_variables`.
    public func write(to writer: inout JSONWriter) {
        writer.object { writer in
            writer.array("places") { writer in
                for row in rows {
                    writer.object { writer in
                        writer.field("place", row.place.description)
                        writer.field("state", row.state.rawValue)
                        writer.key("values")
                        writer.object { writer in
                            for (key, value) in row.values.sorted(by: { $0.key < $1.key }) {
                                writer.key(escaping: key)
                                writer.string(value)
                            }
                        }
                        if !row.blind.isEmpty { writer.field("not_seen_by", row.blind) }
                        if let running = row.running {
                            writer.object("running") { writer in
                                writer.field("programs", running.count)
                                writer.field("other_variables", running.others)
                            }
                        }
                        if let problem = row.problem { writer.field("problem", problem) }
                    }
                }
            }
        }
        writer.endLine()
    }
}

extension ProxyNotation {
    static let keys = ["mode", "http", "https", "socks", "pac", "no-proxy"]

    /// The settings that a rule's proxy has in a place.
    static func names(of place: PlaceName) -> [String] {
        switch place {
        case .proxyFile: keys
        case .apt: [APTPlace.http, APTPlace.https, APTPlace.direct]
        case .environment, .userEnvironment: ProxyVariables.names
        case .gnome: (try? ProxyParts(.init(mode: .none)))?.forGNOME.keys.sorted() ?? []
        case .kde: (try? ProxyParts(.init(mode: .none)))?.forKDE.keys.sorted() ?? []
        default: []
        }
    }
}
