public import Platform

/// The ledger on disk. After `save` returned it outlasts a kill and the power.
struct Journal {
    let path: String

    /// The ledger of the last life of this helper; an empty one where there is none.
    ///
    /// - Throws: where there is one that cannot be read. What was changed by it cannot be put back then, and whoever
    ///   goes on says so.
    /// - Parameter boot: what volatile places last for; nil: also what they held before is told.
    func load(boot: String?) throws(JournalError) -> Ledger {
        let octets: [UInt8]
        do throws(SystemError) {
            octets = try Files.read(path, limit: Ledger.maximumSize)
        } catch {
            if error.isMissing { return Ledger() }
            throw .unreadable(error)
        }
        guard let ledger = Ledger(octets, boot: boot) else { throw .damaged(path) }
        return ledger
    }

    func save(_ ledger: Ledger, boot: String) throws(SystemError) {
        try Files.replace(path, with: ledger.octets(boot: boot), mode: 0o600, isLasting: true)
    }
}

public enum JournalError: Error, Hashable, Sendable, CustomStringConvertible {
    case unreadable(SystemError)
    case damaged(String)

    public var description: String {
        switch self {
        case .unreadable(let error): "\(error): what was changed before cannot be put back"
        case .damaged(let path):
            "\(path) is damaged: what was changed before cannot be put back; it is kept as \(path).damaged"
        }
    }
}
