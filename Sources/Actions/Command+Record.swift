public import ActionProtocol
internal import JSON
public import Rules

extension Command {
    /// A command of a rule's, told where it happens.
    public init(_ command: EdgeAction.Command, of rule: Rule, _ record: EventRecord) {
        let context = Context(
            event: record.event, network: record.network, ssidHexadecimal: record.ssid.map(Command.hexadecimal),
            bssid: record.bssid, interface: record.interface, rule: rule.name)
        self.init(
            arguments: command.arguments, timeout: command.timeout, context: context,
            input: Command.event(of: rule, record), lane: rule.name)
    }

    private static func hexadecimal(_ octets: [UInt8]) -> String {
        octets.map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
    }

    /// What a command reads from its standard input.
    private static func event(of rule: Rule, _ record: EventRecord) -> [UInt8] {
        var writer = JSONWriter()
        writer.object { writer in
            writer.field("schema", "vicinity/1")
            writer.field("type", record.event)
            writer.object("rule") { writer in
                writer.field("name", rule.name)
                writer.field("file", rule.location.file)
                writer.field("line", rule.location.line)
            }
            if let network = record.network {
                writer.object("network") { writer in
                    writer.field("name", network)
                    writer.field("assurance", record.assurance)
                }
            }
            if let interface = record.interface { writer.field("interface", interface) }
            if let index = record.interfaceIndex { writer.field("ifindex", index) }
            guard record.ssid != nil || record.bssid != nil else { return }
            writer.object("wifi") { writer in
                writer.field("ssid", record.ssid.flatMap { String(validating: $0, as: UTF8.self) })
                writer.field("ssid_hex", record.ssid.map(Command.hexadecimal))
                writer.field("bssid", record.bssid)
                writer.field("security", record.security)
            }
        }
        writer.endLine()
        return writer.octets
    }
}
