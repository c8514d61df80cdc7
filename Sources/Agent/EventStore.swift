internal import Feed
internal import Glibc
internal import Platform

/// The feed's last lines in a file in memory that the service manager keeps for the next agent, however this one ends:
/// readers go on where they were, with the same numbers. Nothing of it is ever on a disk.
final class EventStore {
    /// What the names of its files begin with. There are two for a moment when one has grown so much that it is written
    /// anew, or another agent takes over.
    private static let prefix = "events-"
    /// Octets, before that.
    private static let limit = HeldEvents.maximumLength / 4

    /// Whether it is time to begin anew.
    var isLarge: Bool { length > EventStore.limit }

    /// Under which something is kept.
    private var names: Set<String> = []
    private var file: FileDescriptor?
    private var length = 0
    private let keep: (_ descriptor: Int32, _ name: String) -> Void
    private let letGo: (_ name: String) -> Void

    /// - Parameters:
    ///   - keep: has a descriptor kept under a name.
    ///   - letGo: has nothing kept under it any more.
    init(
        keep: @escaping (_ descriptor: Int32, _ name: String) -> Void = ServiceManager.keep,
        letGo: @escaping (_ name: String) -> Void = ServiceManager.letGo
    ) {
        self.keep = keep
        self.letGo = letGo
    }

    /// What the last agent left; of two files, the one that it went on with. To be called once, before `begin`.
    ///
    /// - Parameter passed: of these, those that are its own are closed here.
    func left(_ passed: [ServiceManager.Passed] = ServiceManager.passed) -> HeldEvents? {
        let kept = passed.filter { $0.name.hasPrefix(EventStore.prefix) }
        names = Set(kept.map(\.name))
        let found = kept.compactMap { HeldEvents(EventStore.contents(FileDescriptor(owning: $0.descriptor))) }
        return found.max { $0.sequence < $1.sequence }
    }

    private static func contents(_ file: consuming FileDescriptor) -> [UInt8] {
        var octets: [UInt8] = []
        var buffer = [UInt8](repeating: 0, count: 65_536)
        while octets.count <= HeldEvents.maximumLength {
            let count = unsafe pread(file.rawValue, &buffer, buffer.count, off_t(octets.count))
            guard count > 0 else { break }
            octets += buffer[..<count]
        }
        return octets
    }

    /// Begins a file with what there is, in the place of the one before.
    func begin(with held: HeldEvents) {
        let octets = held.encoded()
        guard let new = try? Files.inMemory(octets) else { return end() }
        let name = EventStore.prefix + String(UInt64.random(in: 0 ... .max), radix: 16)
        keep(new.rawValue, name)
        names.forEach(letGo)
        names = [name]
        file = consume new
        length = octets.count
    }

    /// To be called before a line goes out: who has a number never gets another line with it.
    func append(_ line: FeedLine, disclosing disclosure: FeedDisclosure) {
        guard let descriptor = file?.rawValue,
            let record = HeldEvents.record(of: line, disclosing: disclosure)
        else { return }
        let count = unsafe record.withUnsafeBytes {
            unsafe pwrite(descriptor, $0.baseAddress, $0.count, off_t(length))
        }
        // A record that is not whole ends what can be read: a new agent begins anew rather than with a hole.
        guard count == record.count else { return end() }
        length += record.count
    }

    private func end() {
        names.forEach(letGo)
        names = []
        file = nil
        length = 0
    }
}
