internal import Environment
internal import JSON
internal import Netlink
internal import Platform
internal import WiFi

/// Lines for readers who may know everything.
enum FullLine {
    /// - Parameters:
    ///   - sequence: nil for what was only replayed.
    ///   - instance: of the encoder.
    static func octets(of event: FeedEvent, _ sequence: UInt64?, _ instance: String) -> [UInt8] {
        // Its memory becomes the line's.
        var writer = JSONWriter(reserving: 640)
        writer.object { writer in
            writer.header(event.type, at: event.time, sequence, instance)
            if let interface = event.interface {
                writer.field("interface", interface.name)
                writer.field("ifindex", interface.index)
            }
            if let kind = event.linkKind { writer.field("kind", kind.rawValue) }
            write(event.body, to: &writer)
            if sequence == nil { writer.field("replayed", true) }
        }
        writer.endLine()
        return writer.octets
    }

    private static func write(_ body: FeedEvent.Body, to writer: inout JSONWriter) {
        switch body {
        case .environment(let change): write(change.kind, to: &writer)
        case .networkEntered(let network), .networkAssuranceChanged(let network):
            write(network, minutes: nil, to: &writer)
        case .networkLeft(let network, let minutes): write(network, minutes: minutes, to: &writer)
        case .ruleActivated(let rule), .ruleDeactivated(let rule), .ruleSkipped(let rule):
            writer.object("rule") { writer in
                writer.field("name", rule.name.clipped(to: 1_024))
                writer.field("file", rule.file.clipped(to: 4_096))
                writer.field("line", rule.line)
                if let because = rule.because { writer.field("because", because.clipped(to: 1_024)) }
            }
        case .actionStarted(let action), .actionSucceeded(let action), .actionFailed(let action),
            .actionCancelled(let action), .actionReverted(let action):
            writer.object("action") { writer in
                writer.field("id", action.id)
                writer.field("rule", action.rule.clipped(to: 1_024))
                writer.field("index", action.index)
                writer.field("kind", action.kind)
                if let exit = action.exit { writer.field("exit", exit) }
                if let duration = action.durationMilliseconds { writer.field("duration_ms", duration) }
                if let because = action.because { writer.field("because", because.clipped(to: 4_096)) }
                if let user = action.user { writer.field("user", user.clipped(to: 256)) }
                // Half of what the line has left for each, the keys and brackets besides.
                let room = max(0, (FeedLine.maximumLength - writer.octets.count - 192) / 2)
                if !action.output.isEmpty || action.outputLost > 0 {
                    let end = OutputEnd(of: action.output, within: room)
                    writer.field("output", end.text)
                    writer.field("output_lost", action.outputLost + end.lost)
                }
                if !action.errors.isEmpty || action.errorsLost > 0 {
                    let end = OutputEnd(of: action.errors, within: room)
                    writer.field("errors", end.text)
                    writer.field("errors_lost", action.errorsLost + end.lost)
                }
            }
        case .agentStarted(let version): writer.object("agent") { $0.field("version", version) }
        case .agentReloaded(let problems): writer.object("agent") { $0.field("problems", problems) }
        case .agentStopped: break
        }
    }

    private static func write(_ network: FeedEvent.NetworkFact, minutes: Int?, to writer: inout JSONWriter) {
        writer.object("network") { writer in
            writer.field("name", network.name.clipped(to: 1_024))
            writer.field("assurance", network.assurance)
            writer.field("previous", network.previous)
            if let minutes { writer.field("minutes", minutes) }
        }
    }

    private static func write(_ kind: EnvironmentChange.Kind, to writer: inout JSONWriter) {
        switch kind {
        case .associating(let network), .joined(let network), .channelChanged(let network):
            writer.object("wifi") { Snapshot.writeFields(of: network, to: &$0) }
        case .roamed(let network, let previous):
            writer.object("wifi") { writer in
                Snapshot.writeFields(of: network, to: &writer)
                writer.field("previous_bssid", previous?.description)
            }
        case .left(let network, let cause), .joinFailed(let network, let cause):
            writer.object("wifi") { Snapshot.writeFields(of: network, to: &$0) }
            writer.object("cause") { write(cause, to: &$0) }
        case .linkUp, .linkDown, .suspended, .resumed: break
        case .addressChanged(let added, let removed):
            writer.object("address") { writer in
                writer.array("added") { Snapshot.write(added, to: &$0) }
                writer.array("removed") { Snapshot.write(removed, to: &$0) }
            }
        case .routeChanged(let route):
            writer.key("route")
            Snapshot.write(route, to: &writer)
        case .dnsChanged(let configuration): writer.object("dns") { Snapshot.write(configuration, to: &$0) }
        case .connectivityChanged(let connectivity): writer.field("connectivity", connectivity.rawValue)
        case .evidenceChanged(let evidence): writer.object("evidence") { Snapshot.write(evidence, to: &$0) }
        case .meteredChanged(let isMetered): writer.field("metered", isMetered)
        case .resynced(let cause): writer.object("cause") { $0.field("resync", cause.rawValue) }
        }
    }

    static func write(_ cause: Cause, to writer: inout JSONWriter) {
        if let status = cause.status { writer.field("status", status) }
        if let reason = cause.reason { writer.field("reason", reason) }
        if let byAccessPoint = cause.byAccessPoint { writer.field("by_ap", byAccessPoint) }
        switch cause.circumstance {
        case nil: break
        case .rfkill: writer.field("rfkill", true)
        case .suspend: writer.field("suspend", true)
        case .timedOut: writer.field("timed_out", true)
        case .interfaceDown: writer.field("interface_down", true)
        case .interfaceRemoved: writer.field("interface_removed", true)
        case .resync: writer.field("resync", true)
        case .superseded: writer.field("superseded", true)
        case .unauthorized: writer.field("unauthorized", true)
        }
    }
}
