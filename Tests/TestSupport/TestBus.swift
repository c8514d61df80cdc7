import Foundation
import Glibc
import SystemBus

/// A bus daemon of the test's own, that anybody may do anything on; packaging/install-build-dependencies installs it.
public final class TestBus: @unchecked Sendable {
    public let directory = "/tmp/vicinity-bus-\(UInt32.random(in: 0 ... .max))"
    public var address: String { "unix:path=\(directory)/socket" }
    private var daemon = Process()

    /// - Parameters:
    ///   - policy: what nobody may do here.
    ///   - prepare: given the directory, before the daemon starts.
    public init(denying policy: String = "", _ prepare: (String) throws -> Void = { _ in }) throws {
        try FileManager.default.createDirectory(
            atPath: directory, withIntermediateDirectories: false, attributes: [.posixPermissions: 0o755])
        try """
        <busconfig><type>system</type><listen>\(address)</listen><auth>EXTERNAL</auth>
        <policy context="default"><allow send_destination="*"/><allow receive_sender="*"/><allow own="*"/>
        <allow user="*"/>\(policy)</policy></busconfig>
        """.write(toFile: directory + "/bus.conf", atomically: true, encoding: .utf8)
        try prepare(directory)
        try start()
    }

    /// As `init`, on none of the threads that an actor of the caller's lives on: it takes a while.
    public static func started() async throws -> TestBus { try TestBus() }

    /// As `start`, likewise.
    public func restart() async throws { try start() }

    deinit {
        end()
        try? FileManager.default.removeItem(atPath: directory)
    }

    /// Starts the daemon, once more after it died, and returns when it listens.
    public func start() throws {
        let ready = Pipe()
        daemon = Process()
        daemon.executableURL = URL(fileURLWithPath: "/usr/bin/dbus-daemon")
        daemon.arguments = ["--config-file=\(directory)/bus.conf", "--nofork", "--print-address=1"]
        daemon.standardOutput = ready
        try daemon.run()
        _ = try ready.fileHandleForReading.read(upToCount: 1)
    }

    /// The daemon dies.
    public func end() {
        // Foundation starts it with SIGTERM blocked.
        kill(daemon.processIdentifier, SIGKILL)
        daemon.waitUntilExit()
    }
}
