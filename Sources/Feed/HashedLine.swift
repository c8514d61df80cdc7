internal import Environment
internal import JSON
internal import WiFi

/// Lines for readers who may not see names and addresses.
///
/// Nothing is taken out of a full line: what is known to be harmless is written, field by field, and whatever is added
/// to an event one day is not told until somebody writes it here. Free text never is.
enum HashedLine {
    static func octets(
        of event: FeedEvent, _ sequence: UInt64?, _ instance: String, _ disclosure: FeedDisclosure
    ) -> [UInt8] {
        var writer = JSONWriter(reserving: 384)
        writer.object { writer in
            writer.header(event.type, at: event.time, sequence, instance)
            writer.field("withheld", true)
            if let interface = event.interface {
                writer.field("interface", InterfaceName.shown(interface.name, interface.index))
                writer.field("ifindex", interface.index)
            }
            if let kind = event.linkKind { writer.field("kind", kind.rawValue) }
            write(event.body, to: &writer, disclosure)
            if sequence == nil { writer.field("replayed", true) }
        }
        writer.endLine()
        return writer.octets
    }

    /// The line with `null` in the place of each hash that was made with a key.
    static func withoutKeyedHashes(_ line: [UInt8]) -> [UInt8] {
        let head = Array("\"hmac-sha256:".utf8)
        // The key's identifier, a colon, the digits, the quotation mark.
        let rest = 8 + 1 + 64 + 1
        var result: [UInt8] = []
        var place = 0
        while place < line.count {
            if line[place...].starts(with: head), place + head.count + rest <= line.count {
                result += Array("null".utf8)
                place += head.count + rest
            } else {
                result.append(line[place])
                place += 1
            }
        }
        return result
    }

    private static func write(_ body: FeedEvent.Body, to writer: inout JSONWriter, _ disclosure: FeedDisclosure) {
        switch body {
        case .environment(let change): write(change.kind, to: &writer, disclosure)
        case .networkEntered(let network), .networkAssuranceChanged(let network):
            write(network, minutes: nil, to: &writer, disclosure)
        case .networkLeft(let network, let minutes): write(network, minutes: minutes, to: &writer, disclosure)
        case .ruleActivated(let rule), .ruleDeactivated(let rule), .ruleSkipped(let rule):
            writer.object("rule") { writer in
                if disclosure.rules.contains(rule.name) { writer.field("name", rule.name) }
            }
        case .actionStarted(let action), .actionSucceeded(let action), .actionFailed(let action),
            .actionCancelled(let action), .actionReverted(let action):
            writer.object("action") { writer in
                writer.field("id", action.id)
                if disclosure.rules.contains(action.rule) { writer.field("rule", action.rule) }
                writer.field("index", action.index)
                if actionKinds.contains(action.kind) { writer.field("kind", action.kind) }
                if let exit = action.exit { writer.field("exit", exit) }
                if let duration = action.durationMilliseconds { writer.field("duration_ms", duration) }
            }
        case .secondFactorRequested(let factor), .secondFactorPassed(let factor), .secondFactorFailed(let factor),
            .secondFactorExpired(let factor):
            writer.object("second_factor") { writer in
                if disclosure.rules.contains(factor.rule) { writer.field("rule", factor.rule) }
                if factor.network.map(disclosure.networks.contains) ?? true {
                    writer.field("network", factor.network)
                }
            }
        case .agentStarted(let version): writer.object("agent") { $0.field("version", version) }
        case .agentReloaded(let problems): writer.object("agent") { $0.field("problems", problems) }
        case .agentStopped: break
        }
    }

    /// The keys of actions in rule files, and what can follow a second factor.
    private static let actionKinds: Set = [
        "command", "unit", "vpn", "notify", "lock", "second-factor", "proxy", "firewall", "pam", "disconnect", "hold",
    ]

    private static func write(
        _ network: FeedEvent.NetworkFact, minutes: Int?, to writer: inout JSONWriter, _ disclosure: FeedDisclosure
    ) {
        writer.object("network") { writer in
            if disclosure.networks.contains(network.name) { writer.field("name", network.name) }
            writer.field("assurance", network.assurance)
            writer.field("previous", network.previous)
            if let minutes { writer.field("minutes", minutes) }
        }
    }

