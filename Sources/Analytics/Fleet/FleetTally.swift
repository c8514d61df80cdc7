internal import JSON

/// What many machines' analytics logs come to, line by line, one machine after the other: in memory that does not depend
/// on how many lines there are, and that no log can make grow without end.
public struct FleetTally: Sendable {
    public struct Group: Sendable {
        public var name: String
        public var machines = 0
        public var minutes: Int64 = 0
        /// Entering and leaving.
        public var transitions = 0
        /// Which machines, as long as they are fewer than would be shown.
        var members: [Int32] = []
        fileprivate var last: Int32 = -1

        init(name: String) { self.name = name }
    }

    public private(set) var networks: [Group] = []
    public private(set) var types: [Group] = []
    public private(set) var machines = 0
    public private(set) var lines = 0
    /// Lines that are no JSON object.
    public private(set) var broken = 0
    /// Lines about something else, or outside the time that counts.
    public private(set) var ignored = 0

    /// Groups of fewer machines are not shown.
    let least: Int
    private let since: [UInt8]
    private let until: [UInt8]
    private var machine: Int32 = -1
    private var hasMachine = false
    private var places: [[UInt8]: Int] = [:]
    private var typePlaces: [[UInt8]: Int] = [:]

    /// Networks that are told apart. A log can name as many as it likes.
    private static let networkLimit = 50_000
    /// Octets of a name.
    private static let longestName = 1_024
    /// What is there instead of networks beyond the limit.
    static let others = ""
    private static let tenYears: Int64 = 5_256_000

    /// - Parameters:
    ///   - least: how many machines a group has at least to be shown.
    ///   - since: the first moment that counts, as the logs write it; empty for the beginning.
    ///   - until: the first one that does not; empty for the end.
    public init(least: Int, since: String = "", until: String = "") {
        self.least = least
        (self.since, self.until) = (Array(since.utf8.prefix(19)), Array(until.utf8.prefix(19)))
    }

    /// From here on lines are those of this machine, whose number no other has.
    public mutating func begin(_ machine: Int32) {
        self.machine = machine
        hasMachine = false
    }

    public mutating func skipLine() {
        lines += 1
        broken += 1
    }

    fileprivate struct Fields {
        var type: Range<Int>?
        var network: Range<Int>?
        var networkType: Range<Int>?
        var minutes: Range<Int>?
        var time: Range<Int>?
    }

    /// - Parameter line: within a text, without its LF.
    public mutating func take(_ line: Range<Int>, of text: [UInt8]) {
        lines += 1
        let span = text.span.extracting(line)
        var fields = Fields()
        let outcome = JSONMembers.scan(span) { fields.note($0, in: span) }
        guard case .object = outcome else {
            if line.allSatisfy({ text[$0] == 0x0D || text[$0] == 0x20 }) { lines -= 1 } else { broken += 1 }
            return
        }
        guard let type = fields.type, let network = fields.network, let networkType = fields.networkType,
            let time = fields.time, isWanted(time, span), span[network.lowerBound] == UInt8(ascii: "\"")
        else { return ignored += 1 }
        var minutes: Int64 = 0
        if span.equals("\"network.left\"", type) {
            minutes = fields.minutes.flatMap { span.number($0) } ?? 0
            guard (0...Self.tenYears).contains(minutes) else { return ignored += 1 }
        } else if !span.equals("\"network.entered\"", type) {
            return ignored += 1
        }
        if !hasMachine {
            hasMachine = true
            machines += 1
        }
        let place = place(of: span.octets(network))
        networks[place].add(minutes, machine, least)
        let typePlace = typePlace(of: span.octets(networkType))
        types[typePlace].add(minutes, machine, least)
    }

    /// By what the log says, moments can be compared as they stand.
    private func isWanted(_ time: Range<Int>, _ text: Span<UInt8>) -> Bool {
        // With its quotation marks.
        guard time.count >= 21 else { return false }
        if !since.isEmpty, text.isBefore(since, from: time.lowerBound + 1) { return false }
        return until.isEmpty || text.isBefore(until, from: time.lowerBound + 1)
    }

    // MARK: Groups

