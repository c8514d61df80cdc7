internal import Netlink
internal import Platform
internal import WiFi

/// Follows the association of one station interface: the state machine behind `wifi.*`.
///
/// It is told facts and answers with changes and questions. `joined` and `left` alternate whatever comes; `joined`
/// needs an authorised link; a loss is held for a moment because most roams look like one (mac80211 sends DISCONNECT
/// and CONNECT 20–50 ms apart).
struct StationTracker: Sendable {
    private enum Phase: Sendable {
        case idle
        case associating(Association)
        case joined(Association)
        case lost(Loss)
        case rejoining(Loss, Association)
    }

    /// What was lost, or is being replaced without a loss.
    private struct Loss: Sendable {
        var previous: Association
        var since: Timestamp
        var cause: Cause
        /// Whether the link was down for a moment; a firmware roam never is.
        var isObserved: Bool
        /// Nil while the machine sleeps.
        var deadline: Int64?
        /// Whether the kernel was asked if the link is really gone.
        var isVerified = false
        var isSuspended: Bool { cause.circumstance == .suspend }
    }

    /// From a loss to the next CONNECT, and from there to the end of the handshake.
    private static let roamWindow: Int64 = 1_000_000
    private static let handshakeLimit: Int64 = 10_000_000
    private static let resumeLimit: Int64 = 30_000_000
    /// Drivers without CONNECT leave only hints; those that have it send it within this time.
    private static let hintDelay: Int64 = 300_000

    private var phase = Phase.idle
    private var generation: UInt32 = 0
    private var hint: Int64?
    private var lastLoss: Timestamp?
    private var upSince: Timestamp?
    /// Refused authentications that wait for the name of their access point.
    private var refusals: [BSSID: (time: Timestamp, cause: Cause)] = [:]

    /// What to say when asked.
    var state: WiFiState {
        switch phase {
        case .idle: .idle
        case .associating(let association): .associating(association.network)
        case .joined(let association): .joined(association.network)
        case .lost, .rejoining: .unknown
        }
    }

    /// When to be called again (µs, boot time).
    var deadline: Int64? {
        switch phase {
        case .idle, .joined: hint
        case .associating(let association): association.nextPoll
        case .lost(let loss): earliest(loss.deadline, hint)
        case .rejoining(let loss, let association): earliest(loss.deadline, association.nextPoll)
        }
    }

    // MARK: Events

    mutating func connected(_ result: ConnectionResult, isRoam: Bool, _ turn: inout Turn) {
        begin(Association(result, at: turn.time, isRoam: isRoam), &turn)
    }

    mutating func connectionFailed(_ result: ConnectionResult, _ turn: inout Turn) {
        let failed = Association(result, at: turn.time, isRoam: false)
        let cause = Cause(
            status: result.timedOut ? nil : result.status, circumstance: result.timedOut ? .timedOut : nil)
        switch phase {
        case .idle:
            fail(failed, cause, &turn)
        case .associating(let association):
            fail(association, cause, &turn)
        case .joined(let association):
            lose(association, cause, &turn)
        case .lost(let loss), .rejoining(let loss, _):
            leave(loss, &turn)
            fail(failed, cause, &turn)
        }
    }

    mutating func disconnected(reason: UInt16?, byAccessPoint: Bool, _ turn: inout Turn) {
        let cause = Cause(reason: reason, byAccessPoint: byAccessPoint)
        hint = nil
        switch phase {
        case .idle: break
        case .associating(let association): fail(association, cause, &turn)
        case .joined(let association): lose(association, cause, &turn)
        case .lost(var loss):
            // The first word was a removed station or a link that went down; this one says why.
            if loss.cause.reason == nil, !loss.isSuspended {
                loss.cause.reason = reason
                loss.cause.byAccessPoint = byAccessPoint
            }
            phase = .lost(loss)
        case .rejoining(let loss, let association) where loss.isObserved:
            // The handshake failed, so this was no roam.
            leave(loss, &turn)
            fail(association, cause, &turn)
        case .rejoining(var loss, _):
            // Moved without a loss, and lost now: the moment to come back starts here.
            loss.cause = cause
            loss.isObserved = true
            lastLoss = turn.time
            loss.deadline = turn.time.boottime + StationTracker.roamWindow
            phase = .lost(loss)
            ask(&turn)
        }
    }

    /// A station of the interface came: with drivers that have no CONNECT, an association.
    mutating func stationAdded(_ turn: inout Turn) {
        switch phase {
        case .idle, .lost: hint = turn.time.boottime + StationTracker.hintDelay
        case .associating, .joined, .rejoining: break
        }
    }

