internal import Glibc
internal import WiFi

/// Rows with a name, a bar and texts, as wide as a terminal and in what it can show.
struct ReportBars {
    struct Row {
        var name: String
        /// 0 to 1.
        var share: Double
        var text: [String]
        /// An SGR code, ECMA-48.
        var paint: String?
    }

    /// Columns; nil where nothing has to be fitted into.
    let width: Int?
    let isColored: Bool
    /// Whether bars are made of blocks, or of what every terminal has.
    let hasBlocks: Bool

    static let margin = 12
    static let nameLimit = 24

    /// By the locale, as terminals are set up.
    static var localeHasBlocks: Bool {
        unsafe setlocale(LC_CTYPE, "")
        guard let codeset = unsafe nl_langinfo(nl_item(CODESET)) else { return false }
        return unsafe strcmp(codeset, "UTF-8") == 0
    }

    var room: Int { max(min(width ?? 80, 100), 40) }

    /// A title beside the first of some rows, and a blank line.
    func section(_ title: String, _ rows: [String]) -> [String] {
        guard !rows.isEmpty else { return [] }
        let blanks = String(repeating: " ", count: Self.margin)
        return rows.enumerated().map { index, row in
            row.isEmpty ? "" : (index == 0 ? paint(title.fitted(to: Self.margin), .strong) : blanks) + row
        } + [""]
    }

    /// Texts stand at the right, column by column; the bars get what is left.
    func rows(_ rows: [Row]) -> [String] {
        let names = rows.map { $0.name.terminalText }
        var widths = (0..<(rows.first?.text.count ?? 0)).map { column in
            rows.map { $0.text[column].displayWidth }.max() ?? 0
        }
        var least = room - Self.margin - widths.reduce(0) { $0 + $1 + 2 }
        // Where there is no room for all, the first ones say the most.
        while least < 8, widths.count > 1 { least += widths.removeLast() + 2 }
        let nameWidth = min(names.map(\.displayWidth).max() ?? 0, max(min(Self.nameLimit, least), 8))
        let rest = least - nameWidth - 2
        return zip(rows, names).map { row, name in
            var line = name.fitted(to: nameWidth)
            if rest >= 4 {
                let bar = self.bar(row.share, columns: rest)
                line += "  " + paint(bar, code: row.paint) + String(repeating: " ", count: rest - bar.displayWidth)
            }
            for (text, width) in zip(row.text, widths) {
                line += "  " + String(repeating: " ", count: width - text.displayWidth) + text
            }
            return line
        }
    }

    private static let eighths = ["", "▏", "▎", "▍", "▌", "▋", "▊", "▉"]

    func bar(_ share: Double, columns: Int) -> String {
        // What is there shows.
        guard share > 0 else { return "" }
        let share = min(share, 1) * Double(columns)
        guard hasBlocks else { return String(repeating: "#", count: max(Int(share.rounded()), 1)) }
        let eighths = max(Int((share * 8).rounded()), 1)
        return String(repeating: "█", count: eighths / 8) + Self.eighths[eighths % 8]
    }

    func paint(_ text: String, _ paint: Screen.Paint) -> String {
        paint == .plain ? text : self.paint(text, code: paint.rawValue)
    }

    func paint(_ text: String, code: String?) -> String {
        guard isColored, let code, !text.isEmpty else { return text }
        return "\u{1b}[\(code)m\(text)\u{1b}[0m"
    }
}