    private static func write(
        _ kind: EnvironmentChange.Kind, to writer: inout JSONWriter, _ disclosure: FeedDisclosure
    ) {
        switch kind {
        case .associating(let network), .joined(let network), .channelChanged(let network), .roamed(let network, _):
            writer.object("wifi") { writeFields(of: network, to: &$0, disclosure) }
        case .left(let network, let cause), .joinFailed(let network, let cause):
            writer.object("wifi") { writeFields(of: network, to: &$0, disclosure) }
            writer.object("cause") { FullLine.write(cause, to: &$0) }
        case .linkUp, .linkDown, .suspended, .resumed, .addressChanged, .dnsChanged: break
        case .routeChanged(let route): write(route, to: &writer)
        case .connectivityChanged(let connectivity): writer.field("connectivity", connectivity.rawValue)
        case .evidenceChanged(let evidence): writer.object("evidence") { write(evidence, to: &$0) }
        case .meteredChanged(let isMetered): writer.field("metered", isMetered)
        case .resynced(let cause): writer.object("cause") { $0.field("resync", cause.rawValue) }
        }
    }

    private static func writeFields(
        of network: WiFiNetwork, to writer: inout JSONWriter, _ disclosure: FeedDisclosure
    ) {
        writer.field("wifi_environment", network.ssid.flatMap(disclosure.environment))
        if let frequency = network.frequency {
            writer.field("frequency_mhz", frequency)
            if let channel = Channel(frequency: frequency) { writer.field("channel", channel.number) }
        }
        writer.field("security", network.security.rawValue)
        if let akm = network.akm { writer.field("akm", akm.description) }
        if let signal = network.signal { writer.field("signal_dbm", signal) }
    }

    /// By which interface packets leave; null where none do.
    private static func write(_ route: PrimaryRoute?, to writer: inout JSONWriter) {
        writer.key("route")
        guard let route else { return writer.null() }
        writer.object { $0.field("ifindex", route.interfaceIndex) }
    }

    private static func write(_ evidence: LinkEvidence, to writer: inout JSONWriter) {
        writer.key("authentication")
        guard let demands = evidence.authentication else { return writer.null() }
        writer.object { writer in
            writer.field("certification_authority", demands.certificationAuthority)
            writer.field("server_name", demands.serverName)
        }
    }

    // MARK: Snapshot

    /// What one interface takes at most, with room for the end of the line.
    private static let interfaceLength = 512

    /// - Parameter limit: octets that the line may have in all.
    static func write(
        _ environment: NetworkEnvironment, to writer: inout JSONWriter, within limit: Int,
        _ disclosure: FeedDisclosure
    ) {
        write(environment.primaryRoute, to: &writer)
        writer.field("connectivity", environment.connectivity.rawValue)
        writer.field("metered", environment.isMetered)
        let interfaces = Snapshot.ordered(environment)
        var written = 0
        writer.array("interfaces") { writer in
            for interface in interfaces where writer.octets.count + interfaceLength < limit {
                write(interface, to: &writer, disclosure)
                written += 1
            }
        }
        if written < interfaces.count { writer.field("interfaces_omitted", interfaces.count - written) }
    }

    private static func write(_ interface: Interface, to writer: inout JSONWriter, _ disclosure: FeedDisclosure) {
        writer.object { writer in
            writer.field("interface", InterfaceName.shown(interface.name, interface.index))
            writer.field("ifindex", interface.index)
            writer.field("kind", interface.kind.rawValue)
            writer.field("usable", interface.isUsable)
            if interface.isPhysical { writer.object("evidence") { write(interface.evidence, to: &$0) } }
            guard let wifi = interface.wifi else { return }
            writer.object("wifi") { writer in
                switch wifi {
                case .idle: writer.field("state", "idle")
                case .unknown: writer.field("state", "unknown")
                case .associating(let network):
                    writer.field("state", "associating")
                    writeFields(of: network, to: &writer, disclosure)
                case .joined(let network):
                    writer.field("state", "joined")
                    writeFields(of: network, to: &writer, disclosure)
                }
            }
        }
    }
}
