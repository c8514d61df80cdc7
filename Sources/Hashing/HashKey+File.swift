internal import Glibc
internal import Platform

extension HashKey {
    /// A key from a file, and what is wrong with the file.
    public struct Loaded {
        public let key: HashKey
        public let problem: String?
    }

    /// The key in the file; where there is none yet, a new one, which is in the file before this returns.
    ///
    /// Of two processes that make it at once both get the same. A file that holds no key is put aside, and one that
    /// others may read is closed to them. Where nothing can be kept, the key lasts as long as the process.
    public static func load(_ path: String) -> Loaded {
        do throws(SystemError) {
            return try loadOrMake(path)
        } catch {
            return Loaded(
                key: .random(),
                problem: "\(error): hashed names are others after every restart, until the key can be kept")
        }
    }

    private static func loadOrMake(_ path: String) throws(SystemError) -> Loaded {
        var problem: String?
        for _ in 0..<3 {
            do throws(SystemError) {
                let (contents, wasOpen) = try read(path)
                if wasOpen {
                    problem = "\(path) could be read by others than its owner: whoever did can undo hashed names"
                }
                if let key = HashKey(contents) { return Loaded(key: key, problem: problem) }
                Files.keepAside(path)
                problem = "\(path) holds no key and was put aside: hashed names are others from now on"
            } catch {
                guard error.isMissing else { throw error }
            }
            let key = HashKey.random()
            if try make(path, key.octets) { return Loaded(key: key, problem: problem) }
        }
        throw SystemError("open", path, code: EEXIST)
    }

    private static func read(_ path: String) throws(SystemError) -> (contents: [UInt8], wasOpen: Bool) {
        let file = FileDescriptor(
            owning: try SystemError.check("open", path) {
                unsafe open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK)
            })
        let descriptor = file.rawValue
        var status = stat()
        try SystemError.check("fstat", path) { unsafe fstat(descriptor, &status) }
        guard status.st_mode & S_IFMT == S_IFREG else { throw SystemError("open", path, code: EINVAL) }
        // Whose file it is decides what its key is worth.
        guard status.st_uid == geteuid() else { throw SystemError("open", path, code: EPERM) }
        let wasOpen = status.st_mode & 0o077 != 0
        if wasOpen { try SystemError.check("fchmod", path) { fchmod(descriptor, 0o600) } }
        // More than that is no key, whatever it is.
        guard status.st_size == HashKey.length else { return ([], wasOpen) }
        return (try Files.read(descriptor, path, limit: HashKey.length), wasOpen)
    }

    /// - Returns: false where another process was first.
    private static func make(_ path: String, _ octets: [UInt8]) throws(SystemError) -> Bool {
        let temporary = "\(path).\(UInt64.random(in: 0 ... .max))"
        try Files.replace(temporary, with: octets, mode: 0o600)
        defer { _ = unsafe unlink(temporary) }
        // Unlike a rename, a link takes nobody's place.
        if unsafe link(temporary, path) != 0 {
            guard errno == EEXIST else { throw SystemError("link", path) }
            return false
        }
        try Files.syncDirectory(of: path)
        return true
    }
}
