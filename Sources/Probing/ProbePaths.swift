internal import Glibc

/// Where the helper is found.
public struct ProbePaths: Hashable, Sendable {
    /// Of the service manager, which starts a helper in a sandbox of its own for each connection.
    public var socket = "/run/vicinity-probe.sock"
    /// The program, started by ourselves where nobody listens there: the one beside this program, else the installed
    /// one.
    public var helper: String

    /// Of the bus on which systemd-resolved is asked; nil: the system's.
    public var bus: String?

    public init() {
        let installed = "/usr/libexec/vicinity-probe"
        var buffer = [CChar](repeating: 0, count: Int(PATH_MAX))
        let count = unsafe readlink("/proc/self/exe", &buffer, buffer.count)
        let octets = buffer.prefix(max(count, 0)).map { UInt8(bitPattern: $0) }
        helper = installed
        guard let slash = octets.lastIndex(of: UInt8(ascii: "/")) else { return }
        let beside = String(decoding: octets[...slash], as: UTF8.self) + "vicinity-probe"
        if unsafe access(beside, X_OK) == 0 { helper = beside }
    }
}