    mutating func stationRemoved(_ address: MACAddress, _ turn: inout Turn) {
        switch phase {
        case .joined(let association) where association.network.bssid == address:
            lose(association, Cause(), &turn)
        case .associating(var association) where association.network.bssid == address:
            association.nextPoll = turn.time.boottime + StationTracker.hintDelay
            phase = .associating(association)
        default: break
        }
    }

    mutating func portAuthorized(_ address: MACAddress, _ turn: inout Turn) {
        switch phase {
        case .associating(var association) where association.network.bssid == address:
            association.isPortAuthorized = true
            phase = .associating(association)
        case .rejoining(let loss, var association) where association.network.bssid == address:
            association.isPortAuthorized = true
            phase = .rejoining(loss, association)
        default: return
        }
        ask(&turn)
    }

    /// The access point refused, or did not answer, before there was an association.
    mutating func refused(_ result: ManagementResult, _ turn: inout Turn) {
        let cause = Cause(
            status: result.timedOut ? nil : result.status, circumstance: result.timedOut ? .timedOut : nil)
        switch phase {
        case .associating(let association) where association.network.bssid == result.bssid:
            fail(association, cause, &turn)
        case .idle:
            guard let bssid = result.bssid, refusals.count < 16 else {
                announceRefusal(
                    WiFiNetwork(ssid: nil, bssid: result.bssid, security: .unknown), cause, turn.time, &turn)
                return
            }
            refusals[bssid] = (turn.time, cause)
            turn.queries.append(.accessPoint(index: turn.index, bssid: bssid))
        // A joined station that tries another access point in vain is still joined; a lost one may try a third.
        case .associating, .joined, .lost, .rejoining: break
        }
    }

    mutating func channelSwitched(_ frequency: UInt32, _ turn: inout Turn) {
        update { network in
            network.frequency = frequency
        } published: { network in
            turn.publish(.channelChanged(network))
        }
    }

    /// The links of a multi-link association changed.
    mutating func linksChanged(_ turn: inout Turn) { ask(&turn) }

    mutating func linkChanged(from old: Interface, _ turn: inout Turn) {
        let link = turn.link
        if link.operationalState == .up, old.operationalState != .up { upSince = turn.time }
        if old.isAdministrativelyUp, !link.isAdministrativelyUp {
            wentDown(&turn)
            return
        }
        guard link.operationalState != old.operationalState || link.isDormantByDefault != old.isDormantByDefault
        else { return }
        switch phase {
        case .idle, .lost:
            if link.operationalState == .up { hint = turn.time.boottime + StationTracker.hintDelay }
        case .associating, .rejoining:
            if !evaluate(&turn) { ask(&turn) }
        case .joined:
            // A hint: where a driver tells of no loss, the kernel's answer does.
            if link.operationalState != .up { ask(&turn) }
        }
    }

    mutating func suspending(_ turn: inout Turn) {
        let cause = Cause(circumstance: .suspend)
        switch phase {
        case .joined(let association):
            lose(association, cause, &turn)
        case .lost(var loss), .rejoining(var loss, _):
            loss.cause = cause
            phase = .lost(loss)
        case .idle, .associating: return
        }
        if case .lost(var loss) = phase {
            loss.deadline = nil
            phase = .lost(loss)
        }
    }

    mutating func resumed(_ turn: inout Turn) {
        switch phase {
        case .lost(var loss) where loss.isSuspended:
            loss.deadline = turn.time.boottime + StationTracker.resumeLimit
            phase = .lost(loss)
        case .rejoining(var loss, let association) where loss.isSuspended:
            loss.deadline = turn.time.boottime + StationTracker.resumeLimit
            phase = .rejoining(loss, association)
        default: break
        }
        ask(&turn)
    }

    /// The interface is gone, or joins no networks any more.
    mutating func ended(_ circumstance: Cause.Circumstance, _ turn: inout Turn) {
        let cause = Cause(circumstance: circumstance)
        hint = nil
        switch phase {
        case .idle: break
        case .associating(let association): fail(association, cause, &turn)
        case .joined(let association):
            leave(
                Loss(previous: association, since: turn.time, cause: cause, isObserved: true, deadline: nil), &turn)
        case .lost(var loss), .rejoining(var loss, _):
            if loss.cause.circumstance == nil { loss.cause.circumstance = circumstance }
            leave(loss, &turn)
        }
        generation &+= 1
    }

    // MARK: Answers

    mutating func answered(_ report: AssociationReport?, generation: UInt32, _ turn: inout Turn) {
        guard generation == self.generation else { return }
        take(report, &turn)
    }

    mutating func answered(_ station: Station?, generation: UInt32, _ turn: inout Turn) {
        guard generation == self.generation else { return }
        switch phase {
        case .associating(var association):
            association.merge(station)
            phase = .associating(association)
            conclude(association, &turn)
        case .rejoining(let loss, var association):
            association.merge(station)
            phase = .rejoining(loss, association)
            conclude(association, &turn)
        case .idle, .joined, .lost: break
        }
    }

