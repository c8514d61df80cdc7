internal import JSON
public import Platform

/// Reads the agent's feed, line by line, on the calling thread.
public struct FeedClient: ~Copyable {
    private let connection: FileDescriptor
    private var reader: LineReader

    /// - Parameter patience: how many seconds to wait for a line at most; nil for ever.
    /// - Throws: `ENOENT` or `ECONNREFUSED` where no agent runs.
    public init(connectingTo path: String, request: FeedRequest, patience: Int? = nil) throws(SystemError) {
        let connection = try UnixSocket.connect(to: path)
        if let patience { UnixSocket.limitWaiting(connection.rawValue, seconds: patience) }
        // An agent that is gone already shows as the end of the feed.
        _ = UnixSocket.send(request.line[...], on: connection.rawValue)
        reader = LineReader(connection.rawValue, maximumLine: 2 * FeedLine.maximumLength)
        self.connection = connection
    }

    /// Who serves the feed.
    public borrowing func peer() throws(SystemError) -> UnixSocket.Peer {
        try UnixSocket.peer(of: connection.rawValue)
    }

    /// The next line without its LF; nil when the agent ended the connection, or patience did. Waits.
    public mutating func next() -> ArraySlice<UInt8>? { reader.next() }
}
