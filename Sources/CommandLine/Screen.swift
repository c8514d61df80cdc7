internal import WiFi

/// Sections with a title at the left and lines beside it, in as many columns as there are.
struct Screen {
    /// SGR codes, ECMA-48.
    enum Paint: String {
        case plain = "0"
        case strong = "1"
        case faint = "2"
        case bad = "31"
        case good = "32"
        case notable = "33"
    }

    private(set) var lines: [String] = []
    private let width: Int
    private let isColored: Bool
    private static let margin = 12

    /// - Parameter width: nil where nothing has to be fitted into.
    init(width: Int?, isColored: Bool) {
        self.width = width.map { max($0, 30) } ?? .max
        self.isColored = isColored
    }

    /// One entry; strangers' words in it have to be escaped already.
    ///
    /// - Parameters:
    ///   - title: of the section, beside its first entry.
    ///   - head: what is painted.
    ///   - text: after it, two columns farther.
    mutating func add(_ title: String, _ head: String, _ paint: Paint = .plain, _ text: String = "") {
        let room = width == .max ? Int.max : width - Screen.margin
        // Beside the head where both are short enough, below it otherwise.
        let isShort = width == .max || head.displayWidth + 2 + text.displayWidth <= room
        let first = title + String(repeating: " ", count: max(Screen.margin - title.displayWidth, 1))
        let blanks = String(repeating: " ", count: Screen.margin)
        var rows: [String]
        if text.isEmpty || isShort {
            let tail = text.isEmpty ? "" : "  \(text)"
            rows = head.wrapped(to: room).map { self.paint($0, paint) }
            rows[rows.count - 1] += tail
        } else {
            rows = head.wrapped(to: room).map { self.paint($0, paint) }
            rows += text.wrapped(to: room - 2).map { "  \($0)" }
        }
        for (index, row) in rows.enumerated() {
            lines.append((index == 0 && !title.isEmpty ? self.paint(first, .strong) : blanks) + row)
        }
    }

    private func paint(_ text: String, _ paint: Paint) -> String {
        isColored && paint != .plain && !text.isEmpty ? "\u{1b}[\(paint.rawValue)m\(text)\u{1b}[0m" : text
    }
}

extension String {
    /// In lines of so many columns at most, between words where that can be; each with the blanks at the beginning.
    func wrapped(to width: Int) -> [String] {
        guard displayWidth > width, width > 0 else { return [self] }
        let indent = prefix { $0 == " " }.count
        if (1..<width).contains(indent) {
            let blanks = String(repeating: " ", count: indent)
            return String(dropFirst(indent)).wrapped(to: width - indent).map { blanks + $0 }
        }
        var lines: [String] = []
        var line = ""
        var used = 0
        for word in split(separator: " ", omittingEmptySubsequences: false) {
            let columns = word.displayWidth
            if !line.isEmpty, used + 1 + columns > width {
                lines.append(line.withoutBlanksAtEnd)
                line = ""
                used = 0
            }
            if !line.isEmpty {
                line += " "
                used += 1
            }
            for character in word {
                let columns = String(character).displayWidth
                if used + columns > width {
                    lines.append(line)
                    line = ""
                    used = 0
                }
                line.append(character)
                used += columns
            }
        }
        return lines + [line.withoutBlanksAtEnd]
    }

    private var withoutBlanksAtEnd: String {
        var text = self[...]
        while text.last == " " { text.removeLast() }
        return String(text)
    }
}
