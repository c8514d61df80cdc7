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
        return String(decoding: octets.prefix(Self.shownLength), as: UTF8.self)
    }

    /// So much of a line is shown, in octets.
    private static let shownLength = 500

    /// Whether a place is behind the last character of its line; false where the line is too long to tell.
    mutating func isAtEnd(_ position: TOMLValue.Position) -> Bool {
        let line = line(position.line)
        return line.utf8.count < Self.shownLength && position.column > line.unicodeScalars.count
    }

    /// Where the file ceases to be UTF-8; nil where it does not.
    var firstInvalidText: TOMLValue.Position? {
        var decoder = Unicode.UTF8.ForwardParser()
        var octets = file.contents.makeIterator()
        var position = TOMLValue.Position(line: 1, column: 1)
        while true {
            switch decoder.parseScalar(from: &octets) {
            case .valid(let scalar) where scalar.first == UInt8(ascii: "\n"):
                position = TOMLValue.Position(line: position.line + 1, column: 1)
            case .valid: position.column += 1
            case .error: return position
            case .emptyInput: return nil
            }
        }
    }

    /// Not `contains(_:)`, which brings a parser of regular expressions of 1 MB along.
    private static func has(_ words: String, in text: String) -> Bool {
        text.utf8.indices.contains { text.utf8[$0...].starts(with: words.utf8) }
    }

    /// A name or key that stands twice in one file is refused by the TOML parser, which does not say where it stood
    /// first: that is looked up in the text.
    mutating func duplicate(
        at position: TOMLValue.Position, _ problem: String
    ) -> (code: Diagnostic.Code, position: TOMLValue.Position, message: String) {
        guard !Self.has("as dotted key-value pair", in: problem) else {
            return (.duplicateKey, position, "what stands before a dot here is already defined, and is no table")
        }
        // After some headers the parser tells where it stopped to read.
        var number = position.line
        if Self.has("table header", in: problem) {
            while number > 1, Self.words(of: line(number)).first?.name.hasPrefix("[") != true { number -= 1 }
        }
        let text = line(number)
        let header = Self.words(of: text).first.flatMap { $0.name.hasPrefix("[") ? $0 : nil }
        // Of a key the parser tells where its value begins.
        let second = header ?? Self.key(in: text, before: position.column)
        let isFirst = second.column == Self.words(of: text).first?.column
        let place = TOMLValue.Position(line: number, column: second.column)
        let what =
            header.map { Self.title(of: $0.name) } ?? (second.name.isEmpty ? "a key" : "key \"\(second.name)\"")
        let code = header == nil ? Diagnostic.Code.duplicateKey : .duplicateName
        guard isFirst, let first = firstPlace(of: second.name, before: number) else {
            return (code, place, "\(what) is already defined \(header == nil ? "in this table" : "above")")
        }
        return (code, place, "\(what) is already defined at \(location(first))")
    }

    private mutating func firstPlace(of name: String, before line: Int) -> TOMLValue.Position? {
        for number in stride(from: line - 1, to: 0, by: -1) {
            guard let first = Self.words(of: self.line(number)).first else { continue }
            if first.name == name { return TOMLValue.Position(line: number, column: first.column) }
            // A key can only clash with one of its own table.
            if !name.hasPrefix("["), first.name.hasPrefix("[") { return nil }
        }
        return nil
    }

    private static func title(of header: String) -> String {
        let parts = header.filter { $0 != "[" && $0 != "]" }.split(separator: ".")
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

    /// The key whose value begins at a column, without quotes; empty where the line is not known so far.
    private static func key(in line: String, before column: Int) -> (name: String, column: Int) {
        let scalars = Array(line.unicodeScalars)
        guard column <= scalars.count else { return ("", column) }
        var end = column - 1
        while end > 0, " \t=".unicodeScalars.contains(scalars[end - 1]) { end -= 1 }
        var start = end
        while start > 0, !" \t{,".unicodeScalars.contains(scalars[start - 1]) { start -= 1 }
        let name = scalars[start..<end].filter { $0 != "\"" && $0 != "'" }
        return (String(String.UnicodeScalarView(name)), start + 1)
    }
}
