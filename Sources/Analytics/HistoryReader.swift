internal import Glibc
public import JSON
public import Platform

/// Reads what `HistoryLog` wrote, the oldest first, in as little memory as one line takes.
public struct HistoryReader {
    public let path: String
    /// Lines that were cut or are no records.
    public private(set) var skipped = 0
    /// How many of the two files are there.
    public private(set) var files = 0

    private static let longestLine = 64 << 10

    public init(path: String) {
        self.path = path
    }

    /// A file that is not there has no lines.
    ///
    /// - Throws: where a file cannot be read.
    public mutating func read(_ body: (JSONValue) -> Void) throws(SystemError) {
        try readLines { value, _ in
            body(value)
            return true
        }
    }

    /// The same, with the line as it stands, without its LF: printable ASCII.
    ///
    /// - Parameter body: answers whether to go on.
    public mutating func readLines(_ body: (JSONValue, ArraySlice<UInt8>) -> Bool) throws(SystemError) {
        // In this order nothing is lost when the newer one becomes the older meanwhile.
        let newer = try Self.open(path)
        let older = try Self.open(HistoryLog.olderPath(of: path))
        if let older = older?.rawValue, !Self.isSame(older, newer?.rawValue) {
            files += 1
            guard try read(older, HistoryLog.olderPath(of: path), body) else { return }
        }
        if let newer = newer?.rawValue {
            files += 1
            _ = try read(newer, path, body)
        }
        withExtendedLifetime((older, newer)) {}
    }

    private static func open(_ path: String) throws(SystemError) -> Opened? {
        let flags = O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK
        let raw = unsafe Glibc.open(path, flags)
        guard raw >= 0 else {
            let error = SystemError("open", path)
            if error.isMissing { return nil }
            throw error
        }
        let opened = Opened(raw)
        var status = stat()
        try SystemError.check("fstat", path) { unsafe fstat(raw, &status) }
        guard status.st_mode & S_IFMT == S_IFREG else { throw SystemError("open", path, code: EINVAL) }
        return opened
    }

    private static func isSame(_ left: Int32, _ right: Int32?) -> Bool {
        guard let right else { return false }
        var (first, second) = (stat(), stat())
        guard unsafe fstat(left, &first) == 0, unsafe fstat(right, &second) == 0 else { return false }
        return first.st_dev == second.st_dev && first.st_ino == second.st_ino
    }

    private mutating func read(
        _ descriptor: Int32, _ path: String, _ body: (JSONValue, ArraySlice<UInt8>) -> Bool
    ) throws(SystemError) -> Bool {
        var rest: [UInt8] = []
        var isOverlong = false
        var chunk = [UInt8](repeating: 0, count: 64 << 10)
        while true {
            let size = chunk.count
            let count = try SystemError.check("read", path) { unsafe Glibc.read(descriptor, &chunk, size) }
            var start = 0
            while let end = chunk[start..<count].firstIndex(of: UInt8(ascii: "\n")) {
                let line = rest.isEmpty ? chunk[start..<end] : (rest + chunk[start..<end])[...]
                start = end + 1
                rest.removeAll(keepingCapacity: true)
                let isWhole = !isOverlong
                isOverlong = false
                if isWhole, line.isEmpty { continue }
                guard isWhole, let value = Self.record(line) else {
                    skipped += 1
                    continue
                }
                guard body(value, line) else { return false }
            }
            if count == 0 {
                // Cut, unless it is the one that is being written.
                if isOverlong || !rest.isEmpty { skipped += 1 }
                return true
            }
            rest += chunk[start..<count]
            if rest.count > Self.longestLine {
                rest.removeAll(keepingCapacity: true)
                isOverlong = true
            }
        }
    }

    private static func record(_ line: ArraySlice<UInt8>) -> JSONValue? {
        guard line.allSatisfy({ (0x20..<0x7F).contains($0) }),
            let value = try? JSONValue(parsing: line, maximumSize: longestLine),
            // As the log writes it, moments can be compared as they stand.
            value["time"]?.string?.utf8.count == 27, value["type"]?.string != nil
        else { return nil }
        return value
    }

    /// So that one of two may not be there.
    private final class Opened {
        private let file: FileDescriptor
        init(_ descriptor: Int32) { file = FileDescriptor(owning: descriptor) }
        var rawValue: Int32 { file.rawValue }
    }
}
