internal import Environment

/// Where the machine is, and since when: judgements, as they follow each other, with what time makes of them. Times are
/// µs of boot time.
struct PlaceTracker: Sendable {
    private var links = LinkMemory()
    /// What the environment came to last, networks that have not been there long enough set aside.
    private(set) var judgement = Judgement()
    private var doubtful: Set<String> = []
    private(set) var standings: [String: Standing] = [:]
    /// The names of `standings`, in the order in which the machine came there.
    private var order: [String] = []
    /// Since when every link has been sure enough for protection to go down.
    private var trustedSince: Int64?
    /// Since when networks with a `stable-for` have matched without a break.
    private var matchedSince: [String: Int64] = [:]
    /// Since when no described network has matched while one might.
    private var undecidedSince: Int64?
    /// Whether a link was unknown the last time.
    private var wasBlurred = false
    private var resumed = ResumedPlaces()

    /// What a network shows of itself is known within a few seconds or never; until then nobody is anywhere unlisted.
    static let decisionLimit: Int64 = 10_000_000

    var networks: [NetworkMatch] { order.compactMap { standings[$0]?.match } }
    var unknownLinks: Set<Int32> { links.unknown }
    /// Whether a link is unknown now.
    var isBlurred: Bool { !links.unknown.isEmpty }

    /// Where the machine is and since when (µs, boot time), for an agent that is started again: `resume(_:)`.
    var places: [String: Int64] {
        resumed.places.merging(standings.values.filter(\.match.isPlace).map { ($0.match.name, $0.since) }) { $1 }
    }

    /// The machine was there when the agent ended, and has not moved: it does not come there again.
    mutating func resume(_ places: [String: Int64]) { resumed = ResumedPlaces(places) }

    /// The environment with the last known state in place of each unknown one; nil where nothing is known from the
    /// beginning.
    mutating func resolve(_ environment: NetworkEnvironment, at now: Int64) -> NetworkEnvironment? {
        links.resolve(environment, at: now)
    }

    func situation(at now: Int64) -> Situation {
        Situation(
            judgement: judgement, standings: standings, doubtful: doubtful, placeTrustedSince: trustedSince, now: now,
            trustFrozenAt: links.earliestUnknown)
    }

    /// Networks that have not been there long enough are not known to be there.
    private mutating func stabilized(_ judgement: Judgement, in ruleSet: RuleSet, at now: Int64) -> Judgement {
        var judgement = judgement
        var since: [String: Int64] = [:]
        judgement.matches.removeAll { match in
            guard match.builtIn == nil, let network = ruleSet.network(named: match.name), network.stableFor > 0 else {
                return false
            }
            let start = matchedSince[match.name] ?? now
            since[match.name] = start
            let isStable = now - start >= network.stableFor
            // No network is entered by a link that may not be on it any more.
            guard !isStable || standings[match.name] == nil && links.holds(match) else { return false }
            // What a network shows that may be gone in a moment is worth nothing.
            for link in match.links { judgement.linkAssurances[link.interfaceIndex] = .unknown }
            judgement.doubts.append(
                NetworkObjection(
                    name: match.name, interfaceName: match.links.first?.interfaceName ?? "", evidence: match.evidence,
                    objection: Evidence("stable-for", "not yet", at: network.location)))
            return true
        }
        matchedSince = since
        let isDecided = judgement.doubts.allSatisfy { BuiltInNetwork(rawValue: $0.name) != nil }
        guard !isDecided, let unlisted = judgement[BuiltInNetwork.unlisted.rawValue] else {
            undecidedSince = nil
            return judgement
        }
        let start = undecidedSince ?? now
        undecidedSince = start
        guard now - start < PlaceTracker.decisionLimit else { return judgement }
        judgement.matches.removeAll { $0.builtIn == .unlisted }
        judgement.doubts.append(
            NetworkObjection(
                name: unlisted.name, interfaceName: unlisted.links.first?.interfaceName ?? "",
                evidence: unlisted.evidence, objection: Evidence("network", "may be a described one")))
        return judgement
    }

