/// Why the server turns a reader away whom it would otherwise serve; `refused` of the schema.
public enum FeedRefusal: String, Sendable {
    /// The reader's user has as many connections as one may have.
    case tooManyConnections = "too-many-connections"
    /// The reader's user connects more often than one may.
    case tooManyAttempts = "too-many-attempts"
    /// There is no room for anybody but root.
    case full
}
