internal import Glibc

/// Small files, read whole.
public enum Files {
    /// - Parameter limit: octets; a longer file is refused with `EFBIG`, and never read further than that.
    public static func read(_ path: String, limit: Int) throws(SystemError) -> [UInt8] {
        let file = FileDescriptor(
            owning: try SystemError.check("open", path) { unsafe open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY) })
        return try read(file.rawValue, path, limit: limit)
    }

    /// Reads an open descriptor to its end.
    public static func read(_ descriptor: Int32, _ path: String, limit: Int) throws(SystemError) -> [UInt8] {
        var contents: [UInt8] = []
        var size = 4_096
        var information = stat()
        if unsafe fstat(descriptor, &information) == 0, information.st_size > 0 {
            guard information.st_size <= limit else { throw SystemError("read", path, code: EFBIG) }
            size = Int(information.st_size) + 1
        }
        while true {
            let start = contents.count
            contents.append(contentsOf: repeatElement(0, count: size))
            let count = try SystemError.check("read", path) {
                unsafe contents.withUnsafeMutableBytes { buffer in
                    unsafe Glibc.read(descriptor, buffer.baseAddress.map { unsafe $0 + start }, size)
                }
            }
            contents.removeLast(size - count)
            if count == 0 { return contents }
            guard contents.count <= limit else { throw SystemError("read", path, code: EFBIG) }
            size = max(4_096, min(contents.count, 1 << 20))
        }
    }

    /// Puts a file in place of another in one step: after a crash it is the old one or the new one, never half of it.
    ///
    /// - Parameter isLasting: after this returned it is the new one, also when the power fails.
    public static func replace(
        _ path: String, with contents: [UInt8], mode: UInt32, isLasting: Bool = false
    ) throws(SystemError) {
        let temporary = temporary(path)
        let file = FileDescriptor(
            owning: try SystemError.check("open", temporary) {
                unsafe open(temporary, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, mode)
            })
        do throws(SystemError) {
            var rest = contents[...]
            while !rest.isEmpty {
                let count = try SystemError.check("write", temporary) {
                    unsafe rest.withUnsafeBytes { unsafe write(file.rawValue, $0.baseAddress, $0.count) }
                }
                rest = rest.dropFirst(count)
            }
            try SystemError.check("fsync", temporary) { fsync(file.rawValue) }
            try SystemError.check("rename", path) { unsafe rename(temporary, path) }
        } catch {
            // Half a file is of no use, least of all on a full disk.
            _ = unsafe unlink(temporary)
            throw error
        }
        if isLasting { try syncDirectory(of: path) }
    }

    /// Takes away what a `replace` that was killed left.
    public static func tidy(_ path: String) { _ = unsafe unlink(temporary(path)) }

    private static func temporary(_ path: String) -> String { "\(path).new" }

    /// fsync(2) of the directory that names a file: until then a rename may not outlast the power.
    public static func syncDirectory(of path: String) throws(SystemError) {
        let end = path.utf8.lastIndex(of: UInt8(ascii: "/"))
        let parent = end.map { $0 == path.startIndex ? "/" : String(path[..<$0]) } ?? "."
        let directory = FileDescriptor(
            owning: try SystemError.check("open", parent) { unsafe open(parent, O_RDONLY | O_DIRECTORY | O_CLOEXEC) })
        try SystemError.check("fsync", parent) { fsync(directory.rawValue) }
    }

    /// Whether there is anything by this name.
    public static func exists(_ path: String) -> Bool { unsafe access(path, F_OK) == 0 }

    public static func isDirectory(_ path: String) -> Bool {
        var status = stat()
        return unsafe stat(path, &status) == 0 && status.st_mode & S_IFMT == S_IFDIR
    }

    /// Makes a directory and those above it that are missing; one that is there stays as it is.
    public static func makeDirectory(_ path: String, mode: UInt32) throws(SystemError) {
        var reached = ""
        for component in path.split(separator: "/") {
            reached += "/\(component)"
            if unsafe mkdir(reached, mode) != 0, errno != EEXIST, errno != EROFS {
                throw SystemError("mkdir", reached)
            }
        }
    }

    /// Holds a file, flock(2), as long as the descriptor is there.
    ///
    /// - Parameter waits: until no other process holds it; otherwise `EWOULDBLOCK` where one does.
    public static func lock(_ path: String, waits: Bool = true) throws(SystemError) -> FileDescriptor {
        let file = FileDescriptor(
            owning: try SystemError.check("open", path) {
                unsafe open(path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0o600)
            })
        let descriptor = file.rawValue
        try SystemError.check("flock", path) { flock(descriptor, waits ? LOCK_EX : LOCK_EX | LOCK_NB) }
        return file
    }

    /// Renames what cannot be understood to `PATH.damaged`, in place of an earlier one, so that somebody can look at it.
    public static func keepAside(_ path: String) {
        _ = unsafe rename(path, "\(path).damaged")
    }

    /// The names in a directory, without `.` and `..`, in no order; empty where it cannot be read.
    public static func names(in directory: String) -> [String] {
        guard let stream = unsafe opendir(directory) else { return [] }
        defer { unsafe closedir(stream) }
        var names: [String] = []
        while let entry = unsafe readdir(stream) {
            let name = unsafe withUnsafeBytes(of: entry.pointee.d_name) { bytes in
                unsafe String(decoding: bytes.prefix { $0 != 0 }, as: UTF8.self)
            }
            if name != ".", name != ".." { names.append(name) }
        }
        return names
    }
}
