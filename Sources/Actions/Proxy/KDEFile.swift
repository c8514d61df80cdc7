/// The group [Proxy Settings] of kioslaverc, KConfig's syntax. All else stays as it is, byte for byte.
struct KDEFile {
    private static let group = "Proxy Settings"

    private var lines: [Substring]

    init(_ text: String) {
        lines = text.split(separator: "\n", omittingEmptySubsequences: false)
        if lines.last?.isEmpty == true { lines.removeLast() }
    }

    var text: String {
        lines.isEmpty ? "" : lines.joined(separator: "\n") + "\n"
    }

    // MARK: Reading

    /// Whether an administrator or the user froze the file, the group or one of these keys: `[$i]`.
    func isFrozen(_ names: some Collection<String>) -> Bool {
        // Before any group it is about the whole file; `[$Version]` is a group.
        let first = lines.lazy.map(KDEFile.trimmed).first { !$0.isEmpty && !$0.hasPrefix("#") }
        if let first, first.hasSuffix("]"), KDEFile.flags(first).utf8.allSatisfy({ (0x61...0x7A).contains($0) }),
            KDEFile.flags(first).contains("i")
        {
            return true
        }
        var isOurs = false
        for line in lines.map(KDEFile.trimmed) {
            if line.hasPrefix("[") {
                isOurs = KDEFile.isGroup(line)
                if isOurs, KDEFile.flags(line.dropFirst(KDEFile.group.count + 2)).contains("i") { return true }
            } else if isOurs, let (key, rest) = KDEFile.entry(line), names.contains(key),
                KDEFile.flags(rest).contains("i")
            {
                return true
            }
        }
        return false
    }

    /// The last of several counts. A value with flags such as `[$e]` keeps them.
    func value(_ name: String) -> String? {
        var found: String?
        forEachEntry { key, rest, _ in if key == name { found = KDEFile.kept(rest) } }
        return found
    }

    private func forEachEntry(_ body: (_ key: String, _ rest: Substring, _ index: Int) -> Void) {
        var isOurs = false
        for (index, line) in lines.enumerated() {
            let text = KDEFile.trimmed(line)
            if text.hasPrefix("[") {
                isOurs = KDEFile.isGroup(text)
            } else if isOurs, let (key, rest) = KDEFile.entry(text) {
                body(key, rest, index)
            }
        }
    }

    // MARK: Writing

    /// - Parameter value: as `value` gives it; nil for none.
    mutating func set(_ name: String, to value: String?) {
        var places: [Int] = []
        forEachEntry { key, _, index in if key == name { places.append(index) } }
        let line = value.map { Substring(name + KDEFile.written($0)) }
        for index in places.dropLast(line == nil ? 0 : 1).reversed() { lines.remove(at: index) }
        guard let line else { return removeEmptyGroup() }
        if let last = places.last {
            lines[last - (places.count - 1)] = line
        } else {
            insert(line)
        }
    }

    private mutating func insert(_ line: Substring) {
        if let header = lines.lastIndex(where: { KDEFile.isGroup(KDEFile.trimmed($0)) }) {
            var end = header + 1
            while end < lines.count, !KDEFile.trimmed(lines[end]).hasPrefix("[") { end += 1 }
            // Before the blank line that parts it from the next group.
            while end > header + 1, KDEFile.trimmed(lines[end - 1]).isEmpty { end -= 1 }
            lines.insert(line, at: end)
        } else {
            if !lines.isEmpty { lines.append("") }
            lines += ["[\(KDEFile.group)]", line]
        }
    }

    /// A group without entries says nothing, and may be ours.
    private mutating func removeEmptyGroup() {
        guard let header = lines.lastIndex(where: { KDEFile.trimmed($0) == "[\(KDEFile.group)]" }) else { return }
        let rest = lines[(header + 1)...]
        let next = rest.firstIndex { !KDEFile.trimmed($0).isEmpty } ?? lines.endIndex
        guard next == lines.endIndex || KDEFile.trimmed(lines[next]).hasPrefix("[") else { return }
        lines.remove(at: header)
        if header > 0, header == lines.endIndex, lines[header - 1].isEmpty { lines.removeLast() }
    }

    // MARK: Lines

    private static func trimmed(_ line: Substring) -> Substring {
        var line = line.drop { $0 == " " || $0 == "\t" }
        while let last = line.last, last == " " || last == "\t" || last == "\r" { line.removeLast() }
        return line
    }

    private static func isGroup(_ line: Substring) -> Bool {
        line == "[\(group)]" || line.hasPrefix("[\(group)][$")
    }

    private static func entry(_ line: Substring) -> (key: String, rest: Substring)? {
        guard !line.hasPrefix("#"), let end = line.firstIndex(where: { $0 == "=" || $0 == "[" }) else { return nil }
        let key = trimmed(line[..<end])
        // A translation is another entry: `Name[de]`.
        guard line[end] == "=" || line[end...].hasPrefix("[$") else { return nil }
        return (String(key), line[end...])
    }

    /// The letters of `[$ie]…`.
    private static func flags(_ rest: Substring) -> Substring {
        guard rest.hasPrefix("[$"), let end = rest.firstIndex(of: "]") else { return "" }
        return rest[..<end].dropFirst(2)
    }

    private static func kept(_ rest: Substring) -> String {
        guard rest.hasPrefix("=") else { return String(rest) }
        let value = trimmed(rest.dropFirst())
        return value.hasPrefix("[$") || value.hasPrefix("=") ? "=\(value)" : String(value)
    }

    private static func written(_ value: String) -> String {
        value.hasPrefix("[$") || value.hasPrefix("=") ? value : "=\(value)"
    }
}
