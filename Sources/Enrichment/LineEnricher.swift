internal import Analytics
internal import JSON

/// Adds what may be told of where the machine is to lines of JSON, which stay as they are octet by octet otherwise.
public struct LineEnricher {
    public private(set) var lines = 0
    /// Lines that are no JSON object.
    public private(set) var broken = 0

    private var labels: EnvironmentLabels?
    private var suffixes: [[UInt8]] = []

    public init() {}

    /// Says what is true from here on.
    public mutating func use(_ labels: EnvironmentLabels) {
        guard labels != self.labels else { return }
        self.labels = labels
        suffixes = (0..<4).map { present in
            var writer = JSONWriter(reserving: 160)
            writer.object {
                if present & Keys.environment == 0, let environment = labels.wifiEnvironment {
                    $0.field("wifi_environment", environment)
                }
                if present & Keys.type == 0 { $0.field("network_type", labels.networkType.rawValue) }
            }
            return Array(writer.octets.dropFirst().dropLast())
        }
    }

    /// Takes one line in and writes it, with its end.
    ///
    /// - Parameters:
    ///   - line: within a text, with its LF where it has one.
    ///   - onBroken: told where a line ceases to be a JSON object; answers whether it is written all the same.
    public mutating func enrich(
        _ line: Range<Int>, of text: [UInt8], into output: inout [UInt8], onBroken: (Int) -> Bool
    ) {
        lines += 1
        let span = text.span.extracting(line)
        var present = 0
        let outcome = JSONMembers.scan(span) { member in
            present |= Keys.bit(of: member, in: span)
        }
        switch outcome {
        case .object(let closing, let isEmpty):
            let suffix = suffixes.isEmpty ? [] : suffixes[present]
            let end = line.lowerBound + closing
            output.append(contentsOf: text[line.lowerBound..<end])
            if !suffix.isEmpty {
                if !isEmpty { output.append(UInt8(ascii: ",")) }
                output.append(contentsOf: suffix)
            }
            output.append(contentsOf: text[end..<line.upperBound])
        case .malformed(let place):
            // An empty line is none.
            if !line.allSatisfy({ [0x0A, 0x0D, 0x20, 0x09].contains(text[$0]) }) {
                broken += 1
                guard onBroken(place) else { return }
            }
            output.append(contentsOf: text[line])
        }
    }

    /// Counts a line that was too long to be looked at.
    public mutating func skip() {
        lines += 1
        broken += 1
    }

    /// Which of the two keys an object has.
    private enum Keys {
        static let environment = 1
        static let type = 2
        private static let environmentOctets = Array(EnvironmentLabels.wifiEnvironmentKey.utf8)
        private static let typeOctets = Array(EnvironmentLabels.networkTypeKey.utf8)

        static func bit(of member: JSONMembers.Member, in text: Span<UInt8>) -> Int {
            if member.hasEscapes { return bitOfEscaped(member, in: text) }
            switch member.key.count {
            case environmentOctets.count: return isEqual(environmentOctets, member.key, text) ? environment : 0
            case typeOctets.count: return isEqual(typeOctets, member.key, text) ? type : 0
            default: return 0
            }
        }

        private static func isEqual(_ octets: [UInt8], _ range: Range<Int>, _ text: Span<UInt8>) -> Bool {
            for index in octets.indices where octets[index] != text[range.lowerBound + index] { return false }
            return true
        }

        /// `network\u005ftype` is the same key.
        private static func bitOfEscaped(_ member: JSONMembers.Member, in text: Span<UInt8>) -> Int {
            let quoted = (member.key.lowerBound - 1...member.key.upperBound).map { text[$0] }
            let key = try? JSONValue(parsing: quoted, maximumSize: quoted.count).string
            switch key {
            case EnvironmentLabels.wifiEnvironmentKey: return environment
            case EnvironmentLabels.networkTypeKey: return type
            default: return 0
            }
        }
    }
}
