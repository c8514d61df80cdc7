/// The last lines of the feed, kept once for all readers: each of them only remembers how far it is.
///
/// So a reader that falls behind costs no memory, and a line costs a reader the same however many wait for it.
struct LineLog {
    /// A line's place; goes up by one with each and never comes back.
    typealias Position = UInt64

    let limit: Int
    let octetLimit: Int
    private var lines: [FeedLine?]
    /// Of the oldest line that is still there.
    private(set) var start: Position = 0
    /// Of the next line.
    private(set) var end: Position = 0
    private var octets = 0

    /// - Parameters:
    ///   - limit: lines, a power of two.
    ///   - octetLimit: what they may take together.
    init(limit: Int, octetLimit: Int) {
        precondition(limit > 0 && limit & (limit - 1) == 0, "not a power of two: \(limit)")
        self.limit = limit
        self.octetLimit = octetLimit
        lines = []
    }

    var count: Int { Int(end - start) }

    subscript(position: Position) -> FeedLine? {
        guard (start..<end).contains(position) else { return nil }
        return lines[Int(position % UInt64(limit))]
    }

    /// To be called when there is room, see `excess(adding:)`.
    mutating func append(_ line: FeedLine) {
        let place = Int(end % UInt64(limit))
        if place == lines.count { lines.append(line) } else { lines[place] = line }
        octets += line.size
        end += 1
    }

    /// Up to where lines have to go before there is room for another one; nil where there is.
    ///
    /// An eighth at a time: what readers lose by it is counted once for many lines.
    var excess: Position? {
        guard count >= limit || octets + 2 * FeedLine.maximumLength > octetLimit else { return nil }
        return start + UInt64(max(count / 8, 1))
    }

    /// Lets go of what came before a position.
    mutating func drop(before position: Position) {
        while start < min(position, end) {
            let place = Int(start % UInt64(limit))
            lines[place] = nil
            start += 1
        }
        // Lines grow when they are written for another kind of reader.
        octets = (start..<end).reduce(0) { $0 + (self[$1]?.size ?? 0) }
    }
}
