internal import Feed
package import Rules
internal import SystemBus

/// Whether a second factor is needed, as one caller is told.
package struct FactorStatus: Hashable, Sendable {
    package var standing: FactorStanding
    /// Why the rule that decides holds or does not.
    package var because: String?

    package init(_ standing: FactorStanding, because: String? = nil) {
        self.standing = standing
        self.because = because
    }

    /// `a{sv}`. Which rule it is tells where the machine is.
    func argument(for level: FeedPermission) -> BusArgument {
        var members: [String: BusArgument] = ["needed": .flag(standing.isNeeded)]
        guard level.view == .full else { return .properties(members) }
        members["state"] = .text(standing.verdict.rawValue)
        members["rule"] = standing.rule.map { .text($0) }
        members["file"] = (standing.location?.file).map { .text($0) }
        members["line"] = standing.location.map { .unsigned(UInt32(clamping: $0.line)) }
        members["because"] = because.map { .text($0) }
        return .properties(members)
    }
}
