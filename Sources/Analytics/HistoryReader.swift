public import JSON
public import Platform

/// Reads what `HistoryLog` wrote, the oldest first.
public struct HistoryReader {
    public let path: String
    /// Lines that were cut or are no records.
    public private(set) var skipped = 0

    public init(path: String) {
        self.path = path
    }

    /// A file that is not there has no lines.
    ///
    /// - Throws: where a file cannot be read, or is longer than any that `HistoryLog` leaves.
    public mutating func read(_ body: (JSONValue) -> Void) throws(SystemError) {
        for path in [HistoryLog.olderPath(of: path), path] {
            let octets: [UInt8]
            do throws(SystemError) {
                octets = try Files.read(path, limit: HistoryLog.standardLimit + (64 << 10))
            } catch {
                if error.isMissing { continue }
                throw error
            }
            for line in octets.split(separator: UInt8(ascii: "\n")) {
                guard let value = try? JSONValue(parsing: line, maximumSize: 64 << 10),
                    value["time"]?.string != nil, value["type"]?.string != nil
                else {
                    skipped += 1
                    continue
                }
                body(value)
            }
        }
    }
}
