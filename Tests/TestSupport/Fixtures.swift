import Platform

/// Files that tests read.
public enum Fixtures {
    public static func read(_ name: String) throws -> [UInt8] {
        let tests = "\(#filePath)".split(separator: "/").dropLast(2).joined(separator: "/")
        return try Files.read("/\(tests)/Fixtures/\(name)", limit: 1 << 24)
    }
}
