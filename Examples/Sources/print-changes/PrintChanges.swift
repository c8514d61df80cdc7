// Prints where this machine is, and whatever changes about that.
//
//     swift run print-changes [SOCKET]
//
// Names appear as far as you may see them; `vicinity permission request` asks for that.
import Glibc
import Vicinity

@main
struct PrintChanges {
    static func main() async throws {
        let socket = CommandLine.arguments.dropFirst().first
        let monitor = try NetworkMonitor(source: socket.map { .agent(at: $0) } ?? .agent)
        await withDiscardingTaskGroup { group in
            group.addTask {
                for await status in monitor.statusUpdates { say(text(for: status)) }
            }
            group.addTask {
                for await update in monitor.changes { say(text(for: update)) }
            }
        }
    }

    private static func say(_ text: String) {
        print(text)
        // Whoever reads this from a pipe wants each line at once.
        fflush(nil)
    }

    private static func text(for status: NetworkMonitor.Status) -> String {
        switch status {
        case .connecting: "waiting for the agent"
        case .connected(.authorized): "connected: you may see everything"
        case .connected(let authorization): "connected: names are withheld (\(authorization))"
        case .unavailable(let reason): "nothing is known: \(reason)"
        }
    }

    private static func text(for update: EnvironmentUpdate) -> String {
        switch update {
        case .snapshot(let environment):
            let networks = environment.interfaces.values.sorted { $0.index < $1.index }.compactMap { $0.wifi?.network }
            let names = networks.isEmpty ? "no Wi-Fi" : networks.map(name).joined(separator: ", ")
            return "now: \(names), connectivity \(environment.connectivity)"
        case .change(let change):
            // Somebody may have given the interface a name that a terminal obeys.
            let interface = change.interface.map { $0.name.utf8.displayText + ": " } ?? ""
            return interface + text(for: change.kind)
        case .missed(let count):
            return "missed at least \(count); what is the case now follows"
        }
    }

    private static func text(for kind: EnvironmentChange.Kind) -> String {
        switch kind {
        case .associating(let network): "associating with \(name(network))"
        case .joined(let network): "joined \(name(network))"
        case .joinFailed(let network, let cause): "could not join \(name(network))\(reason(cause))"
        case .left(let network, let cause): "left \(name(network))\(reason(cause))"
        case .roamed(let network, _): "roamed on \(name(network))"
        case .channelChanged(let network): "\(name(network)) moved to \(network.frequency.map(String.init) ?? "?") MHz"
        case .linkUp: "up"
        case .linkDown: "down"
        case .addressChanged(let added, let removed): "addresses: \(added.count) more, \(removed.count) gone"
        case .routeChanged(let route): route == nil ? "no way to the internet" : "another way to the internet"
        case .dnsChanged: "other DNS servers or domains"
        case .connectivityChanged(let connectivity): "connectivity \(connectivity)"
        case .meteredChanged(let isMetered): "metered: \(isMetered.map(String.init) ?? "nobody tells")"
        case .evidenceChanged: "the network shows something else of itself"
        case .resynced(let cause): "everything was read again: \(cause.rawValue)"
        case .suspended: "going to sleep"
        case .resumed: "awake"
        }
    }

    /// `display` and never `text`: strangers choose these names, and a terminal obeys what stands in them.
    private static func name(_ network: WiFiNetwork) -> String {
        "\(network.ssid?.display ?? "a network whose name is not told") (\(network.security.rawValue))"
    }

    private static func reason(_ cause: Cause) -> String {
        if let status = cause.status { return ", status \(status)" }
        if let reason = cause.reason { return ", reason \(reason)" }
        return cause.circumstance.map { ", \($0.rawValue)" } ?? ""
    }
}
