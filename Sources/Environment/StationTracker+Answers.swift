internal import Netlink
internal import Platform
internal import WiFi

/// What the kernel says when it is asked.
extension StationTracker {
    mutating func answered(_ report: AssociationReport?, generation: UInt32, _ turn: inout Turn) {
        guard generation == self.generation else { return }
        take(report, &turn)
    }

    /// - Parameter station: nil where the access point is no peer any more: then it matters what is there instead.
    mutating func answered(_ station: Station?, generation: UInt32, _ turn: inout Turn) {
        guard generation == self.generation else { return }
        guard let station else {
            askEverything(&turn)
            return
        }
        follow { $0.merge(station) }
        if !evaluate(&turn) { poll(&turn) }
    }

    /// The kernel did not answer: nothing is known that was not known before.
    mutating func unanswered(generation: UInt32, _ turn: inout Turn) {
        guard generation == self.generation else { return }
        switch phase {
        case .associating, .rejoining: poll(&turn)
        case .lost(let loss) where loss.isVerified: leave(loss, &turn)
        case .idle, .joined, .lost: hint = retries.next(after: turn.time)
        }
    }

    /// Everything was read again: the same as an answer, of whatever generation.
    ///
    /// - Parameter report: nil where this interface could not be read.
    mutating func inventoried(_ report: AssociationReport?, _ turn: inout Turn) {
        generation &+= 1
        guard let report else {
            ask(&turn)
            return
        }
        take(report, &turn)
        // Nobody announces what was there all along.
        if case .associating = phase { ask(&turn) }
    }

    /// - Parameter report: nil where nobody can tell.
    private mutating func take(_ report: AssociationReport?, _ turn: inout Turn) {
        retries = Backoff()
        let found = report.flatMap { Association($0, at: turn.time) }
        switch phase {
        case .idle:
            if let found { begin(found, isKnown: true, &turn) }
        case .associating(var association), .rejoining(_, var association):
            association.merge(report)
            follow { $0 = association }
            if association.isGone {
                replace(association, by: found, &turn)
            } else if !evaluate(&turn) {
                poll(&turn)
            }
        case .lost(let loss):
            if let found {
                begin(found, isKnown: true, &turn)
            } else if loss.isVerified {
                leave(loss, &turn)
            }
        case .joined(let association):
            if let report { verify(association, report, found, &turn) }
        }
    }

    /// The kernel does not know the association that is followed. What it has instead takes its place.
    private mutating func replace(_ association: Association, by found: Association?, _ turn: inout Turn) {
        if let found {
            begin(found, isKnown: true, &turn)
            return
        }
        let cause = turn.isResync ? Cause(circumstance: .resync) : Cause()
        switch phase {
        case .rejoining(let loss, _): abandon(loss, association, cause, &turn)
        default: fail(association, cause, &turn)
        }
    }

    /// Compares what is published with what the kernel says now.
    private mutating func verify(
        _ association: Association, _ report: AssociationReport, _ found: Association?, _ turn: inout Turn
    ) {
        guard let found else {
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
        var merged = association
        merged.merge(report)
        merged.network.security = association.network.security
        guard merged.isAuthorized(on: turn.link, isUpDoubtful: false) else {
            lose(association, Cause(circumstance: .unauthorized), &turn)
            return
        }
        phase = .joined(merged)
        if merged.network.frequency != association.network.frequency, association.network.frequency != nil {
            turn.publish(.channelChanged(merged.network))
        }
    }

    mutating func answered(_ entry: ScanEntry?, about bssid: BSSID, _ turn: inout Turn) {
        guard let place = refusals.firstIndex(where: { $0.bssid == bssid }) else { return }
        let refusal = refusals.remove(at: place)
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

    func announceRefusal(_ network: WiFiNetwork, _ cause: Cause, _ time: Timestamp, _ turn: inout Turn) {
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

    /// Once it is known what the association is, one station tells the rest, much sooner than lists do.
    mutating func ask(_ turn: inout Turn) {
        switch phase {
        case .associating(let association), .rejoining(_, let association):
            guard association.hasOffer, association.isSSIDSettled, let address = association.network.bssid else {
                break
            }
            turn.queries.append(.station(index: turn.index, generation: generation, address: address))
            return
        case .idle, .joined, .lost: break
        }
        askEverything(&turn)
    }

    private func askEverything(_ turn: inout Turn) {
        turn.queries.append(.association(index: turn.index, generation: generation))
    }

    /// Some drivers tell nothing when the handshake ends, so the kernel is asked again: soon, then ever less often.
    mutating func poll(_ turn: inout Turn) {
        let limit = doubtfulUntil
        follow { $0.schedulePoll(after: turn.time, atLatest: limit) }
    }
}
