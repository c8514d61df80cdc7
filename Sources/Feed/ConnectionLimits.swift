/// Who may have how many connections, and how often a new one, so that nobody takes them all. Pure.
struct ConnectionLimits {
    /// Connections in all; of those, so many are root's alone.
    let total: Int
    static let reserve = 64
    static let perUser = 64
    /// A user may connect so often at once, and then so often a second.
    static let burst = 128
    static let perSecond: Int64 = 32

    private(set) var count = 0
    private var byUser: [UInt32: Int] = [:]
    /// When each user will have the whole burst again (µs, boot time).
    private var restored: [UInt32: Int64] = [:]

    /// - Parameter total: at least twice the reserve.
    init(total: Int) {
        self.total = max(total, 2 * ConnectionLimits.reserve)
    }

    /// Nil where the connection is counted from now on; then `leave` has to follow.
    mutating func enter(_ user: UInt32, at now: Int64) -> FeedRefusal? {
        let isRoot = user == 0
        if !isRoot {
            guard attempt(user, at: now) else { return .tooManyAttempts }
            guard byUser[user, default: 0] < ConnectionLimits.perUser else { return .tooManyConnections }
        }
        guard count < (isRoot ? total : total - ConnectionLimits.reserve) else { return .full }
        count += 1
        byUser[user, default: 0] += 1
        return nil
    }

    mutating func leave(_ user: UInt32) {
        guard let others = byUser[user] else { return }
        count -= 1
        byUser[user] = others > 1 ? others - 1 : nil
    }

    private mutating func attempt(_ user: UInt32, at now: Int64) -> Bool {
        let cost = 1_000_000 / ConnectionLimits.perSecond
        let due = max(restored[user] ?? now, now) + cost
        guard due - now <= Int64(ConnectionLimits.burst) * cost else { return false }
        // Who has not come for a while is as good as new.
        if restored.count >= 4_096 { restored = restored.filter { $0.value > now } }
        restored[user] = due
        return true
    }
}