    /// Everything was read again: the same as an answer, of whatever generation.
    mutating func inventoried(_ report: AssociationReport?, _ turn: inout Turn) {
        if turn.link.operationalState == .up, upSince == nil { upSince = turn.time }
        generation &+= 1
        take(report, &turn)
        // Nobody announces what was there all along.
        if case .associating = phase { ask(&turn) }
    }

    private mutating func take(_ report: AssociationReport?, _ turn: inout Turn) {
        switch phase {
        case .idle:
            if let report, let found = Association(report, at: turn.time) { begin(found, isKnown: true, &turn) }
        case .associating(var association):
            association.merge(report)
            phase = .associating(association)
            conclude(association, &turn)
        case .rejoining(let loss, var association):
            association.merge(report)
            phase = .rejoining(loss, association)
            conclude(association, &turn)
        case .lost(let loss):
            if let report, let found = Association(report, at: turn.time) {
                begin(found, isKnown: true, &turn)
            } else if loss.isVerified {
                leave(loss, &turn)
            }
        case .joined(let association):
            verify(association, report, &turn)
        }
    }

    /// After an answer: joined, over, or to be asked again.
    private mutating func conclude(_ association: Association, _ turn: inout Turn) {
        if case .associating = phase, association.isGone {
            fail(association, turn.isResync ? Cause(circumstance: .resync) : Cause(), &turn)
        } else if !evaluate(&turn) {
            poll(&turn)
        }
    }

    /// Compares what is published with what the kernel says now.
    private mutating func verify(_ association: Association, _ report: AssociationReport?, _ turn: inout Turn) {
        guard let report else { return }
        guard let found = Association(report, at: turn.time) else {
            lose(association, turn.isResync ? Cause(circumstance: .resync) : Cause(), &turn)
            return
        }
        guard found.network.bssid == association.network.bssid,
            found.network.ssid == nil || association.network.ssid == nil
                || found.network.ssid == association.network.ssid
        else {
            begin(found, isKnown: true, &turn)
            return
        }
        guard found.isAuthorizedByFlag ?? (turn.link.operationalState == .up) else {
            lose(association, Cause(circumstance: .unauthorized), &turn)
            return
        }
        var merged = association
        merged.merge(report)
        merged.network.security = association.network.security
        phase = .joined(merged)
        if merged.network.frequency != association.network.frequency, association.network.frequency != nil {
            turn.publish(.channelChanged(merged.network))
        }
    }

    mutating func answered(_ entry: ScanEntry?, about bssid: BSSID, _ turn: inout Turn) {
        guard let refusal = refusals.removeValue(forKey: bssid) else { return }
        var network = WiFiNetwork(ssid: nil, bssid: bssid, security: .unknown)
        if let entry {
            let elements = InformationElements(entry.elements ?? [])
            network.ssid = elements.ssid.flatMap { $0.isHidden ? nil : $0 }
            network.security = .offered(by: elements, privacy: entry.capability & 0x10 != 0)
            network.frequency = entry.frequency
            network.signal = entry.signal
        }
        announceRefusal(network, refusal.cause, refusal.time, &turn)
    }

    private func announceRefusal(_ network: WiFiNetwork, _ cause: Cause, _ time: Timestamp, _ turn: inout Turn) {
        // Since then the station may have got through: then its own events speak.
        guard case .idle = phase else { return }
        turn.publish(.associating(network), at: time)
        turn.publish(.joinFailed(network, cause), at: time)
    }

    mutating func answered(isRadioBlocked: Bool, generation: UInt32, _ turn: inout Turn) {
        guard generation == self.generation else { return }
        switch phase {
        case .associating, .lost, .rejoining: ended(isRadioBlocked ? .rfkill : .interfaceDown, &turn)
        case .idle, .joined: break
        }
    }

    // MARK: Time

    mutating func deadlineReached(_ turn: inout Turn) {
        let now = turn.time.boottime
        if let due = hint, due <= now {
            hint = nil
            ask(&turn)
        }
        switch phase {
        case .associating(var association):
            guard let due = association.nextPoll, due <= now else { return }
            association.nextPoll = nil
            phase = .associating(association)
            ask(&turn)
        case .lost(var loss):
            guard let due = loss.deadline, due <= now else { return }
            if loss.isVerified {
                leave(loss, &turn)
            } else {
                // The loss may be older than what we know: the kernel has the last word.
                loss.isVerified = true
                loss.deadline = now + StationTracker.roamWindow / 2
                phase = .lost(loss)
                ask(&turn)
            }
        case .rejoining(let loss, var association):
            if let due = loss.deadline, due <= now {
                // The handshake takes too long for a roam, though it may still end well.
                leave(loss, &turn)
                phase = .associating(association)
                announce(&turn)
                ask(&turn)
            } else if let due = association.nextPoll, due <= now {
                association.nextPoll = nil
                phase = .rejoining(loss, association)
                ask(&turn)
            }
        case .idle, .joined: break
        }
    }

