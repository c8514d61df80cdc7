internal import Glibc
internal import Platform

/// Reads rule files from directories; the only part of this room that touches the system.
public struct RuleFiles: Sendable {
    /// Whose files are read.
    public enum Trust: Hashable, Sendable {
        /// Anyone's: to check files before they are installed.
        case anyone
        /// Those that nobody but root can have written: the file and every directory above it belong to root and are
        /// not writable for group or others, and no symbolic link is on the way.
        case root
        /// The same of files that nobody but this user or root can have written.
        case user(UInt32)
    }

    /// The administrator's before those made at run time before the vendor's.
    public static let systemDirectories = [
        "/etc/vicinity/rules.d", "/run/vicinity/rules.d", "/usr/lib/vicinity/rules.d",
    ]

    public private(set) var files: [RuleFile] = []
    public private(set) var diagnostics: [Diagnostic] = []
    private let trust: Trust

    /// Every `*.toml` of the directories, by file name. Of several files of one name, the first directory's counts; a
    /// link to `/dev/null` masks those behind it. A directory that does not exist is an empty one.
    public init(directories: [String] = systemDirectories, trust: Trust) {
        self.trust = trust
        var places: [(name: String, directory: Int)] = []
        var descriptors: [Int32] = []
        defer { descriptors.forEach { _ = close($0) } }
        for (position, path) in directories.enumerated() {
            descriptors.append(-1)
            do throws(SystemError) {
                guard let directory = try openDirectory(path) else { continue }
                let descriptor = directory.release()
                descriptors[position] = descriptor
                for name in try Self.names(in: descriptor, path) where !places.contains(where: { $0.name == name }) {
                    places.append((name, position))
                }
            } catch {
                diagnostics.append(Diagnostic(file: path, code: .unreadable, message: error.description))
            }
        }
        for place in places.sorted(by: { $0.name < $1.name }) {
            read(place.name, in: descriptors[place.directory], "\(directories[place.directory])/\(place.name)")
        }
    }

    /// The files named, whoever owns them.
    public init(paths: [String]) {
        trust = .anyone
        for path in paths { read(path, in: AT_FDCWD, path) }
    }

    // MARK: Directories

    /// Nil where it does not exist or is refused, which is said in `diagnostics`.
    private mutating func openDirectory(_ path: String) throws(SystemError) -> FileDescriptor? {
        let flags = O_RDONLY | O_DIRECTORY | O_CLOEXEC
        guard trust != .anyone else {
            let descriptor = unsafe open(path, flags)
            if descriptor < 0, errno == ENOENT { return nil }
            guard descriptor >= 0 else { throw SystemError("open", path) }
            return FileDescriptor(owning: descriptor)
        }
        var current = try SystemError.check("open", "/") { unsafe open("/", flags) }
        var reached = ""
        for component in path.split(separator: "/") {
            guard isTrusted(current, reached.isEmpty ? "/" : reached) else {
                _ = close(current)
                return nil
            }
            let next = unsafe openat(current, String(component), flags | O_NOFOLLOW)
            let code = errno
            _ = close(current)
            reached += "/\(component)"
            guard next >= 0 else {
                if code == ENOENT { return nil }
                if code == ENOTDIR || code == ELOOP {
                    refuse(reached, "is not a directory, or a symbolic link to one")
                    return nil
                }
                throw SystemError("open", reached, code: code)
            }
            current = next
        }
        guard isTrusted(current, reached) else {
            _ = close(current)
            return nil
        }
        return FileDescriptor(owning: current)
    }

    private static func names(in descriptor: Int32, _ path: String) throws(SystemError) -> [String] {
        let copy = try SystemError.check("dup", path) { fcntl(descriptor, F_DUPFD_CLOEXEC, 0) }
        guard let directory = unsafe fdopendir(copy) else {
            let code = errno
            _ = close(copy)
            throw SystemError("fdopendir", path, code: code)
        }
        defer { unsafe closedir(directory) }
        var names: [String] = []
        while let entry = unsafe readdir(directory) {
            let name = unsafe withUnsafeBytes(of: &entry.pointee.d_name) {
                unsafe String(validating: $0.prefix { $0 != 0 }, as: UTF8.self)
            }
            if let name, name.hasSuffix(".toml"), !name.hasPrefix(".") { names.append(name) }
        }
        return names
    }

    // MARK: Files

