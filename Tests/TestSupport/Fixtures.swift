import Platform

/// Files that tests read.
public enum Fixtures {
    private static let directory =
        "/" + "\(#filePath)".split(separator: "/").dropLast(2).joined(separator: "/") + "/Fixtures"

    public static func read(_ name: String) throws -> [UInt8] {
        try Files.read("\(directory)/\(name)", limit: 1 << 24)
    }

    /// Their names.
    public static var captures: [String] { Files.names(in: directory).filter { $0.hasSuffix(".pcap") }.sorted() }
}
