/// Who sits at the machine.
enum Seat: Hashable {
    case session(Session)
    /// Nobody who could be asked, and why.
    case nobody(String)

    /// A person's session that is shown on this machine's own screen.
    struct Session: Hashable {
        /// logind's; no two of a boot have the same.
        var id: String
        var user: UInt32
        /// The process that began it. Often root's, as of a display manager.
        var leader: UInt32
        /// For people.
        var name: String?
        var isLocked: Bool

        /// Whether it is the same, be it locked or not.
        func isSame(as other: Session) -> Bool { id == other.id && user == other.user }
    }
}
