internal import JSON
internal import Platform

/// Who was granted to see where the machine is, and since when: a file of the agent's that nobody else can read or
/// write.
struct Grants: Hashable {
    struct Grant: Hashable {
        /// The user's name when it was granted: a number is given out again when its user is gone, and the next one was
        /// granted nothing.
        var name: String?
        /// µs since 1970.
        var since: Int64
    }

    private(set) var byUser: [UInt32: Grant] = [:]

    /// More than anybody has users.
    static let limit = 10_000
    private static let maximumSize = 4 << 20
    private static let version: Int64 = 1

    init() {}

    subscript(user: UInt32) -> Grant? {
        get { byUser[user] }
        set { byUser[user] = newValue }
    }

    // MARK: File

    /// What is in the file: nothing where there is none.
    ///
    /// - Throws: where nobody can tell what was granted; then nothing is.
    init(readingFrom path: String) throws(GrantsError) {
        let contents: [UInt8]
        do throws(SystemError) {
            contents = try Files.read(path, limit: Grants.maximumSize)
        } catch {
            if error.isMissing { return }
            throw .unreadable(error)
        }
        guard let value = try? JSONValue(parsing: contents, maximumSize: Grants.maximumSize),
            value["version"]?.integer == Grants.version, let grants = value["grants"]?.array,
            grants.count <= Grants.limit
        else { throw .damaged }
        for grant in grants {
            guard let user = grant["uid"]?.integer.flatMap({ UInt32(exactly: $0) }),
                let since = grant["since"]?.integer,
                byUser.updateValue(Grant(name: grant["name"]?.string, since: since), forKey: user) == nil
            else { throw .damaged }
        }
    }

    /// After this returned it is so, also when the power fails.
    func write(to path: String) throws(SystemError) {
        var writer = JSONWriter()
        writer.object { writer in
            writer.field("version", Grants.version)
            writer.array("grants") { writer in
                for (user, grant) in byUser.sorted(by: { $0.key < $1.key }) {
                    writer.object { writer in
                        writer.field("uid", user)
                        writer.field("name", grant.name)
                        writer.field("since", grant.since)
                    }
                }
            }
        }
        writer.endLine()
        try Files.replace(path, with: writer.octets, mode: 0o600, isLasting: true)
    }
}

enum GrantsError: Error, Hashable {
    case unreadable(SystemError)
    case damaged
}
