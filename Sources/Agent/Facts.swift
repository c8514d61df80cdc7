internal import ActionProtocol
internal import Actions
internal import Analytics
internal import Environment
internal import Feed
internal import Netlink
internal import Platform
internal import Rules
internal import WiFi

// How the rooms' values become each other's.

extension FeedEvent.NetworkFact {
    init(_ match: NetworkMatch, previous: Assurance?) {
        self.init(
            name: match.name, assurance: match.assurance.description, previous: previous?.description)
    }
}

extension FeedEvent.RuleFact {
    init(_ rule: Rule, _ because: String) {
        self.init(name: rule.name, file: rule.location.file, line: rule.location.line, because: because)
    }
}

extension FeedEvent {
    /// Nil for what the feed does not tell as it is decided.
    init?(_ decision: Decision, at time: Timestamp) {
        let body: Body
        switch decision {
        case .networkEntered(let match): body = .networkEntered(.init(match, previous: nil))
        case .networkLeft(let match, let stay):
            body = .networkLeft(.init(match, previous: nil), minutes: Int(stay.minutes))
        case .assuranceChanged(let match, let previous):
            body = .networkAssuranceChanged(.init(match, previous: previous))
        case .ruleActivated(let rule, let because): body = .ruleActivated(.init(rule, because))
        case .ruleDeactivated(let rule, let because): body = .ruleDeactivated(.init(rule, because))
        case .ruleSkipped(let rule, let because): body = .ruleSkipped(.init(rule, because))
        case .cancel, .run, .stateChanged, .probe, .cancelProbe: return nil
        }
        self.init(body, at: time)
    }
}

extension SnapshotFields.HeldRule {
    init(_ held: RuleEngine.HeldRule, at now: Timestamp) {
        self.init(
            rule: held.rule, isOn: held.hold.isOn, holder: held.hold.holder, end: held.hold.end(from: now),
            endsWithPlace: held.hold.endsWithPlace)
    }
}

extension FeedEvent {
    /// How an action ended.
    init(_ fact: ActionFact, _ end: ActionEnd, at time: Timestamp) {
        var fact = fact
        fact.exit = end.exit
        fact.durationMilliseconds = end.duration.map { $0 / 1_000 }
        fact.because = end.because
        (fact.output, fact.outputLost) = (end.output, end.outputLost)
        (fact.errors, fact.errorsLost) = (end.errors, end.errorsLost)
        switch end.result {
        case .succeeded: self.init(.actionSucceeded(fact), at: time)
        case .failed: self.init(.actionFailed(fact), at: time)
        case .cancelled: self.init(.actionCancelled(fact), at: time)
        }
    }
}

extension HistoryRecord {
    /// Nil for what the feed does not tell as it is decided.
    init?(_ decision: Decision, at time: Timestamp, rulesDigest: String) {
        guard let event = FeedEvent(decision, at: time) else { return nil }
        self.init(event.type, at: time, rulesDigest: rulesDigest)
        switch decision {
        case .networkEntered(let match), .assuranceChanged(let match, _): note(match, minutes: nil)
        case .networkLeft(let match, let stay): note(match, minutes: stay.minutes)
        case .ruleActivated(let rule, let because), .ruleDeactivated(let rule, let because),
            .ruleSkipped(let rule, let because):
            self.rule = Rule(
                name: rule.name, file: rule.location.file, line: rule.location.line, because: because)
        case .cancel, .run, .stateChanged, .probe, .cancelProbe: return nil
        }
    }

    private mutating func note(_ match: NetworkMatch, minutes: Int64?) {
        network = Network(name: match.name, assurance: match.assurance.description, minutes: minutes)
        evidence = match.evidence.map(\.kind)
    }

    /// Nil for what is told as it is decided, and for what a history has no need of.
    ///
    /// - Parameter environment: what stands for the name of a Wi-Fi network.
    init?(_ event: FeedEvent, rulesDigest: String, environment: (SSID) -> String?) {
        switch event.body {
        case .agentStarted, .agentStopped: self.init(event.type, at: event.time, rulesDigest: rulesDigest)
        case .environment(let change):
            switch change.kind {
            // From then to then the machine was nowhere, or nobody looked.
            case .suspended, .resumed: self.init(event.type, at: event.time, rulesDigest: rulesDigest)
            case .roamed(let network, _), .joinFailed(let network, _):
                self.init(event.type, at: event.time, rulesDigest: rulesDigest)
                var wifi = WiFi(
                    environment: network.ssid.flatMap(environment), security: network.security.rawValue)
                if case .joinFailed(_, let cause) = change.kind {
                    (wifi.status, wifi.reason) = (cause.status, cause.reason)
                    wifi.circumstance = cause.circumstance?.rawValue
                }
                self.wifi = wifi
            default: return nil
            }
        case .actionStarted(let fact), .actionSucceeded(let fact), .actionFailed(let fact), .actionCancelled(let fact),
            .actionReverted(let fact):
            self.init(event.type, at: event.time, rulesDigest: rulesDigest)
            var action = Action(id: fact.id, rule: fact.rule, index: fact.index, kind: fact.kind)
            action.exit = fact.exit
            action.durationMilliseconds = fact.durationMilliseconds
            action.because = fact.because
            action.user = fact.user
            self.action = action
        case .secondFactorRequested(let fact), .secondFactorPassed(let fact), .secondFactorFailed(let fact),
            .secondFactorExpired(let fact):
            self.init(event.type, at: event.time, rulesDigest: rulesDigest)
            secondFactor = SecondFactor(
                rule: fact.rule, network: fact.network, user: fact.user, because: fact.because)
        default: return nil
        }
    }
}
