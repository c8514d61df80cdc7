public import Environment
internal import JSON
public import Platform
public import WiFi

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
    /// Only where a rule file lists exactly this name in a network that is not private; nil for every other network,
    /// whose line then tells no name in any form.
    public var listedSSID: SSID?

    public init(
        time: Timestamp, transition: Transition, network: String, networkType: NetworkType, listedSSID: SSID? = nil
    ) {
        self.time = time
        self.transition = transition
        self.network = network
        self.networkType = networkType
        self.listedSSID = listedSSID
    }

    /// Times are rounded to this many minutes, so that the log is no minute-by-minute record of a person's day.
    public static let granularity: Int64 = 15

    /// JSON and LF.
    public var line: [UInt8] {
        var writer = JSONWriter()
        writer.object {
            $0.field("time", roundedTime)
            switch transition {
            case .entered: $0.field("type", "network.entered")
            case .left: $0.field("type", "network.left")
            }
            $0.field("network", network)
            $0.field("network_type", networkType.rawValue)
            if let listedSSID { $0.field("wifi_environment", PlaceHash.plain(listedSSID)) }
            if case .left(let minutes) = transition { $0.field("minutes", minutes) }
        }
        writer.endLine()
        return writer.octets
    }

    /// ISO 8601, UTC, to the nearest step.
    private var roundedTime: String {
        let step = Self.granularity * 60_000_000
        let shifted = time.wall + step / 2
        let remainder = shifted % step
        let rounded = CivilTime(utc: shifted - (remainder < 0 ? remainder + step : remainder))
        let date = "\(digits(rounded.year, 4))-\(digits(rounded.month, 2))-\(digits(rounded.day, 2))"
        return "\(date)T\(digits(rounded.hour, 2)):\(digits(rounded.minute, 2)):\(digits(rounded.second, 2))Z"
    }
}

private func digits(_ number: Int, _ count: Int) -> String {
    let text = String(number)
    return String(repeating: "0", count: max(count - text.utf8.count, 0)) + text
}
