internal import Platform

/// The `auth` lines of a PAM service as libpam would run them, pam.conf(5), with everything that they include.
public struct PAMStack: Hashable, Sendable {
    /// One line.
    public struct Module: Hashable, Sendable {
        public var control: PAMControl
        /// Without its directory and ending: `pam_oath`.
        public var name: String
        /// As the line has it: a path, or a name below the directory of modules.
        public var written: String
        public var arguments: [String]
        /// `-auth`: skipped where the module is not installed.
        public var maySkip: Bool
        /// Where it stands.
        public var file: String
        /// From 1.
        public var line: Int
    }

    public indirect enum Item: Hashable, Sendable {
        case module(Module)
        /// What ends it ends nothing else.
        case substack([Item])
    }

    public var items: [Item]

    init(items: [Item]) { self.items = items }

    /// Every line, in order.
    public var modules: [Module] { PAMStack.modules(in: items) }

    private static func modules(in items: [Item]) -> [Module] {
        items.flatMap { item in
            switch item {
            case .module(let module): [module]
            case .substack(let inner): modules(in: inner)
            }
        }
    }

    /// Reads a service's file and what it includes.
    ///
    /// - Parameters:
    ///   - read: the contents of a file by its path; nil where there is none.
    /// - Throws: where a line or a file is not to be understood: then nothing can be said of the stack.
    public init(
        service: String, directories: [String] = ["/etc/pam.d", "/usr/lib/pam.d"],
        read: @escaping (_ path: String) -> [UInt8]? = PAMStack.contents
    ) throws(PAMStackError) {
        var reader = PAMReader(directories: directories, read: read)
        items = try reader.items(of: service, from: nil)
    }

    public static func contents(of path: String) -> [UInt8]? { try? Files.read(path, limit: 1 << 20) }
}

public enum PAMStackError: Error, Hashable, Sendable, CustomStringConvertible {
    case noService(String, includedBy: String?)
    case badLine(String, Int, String)
    /// Files that include each other.
    case tooDeep(String)

    public var description: String {
        switch self {
        case .noService(let name, let file):
            "there is no PAM service \(name)\(file.map { ", which \($0) includes" } ?? "")"
        case .badLine(let file, let line, let problem): "\(file):\(line): \(problem)"
        case .tooDeep(let file): "\(file) is included within itself"
        }
    }
}

private struct PAMReader {
    /// As libpam's PAM_SUBSTACK_MAX_LEVEL, for includes as well.
    private static let depthLimit = 16

    let directories: [String]
    let read: (String) -> [UInt8]?
    private var depth = 0

    init(directories: [String], read: @escaping (String) -> [UInt8]?) {
        (self.directories, self.read) = (directories, read)
    }

    mutating func items(of service: String, from file: String?) throws(PAMStackError) -> [PAMStack.Item] {
        let paths = service.hasPrefix("/") ? [service] : directories.map { "\($0)/\(service)" }
        for path in paths {
            guard let contents = read(path) else { continue }
            guard depth < PAMReader.depthLimit else { throw .tooDeep(path) }
            depth += 1
            defer { depth -= 1 }
            return try items(in: contents, path)
        }
        throw .noService(service, includedBy: file)
    }

    private mutating func items(in contents: [UInt8], _ file: String) throws(PAMStackError) -> [PAMStack.Item] {
        var items: [PAMStack.Item] = []
        for (number, text) in PAMReader.lines(of: contents) {
            let words = try PAMReader.words(of: text, file, number)
            guard let first = words.first else { continue }
            if first == "@include" {
                guard words.count >= 2 else { throw .badLine(file, number, "@include of nothing") }
                items += try self.items(of: words[1], from: file)
                continue
            }
            let maySkip = first.hasPrefix("-")
            guard (maySkip ? String(first.dropFirst()) : first).lowercased() == "auth" else { continue }
            guard words.count >= 3 else { throw .badLine(file, number, "expected a control and a module") }
            switch words[1].lowercased() {
            case "include": items += try self.items(of: words[2], from: file)
            case "substack": items.append(.substack(try self.items(of: words[2], from: file)))
            default:
                guard let control = PAMControl(words[1]) else {
                    throw .badLine(file, number, "the control \(words[1]) is not to be understood")
                }
                let name = words[2].split(separator: "/").last.map(String.init) ?? words[2]
                items.append(
                    .module(
                        PAMStack.Module(
                            control: control, name: name.hasSuffix(".so") ? String(name.dropLast(3)) : name,
                            written: words[2],
                            arguments: Array(words[3...]), maySkip: maySkip, file: file, line: number)))
            }
        }
        return items
    }

    /// Without comments, and with those that end in `\` joined.
    private static func lines(of contents: [UInt8]) -> [(number: Int, text: String)] {
        var lines: [(number: Int, text: String)] = []
        var open: (number: Int, text: String)?
        for (index, octets) in contents.split(separator: 0x0A, omittingEmptySubsequences: false).enumerated() {
            var text = String(decoding: octets.prefix { $0 != UInt8(ascii: "#") }, as: UTF8.self)
            let goesOn = text.last == "\\"
            if goesOn { text.removeLast() }
            let line = (number: open?.number ?? index + 1, text: (open?.text ?? "") + (open == nil ? "" : " ") + text)
            open = goesOn ? line : nil
            if !goesOn { lines.append(line) }
        }
        return lines + (open.map { [$0] } ?? [])
    }

    /// Words between blanks; what is in brackets is one.
    private static func words(of text: String, _ file: String, _ line: Int) throws(PAMStackError) -> [String] {
        var words: [String] = []
        var rest = Substring(text)
        while true {
            rest = rest.drop { $0 == " " || $0 == "\t" || $0 == "\r" }
            guard let first = rest.first else { return words }
            if first == "[" {
                guard let end = rest.firstIndex(of: "]") else { throw .badLine(file, line, "a [ without its ]") }
                words.append(String(rest[...end]))
                rest = rest[rest.index(after: end)...]
            } else {
                let word = rest.prefix { $0 != " " && $0 != "\t" && $0 != "\r" }
                words.append(String(word))
                rest = rest[word.endIndex...]
            }
        }
    }
}
