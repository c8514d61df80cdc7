internal import Platform

/// Variables for what starts later: user managers read /run/environment.d (environment.d(5)), and login shells the same
/// file by /etc/profile.d/vicinity.sh. An empty value takes a variable away.
@ActionActor
public final class EnvironmentPlace: Place {
    private let file: OwnFile

    /// - Parameter root: of another tree than the machine's.
    public init(root: String = "") {
        file = OwnFile("\(root)/run/environment.d", "90-vicinity.conf", temporary: ".90-vicinity.conf.tmp")
    }

    public func read(_ names: Set<String>) throws(PlaceError) -> Settings? {
        let held = ProxyVariables.parse(try file.read() ?? [])
        return Dictionary(uniqueKeysWithValues: names.map { ($0, held[$0] ?? .unset) })
    }

    public func write(_ settings: Settings) throws(PlaceError) {
        let merged = ProxyVariables.parse(try file.read() ?? []).merging(settings) { $1 }
        let lines: [String]
        do throws(UnfitValue) { lines = try ProxyVariables.lines(merged, for: file.path) } catch {
            throw error.placeError
        }
        try file.write(lines.isEmpty ? nil : Array((lines.joined(separator: "\n") + "\n").utf8))
    }
}