    private mutating func place(of quoted: [UInt8]) -> Int {
        if let place = places[quoted] { return place }
        let isNew = places.count < 2 * Self.networkLimit && quoted.count <= Self.longestName
        guard isNew, let name = try? JSONValue(parsing: quoted, maximumSize: Self.longestName).string,
            !name.isEmpty, case let plain = Array(name.utf8), places[plain] != nil || networks.count < Self.networkLimit
        else { return otherPlace() }
        // The same name can be written in several ways; as it is it cannot begin with a quotation mark of its own.
        let place = places[[0] + plain] ?? append(name)
        places[[0] + plain] = place
        places[quoted] = place
        return place
    }

    private mutating func otherPlace() -> Int {
        if let place = places[[]] { return place }
        let place = append(Self.others)
        places[[]] = place
        return place
    }

    private mutating func append(_ name: String) -> Int {
        networks.append(Group(name: name))
        return networks.count - 1
    }

    private mutating func typePlace(of quoted: [UInt8]) -> Int {
        if let place = typePlaces[quoted] { return place }
        let name = try? JSONValue(parsing: quoted, maximumSize: Self.longestName).string
        let type = name.flatMap { NetworkType(rawValue: $0) }?.rawValue ?? Self.others
        let place =
            types.firstIndex { $0.name == type }
            ?? {
                types.append(Group(name: type))
                return types.count - 1
            }()
        if typePlaces.count < 100 { typePlaces[quoted] = place }
        return place
    }

    // MARK: Many at once

    /// Takes in what another one counted of other machines.
    public mutating func add(_ other: FleetTally) {
        machines += other.machines
        lines += other.lines
        broken += other.broken
        ignored += other.ignored
        Self.merge(other.networks, into: &networks, least)
        Self.merge(other.types, into: &types, least)
    }

    private static func merge(_ others: [Group], into groups: inout [Group], _ least: Int) {
        var places = Dictionary(
            groups.enumerated().map { (Array($0.element.name.utf8), $0.offset) },
            uniquingKeysWith: { first, _ in first })
        for other in others {
            if let place = places[Array(other.name.utf8)] {
                groups[place].machines += other.machines
                groups[place].minutes += other.minutes
                groups[place].transitions += other.transitions
                groups[place].members = Array((groups[place].members + other.members).prefix(least))
            } else {
                places[Array(other.name.utf8)] = groups.count
                groups.append(other)
            }
        }
    }
}

extension FleetTally.Group {
    fileprivate mutating func add(_ minutes: Int64, _ machine: Int32, _ least: Int) {
        self.minutes += minutes
        transitions += 1
        guard machine != last else { return }
        last = machine
        machines += 1
        if members.count < least { members.append(machine) }
    }
}

extension FleetTally.Fields {
    fileprivate mutating func note(_ member: JSONMembers.Member, in text: Span<UInt8>) {
        // Who writes its keys with escapes is no log of ours.
        guard !member.hasEscapes else { return }
        switch member.key.count {
        case 4:
            if text.equals("type", member.key) {
                type = member.value
            } else if text.equals("time", member.key) {
                time = member.value
            }
        case 7:
            if text.equals("network", member.key) {
                network = member.value
            } else if text.equals("minutes", member.key) {
                minutes = member.value
            }
        case 12: if text.equals("network_type", member.key) { networkType = member.value }
        default: break
        }
    }
}

extension Span<UInt8> {
    fileprivate func equals(_ word: StaticString, _ range: Range<Int>) -> Bool {
        guard range.count == word.utf8CodeUnitCount else { return false }
        return word.withUTF8Buffer { word in
            for offset in 0..<range.count where unsafe word[offset] != self[range.lowerBound + offset] { return false }
            return true
        }
    }

    fileprivate func octets(_ range: Range<Int>) -> [UInt8] {
        unsafe [UInt8](unsafeUninitializedCapacity: range.count) { buffer, count in
            for offset in 0..<range.count { unsafe buffer[offset] = self[range.lowerBound + offset] }
            count = range.count
        }
    }

    /// A whole number that is not negative.
    fileprivate func number(_ range: Range<Int>) -> Int64? {
        var value: Int64 = 0
        guard range.count <= 9 else { return nil }
        for index in range {
            let digit = self[index] &- UInt8(ascii: "0")
            guard digit < 10 else { return nil }
            value = value * 10 + Int64(digit)
        }
        return value
    }

    /// Whether what stands here is less than a text, octet by octet.
    fileprivate func isBefore(_ text: [UInt8], from start: Int) -> Bool {
        for (offset, octet) in text.enumerated() where self[start + offset] != octet {
            return self[start + offset] < octet
        }
        return false
    }
}
