/// What a reader may know, as a phone asks for it; the words of the schema's `permission`.
public enum FeedPermission: String, CaseIterable, Sendable {
    /// Everything.
    case full
    /// That things happen, and hashes in the place of names: so it was decided.
    case hashed
    /// The same, as long as nobody has decided.
    case notDetermined = "not-determined"
    /// Nothing, and the reader's user cannot change that.
    case restricted
    /// Nothing.
    case denied

    /// How the lines are written that the reader gets.
    public var view: FeedView {
        switch self {
        case .full: .full
        case .hashed, .notDetermined: .hashed
        case .restricted, .denied: .nothing
        }
    }
}

/// How much of a line is written for a reader.
public enum FeedView: Int, Comparable, Sendable {
    /// One line that says so, then the end.
    case nothing
    /// Without names and addresses.
    case hashed
    case full

    public static func < (left: FeedView, right: FeedView) -> Bool { left.rawValue < right.rawValue }
}
