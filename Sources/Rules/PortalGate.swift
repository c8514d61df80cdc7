public import Environment

/// Holds back VPNs at a captive portal, which lets nothing through before somebody has signed in.
///
/// (wanted states, connectivity, time) → (states to put in place, notices): no clock, no I/O.
public struct PortalGate: Sendable {
    /// How long a start waits at most (µs).
    public static let limit: Int64 = 300_000_000

    /// Until when (µs, boot time) starts wait; nil: they have waited for long enough at this portal.
    private var waiting: [StateAction.Target: Int64?] = [:]

    public init() {}

    /// When `admit` has to be asked again (µs, boot time); nil when time alone changes nothing.
    public var nextDeadline: Int64? { waiting.values.compactMap(\.self).min() }

    /// - Parameter isUnderWay: whether a state is in place or being put there: what has begun is not broken off.
    /// - Returns: what may be put in place now, and the states whose wait has begun, each wait once.
    public mutating func admit(
        _ wanted: [StateRequest], _ connectivity: Connectivity, isUnderWay: (StateRequest) -> Bool, at now: Int64
    ) -> (admitted: [StateRequest], notices: [StateRequest]) {
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
            return !isWaiting || isUnderWay(request)
        }
        return (admitted, notices)
    }
}

extension StateRequest {
    fileprivate var waitsForPortal: Bool { if case .vpn(let vpn) = action { vpn.waitsForPortal } else { false } }
}
