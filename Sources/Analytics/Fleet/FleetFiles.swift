internal import Glibc
public import Platform

/// The analytics logs of many machines, as they were collected: `DIR/NAME.jsonl` or `DIR/NAME/…`, with what rotation made
/// of them.
public struct FleetFiles: Sendable {
    public struct Machine: Sendable {
        public var name: String
        public var paths: [String] = []
        public var octets: Int64 = 0
    }

    public private(set) var machines: [Machine] = []
    /// Files that would have to be unpacked first.
    public private(set) var packed: [String] = []

    private static let depth = 3

    /// - Throws: where the directory cannot be read.
    public init(in directory: String) throws(SystemError) {
        guard unsafe access(directory, R_OK | X_OK) == 0 else { throw SystemError("open", directory) }
        var found: [String: Machine] = [:]
        for name in Files.names(in: directory).sorted() {
            let path = "\(directory)/\(name)"
            switch Self.kind(of: path) {
            case .file(let octets):
                guard let machine = Self.machine(of: name) else { continue }
                take(path, octets, for: machine, &found)
            case .directory: look(in: path, for: name, &found, depth: 1)
            case nil: continue
            }
        }
        machines = found.values.sorted { $0.name < $1.name }
    }

    private enum Kind {
        case file(Int64)
        case directory
    }

    /// Nil for links, which may lead anywhere, and whatever else is no file.
    private static func kind(of path: String) -> Kind? {
        var status = stat()
        guard unsafe lstat(path, &status) == 0 else { return nil }
        switch status.st_mode & S_IFMT {
        case S_IFREG: return .file(Int64(status.st_size))
        case S_IFDIR: return .directory
        default: return nil
        }
    }

    private mutating func look(
        in directory: String, for machine: String, _ found: inout [String: Machine], depth: Int
    ) {
        for name in Files.names(in: directory).sorted() {
            let path = "\(directory)/\(name)"
            switch Self.kind(of: path) {
            case .file(let octets): if Self.machine(of: name) != nil { take(path, octets, for: machine, &found) }
            case .directory: if depth < Self.depth { look(in: path, for: machine, &found, depth: depth + 1) }
            case nil: continue
            }
        }
    }

    private mutating func take(
        _ path: String, _ octets: Int64, for machine: String, _ found: inout [String: Machine]
    ) {
        guard ![".gz", ".xz", ".zst", ".bz2"].contains(where: { path.hasSuffix($0) }) else {
            return packed.append(path)
        }
        found[machine, default: Machine(name: machine)].paths.append(path)
        found[machine]?.octets += octets
    }

    /// What stands before `.jsonl`; nil for other files. Logs that were rotated go on with `.1`, `-20261130` or the like.
    private static func machine(of name: String) -> String? {
        let (octets, end) = (Array(name.utf8), Array(".jsonl".utf8))
        guard octets.count > end.count else { return nil }
        for start in 1...octets.count - end.count where octets[start...].starts(with: end) {
            return String(decoding: octets[..<start], as: UTF8.self)
        }
        return nil
    }
}

extension FleetTally {
    private static let chunk = 1 << 20
    private static let longestLine = 64 << 10

    /// Reads a log to its end.
    ///
    /// - Parameter onProgress: told how many octets more were read.
    public mutating func read(_ path: String, onProgress: (Int) -> Void) throws(SystemError) {
        let flags = O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY
        let file = FileDescriptor(owning: try SystemError.check("open", path) { unsafe open(path, flags) })
        let descriptor = file.rawValue
        _ = posix_fadvise(descriptor, 0, 0, POSIX_FADV_SEQUENTIAL)
        var input = [UInt8](repeating: 0, count: Self.chunk + Self.longestLine)
        var (filled, isOverlong) = (0, false)
        while true {
            let count = try SystemError.check("read", path) {
                unsafe input.withUnsafeMutableBytes { buffer in
                    unsafe Glibc.read(descriptor, buffer.baseAddress.map { unsafe $0 + filled }, Self.chunk)
                }
            }
            let end = filled + count
            var (start, next) = (0, filled)
            while let feed = input.lineFeed(in: next..<end) {
                if isOverlong {
                    isOverlong = false
                } else if feed > start {
                    take(start..<feed, of: input)
                }
                (start, next) = (feed + 1, feed + 1)
            }
            if count == 0 {
                if end > 0, !isOverlong { take(0..<end, of: input) }
                return
            }
            onProgress(count)
            filled = end - start
            if filled > Self.longestLine {
                if !isOverlong { skipLine() }
                (isOverlong, filled) = (true, 0)
            } else if start > 0, filled > 0 {
                unsafe input.withUnsafeMutableBytes { buffer in
                    guard let base = buffer.baseAddress else { return }
                    unsafe memmove(base, base + start, filled)
                }
            }
        }
    }
}

extension [UInt8] {
    fileprivate func lineFeed(in range: Range<Int>) -> Int? {
        unsafe withUnsafeBytes { buffer in
            guard let base = buffer.baseAddress,
                let found = unsafe memchr(base + range.lowerBound, 0x0A, range.count)
            else { return nil }
            return unsafe UnsafeRawPointer(found) - base
        }
    }
}
