public import Environment

/// Holds back VPNs at a captive portal, which lets nothing through before somebody has signed in.
///
/// (wanted states, connectivity, time) → (states to put in place, notices): no clock, no I/O.
public struct PortalGate: Sendable {
    /// How long a start waits at most (µs).
    public static let limit: Int64 = 300_000_000

    /// How long a start waits to learn whether there is a portal, where somebody looks (µs).
    public static let verdictLimit: Int64 = 10_000_000

    /// Since when (µs, boot time) there is a network of which that is not known yet.
    private var undecided: Int64?
    /// Whether it is, or was waited for for long enough.
    private var hasVerdict = false
    /// Until when (µs, boot time) starts wait; nil: they have waited for long enough at this portal.
    private var waiting: [StateAction.Target: Int64?] = [:]

    public init() {}

    /// When `admit` has to be asked again (µs, boot time); nil when time alone changes nothing.
    public var nextDeadline: Int64? {
        (waiting.values.compactMap(\.self) + (undecided.map { [$0 + PortalGate.verdictLimit] } ?? [])).min()
    }

    /// - Parameters:
    ///   - isLookedAfter: whether somebody finds out how far packets get. Then what would begin just before a portal is
    ///     found, and keep people from signing in, waits for that; where there is no network at all, nothing can leave
    ///     the machine past a VPN, and it waits for one.
    ///   - isUnderWay: whether a state is in place or being put there: what has begun is not broken off.
    /// - Returns: what may be put in place now, and the states whose wait has begun, each wait once.
    public mutating func admit(
        _ wanted: [StateRequest], _ connectivity: Connectivity, isLookedAfter: Bool = false,
        isUnderWay: (StateRequest) -> Bool, at now: Int64
    ) -> (admitted: [StateRequest], notices: [StateRequest]) {
        let isEarly = isEarly(connectivity, isLookedAfter, isWanted: wanted.contains(where: \.waitsForPortal), at: now)
        let targets = Set(wanted.filter(\.waitsForPortal).map(\.action.target))
        // Without a network, or with all of the internet, whatever portal there was is behind us. One that is out of
        // sight for a moment is not.
        waiting = waiting.filter { targets.contains($0.key) && connectivity != .internet && connectivity != .none }
        var notices: [StateRequest] = []
        let admitted = wanted.filter { request in
            let target = request.action.target
            guard request.waitsForPortal else { return true }
            if connectivity == .portal, waiting[target] == nil {
                waiting[target] = now + PortalGate.limit
                notices.append(request)
            }
            if let wait = waiting[target], let end = wait, end <= now { waiting.updateValue(nil, forKey: target) }
            let isWaiting = waiting[target].map { $0 != nil } ?? false
            return !isWaiting && !isEarly || isUnderWay(request)
        }
        return (admitted, notices)
    }

    /// Whether there is nothing yet by which to tell a portal from the internet.
    private mutating func isEarly(
        _ connectivity: Connectivity, _ isLookedAfter: Bool, isWanted: Bool, at now: Int64
    ) -> Bool {
        guard isLookedAfter, isWanted, waiting.isEmpty else {
            undecided = nil
            return false
        }
        switch connectivity {
        case .none:
            undecided = nil
            hasVerdict = false
            return true
        case .local:
            if hasVerdict { return false }
            let since = undecided ?? now
            undecided = since
            guard now - since >= PortalGate.verdictLimit else { return true }
            hasVerdict = true
        case .portal, .internet: hasVerdict = true
        }
        undecided = nil
        return false
    }
}

extension StateRequest {
    fileprivate var waitsForPortal: Bool { if case .vpn(let vpn) = action { vpn.waitsForPortal } else { false } }
}
