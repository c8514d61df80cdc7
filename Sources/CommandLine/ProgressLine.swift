internal import Glibc
internal import Platform

/// One line on standard error that says how far something is; only on a terminal, and a few times a second.
struct ProgressLine {
    private let title: String
    /// Octets in all; nil where nobody knows.
    private let total: Int64?
    private let isShown: Bool
    private var due: Int64 = 0
    private static let interval: Int64 = 100_000

    /// - Parameter isWanted: false where the terminal shows something else meanwhile.
    init(_ title: String, total: Int64?, isWanted: Bool = true) {
        (self.title, self.total) = (title, total)
        isShown = isWanted && isatty(STDERR_FILENO) == 1
    }

    mutating func update(octets: Int64, lines: Int?) {
        guard isShown else { return }
        let now = Timestamp.now().boottime
        guard now >= due else { return }
        due = now + Self.interval
        let share = total.flatMap { $0 > 0 ? "\(min(octets * 100 / $0, 100)) %" : nil }
        let parts = [share, lines.map { "\($0) lines" }].compactMap(\.self)
        write("\r\(title): \(parts.joined(separator: ", "))\u{1b}[K")
    }

    /// Takes the line away.
    func finish() { if isShown, due > 0 { write("\r\u{1b}[K") } }

    private func write(_ text: String) { Output.write(Array(text.utf8)[...], to: STDERR_FILENO) }
}
