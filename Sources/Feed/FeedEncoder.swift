public import Environment
internal import JSON
internal import Netlink
public import Platform
internal import WiFi

/// Writes events as lines of the schema `vicinity/1`, and numbers them.
public struct FeedEncoder {
    /// Names this run of the writer in `id`: 16 hexadecimal digits.
    public let instance: String
    /// The number of the last line; 0 before the first.
    public private(set) var sequence: UInt64 = 0

    public init() {
        var generator = SystemRandomNumberGenerator()
        let number: UInt64 = generator.next()
        instance = (0..<8).map { UInt8(truncatingIfNeeded: number >> (8 * $0)) }.hexadecimal
    }

    /// The next line of the feed.
    public mutating func line(for event: FeedEvent) -> FeedLine {
        sequence += 1
        return line(for: event, sequence)
    }

    /// The line of an event that has not happened: a decision that a recorded feed was replayed for.
    public func replayedLine(for event: FeedEvent) -> FeedLine { line(for: event, nil) }

    /// - Parameter sequence: nil for what was only replayed.
    private func line(for event: FeedEvent, _ sequence: UInt64?) -> FeedLine {
        let type = event.type
        // Its memory becomes the line's.
        var writer = JSONWriter(reserving: 640)
        writer.object { writer in
            header(type, at: event.time, sequence, to: &writer)
            if let interface = event.interface {
                writer.field("interface", interface.name)
                writer.field("ifindex", interface.index)
            }
            if let kind = event.linkKind { writer.field("kind", kind.rawValue) }
            write(event.body, to: &writer)
            if sequence == nil { writer.field("replayed", true) }
        }
        writer.endLine()
        return FeedLine(
            sequence: sequence, type: type, interface: event.interface?.name, boottime: event.time.boottime,
            octets: writer.octets)
    }

    /// A line for one reader: so many lines were lost; nil where nobody knows how many.
    func gapLine(lost: Int?) -> FeedLine {
        lineForOne("feed.gap") { $0.object("gap") { $0.field("lost", lost) } }
    }

    /// The first line for one reader.
    ///
    /// - Parameter environment: nil where the reader may not know.
    public func snapshotLine(
        of environment: NetworkEnvironment?, permission: FeedPermission, at time: Timestamp = .now(),
        agent: ((inout SnapshotFields) -> Void)? = nil
    ) -> FeedLine {
        let sequence = sequence
        return lineForOne("environment.snapshot", at: time) { writer in
            writer.field("permission", permission.rawValue)
            writer.field("as_of_seq", sequence)
            guard let environment, permission == .full else { return }
            var fields = SnapshotFields(writer: writer)
            agent?(&fields)
            writer = fields.writer
            Snapshot.write(environment, to: &writer, within: FeedLine.maximumLength)
        }
    }

    /// A line for one reader: why a rule or a network is as it is.
    public func explanationLine(of explanation: Explanation, at time: Timestamp = .now()) -> FeedLine {
        lineForOne("explanation", at: time) { writer in
            writer.object("explanation") { explanation.write(to: &$0) }
        }
    }

    func lineForOne(
        _ type: StaticString, at time: Timestamp = .now(), _ body: (inout JSONWriter) -> Void
    ) -> FeedLine {
        var writer = JSONWriter(reserving: 2_048)
        writer.object { writer in
            header("\(type)", at: time, nil, to: &writer)
            body(&writer)
        }
        writer.endLine()
        return FeedLine(sequence: nil, type: "\(type)", interface: nil, boottime: time.boottime, octets: writer.octets)
    }

    private func header(_ type: String, at time: Timestamp, _ sequence: UInt64?, to writer: inout JSONWriter) {
        writer.field("schema", "vicinity/1")
        writer.field("seq", sequence)
        writer.field("id", sequence.map { "\(instance):\($0)" })
        writer.field("time", CivilTime(utc: time.wall).iso8601)
        writer.field("boottime_us", time.boottime)
        writer.field("type", type)
    }

    // MARK: Bodies

    private func write(_ body: FeedEvent.Body, to writer: inout JSONWriter) {
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

    private func write(_ network: FeedEvent.NetworkFact, minutes: Int?, to writer: inout JSONWriter) {
        writer.object("network") { writer in
            writer.field("name", network.name.clipped(to: 1_024))
            writer.field("assurance", network.assurance)
            writer.field("previous", network.previous)
            if let minutes { writer.field("minutes", minutes) }
        }
    }

    private func write(_ kind: EnvironmentChange.Kind, to writer: inout JSONWriter) {
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

    private func write(_ cause: Cause, to writer: inout JSONWriter) {
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

/// What a reader may know (design of the feed: full, hashed, denied).
public enum FeedPermission: String, Sendable {
    case full, denied
}

/// Lets the agent add what only it knows to a snapshot.
public struct SnapshotFields {
    var writer: JSONWriter

    public mutating func counters(_ counters: [(name: String, value: UInt64)]) {
        writer.object("counters") { writer in
            for counter in counters {
                writer.key(escaping: counter.name)
                writer.integer(counter.value)
            }
        }
    }

    /// Names of what holds, such as `networks` or `rules`.
    public mutating func names(_ key: StaticString, _ names: [String]) {
        // The line has its limit; whoever has more asks the agent.
        let limit = writer.octets.count + 1_024
        writer.array(key) { writer in
            for name in names where writer.octets.count < limit { writer.string(name.clipped(to: 512)) }
        }
    }

    /// A rule that somebody holds.
    public struct HeldRule {
        let rule: String
        let isOn: Bool
        let holder: String
        let end: Int64
        let endsWithPlace: Bool

        /// - Parameter end: when the hold ends at the latest, µs since 1970.
        public init(rule: String, isOn: Bool, holder: String, end: Int64, endsWithPlace: Bool) {
            self.rule = rule
            self.isOn = isOn
            self.holder = holder
            self.end = end
            self.endsWithPlace = endsWithPlace
        }
    }

    /// For programs what `holds` is for people.
    public mutating func held(_ rules: [HeldRule]) {
        let limit = writer.octets.count + 1_024
        writer.array("held") { writer in
            for held in rules where writer.octets.count < limit {
                writer.object { writer in
                    writer.field("rule", held.rule.clipped(to: 128))
                    writer.field("state", held.isOn ? "on" : "off")
                    writer.field("by", held.holder.clipped(to: 256))
                    writer.field("until", CivilTime(utc: held.end).iso8601)
                    writer.field("until_network_change", held.endsWithPlace)
                }
            }
        }
    }

    /// So many problems are told, each cut to 256 octets.
    public static let problemLimit = 4

    public mutating func problems(_ problems: [String]) {
        writer.array("problems") { writer in
            for problem in problems.prefix(Self.problemLimit) { writer.string(problem.clipped(to: 256)) }
        }
    }
}

extension CivilTime {
    /// `2026-11-30T12:00:00.123456Z`, for a time in UTC.
    public var iso8601: String {
        "\(digits(year, 4))-\(digits(month, 2))-\(digits(day, 2))T\(clock).\(digits(microsecond, 6))Z"
    }

    /// `12:00:00`
    public var clock: String { "\(digits(hour, 2)):\(digits(minute, 2)):\(digits(second, 2))" }

    private func digits(_ value: Int, _ count: Int) -> String {
        let text = String(value)
        return String(repeating: "0", count: max(count - text.utf8.count, 0)) + text
    }
}
