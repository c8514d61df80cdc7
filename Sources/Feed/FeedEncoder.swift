public import Environment
internal import JSON
internal import Netlink
public import Platform
internal import WiFi

/// Numbers events and makes lines of the schema `vicinity/1` of them.
public struct FeedEncoder {
    /// Names this run of the writer in `id`: 16 hexadecimal digits.
    public let instance: String
    /// The number of the last line; 0 before the first.
    public private(set) var sequence: UInt64 = 0
    /// What readers who may not see names are told all the same.
    public var disclosure = FeedDisclosure()

    public init() {
        var generator = SystemRandomNumberGenerator()
        let number: UInt64 = generator.next()
        instance = (0..<8).map { UInt8(truncatingIfNeeded: number >> (8 * $0)) }.hexadecimal
    }

    /// Goes on where another one ended.
    public init(continuing held: HeldEvents) {
        instance = held.instance
        sequence = held.sequence
    }

    static func isInstance(_ text: String) -> Bool {
        text.utf8.count == 16
            && text.utf8.allSatisfy { octet in
                (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(octet)
                    || (UInt8(ascii: "a")...UInt8(ascii: "f")).contains(octet)
            }
    }

    /// The next line of the feed.
    public mutating func line(for event: FeedEvent) -> FeedLine {
        sequence += 1
        return FeedLine(event, sequence, instance)
    }

    /// The line of an event that has not happened: a decision that a recorded feed was replayed for.
    public func replayedLine(for event: FeedEvent) -> FeedLine { FeedLine(event, nil, instance) }

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
            let view = permission.view
            guard let environment, view > .nothing else { return }
            if view == .hashed { writer.field("withheld", true) }
            var fields = SnapshotFields(writer: writer, disclosure: view == .hashed ? disclosure : nil)
            agent?(&fields)
            writer = fields.writer
            if view == .hashed {
                HashedLine.write(environment, to: &writer, within: FeedLine.maximumLength, disclosure)
            } else {
                Snapshot.write(environment, to: &writer, within: FeedLine.maximumLength)
            }
        }
    }

    /// The only line for a reader whom the server turns away.
    func refusalLine(_ refusal: FeedRefusal) -> FeedLine {
        let sequence = sequence
        return lineForOne("environment.snapshot") { writer in
            writer.field("permission", FeedPermission.denied.rawValue)
            writer.field("as_of_seq", sequence)
            writer.field("refused", refusal.rawValue)
        }
    }

    /// A line for one reader: why a rule or a network is as it is.
    public func explanationLine(of explanation: Explanation, at time: Timestamp = .now()) -> FeedLine {
        lineForOne("explanation", at: time, explanation) { writer in
            writer.object("explanation") { explanation.write(to: &$0) }
        }
    }

    /// The same for readers who may not see names; nil where its name is one of those.
    func hashedLine(of line: FeedLine) -> FeedLine? {
        guard let explanation = line.explanation, explanation.isDisclosed(disclosure) else { return nil }
        return lineForOne("explanation") { writer in
            writer.field("withheld", true)
            writer.object("explanation") { explanation.writeDisclosed(to: &$0) }
        }
    }

    /// What such readers get who asked for a name that they may not be told of, or that nothing has: they cannot tell
    /// which.
    func unknownLine(_ name: String) -> FeedLine {
        lineForOne("explanation") { writer in
            writer.field("withheld", true)
            writer.object("explanation") { writer in
                writer.field("kind", nil as String?)
                writer.field("name", name.clipped(to: 256))
                writer.field("truth", Explanation.Truth.no.rawValue)
                writer.field("text", "no rule and no network of this name that you may be told of")
            }
        }
    }

    func lineForOne(
        _ type: StaticString, at time: Timestamp = .now(), _ explanation: Explanation? = nil,
        _ body: (inout JSONWriter) -> Void
    ) -> FeedLine {
        var writer = JSONWriter(reserving: 2_048)
        writer.object { writer in
            writer.header("\(type)", at: time, nil, instance)
            body(&writer)
        }
        writer.endLine()
        return FeedLine(type: "\(type)", boottime: time.boottime, octets: writer.octets, explanation)
    }
}

extension JSONWriter {
    /// What every line begins with.
    mutating func header(_ type: String, at time: Timestamp, _ sequence: UInt64?, _ instance: String) {
        field("schema", "vicinity/1")
        field("seq", sequence)
        field("id", sequence.map { "\(instance):\($0)" })
        field("time", CivilTime(utc: time.wall).iso8601)
        field("boottime_us", time.boottime)
        field("type", type)
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
