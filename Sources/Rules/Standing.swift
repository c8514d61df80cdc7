/// How the machine stands to a network it is on, as far as time matters. Times are µs of boot time.
struct Standing {
    var match: NetworkMatch
    /// Since when it has been there.
    let since: Int64
    /// Since when that may lower protection, by how sure one has to be.
    private(set) var trustedSince: [Assurance: Int64] = [:]
    /// When the last of its links became unknown, as long as all of them are: until that ends nothing settles.
    var frozenAt: Int64?

    /// What rules can demand.
    static let thresholds: [Assurance] = [.claimed, .mutual]

    init(_ match: NetworkMatch, since: Int64) {
        self.match = match
        self.since = since
    }

    /// - Parameter mayBegin: false while a link is unknown: what is known of the last moment gains no trust.
    mutating func updateTrust(in judgement: Judgement, at now: Int64, mayBegin: Bool) {
        for threshold in Standing.thresholds {
            if !judgement.isTrusted(match, threshold) {
                trustedSince[threshold] = nil
            } else if trustedSince[threshold] == nil, mayBegin {
                trustedSince[threshold] = now
            }
        }
    }
}

/// What the value of a network in a condition is for.
enum Purpose {
    /// Neither beginning nor end does harm: any evidence will do.
    case neutral
    /// Whether a tightening rule has to begin: what is not certain speaks for it.
    case tightening
    /// Whether it is certain enough for protection to go down, by a beginning or an end.
    case relaxing
}

/// A moment as rules see it.
struct Situation {
    let judgement: Judgement
    let standings: [String: Standing]
    /// The networks of which something is not known yet.
    let doubtful: Set<String>
    /// Since when every link has been sure enough for protection to go down.
    let placeTrustedSince: Int64?
    let now: Int64
    /// When trust stopped maturing, since a link is unknown.
    let trustFrozenAt: Int64?

    /// The value of a network for a rule; `due` becomes the moment at which time alone changes it, if that is earlier.
    func value(of name: String, for rule: Rule, _ purpose: Purpose, due: inout Int64?) -> Truth {
        func isPast(_ since: Int64?, clock: Int64?) -> Bool {
            guard let since else { return false }
            if (clock ?? now) - since >= rule.settle { return true }
            if clock == nil { due = min(due ?? .max, since + rule.settle) }
            return false
        }
        if let standing = standings[name] {
            switch purpose {
            case .neutral: return isPast(standing.since, clock: standing.frozenAt) ? .yes : .maybe
            case .tightening, .relaxing:
                let since = standing.trustedSince[rule.demandedAssurance]
                return isPast(since, clock: trustFrozenAt) ? .yes : .maybe
            }
        }
        if doubtful.contains(name) { return .maybe }
        switch purpose {
        case .neutral, .tightening: return .no
        case .relaxing:
            if judgement.isSuspended { return .maybe }
            if rule.acceptedWeakness != nil { return .no }
            return isPast(placeTrustedSince, clock: trustFrozenAt) ? .no : .maybe
        }
    }

    func value(of rule: Rule, _ purpose: Purpose, due: inout Int64?) -> Truth {
        var earliest = due
        let truth = rule.condition.evaluate { value(of: $0.name, for: rule, purpose, due: &earliest) }
        due = earliest
        return truth
    }

    /// Whether a rule's condition is met by where the machine is at this very moment.
    func isUndisputed(_ rule: Rule) -> Bool { presence(rule) == .yes }

    /// The value of a rule's condition by where the machine is at this very moment, however sure that is.
    func presence(_ rule: Rule) -> Truth {
        rule.condition.evaluate { network in
            if standings[network.name] != nil { return .yes }
            return doubtful.contains(network.name) ? .maybe : .no
        }
    }

    /// Whether the clock alone may end a rule. It is only a clock, which a network can set: where the end lowers
    /// protection, the place has to be sure as well.
    func mayEndByTime(_ rule: Rule, holds: Bool, due: inout Int64?) -> Bool {
        guard holds, rule.leaning == .tightening, rule.acceptedWeakness == nil else { return true }
        guard !judgement.isSuspended, let placeTrustedSince else { return false }
        if (trustFrozenAt ?? now) - placeTrustedSince >= rule.settle { return true }
        if trustFrozenAt == nil { due = min(due ?? .max, placeTrustedSince + rule.settle) }
        return false
    }

    /// Whether a rule that does or does not hold now shall hold.
    func shallHold(_ rule: Rule, holds: Bool, due: inout Int64?) -> Bool {
        switch rule.leaning {
        case .neutral:
            switch value(of: rule, .neutral, due: &due) {
            case .yes: true
            case .no: false
            case .maybe: holds
            }
        case .relaxing: value(of: rule, .relaxing, due: &due) == .yes
        case .tightening: value(of: rule, holds ? .relaxing : .tightening, due: &due) != .no
        }
    }
}
