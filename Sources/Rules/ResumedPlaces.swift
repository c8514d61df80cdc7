/// Where the machine was when the agent ended, as long as it may turn out to be there still: what a network shows of
/// itself is known within a few seconds. Times are µs of boot time.
struct ResumedPlaces: Sendable {
    /// Since when the machine has been there.
    private(set) var places: [String: Int64]
    private var links: Set<Int32>?
    private var begin: Int64 = 0

    private static let slack: Int64 = 1_000_000

    init(_ places: [String: Int64] = [:]) { self.places = places }

    /// Forgets what does not count any more: a link was lost, or it has been too long.
    mutating func update(_ judgement: Judgement, in ruleSet: RuleSet, at now: Int64) {
        guard !places.isEmpty else { return }
        let present = Set(judgement.linkAssurances.keys)
        guard let links else {
            begin = now
            return links = present
        }
        guard links.isSubset(of: present) else { return places = [:] }
        places = places.filter { name, _ in
            let patience = PlaceTracker.decisionLimit + (ruleSet.network(named: name)?.stableFor ?? 0)
            return now - begin <= patience + Self.slack
        }
    }

    /// Since when the machine has been on a network where it turns out to be.
    mutating func take(_ name: String) -> Int64? { places.removeValue(forKey: name) }
}
