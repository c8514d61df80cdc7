internal import Actions
internal import Environment
internal import Feed
internal import JSON
internal import Netlink
internal import Platform
internal import Rules
internal import WiFi

// How the rooms' values become each other's.

extension FeedEvent.NetworkFact {
    init(_ match: NetworkMatch, previous: Assurance?) {
        self.init(
            name: match.name, assurance: match.assurance.description, previous: previous?.description)
    }
}

extension FeedEvent.RuleFact {
    init(_ rule: Rule, _ because: String) {
        self.init(name: rule.name, file: rule.location.file, line: rule.location.line, because: because)
    }
}

extension FeedEvent {
    /// Nil for what the feed does not tell as it is decided.
    init?(_ decision: Decision, at time: Timestamp) {
        let body: Body
        switch decision {
        case .networkEntered(let match): body = .networkEntered(.init(match, previous: nil))
        case .networkLeft(let match, let stay):
            body = .networkLeft(.init(match, previous: nil), minutes: Int(stay.minutes))
        case .assuranceChanged(let match, let previous):
            body = .networkAssuranceChanged(.init(match, previous: previous))
        case .ruleActivated(let rule, let because): body = .ruleActivated(.init(rule, because))
        case .ruleDeactivated(let rule, let because): body = .ruleDeactivated(.init(rule, because))
        case .ruleSkipped(let rule, let because): body = .ruleSkipped(.init(rule, because))
        case .cancel, .run, .stateChanged, .probe, .cancelProbe: return nil
        }
        self.init(body, at: time)
    }
}

extension SnapshotFields.HeldRule {
    init(_ held: RuleEngine.HeldRule, at now: Timestamp) {
        self.init(
            rule: held.rule, isOn: held.hold.isOn, holder: held.hold.holder, end: held.hold.end(from: now),
            endsWithPlace: held.hold.endsWithPlace)
    }
}

extension Command {
    /// One lane a rule: its commands keep their order, other rules do not wait.
    init(_ command: EdgeAction.Command, _ request: ActionRequest) {
        let link = request.network?.links.first
        let event = request.edge == .enter ? "rule.activated" : "rule.deactivated"
        let context = Context(
            event: event, network: request.network?.name, ssidHexadecimal: link?.wifi?.ssid?.hexadecimal,
            bssid: link?.wifi?.bssid?.description, interface: link?.interfaceName, rule: request.rule.name)
        self.init(
            arguments: command.arguments, timeout: command.timeout, context: context,
            input: Command.record(event, request), lane: request.rule.name)
    }

    /// What a command reads from its standard input.
    private static func record(_ event: String, _ request: ActionRequest) -> [UInt8] {
        var writer = JSONWriter()
        writer.object { writer in
            writer.field("schema", "vicinity/1")
            writer.field("type", event)
            writer.object("rule") { writer in
                writer.field("name", request.rule.name)
                writer.field("file", request.rule.location.file)
                writer.field("line", request.rule.location.line)
            }
            guard let network = request.network else { return }
            writer.object("network") { writer in
                writer.field("name", network.name)
                writer.field("assurance", network.assurance.description)
            }
            guard let link = network.links.first else { return }
            writer.field("interface", link.interfaceName)
            writer.field("ifindex", link.interfaceIndex)
            guard let wifi = link.wifi else { return }
            writer.object("wifi") { writer in
                writer.field("ssid", wifi.ssid?.text)
                writer.field("ssid_hex", wifi.ssid?.hexadecimal)
                writer.field("bssid", wifi.bssid?.description)
                writer.field("security", wifi.security.rawValue)
            }
        }
        writer.endLine()
        return writer.octets
    }
}
