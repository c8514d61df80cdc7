internal import Glibc
internal import Platform

/// A file that is ours alone, in a directory where others may make files too: no link is followed, nothing that somebody
/// else put there is read or written, and it changes in one step that outlasts the power.
struct OwnFile {
    let directory: String
    let name: String
    /// A name that readers of the directory pass over; one, so that what an accident left is written over.
    let temporary: String

    init(_ directory: String, _ name: String, temporary: String) {
        self.directory = directory
        self.name = name
        self.temporary = temporary
    }

    var path: String { "\(directory)/\(name)" }
    private static let limit = 64 << 10

    /// Nil where there is none, or it is not ours.
    func read() throws(PlaceError) -> [UInt8]? {
        do throws(SystemError) {
            let place = try open()
            let (raw, name, path) = (place.rawValue, name, path)
            let file = FileDescriptor(
                owning: try SystemError.check("open", path) {
                    unsafe openat(raw, name, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK)
                })
            var information = stat()
            guard unsafe fstat(file.rawValue, &information) == 0, information.st_mode & S_IFMT == S_IFREG,
                information.st_uid == geteuid(), information.st_mode & 0o022 == 0
            else { return nil }
            return try Files.read(file.rawValue, path, limit: OwnFile.limit)
        } catch {
            if error.code == ENOENT || error.code == ELOOP { return nil }
            throw .failed(error.description)
        }
    }

    /// - Parameter contents: nil for no file at all.
    func write(_ contents: [UInt8]?) throws(PlaceError) {
        do throws(SystemError) {
            if let contents { try replace(with: contents) } else { try remove() }
        } catch {
            throw .failed(error.description)
        }
    }

    /// Takes away what a write that was killed left.
    func tidy() {
        guard let place = try? open() else { return }
        _ = unsafe unlinkat(place.rawValue, temporary, 0)
    }

    private func open() throws(SystemError) -> FileDescriptor {
        let directory = directory
        return FileDescriptor(
            owning: try SystemError.check("open", directory) {
                unsafe Glibc.open(directory, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC)
            })
    }

    private func replace(with contents: [UInt8]) throws(SystemError) {
        if !Files.exists(directory) { try makeDirectory() }
        let place = try open()
        let (raw, name, temporary, path) = (place.rawValue, name, temporary, path)
        // Whatever is there under the name of the half-written one: it is made anew, by us.
        unsafe unlinkat(raw, temporary, 0)
        let file = FileDescriptor(
            owning: try SystemError.check("open", "\(directory)/\(temporary)") {
                unsafe openat(raw, temporary, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0o644)
            })
        do throws(SystemError) {
            try SystemError.check("fchmod", path) { fchmod(file.rawValue, 0o644) }
            var rest = contents[...]
            while !rest.isEmpty {
                let count = try SystemError.check("write", path) {
                    unsafe rest.withUnsafeBytes { unsafe Glibc.write(file.rawValue, $0.baseAddress, $0.count) }
                }
                rest = rest.dropFirst(count)
            }
            try SystemError.check("fsync", path) { fsync(file.rawValue) }
            try SystemError.check("rename", path) { unsafe renameat(raw, temporary, raw, name) }
        } catch {
            unsafe unlinkat(raw, temporary, 0)
            throw error
        }
        try SystemError.check("fsync", directory) { fsync(raw) }
    }

    private func remove() throws(SystemError) {
        guard Files.exists(directory) else { return }
        let place = try open()
        let (raw, name) = (place.rawValue, name)
        unsafe unlinkat(raw, temporary, 0)
        if unsafe unlinkat(raw, name, 0) != 0, errno != ENOENT { throw SystemError("unlink", path) }
        try SystemError.check("fsync", directory) { fsync(raw) }
    }

    /// Readable by everybody, whatever umask there is, and in one step: killed between two, nobody would set it right.
    private func makeDirectory() throws(SystemError) {
        let directory = directory
        let mask = umask(0o022)
        defer { umask(mask) }
        try SystemError.check("mkdir", directory) { unsafe mkdir(directory, 0o755) }
    }
}
