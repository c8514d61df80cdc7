@testable import Actions
import Foundation
import Platform
import TestSupport
import Testing

/// A small one of its own, as long as the test holds it.
private final class Disk {
    static let isPossible: Bool = {
        guard let root = try? ProxyRoot() else { return false }
        return (try? Disk("\(root.path)/etc")) != nil
    }()

    private struct Impossible: Error {}

    let path: String

    init(_ path: String) throws {
        self.path = path
        guard try Disk.run("/bin/mount", "-t", "tmpfs", "-o", "size=4k,mode=755", "tmpfs", path) else {
            throw Impossible()
        }
    }

    deinit { _ = try? Disk.run("/bin/umount", path) }

    func fill() throws { try Files.replace("\(path)/other", with: Array(repeating: 0, count: 4_096), mode: 0o600) }
    func protect() throws { #expect(try Disk.run("/bin/mount", "-o", "remount,ro", path)) }

    private static func run(_ arguments: String...) throws -> Bool {
        let process = Process()
        process.executableURL = URL(fileURLWithPath: arguments[0])
        process.arguments = Array(arguments.dropFirst())
        process.standardError = FileHandle.nullDevice
        try process.run()
        process.waitUntilExit()
        return process.terminationStatus == 0
    }
}

/// Disks that are full or cannot be written.
@Suite(.serialized, .enabled(if: Disk.isPossible, "takes the right to mount"))
struct ProxyFaultTests {
    init() { #expect(ActionLoop.isRunning) }

    /// What is written in each, and where.
    private static let writes: [(place: PlaceName, settings: Settings, directory: String)] = [
        (.apt, [APTPlace.http: .value("DIRECT")], "etc/apt/apt.conf.d"),
        (.environment, ["http_proxy": .value("http://h:1")], "run/environment.d"),
        (.proxyFile, ["mode": .value("none")], "run/vicinity"),
        (.kde, ["ProxyType": .value("0")], "home/.config"),
    ]

    @Test(arguments: [false, true], 0..<4) @ActionActor
    func whatCannotBeWrittenIsNamed(_ isFull: Bool, _ number: Int) async throws {
        let (name, settings, directory) = ProxyFaultTests.writes[number]
        let root = try ProxyRoot()
        let path = "\(root.path)/\(directory)"
        try Files.makeDirectory(path, mode: 0o755)
        let disk = try Disk(path)
        let place: (any Place)? =
            name == .kde
            ? KDEPlace(directory: path, isDesktop: true, bus: nil) : MachineProxyPlaces(root: root.path).place(name)
        let keys = Set(settings.keys)
        if isFull { try disk.fill() } else { try disk.protect() }
        await #expect {
            try await place?.write(settings)
        } throws: { error in
            "\(error)".contains(path) && "\(error)".contains(isFull ? "No space left" : "Read-only")
        }
        let held = try await place?.read(keys)
        #expect(held == settings.mapValues { _ in .unset })
        #expect(Files.names(in: path) == (isFull ? ["other"] : []))
    }
}
