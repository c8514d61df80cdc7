internal import Rules
internal import WiFi

/// The types of the feed's lines, of which people ask for some.
enum FeedTypes {
    static let all = [
        "environment.snapshot", "wifi.associating", "wifi.joined", "wifi.left", "wifi.roamed", "wifi.join_failed",
        "wifi.channel_changed", "link.up", "link.down", "address.changed", "route.changed", "dns.changed",
        "connectivity.changed", "evidence.changed", "network.entered", "network.left", "network.assurance_changed",
        "rule.activated", "rule.deactivated", "rule.skipped", "action.started", "action.succeeded", "action.failed",
        "action.cancelled", "action.reverted", "second_factor.requested", "second_factor.passed",
        "second_factor.failed",
        "second_factor.expired", "join.progress", "join.finished", "agent.started", "agent.reloaded", "agent.resynced",
        "agent.suspended",
        "agent.resumed", "agent.stopped", "feed.gap",
    ]

    /// Whole families, as shells offer them.
    static let families = Set(all.compactMap { $0.split(separator: ".").first.map { "\($0).*" } }).sorted()

    /// Of a list such as `wifi.*,rule.activated`; what no line can be is a slip.
    static func patterns(_ list: String?) throws(UsageError) -> [String] {
        let patterns = list?.split(separator: ",").map { String($0) } ?? []
        for pattern in patterns where !all.contains(where: { matches($0, [pattern]) }) {
            let hint = Spelling.hint(for: pattern, among: all + families)
            throw UsageError(description: "no line has the type \(pattern.utf8.displayText)\(hint)")
        }
        return patterns
    }

    /// - Parameter patterns: types, or their beginnings ended by `*`; empty for all.
    static func matches(_ type: String, _ patterns: [String]) -> Bool {
        patterns.isEmpty || patterns.contains { $0.hasSuffix("*") ? type.hasPrefix($0.dropLast()) : type == $0 }
    }
}
