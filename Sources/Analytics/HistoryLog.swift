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

    private let onFailure: (SystemError) -> Void

    public static let standardLimit = 16 << 20

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
            try write(record.line)
            return true
        } catch {
            failures += 1
            onFailure(error)
            return false
        }
    }

    private func write(_ line: [UInt8]) throws(SystemError) {
        try LineFile(path: path, mode: 0o600).append(line, limit: limit) { () throws(SystemError) in
            try SystemError.check("rename", path) { unsafe rename(path, Self.olderPath(of: path)) }
        }
    }
}
