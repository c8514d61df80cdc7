internal import Netlink
internal import Platform
internal import WiFi

/// Follows the association of one station interface: the state machine behind `wifi.*`.
///
/// It is told facts and answers with changes and questions. `joined` and `left` alternate whatever comes; `joined`
/// needs an authorised link; a loss is held for a moment because most roams look like one (mac80211 sends DISCONNECT
/// and CONNECT 20–50 ms apart).
struct StationTracker: Sendable {
    enum Phase: Sendable {
        case idle
        case associating(Association)
        case joined(Association)
        case lost(Loss)
        case rejoining(Loss, Association)
    }

    /// What was lost, or is being replaced without a loss.
    struct Loss: Sendable {
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
        var isAsleep: Bool { isSuspended && deadline == nil }

        /// Whether what begins now comes too late to be a roam.
        func isOver(at time: Timestamp) -> Bool { isVerified || time.boottime > deadline ?? .max }
    }

    /// From a loss to the next CONNECT, and from there to the end of the handshake.
    static let roamWindow: Int64 = 1_000_000
    static let handshakeLimit: Int64 = 10_000_000
    static let resumeLimit: Int64 = 30_000_000
    /// Drivers without CONNECT leave only hints; those that have it send it within this time.
    static let hintDelay: Int64 = 300_000
    /// The kernel tells of a lost carrier up to a second late (net/core/link_watch.c): twice that.
    static let carrierDelay: Int64 = 2_000_000

    var phase = Phase.idle
    /// How many associations began and ended: what is known of one says nothing of the next.
    var associations: UInt32 = 0
    /// How many networks were left, or not joined after all; a roam leaves none.
    var departures: UInt32 = 0
    /// Of questions: what was asked before an event says nothing about what came after it.
    var generation: UInt32 = 0
    /// When to ask what no event told.
    var hint: Int64?
    /// Until when the link's UP may be that of the association before; nil once it is known not to be.
    var doubtfulUntil: Int64?
    /// Between questions that the kernel does not answer.
    var retries = Backoff()
    /// Refused authentications that wait for the name of their access point.
    var refusals: [(bssid: BSSID, time: Timestamp, cause: Cause)] = []

    /// What to say when asked.
    var state: WiFiState {
        switch phase {
        case .idle: .idle
        case .associating(let association): .associating(association.network)
        case .joined(let association): .joined(association.network)
        case .lost, .rejoining: .unknown
        }
    }

    /// The network that the link is on, or on its way to.
    var network: WiFiNetwork? {
        switch phase {
        case .joined(let association), .associating(let association), .rejoining(_, let association):
            association.network
        case .idle, .lost: nil
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

    // MARK: Associations

    mutating func connected(_ result: ConnectionResult, _ turn: inout Turn) {
        begin(Association(result, at: turn.time), &turn)
    }

    mutating func connectionFailed(_ result: ConnectionResult, _ turn: inout Turn) {
        let failed = Association(result, at: turn.time)
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
            abandon(loss, failed, cause, &turn)
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
            abandon(loss, association, cause, &turn)
        case .rejoining(let loss, _):
            // Moved without a loss, and lost now: the moment to come back starts here.
            lose(loss.previous, cause, since: loss.since, &turn)
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
        case .associating(let association), .rejoining(_, let association):
            guard association.network.bssid == address else { return }
            follow { $0.nextPoll = turn.time.boottime + StationTracker.hintDelay }
        default: break
        }
    }

    mutating func portAuthorized(_ address: MACAddress, _ turn: inout Turn) {
        switch phase {
        case .associating(let association), .rejoining(_, let association):
            guard association.network.bssid ?? address == address else { return }
            follow { $0.isPortAuthorized = true }
            ask(&turn)
        case .idle, .joined, .lost: return
        }
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
            refusals.append((bssid, turn.time, cause))
            turn.queries.append(.accessPoint(index: turn.index, bssid: bssid))
        case .lost:
            // Told once the network is left; a station that comes back after all was not refused.
            if let bssid = result.bssid, refusals.count < 16 { refusals.append((bssid, turn.time, cause)) }
        // A joined station that tries another access point in vain is still joined.
        case .associating, .joined, .rejoining: break
        }
    }

