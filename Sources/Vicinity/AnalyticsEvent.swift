internal import Analytics
internal import Enrichment
internal import JSON

/// An event of a program's own analytics, which can carry along where the machine was without telling the name of any
/// place.
///
///     let event = AnalyticsEvent(name: "sync.finished", parameters: ["seconds": 3.2, "files": 14])
///     print(event.enrichedWithEnvironment().jsonLine)
public struct AnalyticsEvent: Hashable, Sendable {
    /// What JSON knows.
    public enum Value: Hashable, Sendable {
        case null
        case bool(Bool)
        case integer(Int64)
        /// Infinities and what is no number become `null` in JSON.
        case number(Double)
        case string(String)
        case array([Value])
        case object([String: Value])
    }

    public var name: String
    public var parameters: [String: Value]

    public init(name: String, parameters: [String: Value] = [:]) {
        self.name = name
        self.parameters = parameters
    }

    /// The event with `wifi_environment` and `network_type` as they are at this moment.
    ///
    /// `network_type` is `wifi`, `ethernet`, `cellular`, `vpn` or `none`. `wifi_environment` stands for the name of the
    /// Wi-Fi network: `sha256:…` for names that the machine's rule files list for everybody to know, otherwise
    /// `hmac-sha256:…` with the machine's key, by whoever can have it made, and `nomap` for names that say so; it is left
    /// out off Wi-Fi, and where nothing can stand for the name. Parameters that are there stay as they are. Where the
    /// kernel cannot be asked the event stays as it is.
    ///
    /// The first call of a process reads where the machine is, which takes a few milliseconds; from then on a thread
    /// follows that, and a call makes no call of the system. No agent is needed.
    public func enrichedWithEnvironment() -> AnalyticsEvent {
        guard let labels = Self.labeler?.labels else { return self }
        var event = self
        if let environment = labels.wifiEnvironment, parameters[EnvironmentLabels.wifiEnvironmentKey] == nil {
            event.parameters[EnvironmentLabels.wifiEnvironmentKey] = .string(environment)
        }
        if parameters[EnvironmentLabels.networkTypeKey] == nil {
            event.parameters[EnvironmentLabels.networkTypeKey] = .string(labels.networkType.rawValue)
        }
        return event
    }

    /// One for all events of the process, as long as it runs.
    private static let labeler = try? EnvironmentLabeler()

    /// `{"name":"…","parameters":{…}}` in printable ASCII, without a line feed; parameters in the order of their names.
    public var jsonLine: String {
        var writer = JSONWriter()
        writer.object {
            $0.field("name", name)
            $0.key("parameters")
            Self.write(.object(parameters), to: &$0)
        }
        return writer.text
    }

    private static func write(_ value: Value, to writer: inout JSONWriter) {
        switch value {
        case .null: writer.null()
        case .bool(let value): writer.bool(value)
        case .integer(let value): writer.integer(value)
        case .number(let value): writer.number(value)
        case .string(let value): writer.string(value)
        case .array(let values): writer.array { for value in values { write(value, to: &$0) } }
        case .object(let members):
            writer.object {
                for (key, value) in members.sorted(by: { $0.key < $1.key }) {
                    $0.key(escaping: key)
                    write(value, to: &$0)
                }
            }
        }
    }
}

extension AnalyticsEvent.Value: ExpressibleByStringLiteral, ExpressibleByIntegerLiteral, ExpressibleByFloatLiteral,
    ExpressibleByBooleanLiteral, ExpressibleByNilLiteral, ExpressibleByArrayLiteral, ExpressibleByDictionaryLiteral
{
    public init(stringLiteral value: String) { self = .string(value) }
    public init(integerLiteral value: Int64) { self = .integer(value) }
    public init(floatLiteral value: Double) { self = .number(value) }
    public init(booleanLiteral value: Bool) { self = .bool(value) }
    public init(nilLiteral: ()) { self = .null }
    public init(arrayLiteral elements: Self...) { self = .array(elements) }
    public init(dictionaryLiteral elements: (String, Self)...) {
        self = .object(Dictionary(elements) { _, last in last })
    }
}
