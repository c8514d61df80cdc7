internal import Platform

/// Takes away what rules have set of the proxy in a user's session or in the machine's places, going by the journal of
/// who keeps them. Nothing that somebody else has set since is touched.
@ActionActor
public enum ProxyReset {
    public struct Row: Sendable {
        public var place: PlaceName
        /// What is taken away.
        public var removed: [String] = []
        /// Why it was not.
        public var problem: String?

        /// For people; nil where nothing was ours.
        public var line: String? { removed.isEmpty ? nil : "\(place): \(removed.joined(separator: ", "))" }
    }

    /// - Parameter path: of the journal, which is only read.
    /// - Throws: where it is there and cannot be read, so that nobody knows what is ours.
    public static func run(
        _ names: [PlaceName] = ProxySurvey.session, in places: any Places, journal path: String
    ) async throws(JournalError) -> [Row] {
        var journal = Journal(path: path)
        let ledger = try journal.load(boot: nil)
        var rows: [Row] = []
        for name in names {
            guard let entry = ledger[name], let place = places.place(name) else { continue }
            rows.append(await row(name, place, entry))
        }
        return rows
    }

    private static func row(_ name: PlaceName, _ place: any Place, _ entry: Ledger.Entry) async -> Row {
        var row = Row(place: name)
        do throws(PlaceError) {
            guard let held = try await place.read(Set(entry.items.keys)) else { return row }
            let ours = entry.items.filter { key, item in
                let now = held[key] ?? .unset
                return now != .unset && (now == item.ours || now == item.earlier)
            }
            guard !ours.isEmpty else { return row }
            try await place.write(ours.mapValues { _ in .unset })
            let left = try await place.read(Set(ours.keys)) ?? [:]
            row.removed = ours.keys.filter { left[$0] == .unset }.sorted()
            let stuck = ours.keys.filter { left[$0] != .unset }.sorted()
            if !stuck.isEmpty { row.problem = "\(name) still holds \(stuck.joined(separator: ", "))" }
        } catch {
            row.problem = error.description
        }
        return row
    }
}
