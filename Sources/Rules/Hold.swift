public import Platform
internal import WiFi

/// Somebody's word that a rule holds, or that it does not, whatever its condition says.
public struct Hold: Hashable, Sendable {
    public var isOn: Bool
    /// Who said so, for people.
    public var holder: String
    /// Whether it was said by right of the rule's `user-hold` alone.
    public var isUsers: Bool
    /// When it began, and when it ends at the latest: µs of boot time.
    public var since: Int64
    public var until: Int64
    /// Whether it ends before, as soon as the machine is on other networks.
    public var endsWithPlace: Bool
    /// The described networks that the machine was on as it began; nil where nobody knew yet.
    public var networks: Set<String>?

    public init(
        isOn: Bool, by holder: String, isUsers: Bool, since: Int64, until: Int64, endsWithPlace: Bool,
        networks: Set<String>? = nil
    ) {
        self.isOn = isOn
        self.holder = holder
        self.isUsers = isUsers
        self.since = since
        self.until = until
        self.endsWithPlace = endsWithPlace
        self.networks = networks
    }

    /// `held on by alice until 14:30`; the day as well where that is another one than now.
    public func text(at now: Timestamp) -> String { "held \(words(at: now))" }

    /// The same without the first word.
    public func words(at now: Timestamp) -> String {
        let end = CivilTime(local: end(from: now)).text(on: CivilTime(local: now.wall))
        let claim = "\(isOn ? "on" : "off") by \(holder)"
        return endsWithPlace ? "\(claim) until the network changes or \(end)" : "\(claim) until \(end)"
    }

    /// When it ends at the latest, by the civil time as it runs now: µs since 1970.
    public func end(from now: Timestamp) -> Int64 { now.wall + (until - now.boottime) }

    /// `held on by alice`
    var claim: String { "held \(isOn ? "on" : "off") by \(holder)" }
}

/// What somebody asks for who wants a rule held.
public struct HoldRequest: Hashable, Sendable {
    public var isOn: Bool
    /// Who asks, for people: what comes from outside has to be fit for showing.
    public var holder: String
    /// Whether it is by right of the rule's `user-hold` alone.
    public var isUsers = false
    /// Microseconds, more than 0; nil for as long as a rule can be held.
    public var duration: Int64?
    /// Whether it ends before, as soon as the machine is on other networks.
    public var endsWithPlace = false

    public init(isOn: Bool, by holder: String) {
        self.isOn = isOn
        self.holder = holder
    }
}

/// Why a rule is not held, released or run.
public enum OverrideError: Error, Hashable, Sendable, CustomStringConvertible {
    /// - hint: `; did you mean "…"?`, or nothing.
    case unknownRule(name: String, hint: String)
    case disabled(rule: String, SourceLocation)
    /// - limit: microseconds.
    case tooLong(limit: Int64)
    case notHeld(rule: String)
    case nothingToRun(rule: String, SourceLocation)
    case observing(rule: String)

    public var description: String {
        switch self {
        case .unknownRule(let name, let hint): "no rule is called \"\(name.utf8.prefix(64).displayText)\"\(hint)"
        case .disabled(let rule, let location): "rule \(rule) is disabled (\(location))"
        case .tooLong(let limit):
            "a rule can be held for \(DurationText.text(of: limit)) at most, by max-hold in vicinity.toml"
        case .notHeld(let rule): "nobody holds rule \(rule)"
        case .nothingToRun(let rule, let location): "rule \(rule) has no enter actions (\(location))"
        case .observing(let rule): "rule \(rule) only observes: it tells what it would do and runs nothing"
        }
    }
}

extension CivilTime {
    /// `14:30`, or `2026-12-01 14:30` where the day is another one than `today`'s.
    fileprivate func text(on today: CivilTime) -> String {
        func digits(_ value: Int) -> String { value < 10 ? "0\(value)" : "\(value)" }
        let clock = "\(digits(hour)):\(digits(minute))"
        let isToday = (year, month, day) == (today.year, today.month, today.day)
        return isToday ? clock : "\(year)-\(digits(month))-\(digits(day)) \(clock)"
    }
}
