internal import CSystemd
internal import Glibc
internal import Platform

/// What is told to the service manager, sd_notify(3), and what it hands over, sd_listen_fds(3); nothing where there is
/// none.
enum ServiceManager {
    static func ready(_ status: String) { notify("READY=1\nSTATUS=\(status)") }
    /// Until `ready`, sd_notify(3).
    static func reloading() { notify("RELOADING=1\nMONOTONIC_USEC=\(monotonicTime)") }
    static func isAlive() { notify("WATCHDOG=1") }
    static func stopping() { notify("STOPPING=1") }

    /// How long the service manager waits for `isAlive` (µs); nil where it does not.
    static var watchdogLimit: Int64? {
        var limit: UInt64 = 0
        return unsafe sd_watchdog_enabled(0, &limit) > 0 ? Int64(clamping: limit) : nil
    }

    private static var monotonicTime: Int64 {
        var time = timespec()
        unsafe clock_gettime(CLOCK_MONOTONIC, &time)
        return Int64(time.tv_sec) * 1_000_000 + Int64(time.tv_nsec) / 1_000
    }

    // MARK: What it keeps for the next life

    /// Has a descriptor kept as long as the unit is not stopped for good, `FDSTORE=1` of sd_pid_notify_with_fds(3).
    static func keep(_ descriptor: Int32, as name: String) {
        // Nothing happens on a file in memory that could be waited for.
        _ = unsafe sd_pid_notify_with_fds(0, 0, "FDSTORE=1\nFDPOLL=0\nFDNAME=\(name)", [descriptor], 1)
    }

    static func letGo(of name: String) { notify("FDSTOREREMOVE=1\nFDNAME=\(name)") }

    struct Passed {
        let name: String
        let descriptor: Int32
    }

    /// What was handed over at the start, ours from now on. Found out once: of a descriptor that has been closed since,
    /// sd_listen_fds(3) says that nothing was.
    static let passed: [Passed] = {
        var names: UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>?
        let count = unsafe Int(sd_listen_fds_with_names(0, &names))
        guard count > 0, let names = unsafe names else { return [] }
        defer {
            for place in 0..<count { unsafe free(names[place]) }
            unsafe free(names)
        }
        return (0..<count).map { place in
            Passed(
                name: unsafe names[place].map { unsafe String(cString: $0) } ?? "",
                descriptor: SD_LISTEN_FDS_START + Int32(place))
        }
    }()

    private static func notify(_ state: String) { _ = unsafe sd_notify(0, state) }

    /// A stream socket at this path that everybody may connect to: the service manager's, in whose root-owned directory
    /// we could not make one, else our own.
    static func listener(at path: String) throws(SystemError) -> FileDescriptor {
        for descriptor in passed.map(\.descriptor)
        where unsafe sd_is_socket_unix(descriptor, streamType, 1, path, 0) > 0 {
            try SystemError.check("fcntl", path) { fcntl(descriptor, F_SETFL, O_NONBLOCK) }
            // Whoever connects sees who listened last: not the service manager, who is root, but this process.
            try SystemError.check("listen", path) { listen(descriptor, 128) }
            return FileDescriptor(owning: descriptor)
        }
        return try UnixSocket.listen(at: path, mode: 0o666)
    }

    private static let streamType = Int32(SOCK_STREAM.rawValue)
}
