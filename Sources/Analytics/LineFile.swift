internal import Glibc
internal import Platform

/// A file of JSON Lines that grows by one write(2) a line.
///
/// It is opened for each: nothing is held in between, and whoever rotates or purges it need not tell. Nothing waits for
/// the disk: a crash leaves at most one cut line, which spoils itself only.
struct LineFile {
    let path: String
    let mode: mode_t

    /// - Parameters:
    ///   - limit: octets that it may have with the line; nil: as many as it likes.
    ///   - rotate: makes room where there would be more.
    func append(
        _ line: [UInt8], limit: Int? = nil, rotate: () throws(SystemError) -> Void = {}
    ) throws(SystemError) {
        // Read as well, to see how it ends; never through a link, never waiting for the reader of a pipe.
        let flags = O_RDWR | O_APPEND | O_CREAT | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK
        let file = FileDescriptor(owning: try SystemError.check("open", path) { unsafe open(path, flags, mode) })
        let raw = file.rawValue
        var status = stat()
        try SystemError.check("fstat", path) { unsafe fstat(raw, &status) }
        guard status.st_mode & S_IFMT == S_IFREG else { throw SystemError("open", path, code: EINVAL) }
        if let limit, status.st_size > 0, Int(status.st_size) + line.count > limit {
            try rotate()
            return try append(line)
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
