internal import Glibc
public import Platform

/// Appends records to a file of JSON Lines.
///
/// The file is opened for each record: there are a few an hour, nothing is held in between, and whoever rotates or
/// purges the file need not tell. Nothing that goes wrong stops the caller: it is counted and reported.
public final class AnalyticsLog {
    public let path: String
    /// Records that were not written, or not whole.
    public private(set) var failures = 0

    private let onFailure: (SystemError) -> Void

    /// - Parameter onFailure: called for each record that was not written, at once.
    public init(path: String, onFailure: @escaping (SystemError) -> Void = { _ in }) {
        self.path = path
        self.onFailure = onFailure
    }

    public func append(_ record: AnalyticsRecord) {
        do throws(SystemError) {
            try write(record.line)
        } catch {
            failures += 1
            onFailure(error)
        }
    }

    private func write(_ line: [UInt8]) throws(SystemError) {
        // Read as well, to see how it ends; never through a link, never waiting for the reader of a pipe.
        let flags = O_RDWR | O_APPEND | O_CREAT | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK
        let file = FileDescriptor(owning: try SystemError.check("open", path) { unsafe open(path, flags, 0o640) })
        let raw = file.rawValue
        var status = stat()
        try SystemError.check("fstat", path) { unsafe fstat(raw, &status) }
        guard status.st_mode & S_IFMT == S_IFREG else { throw SystemError("open", path, code: EINVAL) }

        var text = line
        if status.st_size > 0 {
            var last: UInt8 = 0
            try SystemError.check("read", path) { unsafe pread(raw, &last, 1, status.st_size - 1) }
            // A line cut by a crash or a full disk spoils itself only.
            if last != UInt8(ascii: "\n") { text.insert(UInt8(ascii: "\n"), at: 0) }
        }
        let count = try SystemError.check("write", path) { unsafe Glibc.write(raw, text, text.count) }
        guard count == text.count else { throw SystemError("write", path, code: ENOSPC) }
    }
}
