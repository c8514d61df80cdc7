internal import Glibc
public import Platform

extension HashKey {
    /// A key from a file, and what is wrong with the file.
    public struct Loaded: Sendable {
        public let key: HashKey
        public let problem: String?

        public init(key: HashKey, problem: String?) {
            self.key = key
            self.problem = problem
        }
    }

    /// The key in the file; where there is none yet, a new one, which is in the file before this returns.
    ///
    /// Of two processes that make it at once both get the same. A file that holds no key is put aside, and one that
    /// others may read is closed to them. Where nothing can be kept, the key lasts as long as the process.
    public static func load(_ path: String) -> Loaded {
        do throws(SystemError) {
            let loaded = try kept(path)
            do throws(SystemError) {
                try finishRotation(of: path)
                return loaded
            } catch {
                return Loaded(key: loaded.key, problem: "\(error): a key that was replaced is not destroyed")
            }
        } catch {
            return Loaded(
                key: .random(),
                problem: "\(error): hashed names are others after every restart, until the key can be kept")
        }
    }

    /// The same.
    ///
    /// - Throws: where there is none that can be kept.
    public static func kept(_ path: String) throws(SystemError) -> Loaded {
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
        let file = try open(path)
        let descriptor = file.rawValue
        let status = try regular(descriptor, path)
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

    // MARK: The organisation's

    /// A key that somebody else made and hands out: 32 octets, or their 64 hexadecimal digits in one line.
    ///
    /// - Throws: where there is none, or others than its owner and group can read it or anybody but root and this
    ///   user can have written it.
    public static func shared(_ path: String) throws(HashKeyError) -> HashKey {
        let contents: [UInt8]
        do throws(SystemError) {
            let file = try open(path)
            let descriptor = file.rawValue
            let status = try regular(descriptor, path)
            guard status.st_mode & 0o027 == 0, status.st_uid == 0 || status.st_uid == geteuid() else {
                throw SystemError("open", path, code: EPERM)
            }
            contents = try Files.read(descriptor, path, limit: 2 * HashKey.length + 1)
        } catch {
            guard error.code != EPERM else { throw .isOpen(path) }
            guard error.code != EFBIG else { throw .isNoKey(path) }
            throw .unreadable(error)
        }
        guard let key = HashKey(contents) ?? HashKey(hexadecimalLine: contents) else { throw .isNoKey(path) }
        return key
    }

    private init?(hexadecimalLine line: [UInt8]) {
        let digits = line.last == UInt8(ascii: "\n") ? line.dropLast() : line[...]
        guard digits.count == 2 * HashKey.length else { return nil }
        var octets: [UInt8] = []
        var high: UInt8?
        for digit in digits {
            let scalar = Character(Unicode.Scalar(digit))
            guard digit < 0x80, let value = scalar.hexDigitValue.map({ UInt8($0) }) else { return nil }
            if let upper = high {
                octets.append(upper << 4 | value)
                high = nil
            } else {
                high = value
            }
        }
        self.init(octets)
    }

    private static func open(_ path: String) throws(SystemError) -> FileDescriptor {
        FileDescriptor(
            owning: try SystemError.check("open", path) {
                unsafe Glibc.open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK)
            })
    }

    private static func regular(_ descriptor: Int32, _ path: String) throws(SystemError) -> stat {
        var status = stat()
        try SystemError.check("fstat", path) { unsafe fstat(descriptor, &status) }
        guard status.st_mode & S_IFMT == S_IFREG else { throw SystemError("open", path, code: EINVAL) }
        return status
    }
}

/// Why a file gives no key.
public enum HashKeyError: Error, Hashable, Sendable, CustomStringConvertible {
    case unreadable(SystemError)
    /// Others can read it, or can have written it.
    case isOpen(String)
    case isNoKey(String)

    public var description: String {
        switch self {
        case .unreadable(let error): error.description
        case .isOpen(let path):
            "\(path) must be root's or this user's, readable for nobody but its owner and group, and writable for its "
                + "owner only: `chmod 640 \(path)`"
        case .isNoKey(let path):
            "\(path) holds neither 32 octets nor 64 hexadecimal digits: `openssl rand -hex 32` makes one"
        }
    }
}
