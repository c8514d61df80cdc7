internal import Analytics
internal import Environment
internal import Glibc
internal import Hashing
internal import JSON
internal import Platform
internal import Rules
internal import SystemBus

/// Writes down where the machine was, as far as the administrator and the people at it want that, and keeps the key of
/// hashed names.
///
/// Everything happens on the loop's thread.
final class AnalyticsKeeper {
    private let loop: EventLoop
    private let paths: AgentPaths
    private let log: AnalyticsLog
    private let report: (_ subject: String, _ problem: String?) -> Void
    private var watch: PersonWatch?
    /// Nil where nobody can tell what it says: then nothing is written.
    private var configuration: AnalyticsConfiguration?
    private var consents = Consents()
    /// Who is logged in; nil until that was looked at.
    private var present: Presence?
    /// Records that wait until that is known.
    private var waiting: [AnalyticsRecord] = []
    private(set) var hashing = NameHashing(RuleSet(), nil, key: .random())
    private var rotationTimer: EventLoop.Timer?
    private var retentionTimer: EventLoop.Timer?
    private var lastDrop: Int64?

    /// Called when names are hashed with another key from now on.
    var onKey: () -> Void = {}

    private enum Presence: Hashable {
        case known([Consents.Person])
        /// Nobody can tell.
        case unknown
    }

    private static let waitingLimit = 64
    /// 2025-01-01; a clock that stands before that was not set, and says nothing about age.
    private static let epoch: Int64 = 1_735_689_600_000_000
    private static let hour: Int64 = 3_600_000_000

    /// - Parameters:
    ///   - bus: the machine's.
    ///   - report: told what is wrong, by its subject, and with nil that it is right again.
    init(
        on loop: EventLoop, _ bus: SystemBus, _ paths: AgentPaths,
        _ report: @escaping (_ subject: String, _ problem: String?) -> Void
    ) {
        self.loop = loop
        self.paths = paths
        self.report = report
        log = AnalyticsLog(path: paths.analytics) { error in
            report("analytics", "\(error): the analytics log misses lines, or keeps some for too long")
        }
        watch = PersonWatch(bus, on: loop) { [unowned self] in found($0) }
    }

    /// - Parameter configuration: nil where nobody can tell what it says.
    func start(_ configuration: AnalyticsConfiguration?, _ ruleSet: RuleSet) {
        do throws(GrantsError) {
            consents = try Consents(readingFrom: paths.consents)
        } catch {
            consents = .lost
            switch error {
            case .damaged:
                Files.keepAside(paths.consents)
                try? consents.write(to: paths.consents)
                report(
                    "consent", "\(paths.consents) is damaged and was put aside: whoever does not agree anew has refused"
                )
            case .unreadable(let error): report("consent", "\(error): whoever does not agree anew has refused")
            }
        }
        use(configuration, ruleSet)
    }

    /// Other files are in force, or somebody asked for them to be read again.
    func use(_ configuration: AnalyticsConfiguration?, _ ruleSet: RuleSet) {
        self.configuration = configuration
        hashing = NameHashing(ruleSet, configuration, key: key(configuration))
        rotateWhenDue()
        dropWhatIsTooOld()
        follow()
    }

    func stop() {
        for timer in [rotationTimer, retentionTimer] { if let timer { loop.cancel(timer) } }
        (rotationTimer, retentionTimer) = (nil, nil)
        watch?.isWatching = false
        watch = nil
    }

    /// To be called when the bus is there, and when it is again.
    func connected() { watch?.connected() }

    /// The civil time was set.
    func clockChanged() {
        rotateWhenDue()
        dropWhatIsTooOld()
    }

    // MARK: The key

