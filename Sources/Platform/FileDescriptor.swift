internal import Glibc

/// A descriptor with one owner, closed when the owner lets go of it.
public struct FileDescriptor: ~Copyable, Sendable {
    public let rawValue: Int32

    /// Takes ownership of `rawValue`.
    public init(owning rawValue: Int32) {
        self.rawValue = rawValue
    }

    /// Gives the descriptor away; it stays open.
    public consuming func release() -> Int32 {
        let value = rawValue
        discard self
        return value
    }

    deinit {
        _ = close(rawValue)
    }
}
