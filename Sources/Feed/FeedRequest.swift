internal import JSON

/// The line with which a reader may say what it wants; without one it gets everything from now on.
///
///     {"since":"9f0c…:17","types":["wifi.*"],"interface":"wlan0"}
public struct FeedRequest: Sendable {
    public static let maximumLength = 4_096

    /// The `id` of the last line that the reader has.
    public var since: (instance: String, sequence: UInt64)?
    public var filter = FeedFilter()
    /// False for a reader that only wants the snapshot: the connection ends after it.
    public var follows = true

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
        }
        writer.endLine()
        return writer.octets
    }
}
