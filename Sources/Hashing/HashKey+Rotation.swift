internal import Glibc
public import Platform

extension HashKey {
    /// Where the old key is between being replaced and being destroyed.
    static func retiredPath(of path: String) -> String { "\(path).retired" }

    private static func nextPath(of path: String) -> String { "\(path).next" }

    /// Puts a new key in the place of the one in the file, and destroys that one: overwrites it, waits for the disk, and
    /// takes its name away. Whenever that is interrupted there is one key, and the next one who looks ends it.
    ///
    /// On file systems that write elsewhere what is overwritten, and on flash, the old octets stay where they were until
    /// that place is needed.
    public static func rotate(_ path: String) throws(SystemError) -> HashKey {
        let directory = try lockDirectory(of: path)
        defer { withExtendedLifetime(directory) {} }
        try finish(path)
        let key = HashKey.random()
        try Files.replace(nextPath(of: path), with: key.octets, mode: 0o600)
        if unsafe link(path, retiredPath(of: path)) != 0, errno != ENOENT { throw SystemError("link", path) }
        try SystemError.check("rename", path) { unsafe rename(nextPath(of: path), path) }
        try Files.syncDirectory(of: path)
        try destroyRetired(of: path)
        return key
    }

    /// Ends what a rotation that was interrupted has left.
    public static func finishRotation(of path: String) throws(SystemError) {
        guard Files.exists(retiredPath(of: path)) || Files.exists(nextPath(of: path)) else { return }
        let directory = try lockDirectory(of: path)
        defer { withExtendedLifetime(directory) {} }
        try finish(path)
    }

    /// When the key in the file was made, µs since 1970; nil where there is none.
    public static func birth(of path: String) -> Int64? {
        var status = stat()
        guard unsafe lstat(path, &status) == 0, status.st_mode & S_IFMT == S_IFREG else { return nil }
        return Int64(status.st_mtim.tv_sec) * 1_000_000 + Int64(status.st_mtim.tv_nsec) / 1_000
    }

    /// Says that it was made now: of one that seems to have been made later than that, nobody knows when.
    public static func renewBirth(of path: String) { _ = unsafe utimensat(AT_FDCWD, path, nil, AT_SYMLINK_NOFOLLOW) }

    private static func finish(_ path: String) throws(SystemError) {
        // One that never was in force.
        Files.tidy(nextPath(of: path))
        _ = unsafe unlink(nextPath(of: path))
        var (retired, present) = (stat(), stat())
        guard unsafe lstat(retiredPath(of: path), &retired) == 0 else { return }
        let isInForce =
            unsafe lstat(path, &present) == 0 && present.st_ino == retired.st_ino && present.st_dev == retired.st_dev
        guard isInForce else { return try destroyRetired(of: path) }
        // It had not been replaced yet.
        try SystemError.check("unlink", path) { unsafe unlink(retiredPath(of: path)) }
    }

    private static func destroyRetired(of path: String) throws(SystemError) {
        let retired = retiredPath(of: path)
        let raw = unsafe open(retired, O_WRONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK)
        guard raw >= 0 else {
            let error = SystemError("open", retired)
            if error.isMissing { return }
            throw error
        }
        let file = FileDescriptor(owning: raw)
        let descriptor = file.rawValue
        var status = stat()
        try SystemError.check("fstat", retired) { unsafe fstat(descriptor, &status) }
        if status.st_mode & S_IFMT == S_IFREG {
            let zeros = [UInt8](repeating: 0, count: min(Int(status.st_size), 4_096))
            let count = try SystemError.check("write", retired) {
                unsafe pwrite(descriptor, zeros, zeros.count, 0)
            }
            guard count == zeros.count else { throw SystemError("write", retired, code: ENOSPC) }
            try SystemError.check("fsync", retired) { fsync(descriptor) }
        }
        try SystemError.check("unlink", retired) { unsafe unlink(retired) }
        try Files.syncDirectory(of: path)
    }

    /// Two who renew it at once do so one after the other.
    private static func lockDirectory(of path: String) throws(SystemError) -> LockedDirectory {
        let end = path.utf8.lastIndex(of: UInt8(ascii: "/"))
        let parent = end.map { $0 == path.startIndex ? "/" : String(path[..<$0]) } ?? "."
        return try LockedDirectory(parent)
    }

    private final class LockedDirectory {
        private let descriptor: FileDescriptor

        init(_ path: String) throws(SystemError) {
            descriptor = FileDescriptor(
                owning: try SystemError.check("open", path) {
                    unsafe open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
                })
            let raw = descriptor.rawValue
            try SystemError.check("flock", path) { flock(raw, LOCK_EX) }
        }
    }
}
