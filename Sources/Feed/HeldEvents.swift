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
    private static let magic = Array("vicinity-held/1\n".utf8)
    private static let checksumLength = 64
    /// Of the longest lines there can be, and what goes with them.
    public static let maximumLength = limit * (2 * FeedLine.maximumLength + 1_024)

    /// The octets, the boot that they belong to, and a checksum.
    public func encoded(boot: String = Boot.identifier) -> [UInt8] {
        var octets = HeldEvents.magic
        octets.append(text: boot)
        octets.append(text: instance)
        octets.append(sequence)
        octets.append(UInt64(lines.count))
        for line in lines {
            octets.append(line.sequence)
            octets.append(UInt64(bitPattern: line.boottime))
            octets.append(text: line.type)
            octets.append(text: line.interface ?? "")
            octets.append(text: line.shownInterface ?? "")
            octets.append(block: line.full)
            octets.append(block: line.hashed)
        }
        return octets + Array(SHA256.hexadecimal(octets).utf8)
    }

    /// Nil for anything but what `encoded` gave during the same boot. Lines that have become too old are left out.
    public init?(_ octets: [UInt8], boot: String = Boot.identifier, at now: Timestamp = .now()) {
        guard octets.count <= HeldEvents.maximumLength,
            octets.count > HeldEvents.magic.count + HeldEvents.checksumLength
        else { return nil }
        let contents = Array(octets.dropLast(HeldEvents.checksumLength))
        guard contents.starts(with: HeldEvents.magic),
            octets.suffix(HeldEvents.checksumLength).elementsEqual(SHA256.hexadecimal(contents).utf8)
        else { return nil }
        var rest = contents.dropFirst(HeldEvents.magic.count)
        // Boot times of different boots cannot be compared.
        guard rest.takeText() == boot, let instance = rest.takeText(), FeedEncoder.isInstance(instance),
            let sequence = rest.takeNumber(), let count = rest.takeNumber(), count <= UInt64(HeldEvents.limit)
        else { return nil }
        var lines: [Line] = []
        for _ in 0..<count {
            guard let line = Line(&rest, instance), line.boottime <= now.boottime else { return nil }
            // A hole would make readers believe that they have everything.
            if let last = lines.last, line.sequence != last.sequence + 1 { return nil }
            lines.append(line)
        }
        guard rest.isEmpty, sequence < .max, lines.last.map({ $0.sequence == sequence }) ?? true else { return nil }
        let oldest = now.boottime - HeldEvents.lifetime
        self.init(instance: instance, sequence: sequence, lines: Array(lines.drop { $0.boottime < oldest }))
    }
}

extension HeldEvents.Line {
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
