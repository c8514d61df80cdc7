package import Feed
internal import Glibc
package import Platform
package import Rules

/// Who may see where the machine is: root, the agent's own user, what the configuration says, and what was granted.
///
/// Everything happens on the loop's thread.
package final class PermissionBook {
    package static let group = "vicinity"

    private let path: String
    private let owner: UInt32
    private let report: (String?) -> Void
    private var configuration: PermissionConfiguration?
    private var grants = Grants()
    private var users: UserDatabase?
    private var waiting: [(user: UInt32, body: (FeedPermission) -> Void)] = []
    /// Called when somebody may see more or less than before, or it is known now what somebody may see.
    package var onChange: () -> Void = {}

    /// - Parameters:
    ///   - path: of the file of grants.
    ///   - report: told what is wrong with it, nil once nothing is.
    package init(at path: String, on loop: EventLoop, _ report: @escaping (String?) -> Void) {
        self.path = path
        self.report = report
        owner = geteuid()
        users = UserDatabase(on: loop, groups: [PermissionBook.group]) { [unowned self] in
            onChange()
            tell()
        }
    }

    /// Reads what was granted, and takes in what the configuration says.
    ///
    /// - Parameter configuration: nil where nobody can tell what it says: then nobody may see more than it could say at
    ///   the least.
    package func start(_ configuration: PermissionConfiguration?) {
        do throws(GrantsError) {
            grants = try Grants(readingFrom: path)
        } catch {
            switch error {
            case .damaged:
                Files.keepAside(path)
                report("\(path) is damaged and was put aside: nobody is granted anything any more; grant it anew")
            case .unreadable(let error): report("\(error): nobody is granted anything")
            }
        }
        use(configuration)
    }

    /// Other files are in force.
    package func use(_ configuration: PermissionConfiguration?) {
        self.configuration = configuration
        users?.groups = (configuration?.groups ?? []).union([PermissionBook.group])
        // Somebody may have asked for the files to be read because somebody else was given a group.
        users?.forget()
        onChange()
    }

    // MARK: Levels

    /// What a peer may see; nil while it is being found out, see `onChange`.
    package func level(of peer: UnixSocket.Peer) -> FeedPermission? {
        level(of: peer.user, groups: peer.groups)
    }

    /// What a user may see; nil while it is being found out, see `onChange`.
    package func level(of user: UInt32) -> FeedPermission? { level(of: user, groups: []) }

    /// Calls back as soon as it is known what a user may see, which may be at once.
    package func find(_ user: UInt32, _ body: @escaping (FeedPermission) -> Void) {
        waiting.append((user, body))
        tell()
    }

    private func tell() {
        let all = waiting
        waiting = []
        for wait in all {
            if let level = level(of: wait.user) { wait.body(level) } else { waiting.append(wait) }
        }
    }

    func level(of user: UInt32, groups: Set<UInt32>) -> FeedPermission? {
        if user == 0 || user == owner { return .full }
        guard let entry = users?[user] else { return nil }
        var memberships = entry.groups
        if PermissionBook.isSystem(user) {
            // A unit gives groups with SupplementaryGroups=, of which the database knows nothing.
            for (name, number) in users?.groupNumbers ?? [:] where groups.contains(number) { memberships.insert(name) }
        }
        func isAmong(_ people: [PermissionConfiguration.Person]) -> Bool {
            people.contains { person in
                switch person {
                case .user(let name): name == entry.name
                case .group(let name): memberships.contains(name)
                }
            }
        }
        if let configuration, isAmong(configuration.restricted) { return .restricted }
        if memberships.contains(PermissionBook.group) { return .full }
        guard let configuration else { return .restricted }
        if isAmong(configuration.full) { return .full }
        if configuration.level == .restricted { return .restricted }
        // One whose number somebody else had before.
        if let grant = grants[user], grant.name == nil || entry.name == nil || grant.name == entry.name { return .full }
        return FeedPermission(rawValue: configuration.level.rawValue) ?? .denied
    }

    /// Accounts of services, of which no person ever logs in: systemd's range of numbers, and that of DynamicUser=.
    private static func isSystem(_ user: UInt32) -> Bool { user < 1_000 || (61_184...65_519).contains(user) }

    // MARK: Grants

    /// Who was granted it, by number.
    package var granted: [UInt32] { grants.byUser.keys.sorted() }

    /// - Throws: where it could not be kept; then it is not granted.
    package func grant(_ user: UInt32) throws(SystemError) {
        var grants = grants
        grants[user] = Grants.Grant(name: users?[user]?.name, since: Timestamp.now().wall)
        guard grants.byUser.count <= Grants.limit else { throw SystemError("grant", path, code: ENOSPC) }
        try grants.write(to: path)
        self.grants = grants
        report(nil)
        onChange()
    }

    /// What the user reads ends at once.
    ///
    /// - Returns: whether there was something to revoke.
    /// - Throws: where it could not be kept: then it holds until the agent ends.
    package func revoke(_ user: UInt32) throws(SystemError) -> Bool {
        guard grants[user] != nil else { return false }
        grants[user] = nil
        onChange()
        do throws(SystemError) {
            try grants.write(to: path)
            report(nil)
        } catch {
            report("\(error): what was revoked would be granted again after a restart")
            throw error
        }
        return true
    }
}
