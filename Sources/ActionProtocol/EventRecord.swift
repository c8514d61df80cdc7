internal import JSON

/// What an action is told about where it happens: a typed record, checked again by whoever gets it, since the agent is
/// less trusted than those it asks. It only ever becomes `VICINITY_*` variables and JSON on a command's standard input.
public struct EventRecord: Hashable, Sendable {
    /// `rule.activated`, `rule.deactivated` or `rule.run`.
    public var event: String
    /// The network's name in the rule files.
    public var network: String?
    public var assurance: String?
    public var interface: String?
    public var interfaceIndex: Int32?
    /// 0 to 32 octets.
    public var ssid: [UInt8]?
    /// As `02:00:00:00:00:01`.
    public var bssid: String?
    public var security: String?
    /// The physical links that the rule is about, for what is done to links.
    public var links: [String] = []

    public init(event: String) { self.event = event }
}

extension EventRecord {
    public static let maximumLinks = 32

    /// Whether it may be believed to be one at all.
    public var isValid: Bool {
        EventRecord.events.contains(event)
            && network.map { EventRecord.isWord($0, upTo: 64) } ?? true
            && assurance.map { EventRecord.isWord($0, upTo: 16) } ?? true
            && interface.map(EventRecord.isInterface) ?? true
            && interfaceIndex.map { $0 > 0 } ?? true
            && ssid.map { $0.count <= 32 } ?? true
            && bssid.map(EventRecord.isAddress) ?? true
            && security.map { EventRecord.isWord($0, upTo: 64) } ?? true
            && links.count <= EventRecord.maximumLinks && links.allSatisfy(EventRecord.isInterface)
    }

    private static let events: Set = ["rule.activated", "rule.deactivated", "rule.run"]

    private static func isWord(_ text: String, upTo limit: Int) -> Bool {
        (1...limit).contains(text.utf8.count)
            && text.utf8.allSatisfy { octet in
                switch octet {
                case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
                    UInt8(ascii: "0")...UInt8(ascii: "9"):
                    true
                default: "-_.:".utf8.contains(octet)
                }
            }
    }

    /// Whether a text can be the name of an interface: IFNAMSIZ, and what a name may hold by dev_valid_name of the kernel; nothing is gained by the rest of ASCII.
    public static func isInterface(_ name: String) -> Bool {
        (1...15).contains(name.utf8.count) && name != "." && name != ".."
            && name.utf8.allSatisfy { $0 > 0x20 && $0 < 0x7F && $0 != UInt8(ascii: "/") }
    }

    private static func isAddress(_ text: String) -> Bool {
        let parts = text.split(separator: ":", omittingEmptySubsequences: false)
        return parts.count == 6 && parts.allSatisfy { $0.utf8.count == 2 && $0.utf8.allSatisfy(Hexadecimal.isDigit) }
    }
}

extension EventRecord {
    func write(to writer: inout JSONWriter) {
        writer.object { writer in
            writer.field("event", event)
            if let network { writer.field("network", network) }
            if let assurance { writer.field("assurance", assurance) }
            if let interface { writer.field("interface", interface) }
            if let interfaceIndex { writer.field("ifindex", interfaceIndex) }
            if let ssid { writer.field("ssid_hex", hexadecimal: ssid) }
            if let bssid { writer.field("bssid", bssid) }
            if let security { writer.field("security", security) }
            if !links.isEmpty { writer.array("links") { for link in links { $0.string(link) } } }
        }
    }

    /// Nil unless it is a valid record.
    init?(_ value: JSONValue?) {
        guard let value, let event = value["event"]?.string else { return nil }
        self.init(event: event)
        do throws(Malformed) {
            network = try value.optional("network", \.string)
            assurance = try value.optional("assurance", \.string)
            interface = try value.optional("interface", \.string)
            interfaceIndex = try value.optional("ifindex") { $0.integer.flatMap { Int32(exactly: $0) } }
            ssid = try value.optional("ssid_hex") { $0.string.flatMap(Hexadecimal.octets) }
            bssid = try value.optional("bssid", \.string)
            security = try value.optional("security", \.string)
            links =
                try value.optional("links") { list in
                    guard let names = list.array, names.count <= EventRecord.maximumLinks else { return nil }
                    let texts = names.compactMap(\.string)
                    return texts.count == names.count ? texts : nil
                } ?? []
        } catch {
            return nil
        }
        guard isValid else { return nil }
    }
}
