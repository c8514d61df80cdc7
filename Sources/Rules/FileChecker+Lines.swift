/// Looks at the text again, for messages.
extension FileChecker {
    /// Line `number`, counted from 1, without its end; empty where there is none.
    mutating func line(_ number: Int) -> String {
        let contents = file.contents
        if lineStarts.isEmpty {
            lineStarts = [0] + contents.indices.lazy.filter { contents[$0] == UInt8(ascii: "\n") }.map { $0 + 1 }
        }
        guard lineStarts.indices.contains(number - 1) else { return "" }
        // A file can be one line, and have thousands of problems on it.
        var octets = contents[lineStarts[number - 1]...].prefix(501).prefix { $0 != UInt8(ascii: "\n") }
        if octets.last == UInt8(ascii: "\r") { octets.removeLast() }
        return String(decoding: octets.prefix(500), as: UTF8.self)
    }

    /// A name or key that stands twice in one file is refused by the TOML parser, which does not say where it stood
    /// first: that is looked up in the text.
    mutating func duplicate(
        at position: TOMLValue.Position
    ) -> (code: Diagnostic.Code, position: TOMLValue.Position, message: String)? {
        let offending = Self.words(of: line(position.line))
        guard let second = offending.first else { return nil }
        let isHeader = second.name.hasPrefix("[")
        var number = position.line - 1
        while number > 0 {
            if let first = Self.words(of: line(number)).first {
                if first.name == second.name {
                    let what =
                        isHeader ? Self.title(of: second.name) : "key \"\(second.name)\""
                    return (
                        isHeader ? .duplicateName : .duplicateKey,
                        TOMLValue.Position(line: position.line, column: second.column),
                        "\(what) is already defined at "
                            + "\(location(TOMLValue.Position(line: number, column: first.column)))"
                    )
                }
                // A key can only clash with one of its own table.
                if !isHeader, first.name.hasPrefix("[") { return nil }
            }
            number -= 1
        }
        return nil
    }

    private static func title(of header: String) -> String {
        let parts = header.dropFirst().dropLast().split(separator: ".", maxSplits: 1)
        return parts.count == 2 ? "\(parts[0]) \"\(parts[1])\"" : "table \(header)"
    }

    /// The header or key a line begins with, without white space and quotes.
    private static func words(of line: String) -> [(name: String, column: Int)] {
        let scalars = Array(line.unicodeScalars)
        guard let start = scalars.firstIndex(where: { $0 != " " && $0 != "\t" }) else { return [] }
        let isHeader = scalars[start] == "["
        guard let end = scalars[start...].firstIndex(where: { $0 == (isHeader ? "]" : "=") }) else { return [] }
        let name = scalars[start..<(isHeader ? end + 1 : end)].filter { !" \t\"'".unicodeScalars.contains($0) }
        return [(String(String.UnicodeScalarView(name)), start + 1)]
    }
}
