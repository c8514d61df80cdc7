internal import CPlatform
internal import Glibc
internal import Netlink
internal import Platform

/// Follows the resolver's configuration file: what systemd-resolved writes of its servers where it runs, else
/// resolv.conf(5).
///
/// Both are replaced by renaming, so their directory is watched, inotify(7).
final class ResolverConfiguration {
    private static let candidates = [
        (directory: "/run/systemd/resolve", name: "resolv.conf"), (directory: "/etc", name: "resolv.conf"),
    ]

    private let loop: EventLoop
    private let directory: String
    private let name: String
    private let watch: Int32
    /// Called whenever it was written, also as it was: then it is of the network that the machine is on now.
    private let changed: (DNSConfiguration) -> Void
    private(set) var current: DNSConfiguration

    init(on loop: EventLoop, _ changed: @escaping (DNSConfiguration) -> Void) {
        self.loop = loop
        self.changed = changed
        let chosen = ResolverConfiguration.candidates.first { Files.names(in: $0.directory).contains($0.name) }
        (directory, name) = chosen ?? ("/etc", "resolv.conf")
        current = ResolverConfiguration.read("\(directory)/\(name)")
        watch = inotify_init1(Int32(IN_NONBLOCK) | Int32(IN_CLOEXEC))
        // Without a watch (too many of the user's) the configuration is that of the start.
        guard watch >= 0 else { return }
        let mask = UInt32(IN_MOVED_TO) | UInt32(IN_CLOSE_WRITE) | UInt32(IN_CREATE)
        _ = unsafe inotify_add_watch(watch, directory, mask)
        try? loop.watch(watch) { [unowned self] _ in readEvents() }
    }

    deinit {
        guard watch >= 0 else { return }
        loop.forget(watch)
        close(watch)
    }

    private func readEvents() {
        var buffer = [UInt8](repeating: 0, count: 4_096)
        var isConcerned = false
        while case let count = unsafe Glibc.read(watch, &buffer, buffer.count), count > 0 {
            var rest = buffer[..<count]
            // inotify_event: watch, mask, cookie, length of the name that follows.
            while let length = rest.hostInteger(at: 12, as: UInt32.self), rest.count >= 16 + Int(length) {
                let name = rest.dropFirst(16).prefix(Int(length)).prefix { $0 != 0 }
                if name.elementsEqual(self.name.utf8) { isConcerned = true }
                rest = rest.dropFirst(16 + Int(length))
            }
        }
        guard isConcerned else { return }
        current = ResolverConfiguration.read("\(directory)/\(name)")
        changed(current)
    }

    static func read(_ path: String) -> DNSConfiguration {
        guard let contents = try? Files.read(path, limit: 65_536) else { return DNSConfiguration() }
        return parse(contents)
    }

    /// resolv.conf(5): the last of `search` and `domain` counts; servers may name a link after `%`.
    static func parse(_ contents: [UInt8]) -> DNSConfiguration {
        var configuration = DNSConfiguration()
        for line in contents.split(separator: UInt8(ascii: "\n")) {
            let words = String(decoding: line, as: UTF8.self).split { $0 == " " || $0 == "\t" || $0 == "\r" }
            switch words.first {
            case "nameserver":
                guard let word = words.dropFirst().first,
                    let server = IPAddress(String(word.prefix { $0 != "%" }))
                else { continue }
                configuration.servers.append(server)
            case "search", "domain":
                configuration.searchDomains = words.dropFirst().filter { $0 != "." }.map { String($0) }
            default: continue
            }
        }
        return configuration
    }
}
