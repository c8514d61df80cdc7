internal import Platform

/// Variables for what starts later: user managers read /run/environment.d (environment.d(5)), and login shells the same
/// file by /etc/profile.d/vicinity.sh. An empty value takes a variable away.
///
/// systemd passes over a line without a value: what is empty is written as the value of a variable that nobody sets.
@ActionActor
public final class EnvironmentPlace: Place {
    private nonisolated static let nothing = "${VICINITY_NO_PROXY}"

    private let file: OwnFile

    /// - Parameter root: of another tree than the machine's.
    public init(root: String = "") {
        file = OwnFile("\(root)/run/environment.d", "90-vicinity.conf", temporary: ".90-vicinity.conf.tmp")
    }

    public func read(_ names: Set<String>) throws(PlaceError) -> Settings? {
        let held = try held()
        return Dictionary(uniqueKeysWithValues: names.map { ($0, held[$0] ?? .unset) })
    }

    public func tidy() { file.tidy() }

    public func write(_ settings: Settings) throws(PlaceError) {
        let merged = try held().merging(settings) { $1 }
        let lines: [String]
        do throws(UnfitValue) { lines = try ProxyVariables.lines(merged, for: file.path) } catch {
            throw error.placeError
        }
        let text = lines.map { $0.hasSuffix("=") ? $0 + EnvironmentPlace.nothing : $0 }
        try file.write(text.isEmpty ? nil : Array((text.joined(separator: "\n") + "\n").utf8))
    }

    private func held() throws(PlaceError) -> Settings {
        ProxyVariables.parse(try file.read() ?? []).mapValues {
            $0 == .value(EnvironmentPlace.nothing) ? .value("") : $0
        }
    }
}
