internal import Glibc
public import Platform

/// Appends records to the history, a file of JSON Lines that only its owner and root can read.
///
/// Nothing that goes wrong stops the caller: it is counted and reported.
public final class HistoryLog {
    public let path: String
    /// Octets at which the file becomes the older one, in place of an earlier one.
    public let limit: Int
    /// Records that were not written, or not whole.
    public private(set) var failures = 0

    /// How old a line may get, µs; nil: as old as there is room for it.
    public var retention: Int64? {
        didSet { if retention != oldValue { lastLook = nil } }
    }

    private let onFailure: (SystemError) -> Void
    /// When it was last looked whether lines are too old, µs since 1970.
    private var lastLook: Int64?

    public static let standardLimit = 16 << 20
    private static let day: Int64 = 86_400_000_000
    /// 2025-01-01; a clock that stands before that was not set, and says nothing about age.
    private static let epoch: Int64 = 1_735_689_600_000_000

    /// - Parameter onFailure: called for each record that was not written, at once.
    public init(
        path: String, limit: Int = HistoryLog.standardLimit, onFailure: @escaping (SystemError) -> Void = { _ in }
    ) {
        self.path = path
        self.limit = limit
        self.onFailure = onFailure
    }

    /// Removes all of it.
    ///
    /// - Returns: how many files there were.
    @discardableResult
    public func purge() throws(SystemError) -> Int { try AnalyticsLog.remove([Self.olderPath(of: path), path]) }

    public static func olderPath(of path: String) -> String { "\(path).1" }

    /// Answers whether the record is in the file, whole.
    @discardableResult
    public func append(_ record: HistoryRecord) -> Bool {
        do throws(SystemError) {
            try expire(at: record.time.wall)
            try write(record.line)
            return true
        } catch {
            failures += 1
            onFailure(error)
            return false
        }
    }

    /// Looks once a day whether lines are too old. They go by files, so that nothing has to be written anew: the older one
    /// as soon as its first line is too old, and the newer one becomes the older after half the time.
    private func expire(at now: Int64) throws(SystemError) {
        guard let retention, now >= Self.epoch, abs(now - (lastLook ?? 0)) >= Self.day else { return }
        lastLook = now
        let older = Self.olderPath(of: path)
        if let first = try Self.firstTime(in: older), first < now - retention {
            try SystemError.check("unlink", older) { unsafe unlink(older) }
        }
        if let first = try Self.firstTime(in: path), first < now - retention / 2 {
            try SystemError.check("rename", path) { unsafe rename(path, older) }
            if first < now - retention { try SystemError.check("unlink", older) { unsafe unlink(older) } }
        }
    }

    /// When the first line of a file was written, µs since 1970; nil where there is none that says so.
    private static func firstTime(in path: String) throws(SystemError) -> Int64? {
        let raw = unsafe open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK)
        guard raw >= 0 else {
            let error = SystemError("open", path)
            if error.isMissing { return nil }
            throw error
        }
        let file = FileDescriptor(owning: raw)
        let head = Array(#"{"time":""#.utf8)
        // Without the fraction of the second.
        var text = [UInt8](repeating: 0, count: head.count + AnalyticsTime.length - 1)
        let size = text.count
        let count = try SystemError.check("read", path) { unsafe pread(file.rawValue, &text, size, 0) }
        guard count == size, text.starts(with: head) else { return nil }
        return AnalyticsTime.microseconds(of: text[head.count...] + [UInt8(ascii: "Z")])
    }

    private func write(_ line: [UInt8]) throws(SystemError) {
        try LineFile(path: path, mode: 0o600).append(line, limit: limit) { () throws(SystemError) in
            try SystemError.check("rename", path) { unsafe rename(path, Self.olderPath(of: path)) }
        }
    }
}
