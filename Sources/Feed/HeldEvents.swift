internal import Hashing
public import Platform

/// The last lines of the feed as one agent leaves them to the next, so that readers who come back miss nothing: as
/// octets for a file in memory, which does not outlive the boot.
///
/// Who takes them over goes on with their numbers: `FeedEncoder(continuing:)` and `FeedServer(held:)`.
public struct HeldEvents: Hashable, Sendable {
    /// Lines at most, and how old they may be (µs, boot time).
    public static let limit = 1_000
    public static let lifetime: Int64 = 24 * 3_600 * 1_000_000

    /// Of the encoder that numbered them.
    public let instance: String
    /// The number of its last line.
    public let sequence: UInt64
    let lines: [Line]

    /// A line as each kind of reader gets it.
    struct Line: Hashable, Sendable {
        var sequence: UInt64
        var type: String
        var interface: String?
        var shownInterface: String?
        var boottime: Int64
        var full: [UInt8]
        var hashed: [UInt8]
    }

    /// Of an encoder that has made no line yet.
    public init(instance: String) { self.init(instance: instance, sequence: 0, lines: []) }

    /// How many lines there are.
    public var count: Int { lines.count }

    init(instance: String, sequence: UInt64, lines: [Line]) {
        self.instance = instance
        self.sequence = sequence
        self.lines = lines
    }
}

extension HeldEvents.Line {
    /// Nil for lines made for one reader alone.
    init?(_ line: FeedLine, _ disclosure: FeedDisclosure) {
        guard let sequence = line.sequence else { return nil }
        self.init(
            sequence: sequence, type: line.type, interface: line.interface, shownInterface: line.shownInterface,
            boottime: line.boottime, full: line.octets, hashed: line.octets(disclosing: disclosure))
    }
}

extension HeldEvents {
    private static let magic = Array("vicinity-held/2\n".utf8)
    /// Of the longest lines there can be, and what goes with them.
    public static let maximumLength = 2 * limit * (2 * FeedLine.maximumLength + 1_024)

    /// The octets, with the boot that they belong to. What `record(of:)` gives may be appended to them.
    public func encoded(boot: String = Boot.identifier) -> [UInt8] {
        var head: [UInt8] = []
        head.append(text: boot)
        head.append(text: instance)
        // Of the line before the first.
        head.append(lines.first.map { $0.sequence - 1 } ?? sequence)
        return HeldEvents.magic + head.record + lines.flatMap(\.record)
    }

    /// What a further line adds; nil for a line that is for one reader alone.
    public static func record(of line: FeedLine, disclosing disclosure: FeedDisclosure) -> [UInt8]? {
        Line(line, disclosure)?.record
    }

    /// Nil for anything but what `encoded` gave during the same boot. Lines that have become too old, or are too many,
    /// are left out, and so is a record at the end that was not written whole.
    public init?(_ octets: [UInt8], boot: String = Boot.identifier, at now: Timestamp = .now()) {
        guard octets.count <= HeldEvents.maximumLength, octets.starts(with: HeldEvents.magic) else { return nil }
        var rest = octets.dropFirst(HeldEvents.magic.count)
        // Boot times of different boots cannot be compared.
        guard var head = rest.takeRecord(), head.takeText() == boot, let instance = head.takeText(),
            FeedEncoder.isInstance(instance), var sequence = head.takeNumber(), sequence < .max, head.isEmpty
        else { return nil }
        var lines: [Line] = []
        while var record = rest.takeRecord() {
            // A hole would make readers believe that they have everything.
            guard let line = Line(&record, instance), record.isEmpty, line.boottime <= now.boottime,
                line.sequence == sequence + 1
            else { return nil }
            sequence = line.sequence
            lines.append(line)
        }
        let oldest = now.boottime - HeldEvents.lifetime
        self.init(
            instance: instance, sequence: sequence,
            lines: Array(lines.suffix(HeldEvents.limit).drop { $0.boottime < oldest }))
    }
}

extension HeldEvents.Line {
    fileprivate var record: [UInt8] {
        var octets: [UInt8] = []
        octets.append(sequence)
        octets.append(UInt64(bitPattern: boottime))
        octets.append(text: type)
        octets.append(text: interface ?? "")
        octets.append(text: shownInterface ?? "")
        octets.append(block: full)
        octets.append(block: hashed)
        return octets.record
    }

    fileprivate init?(_ octets: inout ArraySlice<UInt8>, _ instance: String) {
        guard let sequence = octets.takeNumber(), (1..<UInt64.max).contains(sequence),
            let boottime = octets.takeNumber(),
            let type = octets.takeText(), let interface = octets.takeText(), let shown = octets.takeText(),
            let full = octets.takeBlock(), let hashed = octets.takeBlock()
        else { return nil }
        self.init(
            sequence: sequence, type: type, interface: interface.isEmpty ? nil : interface,
            shownInterface: shown.isEmpty ? nil : shown, boottime: Int64(bitPattern: boottime), full: full,
            hashed: hashed)
        let beginning = Array("{\"schema\":\"vicinity/1\",\"seq\":\(sequence),\"id\":\"\(instance):\(sequence)\",".utf8)
        for line in [full, hashed] {
            guard line.starts(with: beginning), line.count <= FeedLine.maximumLength, line.last == 0x0A,
                line.dropLast().allSatisfy({ (0x20...0x7E).contains($0) })
            else { return nil }
        }
    }
}

/// Octets of a record's checksum: of one that a killed process has not written whole it does not agree.
private let checksumLength = 16

extension [UInt8] {
    /// As a record: its length, itself, a checksum.
    fileprivate var record: [UInt8] {
        var record: [UInt8] = []
        record.append(block: self)
        return record + Array(SHA256.hexadecimal(self).utf8.prefix(checksumLength))
    }
}

extension [UInt8] {
    fileprivate mutating func append(_ number: UInt64) {
        for shift in stride(from: 0, to: 64, by: 8) { append(UInt8(truncatingIfNeeded: number >> UInt64(shift))) }
    }

    fileprivate mutating func append(text: String) { append(block: Array(text.utf8)) }

    fileprivate mutating func append(block: [UInt8]) {
        append(UInt8(truncatingIfNeeded: block.count))
        append(UInt8(truncatingIfNeeded: block.count >> 8))
        self += block
    }
}

extension ArraySlice<UInt8> {
    fileprivate mutating func takeNumber() -> UInt64? {
        guard count >= 8 else { return nil }
        defer { removeFirst(8) }
        return prefix(8).reversed().reduce(0) { $0 << 8 | UInt64($1) }
    }

    /// The contents of the next record; nil where it is not whole.
    fileprivate mutating func takeRecord() -> ArraySlice<UInt8>? {
        guard let contents = takeBlock(), count >= checksumLength,
            prefix(checksumLength).elementsEqual(SHA256.hexadecimal(contents).utf8.prefix(checksumLength))
        else { return nil }
        removeFirst(checksumLength)
        return contents[...]
    }

    fileprivate mutating func takeText() -> String? {
        takeBlock().flatMap { String(validating: $0, as: UTF8.self) }
    }

    fileprivate mutating func takeBlock() -> [UInt8]? {
        guard count >= 2 else { return nil }
        let length = Int(self[startIndex]) | Int(self[startIndex + 1]) << 8
        guard count >= 2 + length else { return nil }
        defer { removeFirst(2 + length) }
        return Array(dropFirst(2).prefix(length))
    }
}
