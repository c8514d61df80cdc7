internal import Environment

/// Bridges the moments in which nobody knows whether a Wi-Fi link comes back.
struct LinkMemory: Sendable {
    /// Links whose state is unknown now.
    private(set) var unknown: Set<Int32> = []
    /// Since when any link's state has been unknown without a break, be it one after the other (µs, boot time).
    private(set) var earliestUnknown: Int64?

    private var lastKnown: [Int32: (state: WiFiState, evidence: LinkEvidence)] = [:]
    private var unknownSince: [Int32: Int64] = [:]
    /// Links that became known in this round, with the moment in which they were lost.
    private var ended: [Int32: Int64] = [:]
    /// Whether the state of every link has been known once.
    private var hasSeen = false

    /// The environment with the last known state in place of each unknown one.
    ///
    /// Of a link that was never known nothing can be said: at the beginning that is so of the whole place (nil), later
    /// it is on no network yet, lest a link that is plugged in keep the others from being judged.
    mutating func resolve(_ environment: NetworkEnvironment, at now: Int64) -> NetworkEnvironment? {
        var resolved: NetworkEnvironment? = environment
        ended = unknownSince
        unknown = []
        for (index, interface) in environment.interfaces {
            guard let state = interface.wifi else { continue }
            if case .unknown = state {
                unknown.insert(index)
                unknownSince[index] = unknownSince[index] ?? now
                ended[index] = nil
                if let last = lastKnown[index] {
                    resolved?.interfaces[index]?.wifi = last.state
                    resolved?.interfaces[index]?.evidence = last.evidence
                } else if hasSeen {
                    resolved?.interfaces[index]?.wifi = .idle
                } else {
                    resolved = nil
                }
            } else {
                lastKnown[index] = (state, interface.evidence)
                unknownSince[index] = nil
            }
        }
        let isGone = { (index: Int32) in environment.interfaces[index]?.wifi == nil }
        lastKnown = lastKnown.filter { !isGone($0.key) }
        unknownSince = unknownSince.filter { !isGone($0.key) }
        if resolved != nil { hasSeen = true }
        earliestUnknown = unknown.isEmpty ? nil : earliestUnknown ?? now
        return resolved
    }

    /// Whether a match rests on unknown links alone.
    func holds(_ match: NetworkMatch) -> Bool {
        match.links.isEmpty ? !unknown.isEmpty : match.links.allSatisfy { unknown.contains($0.interfaceIndex) }
    }

    /// When the links of a match were lost that only now is certain not to hold any more.
    func lossTime(of match: NetworkMatch) -> Int64? {
        match.links.compactMap { ended[$0.interfaceIndex] }.max()
    }
}
