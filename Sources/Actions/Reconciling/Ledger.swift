internal import Rules

/// What we put into places and what was there before: enough to put everything back, whenever we were interrupted.
///
/// Pure bookkeeping. Before a place is touched the ledger is written to disk with what is about to be written, so that
/// afterwards a value is known to be ours or somebody else's. Somebody else's is never overwritten by a restoration.
struct Ledger: Hashable, Sendable {
    /// One setting of a place.
    struct Item: Hashable, Sendable {
        /// What we write, or wrote.
        var ours: Setting
        /// What we wrote before that, until the new value has been read back: either may be there after an accident.
        var earlier: Setting?
        /// What was there before us.
        var saved: Setting
        /// False: it is to be put back.
        var isWanted = true
    }

    /// What we did in one place.
    struct Entry: Hashable, Sendable {
        var rule: String
        /// Among the rule's state actions.
        var index: Int
        var effect: Effect
        var items: [String: Item]
        /// What is wanted has been read back, and nothing remains to be put back.
        var isSettled = false
    }

    /// In the order in which the places were first touched.
    var order: [PlaceName] = []
    private(set) var entries: [PlaceName: Entry] = [:]
    /// What raised protection and was ended by the agent's word: without it, it holds again.
    var lifted: [PlaceName: Wish] = [:]
    /// Somebody asked for what lowers protection to be undone, and neither was it, nor has the agent spoken since.
    var isProtecting = false

    /// What a rule wants of a place.
    struct Wish: Hashable, Sendable {
        var rule: String
        var index: Int
        var effect: Effect
        var settings: Settings
    }

    subscript(_ place: PlaceName) -> Entry? {
        get { entries[place] }
        set {
            if newValue == nil {
                order.removeAll { $0 == place }
            } else if entries[place] == nil {
                order.append(place)
            }
            entries[place] = newValue
        }
    }

    // MARK: Steps

    /// Whether nothing is to be done for this wish.
    func isDone(_ place: PlaceName, _ wish: Wish?) -> Bool {
        guard let entry = entries[place] else { return wish == nil }
        guard let wish else { return false }
        return entry.isSettled && entry.items.filter(\.value.isWanted).mapValues(\.ours) == wish.settings
    }

    /// The settings that have to be read before `begin`.
    func names(_ place: PlaceName, _ wish: Wish?) -> Set<String> {
        Set(entries[place]?.items.keys.map { $0 } ?? []).union(wish?.settings.keys.map { $0 } ?? [])
    }

    /// Notes what is about to be done towards a wish, nil for none, where the place holds `current`.
    ///
    /// - Returns: what is to be written once the ledger is on disk.
    mutating func begin(_ place: PlaceName, _ wish: Wish?, current: Settings) -> Settings {
        var entry =
            self[place]
            ?? Entry(rule: wish?.rule ?? "", index: wish?.index ?? 0, effect: wish?.effect ?? .neutral, items: [:])
        let wasSettled = entry.isSettled
        var changes: Settings = [:]
        for (name, value) in wish?.settings ?? [:] {
            let now = current[name] ?? .unset
            if var item = entry.items[name] {
                let isOurs = now == item.ours || now == item.earlier || !wasSettled && now == item.saved
                // Somebody set it since: that is what comes back when nothing is asked of it any more.
                if !isOurs { item.saved = now }
                if item.ours != value { item.earlier = item.ours }
                item.ours = value
                item.isWanted = true
                entry.items[name] = item
            } else {
                entry.items[name] = Item(ours: value, saved: now)
            }
            if now != value { changes[name] = value }
        }
        for (name, item) in entry.items where wish?.settings[name] == nil {
            entry.items[name]?.isWanted = false
            let now = current[name] ?? .unset
            if (now == item.ours || now == item.earlier), now != item.saved { changes[name] = item.saved }
        }
        if let wish { (entry.rule, entry.index, entry.effect) = (wish.rule, wish.index, wish.effect) }
        entry.isSettled = false
        self[place] = entry
        return changes
    }

    /// Notes what the place holds after `begin` and writing.
    ///
    /// - Returns: the settings that are not as they should be.
    mutating func finish(_ place: PlaceName, current: Settings) -> [String] {
        guard var entry = self[place] else { return [] }
        var wrong: [String] = []
        for (name, item) in entry.items {
            let now = current[name] ?? .unset
            if item.isWanted {
                if now == item.ours { entry.items[name]?.earlier = nil } else { wrong.append(name) }
            } else if now != item.saved && (now == item.ours || now == item.earlier) {
                wrong.append(name)
            } else {
                entry.items[name] = nil
            }
        }
        entry.isSettled = wrong.isEmpty
        self[place] = entry.items.isEmpty ? nil : entry
        return wrong.sorted()
    }

    /// What was done after this was written is not known: every place has to be looked at again.
    mutating func distrust() {
        for place in order { entries[place]?.isSettled = false }
    }

    /// The place is not on this machine, or not any more.
    mutating func forget(_ place: PlaceName) { self[place] = nil }

    /// Notes what of the place's protection ends, or begins again, by the agent's word; to be said before `begin`.
    mutating func lift(_ place: PlaceName, for wish: Wish?) {
        guard wish?.effect != .tightening else { return lifted[place] = nil }
        guard let entry = entries[place], entry.effect == .tightening else { return }
        let wanted = entry.items.filter(\.value.isWanted)
        guard !wanted.isEmpty else { return }
        lifted[place] = Wish(
            rule: entry.rule, index: entry.index, effect: .tightening, settings: wanted.mapValues(\.ours))
    }

    /// After a reboot: what places that lose everything held is gone.
    mutating func forgetVolatile() {
        for place in order where place.isVolatile { self[place] = nil }
        lifted = lifted.filter { !$0.key.isVolatile }
    }

    // MARK: Protection

    /// What shall hold when the agent does not answer for it any more: nothing that lowers protection, and everything
    /// that raised it and was ended. Of what has no effect on protection nothing is said.
    var protectedWishes: [PlaceName: Wish?] {
        var wishes: [PlaceName: Wish?] = lifted.mapValues { $0 }
        for (place, entry) in entries where entry.effect == .relaxing && wishes[place] == nil {
            wishes[place] = Wish?.none
        }
        return wishes
    }
}
