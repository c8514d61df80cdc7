/// Something on this machine that holds settings which others read: a file, a unit, a zone, a key of the desktop's.
///
/// Everything that shall hold is put into places in the same way: what is there is read and kept, ours is written, it
/// is read back, and in the end what was there before comes back. `Reconciler` does that; a place only reads and writes.
@ActionActor
public protocol Place: AnyObject {
    /// What the place holds of these settings now, each of them among the answer; nil where this machine has no such
    /// place, as there is no dconf without a desktop.
    func read(_ names: Set<String>) async throws(PlaceError) -> Settings?

    /// Puts these settings there, in one change where the place knows such a thing, and returns when they can be read.
    /// It may have been interrupted half-way before. Where its task is cancelled it stops waiting and throws
    /// `PlaceError.cancelled`.
    func write(_ settings: Settings) async throws(PlaceError)

    /// Sets right what a write that was killed left half-way where `read` does not look.
    func tidy() throws(PlaceError)
}

extension Place {
    public func tidy() throws(PlaceError) {}
}

/// Values by the names that they have in their place.
public typealias Settings = [String: Setting]

public enum Setting: Hashable, Sendable {
    case unset
    case value(String)
}

/// Why a place could not be read or written.
public enum PlaceError: Error, Hashable, Sendable, CustomStringConvertible {
    /// What failed, where, why and what to do about it, in words.
    case failed(String)
    /// Nobody wanted it any more.
    case cancelled

    public var description: String {
        switch self {
        case .failed(let message): message
        case .cancelled: "obsolete"
        }
    }
}

/// Finds places by their name.
@ActionActor
public protocol Places: AnyObject {
    /// Nil where this process has nothing to do with such places.
    func place(_ name: PlaceName) -> (any Place)?
}
