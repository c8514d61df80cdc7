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

    /// Of the rules of this process's user, XDG Base Directory Specification; nil where the environment does not say.
    public static var userDirectory: String? {
        // A relative path is to be ignored.
        func path(_ variable: String) -> String? {
            guard let value = unsafe getenv(variable) else { return nil }
            let path = unsafe String(cString: value)
            return path.hasPrefix("/") ? path : nil
        }
        return (path("XDG_CONFIG_HOME") ?? path("HOME").map { "\($0)/.config" }).map { "\($0)/vicinity/rules.d" }
    }

    public private(set) var files: [RuleFile] = []
    public private(set) var diagnostics: [Diagnostic] = []
    private let trust: Trust

    /// Every `*.toml` of the directories, by file name. Of several files of one name, the first directory's counts; a
    /// link to `/dev/null` masks those behind it. A directory that does not exist is an empty one.
    ///
    /// - Parameter name: only files of this name.
    public init(directories: [String] = systemDirectories, named name: String? = nil, trust: Trust) {
        self.trust = trust
        var places: [(name: String, directory: Int)] = []
        // Octets: strings that are written differently can be the same.
        var known: Set<[UInt8]> = []
        var descriptors: [Int32] = []
        defer { descriptors.forEach { _ = close($0) } }
        for (position, path) in directories.enumerated() {
            descriptors.append(-1)
            do throws(SystemError) {
                let descriptor: Int32
                let refusal: Diagnostic?
                switch try openDirectory(path) {
                case .absent: continue
                case .link(let problem):
                    diagnostics.append(problem)
                    continue
                case .open(let opened, let problem): (descriptor, refusal) = (opened, problem)
                }
                descriptors[position] = descriptor
                let found = try names(in: descriptor, path).filter { name == nil || $0 == name }
                if let refusal {
                    // Where there is nothing to read there is nothing to refuse.
                    if !found.isEmpty { diagnostics.append(refusal) }
                    continue
                }
                for name in found where known.insert(Array(name.utf8)).inserted { places.append((name, position)) }
            } catch {
                diagnostics.append(Diagnostic(file: path, code: .unreadable, message: error.description))
            }
        }
        for place in places.sorted(by: { $0.name.utf8.lexicographicallyPrecedes($1.name.utf8) }) {
            read(place.name, in: descriptors[place.directory], "\(directories[place.directory])/\(place.name)")
        }
    }

    /// The files named, whoever owns them.
    public init(paths: [String]) {
        trust = .anyone
        for path in paths { read(path, in: AT_FDCWD, path) }
    }

    /// These files, then those.
    public static func + (first: RuleFiles, then: RuleFiles) -> RuleFiles {
        var both = first
        both.files += then.files
        both.diagnostics += then.diagnostics
        return both
    }

    /// The agent's own configuration: `vicinity.toml` of the first of these directories that has one, then the
    /// drop-ins of `vicinity.toml.d` of all of them, merged by file name.
    ///
    /// - Parameter roots: such as `/etc/vicinity`, the strongest first.
    public static func configuration(in roots: [String], trust: Trust) -> RuleFiles {
        RuleFiles(directories: roots, named: "vicinity.toml", trust: trust)
            + RuleFiles(directories: roots.map { "\($0)/vicinity.toml.d" }, trust: trust)
    }

    // MARK: Directories

    private enum Opening {
        case absent
        /// A link is on the way, or something that is no directory.
        case link(Diagnostic)
        /// With what speaks against reading anything in it.
        case open(Int32, Diagnostic?)
    }

    private func openDirectory(_ path: String) throws(SystemError) -> Opening {
        let flags = O_RDONLY | O_DIRECTORY | O_CLOEXEC
        guard trust != .anyone else {
            let descriptor = unsafe open(path, flags)
            if descriptor < 0, errno == ENOENT { return .absent }
            guard descriptor >= 0 else { throw SystemError("open", path) }
            return .open(descriptor, nil)
        }
        var current = try SystemError.check("open", "/") { unsafe open("/", flags) }
        var reached = ""
        var refusal = distrust(current, "/")
        for component in path.split(separator: "/") {
            let next = unsafe openat(current, String(component), flags | O_NOFOLLOW)
            let code = errno
            _ = close(current)
            reached += "/\(component)"
            guard next >= 0 else {
                if code == ENOENT { return .absent }
                guard code == ENOTDIR || code == ELOOP else { throw SystemError("open", reached, code: code) }
                return .link(Self.refusal(reached, "is not a directory, or a symbolic link to one"))
            }
            current = next
            refusal = refusal ?? distrust(current, reached)
        }
        return .open(current, refusal)
    }

    private mutating func names(in descriptor: Int32, _ path: String) throws(SystemError) -> [String] {
        let copy = try SystemError.check("dup", path) { fcntl(descriptor, F_DUPFD_CLOEXEC, 0) }
        guard let directory = unsafe fdopendir(copy) else {
            let code = errno
            _ = close(copy)
            throw SystemError("fdopendir", path, code: code)
        }
        defer { unsafe closedir(directory) }
        var names: [String] = []
        errno = 0
        while let entry = unsafe readdir(directory) {
            let octets = unsafe withUnsafeBytes(of: &entry.pointee.d_name) { unsafe Array($0.prefix { $0 != 0 }) }
            guard octets.suffix(5).elementsEqual(".toml".utf8), octets.first != UInt8(ascii: ".") else { continue }
            if let name = String(validating: octets, as: UTF8.self) {
                names.append(name)
            } else {
                // Passed over it would be a file that nobody knows not to be in force.
                let shown = "\(path)/\(String(decoding: octets, as: UTF8.self))"
                diagnostics.append(
                    Diagnostic(file: shown, code: .unreadable, message: "the file's name is no UTF-8"))
            }
            errno = 0
        }
        // Half a directory is half of the rules.
        guard errno == 0 else { throw SystemError("readdir", path, code: errno) }
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
            return diagnostics.append(Self.refusal(path, "is no plain file"))
        }
        // Never waits for a writer, should it be a pipe.
        var flags = O_RDONLY | O_CLOEXEC | O_NONBLOCK
        if trust != .anyone { flags |= O_NOFOLLOW }
        let raw = unsafe openat(directory, name, flags)
        guard raw >= 0 else {
            if errno == ELOOP, trust != .anyone { return diagnostics.append(Self.refusal(path, "is a symbolic link")) }
            let problem = SystemError("open", code: errno)
            return diagnostics.append(Diagnostic(file: path, code: .unreadable, message: problem.description))
        }
        // Checked and read on the same descriptor, so that nobody can swap the file in between.
        let file = FileDescriptor(owning: raw)
        if let refusal = distrust(file.rawValue, path) { return diagnostics.append(refusal) }
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

    /// What speaks against an open file or directory; nil where nothing does.
    private func distrust(_ descriptor: Int32, _ path: String) -> Diagnostic? {
        var status = stat()
        guard unsafe fstat(descriptor, &status) == 0 else { return Self.refusal(path, "cannot be examined") }
        let kind = status.st_mode & S_IFMT
        if kind != S_IFREG && kind != S_IFDIR { return Self.refusal(path, "is no plain file") }
        let owner: UInt32
        switch trust {
        case .anyone: return nil
        case .root: owner = 0
        case .user(let user): owner = user
        }
        let name = owner == 0 ? "root" : "user \(owner)"
        if status.st_uid != 0, status.st_uid != owner {
            return Self.refusal(path, "belongs to user \(status.st_uid), not to \(name)")
        }
        // An access control list that lets others write shows in the group's bits, acl(5).
        if status.st_mode & (S_IWGRP | S_IWOTH) != 0 {
            return Self.refusal(path, "can be written by others than \(name)")
        }
        return nil
    }

    private static func refusal(_ path: String, _ why: String) -> Diagnostic {
        Diagnostic(file: path, code: .unsafeFile, message: "\(path) \(why); rule files decide what is run")
    }
}

extension RuleSet {
    /// Reads and checks files as one rule set; a file that could not be read spoils it as one that is wrong does.
    public static func load(_ source: RuleFiles, reviewing: Bool = false) -> LoadResult {
        let isWhole = source.diagnostics.isEmpty
        let result = load(source.files, areAll: isWhole, reviewing: reviewing && isWhole)
        let isClean = !source.diagnostics.contains { $0.severity == .error }
        return LoadResult(
            ruleSet: isClean ? result.ruleSet : nil, diagnostics: source.diagnostics + result.diagnostics)
    }
}
