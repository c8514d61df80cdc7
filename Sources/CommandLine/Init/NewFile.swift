internal import Glibc
internal import Platform

/// A file that is there whole or not at all.
enum NewFile {
    /// - Parameters:
    ///   - replaces: whether one that is there may be replaced; otherwise `EEXIST`.
    ///   - mode: whatever the umask; by default what is in it is no secret, and everybody may check it.
    static func write(
        _ contents: [UInt8], to path: String, replaces: Bool, mode: mode_t = 0o644
    ) throws(SystemError) {
        // Beside it, and by a name that nobody who reads rule files looks at.
        let (directory, name) = parts(of: path)
        let temporary = "\(directory).\(name).\(getpid())-\(UInt32.random(in: 0 ... .max))"
        let file = FileDescriptor(
            owning: try SystemError.check("open", path) {
                unsafe open(temporary, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0o600)
            })
        defer { _ = unsafe unlink(temporary) }
        let descriptor = file.rawValue
        try SystemError.check("chmod", path) { fchmod(descriptor, mode) }
        var rest = contents[...]
        while !rest.isEmpty {
            let count = try SystemError.check("write", path) {
                unsafe rest.withUnsafeBytes { unsafe Glibc.write(descriptor, $0.baseAddress, $0.count) }
            }
            rest = rest.dropFirst(count)
        }
        try SystemError.check("fsync", path) { fsync(descriptor) }
        if replaces {
            try SystemError.check("rename", path) { unsafe rename(temporary, path) }
        } else {
            // Fails where anything has that name, be it a dangling link.
            try SystemError.check("link", path) { unsafe link(temporary, path) }
        }
        try Files.syncDirectory(of: path)
    }

    private static func parts(of path: String) -> (directory: String, name: String) {
        guard let slash = path.utf8.lastIndex(of: UInt8(ascii: "/")) else { return ("", path) }
        let after = path.utf8.index(after: slash)
        return (String(path[..<after]), String(path[after...]))
    }
}