    private func key(_ configuration: AnalyticsConfiguration?) -> HashKey {
        var problem: String?
        if let configuration, configuration.scope == .organisation {
            do throws(HashKeyError) {
                let key = try HashKey.organisations(
                    file: configuration.keyFile, credentials: AgentPaths.credentials)
                report("hash key", nil)
                return key
            } catch {
                problem = "\(error): names are hashed with this host's own key instead of the organisation's"
            }
        }
        let loaded = HashKey.load(paths.hashKey)
        report("hash key", problem ?? loaded.problem)
        return loaded.key
    }

    /// Puts a new key in the place of the host's, and destroys that one.
    ///
    /// - Returns: the identifier of the new one.
    func rotateKey() throws(KeyRefusal) -> String {
        guard configuration?.scope != .organisation else { throw .isOrganisations }
        do throws(SystemError) {
            hashing.key = try HashKey.rotate(paths.hashKey)
        } catch {
            // The new one may be in place already.
            let loaded = HashKey.load(paths.hashKey)
            if loaded.key.identifier != hashing.key.identifier {
                hashing.key = loaded.key
                onKey()
            }
            throw .failed(error)
        }
        Log.write(.notice, "names are hashed with the new key \(hashing.key.identifier) from now on")
        report("hash key", nil)
        onKey()
        rotateWhenDue()
        return hashing.key.identifier
    }

    enum KeyRefusal: Error, CustomStringConvertible {
        case isOrganisations
        case failed(SystemError)

        var description: String {
            switch self {
            case .isOrganisations:
                "names are hashed with the organisation's key, which whoever hands it out has to renew"
            case .failed(let error): "\(error): the key could not be renewed, or the old one not be destroyed"
            }
        }
    }

    private func rotateWhenDue() {
        if let rotationTimer { loop.cancel(rotationTimer) }
        rotationTimer = nil
        let now = Timestamp.now()
        guard let due = rotation(at: now) else { return }
        let wait: Int64
        if due > now.wall {
            wait = due - now.wall
        } else {
            do throws(KeyRefusal) {
                _ = try rotateKey()
                return
            } catch {
                report("hash key", error.description)
                wait = Self.hour
            }
        }
        rotationTimer = loop.schedule(at: now.boottime + wait) { [unowned self] in
            rotationTimer = nil
            rotateWhenDue()
        }
    }

    /// When the host's key is to be renewed, µs since 1970; nil where it is not.
    private func rotation(at now: Timestamp) -> Int64? {
        guard let configuration, configuration.scope == .host, now.wall >= Self.epoch,
            var birth = HashKey.birth(of: paths.hashKey)
        else { return nil }
        // Before the clock was set, or while it was set to something absurd.
        if birth < Self.epoch || birth > now.wall + 24 * Self.hour {
            HashKey.renewBirth(of: paths.hashKey)
            birth = now.wall
        }
        return birth + configuration.rotation
    }

    // MARK: Records

    /// Places only: that a machine is on Wi-Fi at all is nothing to count.
    func record(_ decision: Decision, at time: Timestamp) {
        switch decision {
        case .networkEntered(let match): record(.entered, match, at: time)
        case .networkLeft(let match, let stay): record(.left(minutes: stay.minutes), match, at: time)
        default: break
        }
    }

    private func record(_ transition: AnalyticsRecord.Transition, _ match: NetworkMatch, at time: Timestamp) {
        guard match.isPlace, let configuration, configuration.isEnabled else { return }
        let link = match.links.first
        let record = AnalyticsRecord(
            time: time, transition: transition, network: match.name, networkType: NetworkType(link?.kind),
            wifiEnvironment: link?.wifi?.ssid.map { hashing.logged($0, isPrivate: match.isPrivate) },
            granularity: configuration.granularity)
        guard consents.matters(configuration.consent), present == nil else { return write(record) }
        if waiting.count >= Self.waitingLimit { waiting.removeFirst() }
        waiting.append(record)
    }

    private func write(_ record: AnalyticsRecord) {
        guard objection == nil else { return }
        if log.append(record) { report("analytics", nil) }
        EventJournal.note(record)
        if retentionTimer == nil { dropWhatIsTooOld() }
    }

