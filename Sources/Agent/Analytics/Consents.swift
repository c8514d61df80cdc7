internal import JSON
internal import Platform
internal import Rules

/// What people have said to being written about: a file of the agent's that nobody else can read or write.
struct Consents: Hashable {
    struct Answer: Hashable {
        var isGiven: Bool
        /// The user's name at that time: who is given the number of a deleted user has said nothing.
        var name: String?
        /// µs since 1970.
        var since: Int64
    }

    private(set) var byUser: [UInt32: Answer] = [:]
    /// Whether answers have been lost: as nobody knows who had refused, everybody did who says nothing else.
    private(set) var hasLost = false

    static let limit = 10_000
    private static let maximumSize = 4 << 20
    private static let version: Int64 = 1

    init() {}

    /// Nobody knows any more.
    static var lost: Consents {
        var consents = Consents()
        consents.hasLost = true
        return consents
    }

    subscript(user: UInt32) -> Answer? {
        get { byUser[user] }
        set { byUser[user] = newValue }
    }

    /// Whether it matters who is here.
    func matters(_ demand: AnalyticsConfiguration.Consent) -> Bool {
        demand == .required || hasLost || byUser.values.contains { !$0.isGiven }
    }

    /// Why nothing may be written now; nil where it may. What counts is the strictest of those who are here.
    ///
    /// - Parameter present: who is logged in at this machine; nil where nobody knows.
    func objection(_ demand: AnalyticsConfiguration.Consent, present: [Person]?) -> String? {
        guard matters(demand) else { return nil }
        guard let present else { return "systemd-logind does not say who is logged in" }
        if present.isEmpty {
            return demand == .required
                ? "nobody is logged in who has agreed"
                : "nobody is logged in, and somebody who uses this machine has refused"
        }
        for person in present {
            let answer = byUser[person.user]
            if answer?.isGiven == false { return "somebody who is logged in has refused" }
            // A yes is a person's, not a number's.
            let hasAgreed = answer.map { $0.name == nil || person.name == nil || $0.name == person.name } ?? false
            if !hasAgreed, demand == .required || hasLost { return "somebody who is logged in has not agreed" }
        }
        return nil
    }

    /// Who has a session at the machine itself.
    struct Person: Hashable {
        var user: UInt32
        var name: String?
    }

    // MARK: File

    /// What is in the file: nothing where there is none.
    ///
    /// - Throws: where nobody can tell what people have said.
    init(readingFrom path: String) throws(GrantsError) {
        let contents: [UInt8]
        do throws(SystemError) {
            contents = try Files.read(path, limit: Consents.maximumSize)
        } catch {
            if error.isMissing { return }
            throw .unreadable(error)
        }
        guard let value = try? JSONValue(parsing: contents, maximumSize: Consents.maximumSize),
            value["version"]?.integer == Consents.version, let answers = value["answers"]?.array,
            answers.count <= Consents.limit, let hasLost = value["lost"]?.bool
        else { throw .damaged }
        self.hasLost = hasLost
        for entry in answers {
            guard let user = entry["uid"]?.integer.flatMap({ UInt32(exactly: $0) }),
                let isGiven = entry["consent"]?.bool, let since = entry["since"]?.integer
            else { throw .damaged }
            let answer = Answer(isGiven: isGiven, name: entry["name"]?.string, since: since)
            guard byUser.updateValue(answer, forKey: user) == nil else { throw .damaged }
        }
    }

    /// After this returned it is so, also when the power fails.
    func write(to path: String) throws(SystemError) {
        var writer = JSONWriter()
        writer.object { writer in
            writer.field("version", Consents.version)
            writer.field("lost", hasLost)
            writer.array("answers") { writer in
                for (user, answer) in byUser.sorted(by: { $0.key < $1.key }) {
                    writer.object { writer in
                        writer.field("uid", user)
                        writer.field("name", answer.name)
                        writer.field("consent", answer.isGiven)
                        writer.field("since", answer.since)
                    }
                }
            }
        }
        writer.endLine()
        try Files.replace(path, with: writer.octets, mode: 0o600, isLasting: true)
    }
}
