internal import Glibc
public import Platform

/// Appends records to the history, a file of JSON Lines that only its owner and root can read.
///
/// Nothing waits for the disk: a crash leaves at most one cut line, and the next one begins on a line of its own.
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

    public static func olderPath(of path: String) -> String { "\(path).1" }

    /// Answers whether the record is in the file, whole.
    @discardableResult
    public func append(_ record: HistoryRecord) -> Bool {
        do throws(SystemError) {
            try write(record.line, mayRotate: true)
            return true
        } catch {
            failures += 1
            onFailure(error)
            return false
        }
    }

    private func write(_ line: [UInt8], mayRotate: Bool) throws(SystemError) {
        // Read as well, to see how it ends; never through a link, never waiting for the reader of a pipe.
        let flags = O_RDWR | O_APPEND | O_CREAT | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK
        let file = FileDescriptor(owning: try SystemError.check("open", path) { unsafe open(path, flags, 0o600) })
        let raw = file.rawValue
        var status = stat()
        try SystemError.check("fstat", path) { unsafe fstat(raw, &status) }
        guard status.st_mode & S_IFMT == S_IFREG else { throw SystemError("open", path, code: EINVAL) }
        if mayRotate, status.st_size > 0, Int(status.st_size) + line.count > limit {
            try SystemError.check("rename", path) { unsafe rename(path, Self.olderPath(of: path)) }
            return try write(line, mayRotate: false)
        }

        var text = line
        if status.st_size > 0 {
            var last: UInt8 = 0
            try SystemError.check("read", path) { unsafe pread(raw, &last, 1, status.st_size - 1) }
            if last != UInt8(ascii: "\n") { text.insert(UInt8(ascii: "\n"), at: 0) }
        }
        let count = try SystemError.check("write", path) { unsafe Glibc.write(raw, text, text.count) }
        guard count == text.count else { throw SystemError("write", path, code: ENOSPC) }
    }
}