    /// Why nothing is written now; nil where it is.
    private var objection: String? {
        guard let configuration else { return "the configuration has mistakes" }
        guard configuration.isEnabled else { return "the configuration says so" }
        guard case .known(let people)? = present else {
            return consents.objection(configuration.consent, present: nil)
        }
        return consents.objection(configuration.consent, present: people)
    }

    private func dropWhatIsTooOld() {
        if let retentionTimer { loop.cancel(retentionTimer) }
        retentionTimer = nil
        let now = Timestamp.now()
        guard let configuration, now.wall >= Self.epoch else { return }
        // Of what is no longer written what there is gets old all the same.
        log.turn(before: now.wall - configuration.retention / Int64(log.limits.files))
        guard let oldest = log.drop(before: now.wall - configuration.retention) else { return }
        let wait = max(oldest + configuration.retention - now.wall + 1_000_000, Self.hour)
        retentionTimer = loop.schedule(at: now.boottime + wait) { [unowned self] in
            retentionTimer = nil
            dropWhatIsTooOld()
        }
    }

    /// Removes what was written.
    ///
    /// - Returns: how many files there were.
    func purge() throws(SystemError) -> Int {
        waiting = []
        let count = try log.purge()
        report("analytics", nil)
        return count
    }

    // MARK: Consent

    /// - Throws: where it could not be kept: a no holds until the agent ends, a yes does not hold.
    func consent(_ isGiven: Bool, of user: UInt32, named name: String?) throws(SystemError) {
        var consents = consents
        consents[user] = Consents.Answer(isGiven: isGiven, name: name, since: Timestamp.now().wall)
        guard consents.byUser.count <= Consents.limit else {
            throw SystemError("consent", paths.consents, code: ENOSPC)
        }
        if !isGiven { use(consents) }
        try consents.write(to: paths.consents)
        report("consent", nil)
        use(consents)
    }

    private func use(_ consents: Consents) {
        self.consents = consents
        follow()
    }

    private func follow() {
        let isWanted = configuration.map { $0.isEnabled && consents.matters($0.consent) } ?? false
        if !isWanted { present = nil }
        watch?.isWatching = isWanted
        if !isWanted { flush() }
    }

    private func found(_ people: [Consents.Person]?) {
        // Who asked may not want to know any more.
        guard watch?.isWatching == true else { return }
        present = people.map { .known($0) } ?? .unknown
        flush()
    }

    private func flush() {
        let records = waiting
        waiting = []
        for record in records { write(record) }
    }

    // MARK: Status

    /// One JSON object, for the user who asks.
    func status(of user: UInt32) -> String {
        let objection = objection
        let answer = consents[user]?.isGiven
        let due = rotation(at: .now())
        let identifier = hashing.key.identifier
        var writer = JSONWriter()
        writer.object { writer in
            writer.field("writing", objection == nil)
            writer.field("because", objection)
            writer.field("your_consent", answer.map { $0 ? "yes" : "no" })
            if let configuration {
                writer.field("enabled", configuration.isEnabled)
                writer.field("consent", configuration.consent.rawValue)
                writer.field("hash", configuration.hash.rawValue)
                writer.field("scope", configuration.scope.rawValue)
                writer.field("granularity_minutes", configuration.granularity / 60_000_000)
                writer.field("retention_days", configuration.retention / 86_400_000_000)
            }
            writer.field("key", identifier)
            writer.field("key_until", due.map { AnalyticsRecord.text(of: $0) })
            writer.field("file", log.path)
        }
        return String(decoding: writer.octets, as: UTF8.self)
    }
}

extension AgentPaths {
    /// Of the unit.
    static var credentials: String? {
        guard let value = unsafe getenv("CREDENTIALS_DIRECTORY") else { return nil }
        return unsafe String(cString: value)
    }
}
