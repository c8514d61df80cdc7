/// Reads lines from a connection on the calling thread, until its end or its time limit (`UnixSocket.limitWaiting`).
public struct LineReader {
    private let connection: Int32
    private let maximumLine: Int
    private var buffer: [UInt8] = []
    private var position = 0

    /// The other side has hung up.
    public private(set) var hasEnded = false

    /// - Parameter connection: stays the caller's.
    public init(_ connection: Int32, maximumLine: Int) {
        self.connection = connection
        self.maximumLine = maximumLine
    }

    /// The next line without its LF; nil at the end, when none comes in time, or it is too long.
    public mutating func next() -> ArraySlice<UInt8>? {
        while true {
            if let end = buffer[position...].firstIndex(of: UInt8(ascii: "\n")) {
                defer { position = end + 1 }
                return buffer[position..<end]
            }
            buffer.removeSubrange(..<position)
            position = 0
            var chunk = [UInt8](repeating: 0, count: 16_384)
            guard buffer.count <= maximumLine, let count = UnixSocket.receive(into: &chunk, on: connection) else {
                return nil
            }
            guard count > 0 else {
                hasEnded = true
                return nil
            }
            buffer += chunk[..<count]
        }
    }
}
