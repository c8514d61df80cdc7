internal import CPlatform
internal import Glibc

/// A program's own log: standard error, one write(2) a line, with the priority that journald reads (sd-daemon(3)).
public enum Log {
    public enum Priority: Int, Sendable {
        case error = 3
        case warning = 4
        case notice = 5
        case information = 6
    }

    public static func write(_ priority: Priority, _ message: String) {
        for line in message.split(separator: "\n", omittingEmptySubsequences: true) {
            let text = Array((prefix(priority) + line + "\n").utf8)
            _ = unsafe text.withUnsafeBytes { unsafe Glibc.write(STDERR_FILENO, $0.baseAddress, $0.count) }
        }
    }

    private static let isJournal = unsafe getenv("JOURNAL_STREAM") != nil

    private static func prefix(_ priority: Priority) -> String {
        isJournal ? "<\(priority.rawValue)>" : "\(program): "
    }

    private static let program = CommandLine.arguments.first?.split(separator: "/").last.map(String.init) ?? "vicinity"
}
