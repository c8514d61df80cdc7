internal import WiFi

extension String {
    /// Fit for a terminal; blanks at the beginning are kept.
    var terminalText: String {
        let blanks = utf8.prefix { $0 == UInt8(ascii: " ") }.count
        return String(repeating: " ", count: blanks) + utf8.dropFirst(blanks).displayText
    }

    /// Cut to so many columns, which `…` shows, or filled up with blanks to them.
    func fitted(to width: Int) -> String {
        if displayWidth <= width { return self + String(repeating: " ", count: width - displayWidth) }
        guard width > 0 else { return "" }
        var kept = self[...]
        while !kept.isEmpty, kept.displayWidth > width - 1 { kept.removeLast() }
        return kept + "…" + String(repeating: " ", count: width - 1 - kept.displayWidth)
    }
}

/// Rows of cells in columns as wide as the widest cell, cut to what a terminal has room for.
struct Table {
    private let heads: [String]
    private var rows: [[String]] = []
    private static let gap = 2
    /// No column is cut below this, or its head.
    private static let least = 8

    init(_ heads: [String]) {
        self.heads = heads
    }

    /// - Parameter cells: they are escaped here.
    mutating func add(_ cells: [String]) {
        rows.append(cells.map(\.terminalText))
    }

    var isEmpty: Bool { rows.isEmpty }

    /// - Parameter width: columns of the terminal; nil for as many as it takes.
    func lines(within width: Int?) -> [String] {
        let all = [heads] + rows
        var widths = heads.indices.map { column in all.map { $0[column].displayWidth }.max() ?? 0 }
        let shown = heads.indices.filter { column in rows.contains { !$0[column].isEmpty } }
        if let width {
            // The widest gives first; what a row is called by, and where it stands, when nothing else has more to give.
            while shown.map({ widths[$0] + Table.gap }).reduce(-Table.gap, +) > width {
                let wide = shown.filter { widths[$0] > max(Table.least, heads[$0].displayWidth) }
                let between = wide.filter { $0 != shown.first && $0 != shown.last }
                guard let widest = (between.isEmpty ? wide : between).max(by: { widths[$0] < widths[$1] }) else {
                    break
                }
                widths[widest] -= 1
            }
        }
        return all.map { row in
            var line = shown.map { row[$0].fitted(to: widths[$0]) }
                .joined(separator: String(repeating: " ", count: Table.gap))
            while line.last == " " { line.removeLast() }
            return line
        }
    }
}