    mutating func channelSwitched(_ frequency: UInt32, _ turn: inout Turn) {
        follow { $0.network.frequency = frequency }
        guard case .joined(var association) = phase, association.network.frequency != frequency else { return }
        association.network.frequency = frequency
        phase = .joined(association)
        turn.publish(.channelChanged(association.network))
    }

    /// The links of a multi-link association changed.
    mutating func linksChanged(_ turn: inout Turn) { ask(&turn) }

    /// Somebody relies on what is known of it.
    mutating func questioned(_ turn: inout Turn) {
        if case .idle = phase { return }
        ask(&turn)
    }

    // MARK: The link, the machine

    mutating func linkChanged(from old: Interface, _ turn: inout Turn) {
        let link = turn.link
        if link.operationalState != .up { doubtfulUntil = nil }
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
            follow { $0.noteLinkChange() }
            if !evaluate(&turn) { ask(&turn) }
        case .joined:
            // A hint: where a driver tells of no loss, the kernel's answer does.
            if link.operationalState != .up { ask(&turn) }
        }
    }

    private mutating func wentDown(_ turn: inout Turn) {
        switch phase {
        case .idle: return
        case .joined(let association): lose(association, Cause(), &turn)
        case .lost(let loss) where loss.isSuspended: return
        case .rejoining(let loss, let association) where loss.isSuspended:
            abandon(loss, association, Cause(), &turn)
            return
        case .associating, .lost, .rejoining: break
        }
        turn.queries.append(.radio(index: turn.index, generation: generation))
    }

    mutating func suspending(_ turn: inout Turn) {
        let cause = Cause(circumstance: .suspend)
        switch phase {
        case .joined(let association): lose(association, cause, &turn)
        case .lost(let loss), .rejoining(let loss, _): lose(loss.previous, cause, since: loss.since, &turn)
        case .idle, .associating: return
        }
        if case .lost(var loss) = phase {
            loss.deadline = nil
            phase = .lost(loss)
        }
    }

    mutating func resumed(_ turn: inout Turn) {
        let deadline = turn.time.boottime + StationTracker.resumeLimit
        switch phase {
        case .lost(var loss) where loss.isAsleep:
            loss.deadline = deadline
            phase = .lost(loss)
        case .rejoining(var loss, let association) where loss.isAsleep:
            loss.deadline = deadline
            phase = .rejoining(loss, association)
        default: break
        }
        ask(&turn)
    }

    /// The interface is gone, or joins no networks any more.
    mutating func ended(_ circumstance: Cause.Circumstance, _ turn: inout Turn) {
        let cause = Cause(circumstance: circumstance)
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
        hint = nil
        generation &+= 1
    }

    // MARK: Time

    mutating func deadlineReached(_ turn: inout Turn) {
        let now = turn.time.boottime
        if let due = hint, due <= now {
            hint = nil
            ask(&turn)
        }
        switch phase {
        case .lost(let loss) where loss.deadline ?? .max <= now:
            loseForGood(loss, &turn)
        case .rejoining(let loss, let association) where loss.deadline ?? .max <= now:
            // The handshake takes too long for a roam, though it may still end well.
            leave(loss, &turn)
            phase = .associating(association)
            announce(&turn)
            ask(&turn)
        case .associating(let association), .rejoining(_, let association):
            guard association.nextPoll ?? .max <= now else { return }
            follow { $0.nextPoll = nil }
            ask(&turn)
        case .idle, .joined, .lost: break
        }
    }

    /// The loss may be older than what we know, so the kernel has the last word: it is asked, but not waited for.
    private mutating func loseForGood(_ loss: Loss, _ turn: inout Turn) {
        guard !loss.isVerified else {
            leave(loss, &turn)
            return
        }
        var loss = loss
        loss.isVerified = true
        loss.deadline = turn.time.boottime + StationTracker.roamWindow / 2
        phase = .lost(loss)
        ask(&turn)
    }
}

/// Ever longer pauses, so that waiting for what never comes costs nothing in the long run.
struct Backoff: Sendable {
    /// µs
    var pause: Int64 = 20_000

    /// When to try again.
    mutating func next(after time: Timestamp) -> Int64 {
        defer { pause = min(pause * 2, 1 << 42) }
        return time.boottime + pause
    }
}

func earliest(_ one: Int64?, _ other: Int64?) -> Int64? {
    guard let one, let other else { return one ?? other }
    return min(one, other)
}
