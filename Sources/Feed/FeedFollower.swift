package import Environment
internal import JSON
internal import Netlink
internal import Platform
internal import WiFi

/// Follows the lines of a feed as they come: the environment, and what each of them changes in it. Pure.
package struct FeedFollower {
    package enum Step {
        /// The first line of a connection.
        case began(FeedPermission, FeedRefusal?)
        case changed(EnvironmentChange)
        /// The agent had no room for so many lines; nil where nobody knows how many.
        case lost(Int?)
        /// A line that is about something else.
        case other
    }

    package private(set) var environment = NetworkEnvironment()
    /// The number of the last line.
    package private(set) var sequence: UInt64 = 0

    package init() {}

    /// Nil for what is no line of the feed.
    package mutating func take(_ line: some Collection<UInt8>) -> Step? {
        guard let value = try? JSONValue(parsing: line, maximumSize: 2 * FeedLine.maximumLength),
            value["schema"]?.string == "vicinity/1", let type = value["type"]?.string
        else { return nil }
        if let number = value["seq"]?.integer { sequence = UInt64(clamping: number) }
        switch type {
        case "environment.snapshot":
            // A word that is not known yet lets nothing be concluded.
            let permission = value["permission"]?.string.flatMap { FeedPermission(rawValue: $0) } ?? .denied
            environment = NetworkEnvironment(snapshot: value)
            sequence = UInt64(clamping: value["as_of_seq"]?.integer ?? 0)
            return .began(permission, value["refused"]?.string.map { FeedRefusal(rawValue: $0) ?? .full })
        case "feed.gap": return .lost(value["gap"]?["lost"]?.integer.map { Int($0) })
        default:
            environment.apply(value)
            return EnvironmentChange(value, in: environment).map { .changed($0) } ?? .other
        }
    }
}

extension EnvironmentChange {
    /// Nil for lines about anything else.
    ///
    /// - Parameter environment: the one after the change.
    fileprivate init?(_ value: JSONValue, in environment: NetworkEnvironment) {
        guard let boottime = value["boottime_us"]?.integer,
            let wall = value["time"]?.string.flatMap({ Timestamp.wall(iso8601: $0) })
        else { return nil }
        let index = value.interfaceIndex
        let interface = index.map { InterfaceReference(index: $0, name: value["interface"]?.string ?? "") }
        let network = value["wifi"].flatMap { WiFiNetwork($0) }
        let cause = Cause(value["cause"])
        let kind: Kind? =
            switch value["type"]?.string {
            case "wifi.associating": network.map { .associating($0) }
            case "wifi.joined": network.map { .joined($0) }
            case "wifi.join_failed": network.map { .joinFailed($0, cause) }
            case "wifi.left": network.map { .left($0, cause) }
            case "wifi.roamed":
                network.map { .roamed($0, previous: value["wifi"]?["previous_bssid"]?.string.flatMap { BSSID($0) }) }
            case "wifi.channel_changed": network.map { .channelChanged($0) }
            case "link.up": .linkUp
            case "link.down": .linkDown
            case "address.changed":
                .addressChanged(
                    added: value["address"]?["added"].addresses ?? [],
                    removed: value["address"]?["removed"].addresses ?? [])
            case "route.changed": .routeChanged(environment.primaryRoute)
            case "dns.changed": .dnsChanged(environment.dns)
            case "connectivity.changed": .connectivityChanged(environment.connectivity)
            case "evidence.changed":
                if let index {
                    environment.interfaces[index].map { .evidenceChanged($0.evidence) }
                } else {
                    .meteredChanged(environment.isMetered)
                }
            case "agent.resynced":
                value["cause"]?["resync"]?.string.flatMap { ResyncCause(rawValue: $0) }.map { .resynced($0) }
            case "agent.suspended": .suspended
            case "agent.resumed": .resumed
            default: nil
            }
        guard let kind else { return nil }
        self.init(time: Timestamp(wall: wall, boottime: boottime), interface: interface, kind: kind)
    }
}

extension Cause {
    /// The reverse of what the encoder writes.
    fileprivate init(_ value: JSONValue?) {
        self.init(
            status: value?["status"]?.integer.flatMap { UInt16(exactly: $0) },
            reason: value?["reason"]?.integer.flatMap { UInt16(exactly: $0) }, byAccessPoint: value?["by_ap"]?.bool)
        let keys = value?.object?.members.filter { $0.value.bool == true }.map(\.key) ?? []
        circumstance = keys.lazy.compactMap { Circumstance(rawValue: $0) }.first
    }
}
