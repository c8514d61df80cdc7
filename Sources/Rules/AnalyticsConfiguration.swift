/// What is written about where the machine was: `[analytics]` of the agent's configuration.
public struct AnalyticsConfiguration: Hashable, Sendable {
    /// Whether something is written of a person who has said nothing.
    public enum Consent: String, CaseIterable, Hashable, Sendable {
        /// Until somebody refuses.
        case presumed
        /// Not before everybody who sits at the machine has agreed.
        case required
    }

    /// How names are hashed that rule files do not list for everybody.
    public enum Hash: String, CaseIterable, Hashable, Sendable {
        /// With a key.
        case hmac
        /// Bare, so that they can be guessed; private networks excepted.
        case sha256
    }

    /// Whose key that is.
    public enum Scope: String, CaseIterable, Hashable, Sendable {
        /// This machine's own, renewed every so often.
        case host
        /// One for many machines, which the administrator hands out and renews.
        case organisation
    }

    public var isEnabled = true
    public var consent = Consent.presumed
    public var hash = Hash.hmac
    public var scope = Scope.host
    /// Of the organisation's key; nil: systemd hands it over as a credential.
    public var keyFile: String?
    /// After so long the host's key is destroyed and another one made, µs.
    public var rotation: Int64 = 90 * day
    /// To which times are rounded, µs.
    public var granularity: Int64 = 15 * 60_000_000
    /// After so long a line is dropped, µs.
    public var retention: Int64 = 90 * day

    public init() {}

    static let day: Int64 = 86_400_000_000
}

extension FileChecker {
    static let analyticsKeys = [
        "enabled", "consent", "hash", "scope", "key-file", "rotate", "granularity", "retention",
    ]
    private static let lifetimes = AnalyticsConfiguration.day...3_650 * AnalyticsConfiguration.day
    private static let granularities = Int64(60_000_000)...AnalyticsConfiguration.day

    mutating func analytics(_ value: TOMLValue) -> AnalyticsConfiguration? {
        guard case .table(let members) = value.content else {
            wrongType(value, expected: "a table such as { retention = \"90d\" }")
            return nil
        }
        let problems = diagnostics.count { $0.severity == .error }
        var analytics = AnalyticsConfiguration()
        for entry in members {
            switch entry.key {
            case "enabled": analytics.isEnabled = boolean(entry.value) ?? true
            case "consent": analytics.consent = choice(entry.value) ?? analytics.consent
            case "hash": analytics.hash = choice(entry.value) ?? analytics.hash
            case "scope": analytics.scope = choice(entry.value) ?? analytics.scope
            case "key-file": analytics.keyFile = absolutePath(entry.value)
            case "rotate": analytics.rotation = longDuration(entry.value, in: Self.lifetimes) ?? analytics.rotation
            case "granularity":
                analytics.granularity = longDuration(entry.value, in: Self.granularities) ?? analytics.granularity
            case "retention":
                analytics.retention = longDuration(entry.value, in: Self.lifetimes) ?? analytics.retention
            default: unknownKey(entry, in: "[analytics]", known: Self.analyticsKeys)
            }
        }
        review(analytics, members)
        return diagnostics.count { $0.severity == .error } == problems ? analytics : nil
    }

    /// `[history]`: how long the history is kept, in microseconds.
    mutating func historyRetention(_ value: TOMLValue) -> Int64? {
        guard case .table(let members) = value.content else {
            wrongType(value, expected: "a table such as { retention = \"365d\" }")
            return nil
        }
        var retention: Int64?
        for entry in members {
            if entry.key == "retention" {
                retention = longDuration(entry.value, in: Self.lifetimes)
            } else {
                unknownKey(entry, in: "[history]", known: ["retention"])
            }
        }
        return retention
    }

    /// What does not go together, and what is worth less than it seems.
    private mutating func review(_ analytics: AnalyticsConfiguration, _ members: [TOMLMember]) {
        func position(_ key: String) -> TOMLValue.Position? { members.first { $0.key == key }?.position }
        if analytics.scope == .host, let place = position("key-file") {
            error(.contradictory, place, "\"key-file\" is the organisation's: add scope = \"organisation\"")
        }
        if analytics.scope == .organisation, let place = position("rotate") {
            error(
                .contradictory, place,
                "\"rotate\" is about the host's own key: whoever hands out the organisation's renews it")
        }
        if analytics.hash == .sha256, let place = position("hash") {
            warning(
                .guessableName, place,
                "bare hashes hide names from a glance only: whoever reads the log guesses most of them within "
                    + "seconds, homes and hotels among them; \"hmac\" takes the key to guess")
        }
    }

    private mutating func absolutePath(_ value: TOMLValue) -> String? {
        guard let text = string(value) else { return nil }
        guard text.hasPrefix("/"), !text.hasSuffix("/"), text.utf8.count < 4_096, !text.utf8.contains(0) else {
            error(.badValue, value.position, "expected the absolute path of a file")
            return nil
        }
        return text
    }

    /// A duration that may also be in days, such as `90d`, in microseconds.
    private mutating func longDuration(_ value: TOMLValue, in range: ClosedRange<Int64>) -> Int64? {
        let example = "a duration such as \"15m\", \"36h\" or \"90d\""
        guard let text = string(value, expected: example) else { return nil }
        let isInDays = text.utf8.last == UInt8(ascii: "d")
        let hours = isInDays ? DurationText.microseconds(of: "\(text.dropLast())h") : nil
        guard
            let duration = isInDays
                ? hours.map({ $0 > Int64.max / 24 ? .max : $0 * 24 }) : DurationText.microseconds(of: text)
        else {
            error(.badValue, value.position, "expected \(example)")
            return nil
        }
        guard range.contains(duration) else {
            let bounds = [range.lowerBound, range.upperBound].map { bound in
                bound % AnalyticsConfiguration.day == 0
                    ? "\(bound / AnalyticsConfiguration.day)d" : DurationText.text(of: bound)
            }
            error(.badValue, value.position, "expected a duration from \(bounds[0]) to \(bounds[1])")
            return nil
        }
        return duration
    }
}
