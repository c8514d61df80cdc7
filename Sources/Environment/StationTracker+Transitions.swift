internal import Netlink
internal import Platform
internal import WiFi

/// From one phase to the next, and what is told of it.
extension StationTracker {
    /// - Parameter isKnown: it was found by asking, and so may be older than this moment.
    mutating func begin(_ association: Association, isKnown: Bool = false, _ turn: inout Turn) {
        var association = association
        hint = nil
        generation &+= 1
        associations &+= 1
        refusals = []
        if !isKnown { doubtLink(turn) }
        switch phase {
        case .idle:
            phase = .associating(association)
        case .associating(let old):
            if old.network.bssid == association.network.bssid, old.network.ssid == association.network.ssid {
                association.isAnnounced = old.isAnnounced
            } else {
                fail(old, Cause(circumstance: .superseded), &turn)
            }
            phase = .associating(association)
        case .joined(let old):
            doubtLink(turn)
            let loss = Loss(
                previous: old, since: turn.time, cause: Cause(circumstance: .superseded), isObserved: false,
                deadline: turn.time.boottime + StationTracker.handshakeLimit)
            phase = .rejoining(loss, association)
        case .lost(let loss) where !isKnown && loss.isOver(at: turn.time):
            leave(loss, &turn)
            phase = .associating(association)
        case .lost(var loss):
            loss.isVerified = false
            if !loss.isSuspended { loss.deadline = turn.time.boottime + StationTracker.handshakeLimit }
            phase = .rejoining(loss, association)
        case .rejoining(let loss, _):
            phase = .rejoining(loss, association)
        }
        if !evaluate(&turn) {
            announce(&turn)
            if isKnown { poll(&turn) } else { ask(&turn) }
        }
    }

    /// Publishes what can be told now. True once the link is joined.
    mutating func evaluate(_ turn: inout Turn) -> Bool {
        switch phase {
        case .idle, .joined, .lost: return false
        case .associating(let association):
            guard isReady(association, turn) else {
                announce(&turn)
                return false
            }
            announce(&turn, isFinal: true)
            phase = .joined(association.announced)
            turn.publish(.joined(association.network))
        case .rejoining(let loss, let association):
            guard !loss.isAsleep else { return false }
            guard !isSwitch(from: loss.previous, to: association) else {
                leave(loss, &turn)
                phase = .associating(association)
                return evaluate(&turn)
            }
            guard isReady(association, turn) else { return false }
            guard association.network.ssid == loss.previous.network.ssid else {
                leave(loss, &turn)
                phase = .associating(association)
                return evaluate(&turn)
            }
            phase = .joined(association.announced)
            let isSameAccessPoint = association.network.bssid == loss.previous.network.bssid
            // Asleep, nobody left; and an access point that associates a station anew without a loss moved nobody.
            guard !isSameAccessPoint || loss.isObserved && !loss.isSuspended else { return true }
            turn.publish(.roamed(association.network, previous: loss.previous.network.bssid))
        }
        return true
    }

    private func isReady(_ association: Association, _ turn: Turn) -> Bool {
        let isUpDoubtful = !turn.isLinkCurrent || turn.time.boottime < doubtfulUntil ?? 0
        return association.isAuthorized(on: turn.link, isUpDoubtful: isUpDoubtful)
            && !association.isAwaitingSSID(at: turn.time)
    }

    /// Whether it is certain that this is not the network that was left, or is one with a weaker protection.
    private func isSwitch(from previous: Association, to next: Association) -> Bool {
        if let ssid = next.network.ssid, ssid != previous.network.ssid { return true }
        // Before the answer the class is what the request shows, which may lack what the access point demands.
        return next.isSSIDSettled && !next.network.security.isAtLeast(previous.network.security)
    }

    /// Publishes `associating` as soon as name and protection are known, or no source has them.
    mutating func announce(_ turn: inout Turn, isFinal: Bool = false) {
        guard case .associating(var association) = phase, !association.isAnnounced else { return }
        let isKnown = association.network.ssid != nil && association.network.security != .unknown
        guard isKnown || isFinal || association.hasAnswer else { return }
        association.isAnnounced = true
        phase = .associating(association)
        turn.publish(.associating(association.network), at: association.startedAt)
    }

    mutating func fail(_ association: Association, _ cause: Cause, _ turn: inout Turn) {
        doubtLink(turn)
        phase = .associating(association)
        announce(&turn, isFinal: true)
        phase = .idle
        generation &+= 1
        associations &+= 1
        departures &+= 1
        // A failure that came late, about an association before, leaves the kernel with one that nobody announces.
        hint = turn.time.boottime + StationTracker.hintDelay
        turn.publish(.joinFailed(association.network, cause))
    }

    mutating func lose(
        _ association: Association, _ cause: Cause, since: Timestamp? = nil, _ turn: inout Turn
    ) {
        doubtLink(turn)
        generation &+= 1
        associations &+= 1
        phase = .lost(
            Loss(
                previous: association, since: since ?? turn.time, cause: cause, isObserved: true,
                deadline: turn.time.boottime + StationTracker.roamWindow))
    }

    mutating func leave(_ loss: Loss, _ turn: inout Turn) {
        phase = .idle
        generation &+= 1
        departures &+= 1
        turn.publish(.left(loss.previous.network, loss.cause), at: loss.since)
        turn.queries += refusals.map { .accessPoint(index: turn.index, bssid: $0.bssid) }
    }

    /// What was to take the place of a lost association failed as well. After sleep a first try may, and nobody left.
    mutating func abandon(_ loss: Loss, _ association: Association, _ cause: Cause, _ turn: inout Turn) {
        if loss.isSuspended {
            doubtLink(turn)
            generation &+= 1
            associations &+= 1
            phase = .lost(loss)
        } else {
            leave(loss, &turn)
            fail(association, cause, &turn)
        }
    }

    /// From here on an UP that stands is one of before.
    private mutating func doubtLink(_ turn: Turn) {
        guard turn.link.operationalState == .up else { return }
        doubtfulUntil = turn.time.boottime + StationTracker.carrierDelay
    }

    /// Changes the association that is on its way, where one is.
    mutating func follow(_ body: (inout Association) -> Void) {
        switch phase {
        case .associating(var association):
            body(&association)
            phase = .associating(association)
        case .rejoining(let loss, var association):
            body(&association)
            phase = .rejoining(loss, association)
        case .idle, .joined, .lost: break
        }
    }
}

extension Association {
    fileprivate var announced: Association {
        var copy = self
        copy.isAnnounced = true
        copy.nextPoll = nil
        return copy
    }
}
