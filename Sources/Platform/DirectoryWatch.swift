internal import Glibc

/// Tells that one of several files, or something in one of several directories, may have changed, inotify(7): written,
/// renamed, removed or given away. What is watched need not exist yet.
///
/// It only says that it is worth looking again.
public final class DirectoryWatch {
    private let loop: EventLoop
    private let paths: [String]
    private let changed: () -> Void
    private let descriptor: Int32
    /// What matters in a directory: some names, or (nil) all of them.
    private var interests: [Int32: Set<String>?] = [:]

    /// - Parameters:
    ///   - paths: directories, or files in them; absolute, without `.`, `..` and links.
    ///   - changed: called on the loop's thread; several changes may be one call.
    /// - Throws: `EMFILE` where the user has too many watches of this kind.
    public init(_ paths: [String], on loop: EventLoop, _ changed: @escaping () -> Void) throws(SystemError) {
        self.loop = loop
        self.paths = paths
        self.changed = changed
        descriptor = try SystemError.check("inotify_init1") { inotify_init1(Int32(IN_NONBLOCK) | Int32(IN_CLOEXEC)) }
        arm()
        try loop.watch(descriptor) { [unowned self] _ in readEvents() }
    }

    deinit {
        loop.forget(descriptor)
        close(descriptor)
    }

    /// Watches each directory, and those above it for it to come, go or be given away.
    private func arm() {
        var found: [Int32: Set<String>?] = [:]
        for path in paths {
            let components = path.split(separator: "/").map { String($0) }
            for depth in 0...components.count {
                let directory = "/" + components.prefix(depth).joined(separator: "/")
                let mask =
                    IN_CREATE | IN_CLOSE_WRITE | IN_MOVED_TO | IN_MOVED_FROM | IN_DELETE | IN_ATTRIB | IN_DELETE_SELF
                    | IN_MOVE_SELF
                let watch = unsafe inotify_add_watch(
                    descriptor, directory, UInt32(mask) | UInt32(IN_ONLYDIR) | UInt32(bitPattern: Int32(IN_MASK_ADD)))
                guard watch >= 0 else { break }
                guard depth < components.count, let names = found[watch] ?? [] else {
                    found[watch] = .some(nil)
                    continue
                }
                found[watch] = names.union([components[depth]])
            }
        }
        for watch in interests.keys where found[watch] == nil { inotify_rm_watch(descriptor, watch) }
        interests = found
    }

    private func readEvents() {
        var buffer = [UInt8](repeating: 0, count: 4_096)
        var isConcerned = false
        while case let count = unsafe read(descriptor, &buffer, buffer.count), count > 0 {
            var rest = buffer[..<count]
            while let event = InotifyEvent(parsing: &rest) {
                if event.mask & UInt32(IN_Q_OVERFLOW) != 0 { isConcerned = true }
                guard let interest = interests[event.watch] else { continue }
                if let name = event.name, let names = interest, !names.contains(name) { continue }
                isConcerned = true
            }
        }
        guard isConcerned else { return }
        arm()
        changed()
    }
}

/// `struct inotify_event`.
public struct InotifyEvent {
    public let watch: Int32
    public let mask: UInt32
    /// What it happened to in the directory; nil where it happened to the directory itself.
    public let name: String?

    /// Takes the first event off the octets that read(2) gave; nil at their end.
    public init?(parsing octets: inout ArraySlice<UInt8>) {
        guard octets.count >= 16 else { return nil }
        func field(_ offset: Int) -> UInt32 {
            unsafe octets.withUnsafeBytes { unsafe $0.loadUnaligned(fromByteOffset: offset, as: UInt32.self) }
        }
        let length = Int(field(12))
        guard octets.count >= 16 + length else { return nil }
        watch = Int32(bitPattern: field(0))
        mask = field(4)
        let text = octets.dropFirst(16).prefix(length).prefix { $0 != 0 }
        name = text.isEmpty ? nil : String(decoding: text, as: UTF8.self)
        octets = octets.dropFirst(16 + length)
    }
}