    private mutating func read(_ name: String, in directory: Int32, _ path: String) {
        if trust != .anyone || directory != AT_FDCWD, Self.isMask(name, in: directory) { return }
        // To open a device can do something already.
        var status = stat()
        let follows: Int32 = trust == .anyone ? 0 : AT_SYMLINK_NOFOLLOW
        if unsafe fstatat(directory, name, &status, follows) == 0,
            ![S_IFREG, S_IFLNK].contains(status.st_mode & S_IFMT)
        {
            return refuse(path, "is no plain file")
        }
        // Never waits for a writer, should it be a pipe.
        var flags = O_RDONLY | O_CLOEXEC | O_NONBLOCK
        if trust != .anyone { flags |= O_NOFOLLOW }
        let raw = unsafe openat(directory, name, flags)
        guard raw >= 0 else {
            if errno == ELOOP, trust != .anyone { return refuse(path, "is a symbolic link") }
            let problem = SystemError("open", code: errno)
            return diagnostics.append(Diagnostic(file: path, code: .unreadable, message: problem.description))
        }
        // Checked and read on the same descriptor, so that nobody can swap the file in between.
        let file = FileDescriptor(owning: raw)
        guard isTrusted(file.rawValue, path) else { return }
        guard unsafe fstat(file.rawValue, &status) == 0, status.st_size <= TOMLValue.maximumSize else {
            return diagnostics.append(
                Diagnostic(
                    file: path, code: .tooLarge, message: "the file is larger than \(TOMLValue.maximumSize) octets"))
        }
        do throws(SystemError) {
            let contents = try Self.contents(of: file.rawValue)
            files.append(RuleFile(path: path, contents: contents))
        } catch {
            diagnostics.append(Diagnostic(file: path, code: .unreadable, message: error.description))
        }
    }

    private static func isMask(_ name: String, in directory: Int32) -> Bool {
        var target = [CChar](repeating: 0, count: 16)
        let length = unsafe readlinkat(directory, name, &target, target.count)
        return length > 0 && target.prefix(length).elementsEqual("/dev/null".utf8.map { CChar($0) })
    }

    /// One octet more than is accepted, so that the loader sees that it is too much.
    private static func contents(of descriptor: Int32) throws(SystemError) -> [UInt8] {
        var contents: [UInt8] = []
        var buffer = [UInt8](repeating: 0, count: 64 << 10)
        while contents.count <= TOMLValue.maximumSize {
            let count = try SystemError.check("read") { unsafe Glibc.read(descriptor, &buffer, buffer.count) }
            if count == 0 { break }
            contents += buffer[..<count]
        }
        return contents
    }

    // MARK: Trust

    /// Also whether it is a plain file or a directory.
    private mutating func isTrusted(_ descriptor: Int32, _ path: String) -> Bool {
        var status = stat()
        guard unsafe fstat(descriptor, &status) == 0 else {
            refuse(path, "cannot be examined")
            return false
        }
        let kind = status.st_mode & S_IFMT
        if kind != S_IFREG && kind != S_IFDIR {
            refuse(path, "is no plain file")
            return false
        }
        let owner: UInt32
        switch trust {
        case .anyone: return true
        case .root: owner = 0
        case .user(let user): owner = user
        }
        let name = owner == 0 ? "root" : "user \(owner)"
        if status.st_uid != 0, status.st_uid != owner {
            refuse(path, "belongs to user \(status.st_uid), not to \(name)")
            return false
        }
        // An access control list that lets others write shows in the group's bits, acl(5).
        if status.st_mode & (S_IWGRP | S_IWOTH) != 0 {
            refuse(path, "can be written by others than \(name)")
            return false
        }
        return true
    }

    private mutating func refuse(_ path: String, _ why: String) {
        diagnostics.append(
            Diagnostic(file: path, code: .unsafeFile, message: "\(path) \(why); rule files decide what is run"))
    }
}

extension RuleSet {
    /// Reads and checks files as one rule set; a file that could not be read spoils it as one that is wrong does.
    public static func load(_ source: RuleFiles, reviewing: Bool = false) -> LoadResult {
        let result = load(source.files, reviewing: reviewing && source.diagnostics.isEmpty)
        let isClean = !source.diagnostics.contains { $0.severity == .error }
        return LoadResult(
            ruleSet: isClean ? result.ruleSet : nil, diagnostics: source.diagnostics + result.diagnostics)
    }
}
