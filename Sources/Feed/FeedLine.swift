internal import Platform

/// One line of the feed, encoded once and shared by all who read it.
public final class FeedLine: Sendable {
    /// Nil for lines made for one reader alone.
    public let sequence: UInt64?
    public let type: String
    /// The interface's name at that time; nil for events of the whole machine.
    public let interface: String?
    /// When it happened (µs, boot time).
    public let boottime: Int64
    /// Printable ASCII, ended by LF, at most 8 KiB.
    public let octets: [UInt8]

    public static let maximumLength = 8_192

    init(sequence: UInt64?, type: String, interface: String?, boottime: Int64, octets: [UInt8]) {
        self.sequence = sequence
        self.type = type
        self.interface = interface
        self.boottime = boottime
        self.octets = octets
    }
}

/// Which lines a reader wants.
public struct FeedFilter: Sendable {
    /// Types, or their beginnings ended by `*`; empty for all.
    public var types: [String] = []
    public var interface: String?

    public init() {}

    public func admits(_ line: FeedLine) -> Bool {
        if let interface, line.interface != interface { return false }
        guard !types.isEmpty else { return true }
        return types.contains { pattern in
            pattern.hasSuffix("*") ? line.type.hasPrefix(pattern.dropLast()) : line.type == pattern
        }
    }
}
