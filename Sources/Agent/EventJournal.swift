internal import Analytics
internal import CSystemd
internal import Feed
internal import Glibc

/// What is decided and done, as entries of the journal with fields of their own, systemd.journal-fields(7):
/// `journalctl VICINITY_RULE=office`. No name from the air is among them, and nothing that a command wrote.
enum EventJournal {
    private static let isThere = unsafe getenv("JOURNAL_STREAM") != nil

    /// - Parameter sequence: of the event's line on the feed.
    static func note(_ event: FeedEvent, sequence: UInt64?) {
        guard isThere, let fields = fields(of: event, sequence: sequence) else { return }
        send(fields)
    }

    /// What is in the analytics log is in the journal as well, with the time that journald gives it.
    static func note(_ record: AnalyticsRecord) {
        guard isThere else { return }
        send(fields(of: record))
    }

    static func fields(of record: AnalyticsRecord) -> [Field] {
        var fields = [
            Field(
                name: "MESSAGE", value: "analytics: \(record.type) \(record.network), \(record.networkType.rawValue)"),
            Field(name: "PRIORITY", value: "\(LOG_INFO)"),
            Field(name: "VICINITY_ANALYTICS", value: record.type),
            Field(name: "VICINITY_NETWORK", value: record.network),
            Field(name: "VICINITY_NETWORK_TYPE", value: record.networkType.rawValue),
        ]
        if let hash = record.wifiEnvironment { fields.append(Field(name: "VICINITY_WIFI_ENVIRONMENT", value: hash)) }
        if case .left(let minutes) = record.transition {
            fields.append(Field(name: "VICINITY_MINUTES", value: "\(minutes)"))
        }
        return fields
    }

    private static func send(_ fields: [Field]) {
        let texts = fields.map { Array("\($0.name)=\($0.value)".utf8) }
        var entries = unsafe [iovec]()
        for text in texts {
            // sd_journal_sendv(3) reads it within the call.
            let copy = UnsafeMutableRawBufferPointer.allocate(byteCount: text.count, alignment: 1)
            unsafe copy.copyBytes(from: text)
            unsafe entries.append(iovec(iov_base: copy.baseAddress, iov_len: copy.count))
        }
        _ = unsafe sd_journal_sendv(entries, Int32(entries.count))
        unsafe entries.forEach { unsafe $0.iov_base.deallocate() }
    }

    struct Field: Hashable {
        let name: String
        let value: String
    }

    /// Nil for what is on the feed alone: each move of a link, and what begins, whose end is told.
    static func fields(of event: FeedEvent, sequence: UInt64?) -> [Field]? {
        guard let entry = Entry(event.body) else { return nil }
        var fields = [
            Field(name: "MESSAGE", value: entry.message),
            Field(name: "PRIORITY", value: "\(entry.isFailure ? LOG_WARNING : LOG_INFO)"),
            Field(name: "VICINITY_EVENT", value: event.type),
        ]
        fields += sequence.map { [Field(name: "VICINITY_SEQ", value: "\($0)")] } ?? []
        return fields + entry.fields
    }

    private struct Entry {
        var message: String
        var isFailure = false
        var fields: [Field] = []

        init?(_ body: FeedEvent.Body) {
            switch body {
            case .networkEntered(let network):
                self.init(network, "entered network \(network.name): \(network.assurance)")
            case .networkLeft(let network, let minutes):
                self.init(network, "left network \(network.name) after \(minutes) min")
            case .networkAssuranceChanged(let network):
                self.init(network, "network \(network.name) is \(network.assurance) now")
            case .ruleActivated(let rule): self.init(rule, "rule \(rule.name) holds")
            case .ruleDeactivated(let rule): self.init(rule, "rule \(rule.name) holds no longer")
            case .ruleSkipped(let rule): self.init(rule, "rule \(rule.name) was skipped")
            case .actionSucceeded(let action): self.init(action, "succeeded")
            case .actionFailed(let action): self.init(action, "failed", isFailure: true)
            case .actionCancelled(let action): self.init(action, "cancelled")
            case .actionReverted(let action): self.init(action, "reverted")
            case .secondFactorPassed(let factor): self.init(factor, "passed")
            case .secondFactorFailed(let factor): self.init(factor, "failed", isFailure: true)
            case .secondFactorExpired(let factor): self.init(factor, "expired", isFailure: true)
            case .environment, .secondFactorRequested, .actionStarted, .agentStarted, .agentReloaded, .agentStopped:
                return nil
            }
        }

        private init(_ network: FeedEvent.NetworkFact, _ message: String) {
            self.message = message
            fields = [
                Field(name: "VICINITY_NETWORK", value: network.name),
                Field(name: "VICINITY_ASSURANCE", value: network.assurance),
            ]
        }

        private init(_ rule: FeedEvent.RuleFact, _ message: String) {
            self.message = message + (rule.because.map { ": \($0)" } ?? "")
            fields = [
                Field(name: "VICINITY_RULE", value: rule.name),
                Field(name: "VICINITY_RULE_FILE", value: "\(rule.file):\(rule.line)"),
            ]
        }

        private init(_ factor: FeedEvent.SecondFactorFact, _ end: String, isFailure: Bool = false) {
            let user = factor.user.map { " of \($0)" } ?? ""
            let because = factor.because.map { ": \($0)" } ?? ""
            message = "rule \(factor.rule): second factor\(user) \(end)\(because)"
            self.isFailure = isFailure
            fields = [Field(name: "VICINITY_RULE", value: factor.rule)]
            if let network = factor.network { fields.append(Field(name: "VICINITY_NETWORK", value: network)) }
            if let user = factor.user { fields.append(Field(name: "VICINITY_USER", value: user)) }
        }

        private init(_ action: FeedEvent.ActionFact, _ end: String, isFailure: Bool = false) {
            let session = action.user.map { " in the session of \($0)" } ?? ""
            let because = action.because.map { ": \($0)" } ?? ""
            message = "rule \(action.rule): \(action.kind)\(session) \(end)\(because)"
            self.isFailure = isFailure
            fields = [
                Field(name: "VICINITY_RULE", value: action.rule),
                Field(name: "VICINITY_ACTION", value: action.kind),
                Field(name: "VICINITY_ACTION_ID", value: "\(action.id)"),
            ]
            if let exit = action.exit { fields.append(Field(name: "VICINITY_EXIT", value: "\(exit)")) }
            if let user = action.user { fields.append(Field(name: "VICINITY_USER", value: user)) }
        }
    }
}
