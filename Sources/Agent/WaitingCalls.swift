/// How many calls may wait for an answer, and how often users may change something: whoever calls without end keeps
/// neither others from calling nor the agent from its work.
package struct WaitingCalls {
    package static let perSender = 8
    package static let inAll = 128
    /// Of those, how many polkit is being asked about; root's never are.
    package static let askedPerUser = 4
    package static let asked = 16
    /// Of those, how many wait for a user's second factor. They can wait for as long as a screen is locked.
    package static let factorsPerUser = 4
    package static let factors = 16
    /// How often within a minute a user may hold and release what takes nobody's leave.
    package static let changesPerMinute = 20

    private var bySender: [String: Int] = [:]
    private var byUser: [UInt32: Int] = [:]
    private var factorsByUser: [UInt32: Int] = [:]
    private var changes: [UInt32: [Int64]] = [:]

    package init() {}

    /// - Returns: whether there is room; then `leave(_:)` has to follow.
    package mutating func enter(_ sender: String) -> Bool {
        guard bySender[sender, default: 0] < Self.perSender, bySender.values.reduce(0, +) < Self.inAll else {
            return false
        }
        bySender[sender, default: 0] += 1
        return true
    }

    package mutating func leave(_ sender: String) {
        guard let count = bySender[sender] else { return }
        bySender[sender] = count > 1 ? count - 1 : nil
    }

    /// - Returns: whether polkit may be asked about one more call; then `answered(_:)` has to follow.
    package mutating func ask(_ user: UInt32) -> Bool {
        guard byUser[user, default: 0] < Self.askedPerUser, byUser.values.reduce(0, +) < Self.asked else {
            return false
        }
        byUser[user, default: 0] += 1
        return true
    }

    package mutating func answered(_ user: UInt32) {
        guard let count = byUser[user] else { return }
        byUser[user] = count > 1 ? count - 1 : nil
    }

    /// - Returns: whether one more may wait for a second factor; then `demanded(_:)` has to follow.
    package mutating func demand(_ user: UInt32) -> Bool {
        guard factorsByUser[user, default: 0] < Self.factorsPerUser,
            factorsByUser.values.reduce(0, +) < Self.factors
        else { return false }
        factorsByUser[user, default: 0] += 1
        return true
    }

    package mutating func demanded(_ user: UInt32) {
        guard let count = factorsByUser[user] else { return }
        factorsByUser[user] = count > 1 ? count - 1 : nil
    }

    /// Notes that a user changes something by right of `user-hold`.
    ///
    /// - Parameter now: µs.
    /// - Returns: whether that is not too often.
    package mutating func change(_ user: UInt32, at now: Int64) -> Bool {
        changes = changes.compactMapValues { times in
            let recent = times.filter { $0 > now - 60_000_000 }
            return recent.isEmpty ? nil : recent
        }
        guard changes[user, default: []].count < Self.changesPerMinute else { return false }
        changes[user, default: []].append(now)
        return true
    }
}
