/// What the engine remembers of a rule.
struct RuleState {
    /// The place on which it holds, or held last.
    var subject: NetworkMatch?
    /// Whether that is just where the machine was, and no network of the rule's.
    var isPlaced = false
    /// When it began or ceased to hold (µs, boot time).
    var changedAt: Int64?
    /// The edge whose actions were run last, and may still run.
    var lastRun: Rule.Edge?
    /// It holds, and its enter actions have not been started.
    var isEntering = false
    /// What it is as far as its edge actions are concerned.
    var isEntered = false
    /// After a restart, until that is decided anew: whether it held before.
    var before: Bool?
    /// Its edge actions wait for what shows after sleep: until when at most (µs, boot time); `Int64.max` in sleep.
    var wakesBy: Int64?
    /// It holds, and the network has been ready since it does.
    var wasReady = false
    /// The state actions that another rule overrules.
    var overruled: Set<Int> = []
    /// Somebody's word that counts instead of the condition.
    var hold: Hold?
    /// The hold that ended since the rule was looked at last.
    var formerHold: Hold?
    /// After a restart, until the networks of a hold have been seen again: until when that may take (µs, boot time);
    /// `Int64.max` before anything is known.
    var confirmsHoldBy: Int64?

    var oscillation = OscillationGuard()
}

/// Holds a rule on the protected side that wants to change too often, or one change after the other without an end: a
/// link that comes and goes, somebody who makes it so, or a rule whose own actions change the network.
struct OscillationGuard: Sendable {
    /// What the rule would be without it; nil while that is what it is.
    private(set) var wanted: Bool?
    /// When that changed within the last minute (µs, boot time).
    private var changes: [Int64] = []
    /// The last of them.
    private var last: Int64?
    /// How many changes the rule has made without a rest between two.
    private var row = 0
    /// Set while the rule is held on the protected side.
    private(set) var heldUntil: Int64?

    var isHeld: Bool { heldUntil != nil }

    private static let minute: Int64 = 60_000_000

    /// What is too much.
    struct Limits: Sendable {
        var perMinute: Int
        /// However slowly one change comes after the other.
        var inRow: Int
    }

    /// By how much the row is too long.
    private var excess = 0
    /// Whether it is held for having changed one time after the other.
    var isCircling: Bool { isHeld && excess > 0 }
    /// For how long there must be no change before it is let go (µs): longer each time that it goes on after that.
    private var quiet: Int64 { OscillationGuard.minute << min(excess, 4) }
    /// The same for people.
    var quietMinutes: Int64 { quiet / OscillationGuard.minute }

    /// What somebody holds changes at their will; how often it changed before is not forgotten.
    mutating func pause() {
        wanted = nil
        heldUntil = nil
    }

    /// Whether the rule is to hold: what is wanted, unless that changes too often.
    mutating func admit(_ wanted: Bool, isActive: Bool, protected: Bool, limits: Limits, at now: Int64) -> Bool {
        if wanted != self.wanted ?? isActive {
            changes.append(now)
            // A rest of twice that ends the row.
            if let last, now - last >= 2 * quiet { row = 0 }
            last = now
            // What happens to a rule that is held changes nothing.
            if !isHeld { row += 1 }
            excess = max(row - limits.inRow, 0)
        }
        changes.removeAll { $0 <= now - OscillationGuard.minute }
        // A long row adds nothing.
        if changes.count > limits.perMinute + 1 { changes.removeFirst(changes.count - limits.perMinute - 1) }
        let isTooMuch = changes.count > limits.perMinute || excess > 0
        if let last, isTooMuch || isHeld, now < last + quiet {
            heldUntil = last + quiet
            self.wanted = wanted
            return protected
        }
        heldUntil = nil
        self.wanted = nil
        return wanted
    }
}
