/// What may be shown of a fleet: groups of many machines, and nothing from which a group of few could be told.
///
/// Sums are shown as well, so a group that is left out alone would be the difference between the sum and what is shown.
/// Therefore what is left out is always several groups, of enough machines together; where it is not, the smallest
/// groups that could be shown are left out as well.
public struct FleetReport: Sendable {
    public struct Table: Sendable {
        /// The one with the most machines first.
        public var shown: [FleetTally.Group] = []
        /// How many groups are left out.
        public var hidden = 0
        /// What those come to together.
        public var hiddenMinutes: Int64 = 0
        public var hiddenTransitions = 0
    }

    /// How many machines a group has at least.
    public let least: Int
    public let machines: Int
    public let lines: Int
    public let broken: Int
    public let ignored: Int
    public private(set) var networks = Table()
    public private(set) var types = Table()
    /// All machines together are too few: nothing is shown.
    public private(set) var isWithheld = false

    public init(_ tally: FleetTally) {
        least = tally.least
        (machines, lines, broken, ignored) = (tally.machines, tally.lines, tally.broken, tally.ignored)
        guard let networks = Self.table(tally.networks, tally.least),
            let types = Self.table(tally.types, tally.least)
        else {
            isWithheld = true
            return
        }
        (self.networks, self.types) = (networks, types)
    }

    /// Of everything, in minutes.
    public var minutes: Int64 { networks.shown.reduce(networks.hiddenMinutes) { $0 + $1.minutes } }
    public var transitions: Int { networks.shown.reduce(networks.hiddenTransitions) { $0 + $1.transitions } }

    /// Nil where whatever is left out comes to too few machines.
    private static func table(_ groups: [FleetTally.Group], _ least: Int) -> Table? {
        // What has no name of its own is never shown by itself.
        let isLarge = { (group: FleetTally.Group) in group.machines >= least && group.name != FleetTally.others }
        var hidden = groups.filter { !isLarge($0) }
        var shown = groups.filter(isLarge).sorted {
            ($1.machines, $1.minutes, $0.name) < ($0.machines, $0.minutes, $1.name)
        }
        if !hidden.isEmpty {
            var members = Set(hidden.flatMap(\.members))
            while hidden.count < 2 || members.count < least {
                guard let smallest = shown.popLast() else { return nil }
                hidden.append(smallest)
                members.formUnion(smallest.members)
            }
        }
        return Table(
            shown: shown, hidden: hidden.count, hiddenMinutes: hidden.reduce(0) { $0 + $1.minutes },
            hiddenTransitions: hidden.reduce(0) { $0 + $1.transitions })
    }
}
