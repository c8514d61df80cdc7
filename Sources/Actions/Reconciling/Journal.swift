internal import Glibc
public import Platform

/// The ledger on disk. After `save` returned it outlasts a kill and the power.
///
/// What could not be saved makes the former ledger untrue: it is then known by another name, for which a full disk has
/// room, and who loads it looks at every place again.
struct Journal {
    let path: String
    private var stalePath: String { "\(path).stale" }
    /// Whether that file may be there.
    private var isStale = false

    init(path: String) { self.path = path }

    /// The ledger of the last life of this helper; an empty one where there is none.
    ///
    /// - Throws: where there is one that cannot be read. What was changed by it cannot be put back then, and whoever
    ///   goes on says so.
    /// - Parameter boot: what volatile places last for; nil: also what they held before is told.
    mutating func load(boot: String?) throws(JournalError) -> Ledger {
        if let ledger = try load(path, boot) { return ledger }
        guard var ledger = try load(stalePath, boot) else { return Ledger() }
        isStale = true
        ledger.distrust()
        return ledger
    }

    private func load(_ path: String, _ boot: String?) throws(JournalError) -> Ledger? {
        let octets: [UInt8]
        do throws(SystemError) {
            octets = try Files.read(path, limit: Ledger.maximumSize)
        } catch {
            if error.isMissing { return nil }
            throw .unreadable(path, error)
        }
        guard let ledger = Ledger(octets, boot: boot) else { throw .damaged(path) }
        return ledger
    }

    mutating func save(_ ledger: Ledger, boot: String) throws(SystemError) {
        do throws(SystemError) {
            try Files.replace(path, with: ledger.octets(boot: boot), mode: 0o600, isLasting: true)
        } catch {
            if unsafe rename(path, stalePath) == 0 { isStale = true }
            throw error
        }
        guard isStale else { return }
        _ = unsafe unlink(stalePath)
        isStale = false
    }
}

public enum JournalError: Error, Hashable, Sendable, CustomStringConvertible {
    case unreadable(String, SystemError)
    case damaged(String)

    public var path: String {
        switch self {
        case .unreadable(let path, _), .damaged(let path): path
        }
    }

    public var description: String {
        let problem =
            switch self {
            case .unreadable(_, let error): "\(error)"
            case .damaged(let path): "\(path) is damaged"
            }
        return "\(problem): what was changed before cannot be put back; it is kept as \(path).damaged"
    }
}
