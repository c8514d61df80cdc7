/// Which lines a reader wants.
public struct FeedFilter: Sendable {
    /// Types, or their beginnings ended by `*`; empty for all.
    public var types: [String] = []
    public var interface: String?

    public init() {}

    public func admits(_ line: FeedLine) -> Bool {
        if let interface, line.interface != interface { return false }
        return types.isEmpty || types.contains { FeedFilter.matches(line.type, $0) }
    }

    fileprivate static func matches(_ type: String, _ pattern: String) -> Bool {
        pattern.hasSuffix("*") ? type.hasPrefix(pattern.dropLast()) : type == pattern
    }
}

/// A filter as the server asks it, thousands of times a second: each type is compared with what the reader wants once,
/// however many patterns that are.
struct CompiledFilter {
    private let filter: FeedFilter
    /// Whose names the reader's filter is about: one must not tell whether a guessed name is right.
    private let view: FeedView
    private var wanted: [String: Bool] = [:]

    init(_ filter: FeedFilter, for view: FeedView) {
        self.filter = filter
        self.view = view
    }

    var admitsAll: Bool { filter.types.isEmpty && filter.interface == nil }

    mutating func admits(_ line: FeedLine) -> Bool {
        if !filter.types.isEmpty {
            let isWanted = wanted[line.type] ?? filter.types.contains { FeedFilter.matches(line.type, $0) }
            wanted[line.type] = isWanted
            guard isWanted else { return false }
        }
        guard let interface = filter.interface else { return true }
        return interface == (view == .full ? line.interface : line.shownInterface)
    }
}
