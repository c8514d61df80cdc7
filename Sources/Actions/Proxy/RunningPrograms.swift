internal import Glibc
internal import Platform

/// Programs that run, by the variables that they were started with: what changes afterwards they do not see.
struct RunningPrograms: Hashable, Sendable {
    /// Those whose variables can be read, proc(5).
    private(set) var count = 0
    /// Of these, those that have other ones.
    private(set) var others = 0

    /// Somebody's login is no daemon's.
    private static let firstLogin: UInt32 = 1_000
    private static let limit = 1 << 20

    /// - Parameters:
    ///   - user: whose programs; nil for those of everybody who logs in.
    ///   - wanted: the variables that a program started now would have; empty ones are none.
    init(of user: UInt32?, without wanted: [String: String], in directory: String = "/proc") {
        let wanted = wanted.filter { !$0.value.isEmpty }
        for name in Files.names(in: directory) where name.utf8.allSatisfy({ (0x30...0x39).contains($0) }) {
            var information = stat()
            guard unsafe stat("\(directory)/\(name)", &information) == 0,
                user.map({ $0 == information.st_uid }) ?? (information.st_uid >= RunningPrograms.firstLogin),
                // The kernel's own have none.
                let environment = try? Files.read("\(directory)/\(name)/environ", limit: RunningPrograms.limit),
                !environment.isEmpty
            else { continue }
            count += 1
            if RunningPrograms.proxies(in: environment) != wanted { others += 1 }
        }
    }

    private static func proxies(in environment: [UInt8]) -> [String: String] {
        var found: [String: String] = [:]
        for variable in environment.split(separator: 0) {
            let parts = variable.split(separator: UInt8(ascii: "="), maxSplits: 1)
            guard parts.count == 2 else { continue }
            let name = String(decoding: parts[0], as: UTF8.self)
            if ProxyVariables.names.contains(name) { found[name] = String(decoding: parts[1], as: UTF8.self) }
        }
        return found
    }
}

extension RunningPrograms: CustomStringConvertible {
    var description: String { "\(others) of \(count) programs that run, started with other variables" }
}
