internal import JSON
public import Platform

/// One line of the history: a decision or an action, exactly when, by which rule of which files.
///
/// It names no network by its SSID and no device by its address: Wi-Fi networks are told by hash and evidence by its
/// kind, and what a command wrote is not told at all.
public struct HistoryRecord: Hashable, Sendable {
    public struct Network: Hashable, Sendable {
        /// In the rule files, or of a built-in network.
        public var name: String
        public var assurance: String
        /// Of the stay that ended.
        public var minutes: Int64?

        public init(name: String, assurance: String, minutes: Int64? = nil) {
            self.name = name
            self.assurance = assurance
            self.minutes = minutes
        }
    }

    public struct Rule: Hashable, Sendable {
        public var name: String
        public var file: String
        public var line: Int
        public var because: String

        public init(name: String, file: String, line: Int, because: String) {
            self.name = name
            self.file = file
            self.line = line
            self.because = because
        }
    }

    public struct Action: Hashable, Sendable {
        public var id: UInt64
        public var rule: String
        public var index: Int
        public var kind: String
        public var exit: Int32?
        public var durationMilliseconds: Int64?
        public var because: String?
        public var user: String?

        public init(id: UInt64, rule: String, index: Int, kind: String) {
            self.id = id
            self.rule = rule
            self.index = index
            self.kind = kind
        }
    }

    public struct SecondFactor: Hashable, Sendable {
        public var rule: String
        /// In the rule files; nil where the rule is about none.
        public var network: String?
        public var user: String?
        public var because: String?

        public init(rule: String, network: String?, user: String? = nil, because: String? = nil) {
            self.rule = rule
            self.network = network
            self.user = user
            self.because = because
        }
    }

    /// A Wi-Fi network that was roamed in, or could not be joined.
    public struct WiFi: Hashable, Sendable {
        /// `sha256:…` or `hmac-sha256:…`, as readers without permission see it; nil where the name is not known.
        public var environment: String?
        public var security: String
        /// IEEE 802.11-2020, 9.4.1.9.
        public var status: UInt16?
        /// IEEE 802.11-2020, 9.4.1.7.
        public var reason: UInt16?
        /// As the feed has it, such as `timed_out`.
        public var circumstance: String?
        /// How many records of this type before it were not written, since there were too many.
        public var omitted = 0

        public init(environment: String?, security: String) {
            self.environment = environment
            self.security = security
        }
    }

    public var time: Timestamp
    /// As in the feed, such as `rule.activated`.
    public var type: String
    public var network: Network?
    /// Kinds, such as `ssid`.
    public var evidence: [String] = []
    public var rule: Rule?
    public var action: Action?
    public var secondFactor: SecondFactor?
    public var wifi: WiFi?
    /// SHA-256 of the rule files in force, in hexadecimal digits; empty where there are none.
    public var rulesDigest: String
    /// A UUID; boot times of different boots cannot be compared.
    public var boot: String

    public init(_ type: String, at time: Timestamp, rulesDigest: String, boot: String = Boot.identifier) {
        self.type = type
        self.time = time
        self.rulesDigest = rulesDigest
        self.boot = boot
    }

    /// Octets of a text that are written; the rest is cut.
    public static let longestText = 1_024

    /// JSON in printable ASCII, and LF.
    public var line: [UInt8] {
        var writer = JSONWriter()
        writer.object { writer in
            writer.field("time", CivilTime(utc: time.wall).rfc3339)
            writer.field("boottime_us", time.boottime)
            writer.field("boot", boot)
            writer.field("type", type)
            if let network {
                writer.object("network") {
                    $0.field("name", cut(network.name))
                    $0.field("assurance", network.assurance)
                    if let minutes = network.minutes { $0.field("minutes", minutes) }
                }
                writer.array("evidence") { for kind in evidence { $0.string(kind) } }
            }
            if let rule {
                writer.object("rule") {
                    $0.field("name", cut(rule.name))
                    $0.field("file", cut(rule.file))
                    $0.field("line", rule.line)
                    $0.field("because", cut(rule.because))
                }
            }
            if let action { write(action, to: &writer) }
            if let secondFactor {
                writer.object("second_factor") {
                    $0.field("rule", cut(secondFactor.rule))
                    $0.field("network", secondFactor.network.map(cut))
                    if let user = secondFactor.user { $0.field("user", cut(user)) }
                    if let because = secondFactor.because { $0.field("because", cut(because)) }
                }
            }
            if let wifi { write(wifi, to: &writer) }
            writer.field("rules_digest", rulesDigest)
        }
        writer.endLine()
        return writer.octets
    }

    private func write(_ action: Action, to writer: inout JSONWriter) {
        writer.object("action") {
            $0.field("id", action.id)
            $0.field("rule", cut(action.rule))
            $0.field("index", action.index)
            $0.field("kind", action.kind)
            if let exit = action.exit { $0.field("exit", exit) }
            if let duration = action.durationMilliseconds { $0.field("duration_ms", duration) }
            if let because = action.because { $0.field("because", cut(because)) }
            if let user = action.user { $0.field("user", cut(user)) }
        }
    }

    private func write(_ wifi: WiFi, to writer: inout JSONWriter) {
        writer.object("wifi") {
            $0.field("wifi_environment", wifi.environment)
            $0.field("security", wifi.security)
        }
        writer.object("cause") {
            if let status = wifi.status { $0.field("status", status) }
            if let reason = wifi.reason { $0.field("reason", reason) }
            if let circumstance = wifi.circumstance { $0.field("circumstance", circumstance) }
        }
        if wifi.omitted > 0 { writer.field("omitted", wifi.omitted) }
    }

    private func cut(_ text: String) -> String {
        guard text.utf8.count > Self.longestText else { return text }
        return String(decoding: text.utf8.prefix(Self.longestText), as: UTF8.self) + "…"
    }
}

extension CivilTime {
    fileprivate var rfc3339: String {
        "\(digits(year, 4))-\(digits(month, 2))-\(digits(day, 2))T\(digits(hour, 2)):\(digits(minute, 2))"
            + ":\(digits(second, 2)).\(digits(microsecond, 6))Z"
    }
}

private func digits(_ number: Int, _ count: Int) -> String {
    let text = String(number)
    return String(repeating: "0", count: max(count - text.utf8.count, 0)) + text
}
