internal import Glibc
internal import Platform
internal import SystemBus

/// The proxy of KDE: kioslaverc in the user's configuration, and a signal that has running programs read it again.
@ActionActor
public final class KDEPlace: Place {
    private nonisolated static let limit = 1 << 20
    private nonisolated static let keys: Set = [
        "ProxyType", "httpProxy", "httpsProxy", "ftpProxy", "socksProxy", "Proxy Config Script", "NoProxyFor",
        "ReversedException",
    ]

    private let directory: String
    private let systemDirectories: [String]
    private let isDesktop: Bool
    private let bus: Bus?

    /// - Parameters:
    ///   - directory: the user's configuration, `XDG_CONFIG_HOME`.
    ///   - systemDirectories: the administrator's, `XDG_CONFIG_DIRS`.
    ///   - isDesktop: whether the session is one of KDE's, by `XDG_CURRENT_DESKTOP`.
    ///   - bus: the user's; nil where nobody has to be told.
    public init(directory: String, systemDirectories: [String] = ["/etc/xdg"], isDesktop: Bool, bus: Bus?) {
        self.directory = directory
        self.systemDirectories = systemDirectories
        self.isDesktop = isDesktop
        self.bus = bus
    }

    private var path: String { "\(directory)/kioslaverc" }

    public func read(_ names: Set<String>) throws(PlaceError) -> Settings? {
        guard isDesktop || Files.exists(path) || Files.exists("\(directory)/kdeglobals") else { return nil }
        let file = KDEFile(try contents(path))
        return Dictionary(
            uniqueKeysWithValues: names.map { name in (name, file.value(name).map { .value($0) } ?? .unset) })
    }

    public func write(_ settings: Settings) throws(PlaceError) {
        for (name, setting) in settings {
            guard KDEPlace.keys.contains(name) else { throw UnfitValue(name: "(a key)", place: path).placeError }
            guard case .value(let value) = setting else { continue }
            guard value.utf8.allSatisfy({ $0 >= 0x20 && $0 != 0x7F }) else {
                throw UnfitValue(name: name, place: path).placeError
            }
        }
        for place in [path] + systemDirectories.map({ "\($0)/kioslaverc" }) {
            guard !KDEFile(try contents(place)).isFrozen(settings.keys) else {
                throw .failed(
                    "\(place) is marked as immutable ([$i]): KDE takes no other proxy; leave \"kde\" out of the rule's "
                        + "targets")
            }
        }
        let before = try contents(path)
        var file = KDEFile(before)
        for (name, setting) in settings.sorted(by: { $0.key < $1.key }) {
            if case .value(let value) = setting { file.set(name, to: value) } else { file.set(name, to: nil) }
        }
        if file.text != before { try replace(file.text) }
        do throws(BusError) {
            try bus?.emit("/KIO/Scheduler", "org.kde.KIO.Scheduler", "reparseSlaveConfiguration", [.text("")])
        } catch {
            throw error.placeError("\(path) is written, but programs that run hear of it when they start anew", "them")
        }
    }

    private func contents(_ path: String) throws(PlaceError) -> String {
        let octets: [UInt8]
        do throws(SystemError) {
            octets = try Files.read(path, limit: KDEPlace.limit)
        } catch {
            if error.code == ENOENT { return "" }
            throw .failed(error.description)
        }
        let text = String(decoding: octets, as: UTF8.self)
        guard text.utf8.elementsEqual(octets) else {
            throw .failed("\(path) is not UTF-8 and was left alone; KDE's settings can write it anew")
        }
        return text
    }

    public func tidy() { Files.tidy(target) }

    /// Where a link leads, as dotfiles are kept elsewhere.
    private var target: String {
        guard let resolved = unsafe realpath(path, nil) else { return path }
        defer { unsafe free(resolved) }
        return unsafe String(cString: resolved)
    }

    /// The file that a link leads to is replaced. It keeps its mode.
    private func replace(_ text: String) throws(PlaceError) {
        do throws(SystemError) {
            if !Files.exists(directory) { try Files.makeDirectory(directory, mode: 0o700) }
            let target = target
            var information = stat()
            let mode = unsafe stat(target, &information) == 0 ? information.st_mode & 0o777 : 0o600
            // Behind a link, an empty file is less than a link that leads nowhere.
            if text.isEmpty, target == path {
                if unsafe unlink(target) != 0, errno != ENOENT { throw SystemError("unlink", target) }
            } else {
                try Files.replace(target, with: Array(text.utf8), mode: UInt32(mode), isLasting: true)
            }
        } catch {
            throw .failed(error.description)
        }
    }
}
