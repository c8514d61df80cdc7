internal import Glibc
internal import Platform

/// What the user database says of users: their names and groups, getpwuid(3) and getgrouplist(3).
///
/// Directories can be far away, so it is asked on a thread of its own, and told on the loop's. What was told counts for a
/// minute, or until a file of the database changes. @unchecked: touched on the loop's thread only.
final class UserDatabase: @unchecked Sendable {
    struct Entry: Hashable, Sendable {
        /// Nil for a user whom nobody knows.
        var name: String?
        /// The groups asked for in which the user is.
        var groups: Set<String> = []
    }

    private struct Known {
        var entry: Entry
        var until: Int64
    }

    private let loop: EventLoop
    /// The groups that matter.
    var groups: Set<String> {
        didSet { if groups != oldValue { forget() } }
    }
    private let told: () -> Void
    private var known: [UInt32: Known] = [:]
    /// Whom it is being asked about; each time has a number, so that a late answer to a former question counts for
    /// nothing.
    private var asked: [UInt32: UInt64] = [:]
    private var last: UInt64 = 0
    private var watch: DirectoryWatch?
    private(set) var groupNumbers: [String: UInt32] = [:]

    /// µs
    private static let lifetime: Int64 = 60_000_000
    private static let patience: Int64 = 5_000_000
    private static let limit = 4_096

    /// - Parameter told: called when something is known that was asked for, or when what was known may be otherwise.
    init(on loop: EventLoop, groups: Set<String>, _ told: @escaping () -> Void) {
        self.loop = loop
        self.groups = groups
        self.told = told
        watch = try? DirectoryWatch(["/etc/passwd", "/etc/group", "/etc/nsswitch.conf"], on: loop) {
            [unowned self] in
            forget()
            told()
        }
    }

    /// What is known of a user; nil where it is being asked, and `told` is called later.
    subscript(user: UInt32) -> Entry? {
        if let known = known[user], known.until > Timestamp.now().boottime { return known.entry }
        ask(user)
        return nil
    }

    /// What is known is to be asked anew.
    func forget() {
        known = [:]
        asked = [:]
    }

    private func ask(_ user: UInt32) {
        guard asked[user] == nil else { return }
        last += 1
        let question = last
        asked[user] = question
        let groups = groups
        do throws(SystemError) {
            let worker = try EventLoop()
            try worker.start()
            worker.perform { [self] in
                let (entry, numbers) = UserDatabase.lookUp(user, groups)
                loop.perform { [self] in answer(user, question, entry, numbers) }
                worker.stop()
            }
        } catch {
            return loop.perform { [self] in answer(user, question, Entry(), [:]) }
        }
        // Who waits for a directory that does not answer learns that nothing is known.
        loop.schedule(at: Timestamp.now().boottime + UserDatabase.patience) { [weak self] in
            self?.answer(user, question, Entry(), [:])
        }
    }

    private func answer(_ user: UInt32, _ question: UInt64, _ entry: Entry, _ numbers: [String: UInt32]) {
        guard asked[user] == question else { return }
        asked[user] = nil
        let now = Timestamp.now().boottime
        if known.count >= UserDatabase.limit { known = known.filter { $0.value.until > now } }
        known[user] = Known(entry: entry, until: now + UserDatabase.lifetime)
        if !numbers.isEmpty { groupNumbers = numbers }
        told()
    }

    // MARK: On the other thread

    private static func lookUp(_ user: UInt32, _ groups: Set<String>) -> (Entry, numbers: [String: UInt32]) {
        var numbers: [String: UInt32] = [:]
        for name in groups { numbers[name] = number(ofGroup: name) }
        guard let (name, primary) = account(user) else { return (Entry(), numbers) }
        let memberships = memberships(of: name, primary)
        let found = numbers.filter { memberships.contains($0.value) }
        return (Entry(name: name, groups: Set(found.keys)), numbers)
    }

    private static func account(_ user: UInt32) -> (name: String, group: UInt32)? {
        var entry = unsafe passwd()
        var buffer = [CChar](repeating: 0, count: 65_536)
        var result: UnsafeMutablePointer<passwd>?
        guard unsafe getpwuid_r(user, &entry, &buffer, buffer.count, &result) == 0, unsafe result != nil,
            let name = unsafe entry.pw_name
        else { return nil }
        return unsafe (String(cString: name), entry.pw_gid)
    }

    private static func number(ofGroup name: String) -> UInt32? {
        var entry = unsafe group()
        // A group can have thousands of members.
        var buffer = [CChar](repeating: 0, count: 1 << 20)
        var result: UnsafeMutablePointer<group>?
        guard unsafe getgrnam_r(name, &entry, &buffer, buffer.count, &result) == 0, unsafe result != nil else {
            return nil
        }
        return unsafe entry.gr_gid
    }

    private static func memberships(of name: String, _ primary: UInt32) -> Set<UInt32> {
        var groups = [gid_t](repeating: 0, count: 65_536)
        var count = Int32(groups.count)
        guard unsafe getgrouplist(name, primary, &groups, &count) >= 0 else { return [primary] }
        return Set(groups.prefix(Int(count)))
    }
}
