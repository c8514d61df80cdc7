public import Platform

/// Appends records to a file of JSON Lines.
///
/// Nothing that goes wrong stops the caller: it is counted and reported.
public final class AnalyticsLog {
    public let path: String
    /// Records that were not written, or not whole.
    public private(set) var failures = 0

    private let onFailure: (SystemError) -> Void

    /// - Parameter onFailure: called for each record that was not written, at once.
    public init(path: String, onFailure: @escaping (SystemError) -> Void = { _ in }) {
        self.path = path
        self.onFailure = onFailure
    }

    public func append(_ record: AnalyticsRecord) {
        do throws(SystemError) {
            try LineFile(path: path, mode: 0o640).append(record.line)
        } catch {
            failures += 1
            onFailure(error)
        }
    }
}
