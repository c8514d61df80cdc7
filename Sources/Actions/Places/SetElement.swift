internal import JSON
internal import Netlink

/// An element of a set of nftables, as rules name it and as nft lists it.
enum SetElement: Hashable, CustomStringConvertible {
    /// One address, or all from one to another of the same family.
    case addresses(IPAddress, IPAddress)
    /// Ports, or what else has a number.
    case numbers(UInt64, UInt64)
    /// Of an interface, say.
    case name(String)

    /// An address, `ADDRESS/LENGTH`, `ADDRESS-ADDRESS`, a number, `NUMBER-NUMBER` or a name.
    init(_ text: String) {
        let ends = text.split(separator: "-", maxSplits: 1, omittingEmptySubsequences: false).map(String.init)
        let parts = text.split(separator: "/", maxSplits: 1, omittingEmptySubsequences: false).map(String.init)
        if let range = SetElement(from: text, to: text) {
            self = range
        } else if ends.count == 2, let range = SetElement(from: ends[0], to: ends[1]) {
            self = range
        } else if parts.count == 2, let length = Int(parts[1]), let prefix = SetElement(parts[0], length: length) {
            self = prefix
        } else {
            self = .name(text)
        }
    }

    private init?(from first: String, to last: String) {
        if let first = IPAddress(first), let last = IPAddress(last), first.family == last.family, !(last < first) {
            self = .addresses(first, last)
        } else if let first = UInt64(first), let last = UInt64(last), first <= last {
            self = .numbers(first, last)
        } else {
            return nil
        }
    }

    private init?(_ address: String, length: Int) {
        guard let address = IPAddress(address), (0...address.octets.count * 8).contains(length) else { return nil }
        var (first, last) = (address.octets, address.octets)
        for position in first.indices {
            let kept = min(max(length - position * 8, 0), 8)
            let mask = UInt8(truncatingIfNeeded: 0xFF00 >> kept)
            first[position] &= mask
            last[position] |= ~mask
        }
        guard let first = IPAddress(octets: first), let last = IPAddress(octets: last) else { return nil }
        self = .addresses(first, last)
    }

    /// As libnftables-json(5) lists it; nil for what is none of ours, such as a concatenation.
    init?(_ value: JSONValue) {
        if let text = value.string {
            // What is listed as text is no range, whatever hyphens it has.
            self = SetElement(from: text, to: text) ?? .name(text)
        } else if let number = value.integer {
            self.init(from: "\(number)", to: "\(number)")
        } else if let inner = value["elem"]?["val"] {
            self.init(inner)
        } else if let prefix = value["prefix"], let address = prefix["addr"]?.string,
            let length = prefix["len"]?.integer
        {
            self.init(address, length: Int(length))
        } else if let ends = value["range"]?.array, ends.count == 2 {
            self.init(from: SetElement.text(ends[0]), to: SetElement.text(ends[1]))
        } else {
            return nil
        }
    }

    private static func text(_ value: JSONValue) -> String {
        value.string ?? value.integer.map { "\($0)" } ?? ""
    }

    /// Whether what is listed has this in it: nft merges neighbours where a set says auto-merge.
    func isCovered(by listed: SetElement) -> Bool {
        switch (self, listed) {
        case (.addresses(let first, let last), .addresses(let lower, let upper)):
            first.family == lower.family && !(first < lower) && !(upper < last)
        case (.numbers(let first, let last), .numbers(let lower, let upper)): lower <= first && last <= upper
        case (.name(let name), .name(let other)): name.utf8.elementsEqual(other.utf8)
        default: false
        }
    }

    func write(to writer: inout JSONWriter) {
        switch self {
        case .addresses(let first, let last): SetElement.write("\(first)", "\(last)", to: &writer)
        case .numbers(let first, let last): SetElement.write("\(first)", "\(last)", to: &writer)
        case .name(let name): writer.string(name)
        }
    }

    private static func write(_ first: String, _ last: String, to writer: inout JSONWriter) {
        if first == last { return writer.string(first) }
        writer.object { writer in
            writer.array("range") { writer in
                writer.string(first)
                writer.string(last)
            }
        }
    }

    var description: String {
        switch self {
        case .addresses(let first, let last): first == last ? "\(first)" : "\(first)-\(last)"
        case .numbers(let first, let last): first == last ? "\(first)" : "\(first)-\(last)"
        case .name(let name): name
        }
    }
}
