internal import JSON

/// The line with which a reader may say what it wants; without one it gets everything from now on.
///
///     {"since":"9f0c…:17","types":["wifi.*"],"interface":"wlan0"}
///     {"why":"office"}
public struct FeedRequest: Sendable {
    public static let maximumLength = 4_096

    /// The `id` of the last line that the reader has.
    public var since: (instance: String, sequence: UInt64)?
    public var filter = FeedFilter()
    /// False for a reader that only wants the snapshot: the connection ends after it.
    public var follows = true
    /// Whether names are to be withheld from this reader as from one without permission, whatever it may see: for what
    /// has a use for hashes alone.
    public var isHashed = false
    /// The rule or network to be explained, empty for all that hold: the connection ends after that.
    public var why: String?

    /// Of the longest name that rules and networks have.
    public static let maximumNameLength = 64

    /// Whether something can be the name of a rule or network at all.
    public static func isName(_ text: String) -> Bool {
        text.utf8.count <= maximumNameLength && text.utf8.allSatisfy { (0x21...0x7E).contains($0) }
    }

    public init() {}

    /// Nil for what is no request: the reader gets everything, as if it had said nothing.
    init?(_ line: ArraySlice<UInt8>) {
        guard let value = try? JSONValue(parsing: line, maximumSize: FeedRequest.maximumLength), value.object != nil
        else {
            return nil
        }
        if let id = value["since"]?.string, let colon = id.lastIndex(of: ":"),
            let sequence = UInt64(id[id.index(after: colon)...])
        {
            since = (String(id[..<colon]), sequence)
        }
        filter.types = value["types"]?.array?.compactMap(\.string) ?? []
        filter.interface = value["interface"]?.string
        follows = value["follow"]?.bool ?? true
        isHashed = value["view"]?.string == "hashed"
        if let question = value["why"] {
            guard let name = question.string, FeedRequest.isName(name) else { return nil }
            why = name
        }
    }

    /// The line to send.
    public var line: [UInt8] {
        var writer = JSONWriter()
        writer.object { writer in
            if let since { writer.field("since", "\(since.instance):\(since.sequence)") }
            if !filter.types.isEmpty {
                writer.array("types") { writer in
                    for type in filter.types { writer.string(type) }
                }
            }
            if let interface = filter.interface { writer.field("interface", interface) }
            if !follows { writer.field("follow", false) }
            if isHashed { writer.field("view", "hashed") }
            if let why { writer.field("why", why) }
        }
        writer.endLine()
        return writer.octets
    }
}