    // MARK: Transitions

    private mutating func begin(_ association: Association, isKnown: Bool = false, _ turn: inout Turn) {
        var association = association
        hint = nil
        generation &+= 1
        refusals = [:]
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
            let loss = Loss(
                previous: old, since: turn.time, cause: Cause(circumstance: .superseded), isObserved: false,
                deadline: turn.time.boottime + StationTracker.handshakeLimit)
            phase = .rejoining(loss, association)
        case .lost(var loss):
            loss.isVerified = false
            loss.deadline =
                loss.isSuspended
                ? turn.time.boottime + StationTracker.resumeLimit
                : turn.time.boottime + StationTracker.handshakeLimit
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
    private mutating func evaluate(_ turn: inout Turn) -> Bool {
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
        association.isAuthorized(on: turn.link, upSince: upSince, lastLoss: lastLoss)
            && !association.isAwaitingSSID(at: turn.time)
    }

    /// Whether it is certain that this is not the network that was left, or is one with a weaker protection.
    private func isSwitch(from previous: Association, to next: Association) -> Bool {
        if let ssid = next.network.ssid, ssid != previous.network.ssid { return true }
        // Before the answer the class is what the request shows, which may lack what the access point demands.
        return next.isSSIDSettled && !next.network.security.isAtLeast(previous.network.security)
    }

    /// Publishes `associating` as soon as name and protection are known, or no source has them.
    private mutating func announce(_ turn: inout Turn, isFinal: Bool = false) {
        guard case .associating(var association) = phase, !association.isAnnounced else { return }
        let isKnown = association.network.ssid != nil && association.network.security != .unknown
        guard isKnown || isFinal || association.hasAnswer else { return }
        association.isAnnounced = true
        phase = .associating(association)
        turn.publish(.associating(association.network), at: association.startedAt)
    }

    private mutating func fail(_ association: Association, _ cause: Cause, _ turn: inout Turn) {
        phase = .associating(association)
        announce(&turn, isFinal: true)
        phase = .idle
        hint = nil
        lastLoss = turn.time
        generation &+= 1
        turn.publish(.joinFailed(association.network, cause))
    }

    private mutating func lose(_ association: Association, _ cause: Cause, _ turn: inout Turn) {
        lastLoss = turn.time
        generation &+= 1
        phase = .lost(
            Loss(
                previous: association, since: turn.time, cause: cause, isObserved: true,
                deadline: turn.time.boottime + StationTracker.roamWindow))
    }

    private mutating func leave(_ loss: Loss, _ turn: inout Turn) {
        phase = .idle
        generation &+= 1
        turn.publish(.left(loss.previous.network, loss.cause), at: loss.since)
    }

    private mutating func wentDown(_ turn: inout Turn) {
        switch phase {
        case .idle: return
        case .joined(let association): lose(association, Cause(), &turn)
        case .lost(let loss) where loss.isSuspended: return
        case .rejoining(let loss, _) where loss.isSuspended:
            phase = .lost(loss)
            return
        case .associating, .lost, .rejoining: break
        }
        turn.queries.append(.radio(index: turn.index, generation: generation))
    }

    private mutating func update(
        _ body: (inout WiFiNetwork) -> Void, published: (WiFiNetwork) -> Void
    ) {
        switch phase {
        case .associating(var association):
            body(&association.network)
            phase = .associating(association)
        case .joined(var association):
            let old = association.network
            body(&association.network)
            phase = .joined(association)
            if association.network != old { published(association.network) }
        case .rejoining(let loss, var association):
            body(&association.network)
            phase = .rejoining(loss, association)
        case .idle, .lost: break
        }
    }

    private func ask(_ turn: inout Turn) {
        switch phase {
        case .associating(let association), .rejoining(_, let association):
            if association.hasOffer, association.isSSIDSettled, let address = association.network.bssid {
                turn.queries.append(.station(index: turn.index, generation: generation, address: address))
                return
            }
        case .idle, .joined, .lost: break
        }
        turn.queries.append(.association(index: turn.index, generation: generation))
    }

    private mutating func poll(_ turn: inout Turn) {
        switch phase {
        case .associating(var association):
            association.schedulePoll(at: turn.time)
            phase = .associating(association)
        case .rejoining(let loss, var association):
            association.schedulePoll(at: turn.time)
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

func earliest(_ one: Int64?, _ other: Int64?) -> Int64? {
    guard let one, let other else { return one ?? other }
    return min(one, other)
}
