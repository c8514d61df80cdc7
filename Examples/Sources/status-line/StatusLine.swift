// The network of this machine, for a status bar: a line of JSON whenever it is another one.
//
//     status-line waybar|i3blocks [SOCKET]
//
// waybar:    "custom/network": { "exec": "status-line waybar", "return-type": "json" }
// i3blocks:  [network]
//            command=status-line i3blocks
//            interval=persist
//            format=json
//            markup=pango
import Foundation
import Vicinity

@main
struct StatusLine {
    static func main() async throws {
        let arguments = CommandLine.arguments.dropFirst()
        guard let bar = arguments.first.flatMap(Bar.init), arguments.count <= 2 else {
            FileHandle.standardError.write(Data("usage: status-line waybar|i3blocks [SOCKET]\n".utf8))
            exit(64)
        }
        let socket = arguments.dropFirst().first
        let monitor = try NetworkMonitor(source: socket.map { .agent(at: $0) } ?? .agent)
        let screen = Screen(bar)
        // Only what is the case now is shown, so it does not matter what changed, or whether something was missed.
        try await withThrowingDiscardingTaskGroup { group in
            group.addTask {
                for await _ in monitor.statusUpdates { try await screen.show(monitor) }
            }
            group.addTask {
                for await _ in monitor.changes { try await screen.show(monitor) }
            }
        }
    }
}

/// What is to be shown.
struct Condition: Equatable {
    var text: String
    var tooltip: String
    /// For the style sheet.
    var name = "unknown"
}

extension Condition {
    init(of monitor: NetworkMonitor) {
        self =
            switch monitor.status {
            case .connecting: Condition(text: "…", tooltip: "Waiting for the agent")
            // What was known before need not be true any more.
            case .unavailable(let reason): Condition(text: "?", tooltip: "\(reason)")
            case .connected(.restricted): Condition(text: "?", tooltip: "The administrator forbids to show it")
            case .connected: Condition(of: monitor.environment)
            }
    }

    private init(of environment: NetworkEnvironment?) {
        self.init(text: "?", tooltip: "Nothing is known")
        guard let environment, !environment.isSuspended else { return }
        self.init(text: "offline", tooltip: "On no network", name: "offline")
        // The way to the internet counts most.
        let primary = environment.primaryRoute?.interfaceIndex
        let links = environment.interfaces.values.filter {
            $0.isPhysical && ($0.wifi.map { $0 != .idle } ?? $0.isUsable)
        }
        .sorted { ($0.index == primary ? 0 : 1, $0.index) < ($1.index == primary ? 0 : 1, $1.index) }
        guard let link = links.first else { return }
        self.init(of: link, environment.connectivity)
    }

    private init(of link: Interface, _ connectivity: Connectivity) {
        switch link.wifi {
        case .joined(let network): self.init(joined: network, connectivity)
        case .associating: self.init(text: "…", tooltip: "Joining a network", name: "joining")
        case .unknown: self.init(text: "…", tooltip: "The link was lost a moment ago", name: "joining")
        case .idle, nil: self.init(text: link.kind.rawValue, tooltip: "Connectivity: \(connectivity)", name: "wired")
        }
    }

    private init(joined network: WiFiNetwork, _ connectivity: Connectivity) {
        var tooltip = "Security: \(network.security.rawValue), connectivity: \(connectivity)"
        if network.ssid == nil { tooltip += "; the name is not told: vicinity permission request" }
        let hasKey = network.security.isPersonal || network.security.isEnterprise
        // `display` and never `text`: strangers choose these names.
        self.init(text: network.ssid?.display ?? "Wi-Fi", tooltip: tooltip, name: hasKey ? "joined" : "unsafe")
    }
}

enum Bar: String {
    case waybar, i3blocks

    /// Both bars take the texts for Pango markup, and the name of a network is a stranger's: `<b>` is to be shown, not
    /// obeyed.
    func line(for condition: Condition) throws -> Data {
        let text = condition.text.escapedForMarkup
        let fields =
            switch self {
            case .waybar:
                ["text": text, "tooltip": condition.tooltip.escapedForMarkup, "class": condition.name]
            case .i3blocks:
                ["full_text": text, "color": condition.name == "joined" || condition.name == "wired" ? "" : "#c05020"]
            }
        let encoder = JSONEncoder()
        encoder.outputFormatting = .sortedKeys
        return try encoder.encode(fields.filter { !$0.value.isEmpty }) + Data("\n".utf8)
    }
}

extension String {
    var escapedForMarkup: String {
        var text = ""
        for character in unicodeScalars {
            switch character {
            case "&": text += "&amp;"
            case "<": text += "&lt;"
            case ">": text += "&gt;"
            case "\"": text += "&quot;"
            case "'": text += "&#39;"
            default: text.unicodeScalars.append(character)
            }
        }
        return text
    }
}

actor Screen {
    private let bar: Bar
    private var shown: Condition?

    init(_ bar: Bar) { self.bar = bar }

    /// A bar redraws with each line, so that there is one only for something else.
    func show(_ monitor: NetworkMonitor) throws {
        // Read here, one after the other: what is read last is shown last.
        let condition = Condition(of: monitor)
        guard condition != shown else { return }
        shown = condition
        try FileHandle.standardOutput.write(contentsOf: bar.line(for: condition))
    }
}
