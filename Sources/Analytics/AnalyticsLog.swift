internal import Glibc
public import Platform

/// Appends records to a file of JSON Lines, which is bounded in size and in time.
///
/// Nothing that goes wrong stops the caller: it is counted and reported. Nothing waits for the disk: what a power cut
/// takes are the last lines. A crash leaves at most one cut line, which spoils itself only.
public final class AnalyticsLog {
    public let path: String
    /// Octets of a file, before it becomes an older one, and how many of those there are.
    public let limits: (size: Int, files: Int)
    /// Records that were not written, or not whole.
    public private(set) var failures = 0

    private let onFailure: (SystemError) -> Void

    public static let standardLimits = (size: 1 << 20, files: 7)
    private static let mode: UInt32 = 0o640

    /// - Parameter onFailure: called for each record that was not written, and where lines that are too old could not
    ///   be dropped, at once.
    public init(
        path: String, limits: (size: Int, files: Int) = AnalyticsLog.standardLimits,
        onFailure: @escaping (SystemError) -> Void = { _ in }
    ) {
        self.path = path
        self.limits = limits
        self.onFailure = onFailure
    }

    /// The nth older file; the first is the newest of them.
    public static func olderPath(_ number: Int, of path: String) -> String { "\(path).\(number)" }

    /// All of them, the oldest first, be they there or not.
    public static func paths(of path: String, files: Int = standardLimits.files) -> [String] {
        (1...files).reversed().map { olderPath($0, of: path) } + [path]
    }

    /// Answers whether the record is in the file, whole.
    @discardableResult
    public func append(_ record: AnalyticsRecord) -> Bool {
        attempt { () throws(SystemError) in
            try LineFile(path: path, mode: Self.mode).append(record.line, limit: limits.size) {
                () throws(SystemError) in try shift()
            }
        }
    }

    private func attempt(_ body: () throws(SystemError) -> Void) -> Bool {
        do throws(SystemError) {
            try body()
            return true
        } catch {
            failures += 1
            onFailure(error)
            return false
        }
    }

    /// Each file takes the name of the next older one, the oldest first: whenever that is interrupted, all that is
    /// missing is a name in between.
    private func shift() throws(SystemError) {
        let paths = Self.paths(of: path, files: limits.files)
        for (older, newer) in zip(paths, paths.dropFirst()) where unsafe rename(newer, older) != 0 {
            let error = SystemError("rename", newer)
            if !error.isMissing || newer == path { throw error }
        }
    }

    // MARK: Time

    /// Makes the file an older one where its first line is from before a moment (µs since 1970): what gets old together
    /// goes together.
    public func turn(before moment: Int64) {
        _ = attempt { () throws(SystemError) in
            let limit = Array(AnalyticsTime.text(of: moment).utf8)
            guard let contents = try Self.read(path),
                let first = contents.split(separator: UInt8(ascii: "\n"), maxSplits: 1).first,
                let time = Self.time(of: first), time.lexicographicallyPrecedes(limit)
            else { return }
            try shift()
        }
    }

    /// Drops lines from before a moment (µs since 1970), in older files too. Each file is the old one or the new one,
    /// never half of it.
    ///
    /// - Returns: the time of the oldest line that is left; nil where there is none.
    @discardableResult
    public func drop(before moment: Int64) -> Int64? {
        let limit = Array(AnalyticsTime.text(of: moment).utf8)
        var oldest: ArraySlice<UInt8>?
        for path in Self.paths(of: path, files: limits.files) {
            _ = attempt { () throws(SystemError) in
                Files.tidy(path)
                guard let first = try Self.drop(before: limit, in: path) else { return }
                oldest = oldest.map { $0.lexicographicallyPrecedes(first) ? $0 : first } ?? first
            }
        }
        return oldest.flatMap { AnalyticsTime.microseconds(of: $0) }
    }

    /// - Returns: the least time of a line that stays.
    private static func drop(before limit: [UInt8], in path: String) throws(SystemError) -> ArraySlice<UInt8>? {
        guard let contents = try read(path) else { return nil }
        var kept: [UInt8] = []
        var oldest: ArraySlice<UInt8>?
        var hasExpired = false
        for line in contents.split(separator: UInt8(ascii: "\n")) {
            // What is no whole line is of no use and goes with the next one that goes.
            guard let time = time(of: line) else { continue }
            guard !time.lexicographicallyPrecedes(limit) else {
                hasExpired = true
                continue
            }
            kept += line
            kept.append(UInt8(ascii: "\n"))
            if oldest.map({ time.lexicographicallyPrecedes($0) }) ?? true { oldest = time }
        }
        guard hasExpired else { return oldest }
        if kept.isEmpty {
            try SystemError.check("unlink", path) { unsafe unlink(path) }
        } else {
            try Files.replace(path, with: kept, mode: mode)
        }
        return oldest
    }

    private static func read(_ path: String) throws(SystemError) -> [UInt8]? {
        let raw = unsafe open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK)
        guard raw >= 0 else {
            let error = SystemError("open", path)
            if error.isMissing { return nil }
            throw error
        }
        let file = FileDescriptor(owning: raw)
        return try Files.read(file.rawValue, path, limit: 64 << 20)
    }

    private static let head = Array(#"{"time":""#.utf8)

    private static func time(of line: ArraySlice<UInt8>) -> ArraySlice<UInt8>? {
        guard line.starts(with: head), line.last == UInt8(ascii: "}") else { return nil }
        let time = line.dropFirst(head.count).prefix(AnalyticsTime.length)
        return AnalyticsTime.microseconds(of: time) == nil ? nil : time
    }

    // MARK: Purging

    /// Removes all of it.
    ///
    /// - Returns: how many files there were.
    @discardableResult
    public func purge() throws(SystemError) -> Int {
        try Self.remove(Self.paths(of: path, files: limits.files))
    }

    /// Of files that may not be there, removes those that are, and what is left of writing them.
    static func remove(_ paths: [String]) throws(SystemError) -> Int {
        var count = 0
        for path in paths {
            Files.tidy(path)
            if unsafe unlink(path) == 0 {
                count += 1
            } else {
                let error = SystemError("unlink", path)
                if !error.isMissing { throw error }
            }
        }
        if count > 0, let path = paths.last { try Files.syncDirectory(of: path) }
        return count
    }
}
