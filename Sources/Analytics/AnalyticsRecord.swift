public import Environment
internal import JSON
public import Platform

/// By what kind of link a network was reached.
public enum NetworkType: String, Hashable, Sendable {
    case wifi, ethernet, cellular, vpn, none

    /// `none` for no link and for kinds that say nothing about the place.
    public init(_ kind: LinkKind?) {
        self =
            switch kind {
            case .wifi: .wifi
            case .ethernet: .ethernet
            case .cellular: .cellular
            case .tunnel: .vpn
            case .bluetooth, .virtual, .loopback, .unknown, nil: .none
            }
    }
}

/// One line of the analytics log: a network entered or left, without anything that tells a name to strangers.
public struct AnalyticsRecord: Hashable, Sendable {
    public enum Transition: Hashable, Sendable {
        case entered
        case left(minutes: Int64)
    }

    public var time: Timestamp
    public var transition: Transition
    /// The network's name in the rule files, or that of a built-in network.
    public var network: String
    public var networkType: NetworkType
    /// What stands for the name of the Wi-Fi network, `PlaceHash`; nil off Wi-Fi.
    public var wifiEnvironment: String?
    /// To which the time is rounded, µs, so that the log is no minute-by-minute record of a person's day.
    public var granularity: Int64

    public static let standardGranularity: Int64 = 15 * 60_000_000

    public init(
        time: Timestamp, transition: Transition, network: String, networkType: NetworkType,
        wifiEnvironment: String? = nil, granularity: Int64 = AnalyticsRecord.standardGranularity
    ) {
        self.time = time
        self.transition = transition
        self.network = network
        self.networkType = networkType
        self.wifiEnvironment = wifiEnvironment
        self.granularity = granularity
    }

    /// As in the log.
    public var type: String {
        switch transition {
        case .entered: "network.entered"
        case .left: "network.left"
        }
    }

    /// JSON and LF.
    public var line: [UInt8] {
        var writer = JSONWriter()
        writer.object {
            $0.field("time", roundedTime)
            $0.field("type", type)
            $0.field("network", network)
            $0.field("network_type", networkType.rawValue)
            if let wifiEnvironment { $0.field("wifi_environment", wifiEnvironment) }
            if case .left(let minutes) = transition { $0.field("minutes", minutes) }
        }
        writer.endLine()
        return writer.octets
    }

    /// A moment as the log writes it, unrounded.
    ///
    /// - Parameter microseconds: since 1970.
    public static func text(of microseconds: Int64) -> String { AnalyticsTime.text(of: microseconds) }

    /// To the nearest step.
    private var roundedTime: String {
        let step = max(granularity, 1_000_000)
        let shifted = time.wall + step / 2
        let remainder = shifted % step
        return AnalyticsTime.text(of: shifted - (remainder < 0 ? remainder + step : remainder))
    }
}

/// Moments as the log writes them: ISO 8601, UTC, to the second, so that they can be compared as they stand.
enum AnalyticsTime {
    static let length = 20

    static func text(of microseconds: Int64) -> String {
        let time = CivilTime(utc: microseconds)
        let date = "\(digits(time.year, 4))-\(digits(time.month, 2))-\(digits(time.day, 2))"
        return "\(date)T\(digits(time.hour, 2)):\(digits(time.minute, 2)):\(digits(time.second, 2))Z"
    }

    /// The moment of a text; nil for what the log does not write.
    static func microseconds(of text: some Collection<UInt8>) -> Int64? {
        text.count == length ? Moment.microseconds(of: text) : nil
    }
}

private func digits(_ number: Int, _ count: Int) -> String {
    let text = String(number)
    return String(repeating: "0", count: max(count - text.utf8.count, 0)) + text
}