    /// When time alone changes what is believed.
    func deadline(in ruleSet: RuleSet) -> Int64? {
        // Another link may be in doubt about a network for as long as it likes: only what is not believed yet has one.
        var deadlines = matchedSince.compactMap { name, since in
            standings[name] != nil ? nil : since + (ruleSet.network(named: name)?.stableFor ?? 0)
        }
        if let undecidedSince, judgement.doubt(BuiltInNetwork.unlisted.rawValue) != nil {
            deadlines.append(undecidedSince + PlaceTracker.decisionLimit)
        }
        return deadlines.min()
    }

    struct Movement {
        var networks: Set<String> = []
        /// Whether the place as a whole began or ceased to be sure enough for less protection, or to be so for longer.
        var hasTrust = false
    }

    /// Networks left, then networks entered or known better or worse; answers whatever rules may depend on.
    mutating func move(
        to judged: Judgement, in ruleSet: RuleSet, at now: Int64, _ decisions: inout [Decision]
    ) -> Movement {
        let new = stabilized(judged, in: ruleSet, at: now)
        var movement = Movement()
        let wasSuspended = judgement.isSuspended
        judgement = new
        let names = Set(new.matches.map(\.name))
        for name in order where !names.contains(name) {
            guard let standing = standings.removeValue(forKey: name) else { continue }
            movement.networks.insert(name)
            guard standing.match.isPlace else { continue }
            // Where the loss was held back, it was when the link was lost, not when that became certain.
            let end = links.lossTime(of: standing.match) ?? now
            decisions.append(
                .networkLeft(standing.match, stayed: Stay(microseconds: max(end - standing.since, 0))))
        }
        order.removeAll { !names.contains($0) }
        let mayBegin = links.unknown.isEmpty
        resumed.update(new, in: ruleSet, at: now)
        for match in new.matches {
            let resumedSince = resumed.take(match.name)
            var standing = standings[match.name] ?? Standing(match, since: resumedSince ?? now)
            let previous = standing.match.assurance
            let trust = standing.trustedSince
            let wasFrozen = standing.frozenAt != nil
            standing.match = match
            if new.isSuspended {
                standing.match.assurance = .unknown
            } else if links.holds(match) {
                // What is unknown gains nothing.
                standing.match.assurance = min(match.assurance, previous)
            }
            standing.frozenAt = links.holds(match) ? standing.frozenAt ?? now : nil
            standing.updateTrust(in: new, at: now, mayBegin: mayBegin)
            if standings[match.name] == nil {
                order.append(match.name)
                movement.networks.insert(match.name)
                if match.isPlace, resumedSince == nil { decisions.append(.networkEntered(match)) }
            } else {
                if previous != standing.match.assurance {
                    movement.networks.insert(match.name)
                    if match.isPlace { decisions.append(.assuranceChanged(standing.match, previous: previous)) }
                }
                if trust != standing.trustedSince || wasFrozen != (standing.frozenAt != nil) {
                    movement.networks.insert(match.name)
                }
            }
            standings[match.name] = standing
        }
        let nowDoubtful = Set(new.doubts.map(\.name))
        movement.networks.formUnion(doubtful.symmetricDifference(nowDoubtful))
        doubtful = nowDoubtful
        if wasSuspended != new.isSuspended { movement.hasTrust = true }
        if wasBlurred == mayBegin {
            // From now on trust matures again, or no longer does.
            if trustedSince != nil { movement.hasTrust = true }
            movement.networks.formUnion(order)
        }
        wasBlurred = !mayBegin
        let isTrusted = !new.isSuspended && new.assurance >= .mutual
        if isTrusted != (trustedSince != nil), !isTrusted || mayBegin {
            trustedSince = isTrusted ? now : nil
            movement.hasTrust = true
        }
        return movement
    }
}

extension Judgement {
    /// Where the machine is: a described network or `unlisted`, otherwise `offline`.
    var place: NetworkMatch? {
        matches.first { $0.isPlace } ?? self[BuiltInNetwork.offline.rawValue]
    }
}
