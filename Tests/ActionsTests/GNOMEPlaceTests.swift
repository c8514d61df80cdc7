@testable import Actions
import Foundation
import Platform
@testable import Rules
import TestSupport
import Testing

/// With dconf itself on a bus of the test's own; packaging/install-build-dependencies installs both.
@Suite(
    .serialized,
    .enabled(if: FileManager.default.isExecutableFile(atPath: "/usr/bin/dconf"), "dconf-cli is not installed"))
struct GNOMEPlaceTests {
    final class Session {
        let root: ProxyRoot
        let daemon = Process()
        var variables: [String]
        let address: String

        init() throws {
            root = try ProxyRoot()
            address = "unix:path=\(root.path)/bus/socket"
            let ready = Pipe()
            daemon.executableURL = URL(fileURLWithPath: "/usr/bin/dbus-daemon")
            daemon.arguments = ["--session", "--address=\(address)", "--nofork", "--print-address=1", "--nopidfile"]
            daemon.environment = [
                "HOME": "\(root.path)/home", "XDG_RUNTIME_DIR": "\(root.path)/run", "PATH": "/usr/bin:/bin",
            ]
            daemon.standardOutput = ready
            daemon.standardError = FileHandle.nullDevice
            variables = [
                "HOME=\(root.path)/home", "XDG_RUNTIME_DIR=\(root.path)/run", "DBUS_SESSION_BUS_ADDRESS=\(address)",
            ]
            try daemon.run()
            _ = try ready.fileHandleForReading.read(upToCount: 1)
        }

        deinit {
            kill(daemon.processIdentifier, SIGKILL)
            daemon.waitUntilExit()
        }

        func dconf(_ arguments: String...) throws -> String {
            let pairs = variables.map { $0.split(separator: "=", maxSplits: 1).map(String.init) }
            return try root.output(
                ["/usr/bin/dconf"] + arguments, Dictionary(uniqueKeysWithValues: pairs.map { ($0[0], $0[1]) }))
        }
    }

    init() { #expect(ActionLoop.isRunning) }

    private func wanted(_ change: (inout StateAction.Proxy) -> Void) throws -> Settings {
        var proxy = StateAction.Proxy(mode: .manual)
        change(&proxy)
        return try #require(try proxy.wishes().first { $0.place == .gnome }?.settings)
    }

    @Test func holdsTheProxyAndGivesBackTheUsers() async throws {
        let session = try Session()
        _ = try session.dconf("write", "/system/proxy/http/host", "'mine'")
        _ = try session.dconf("write", "/system/proxy/ignore-hosts", "@as []")
        let before = try session.dconf("dump", "/system/proxy/")
        let wanted = try wanted {
            $0.http = "http://proxy.example:3128"
            $0.exclusions = ["localhost", ".corp.example"]
        }
        let place = await GNOMEPlace(variables: session.variables)
        let saved = try #require(try await place.read(Set(wanted.keys)))
        try await place.write(wanted)
        #expect(try await place.read(Set(wanted.keys)) == wanted)
        #expect(try session.dconf("read", "/system/proxy/ignore-hosts") == "['localhost', '.corp.example']\n")
        #expect(try session.dconf("read", "/system/proxy/mode") == "'manual'\n")
        try await place.write(saved)
        #expect(try session.dconf("dump", "/system/proxy/") == before)
    }

    private static let libproxy = "/usr/lib/x86_64-linux-gnu/libproxy/0.4.18/modules/config_gnome3.so"

    /// Another reader than dconf.
    @Test(
        .enabled(
            if: [libproxy, "/usr/bin/proxy"].allSatisfy(FileManager.default.fileExists(atPath:)),
            "libproxy-tools and its plugin for GNOME are not installed"))
    func libproxyAgrees() async throws {
        let session = try Session()
        let place = await GNOMEPlace(variables: session.variables)
        func said(_ url: String) throws -> String {
            let pairs = session.variables.map { $0.split(separator: "=", maxSplits: 1).map(String.init) }
            return try session.root.output(
                ["/usr/bin/proxy", url],
                Dictionary(uniqueKeysWithValues: pairs.map { ($0[0], $0[1]) }).merging(["DESKTOP_SESSION": "gnome"]) {
                    $1
                })
        }
        try await place.write(
            try wanted {
                $0.http = "http://proxy.example:3128"
                $0.exclusions = ["nas.example", "*.corp.example", "10.0.0.0/8"]
            })
        #expect(try said("http://www.example/") == "http://proxy.example:3128\n")
        for url in ["http://nas.example/", "http://a.corp.example/", "http://10.1.2.3/", "https://www.example/"] {
            #expect(try said(url) == "direct://\n", "\(url)")
        }
        try await place.write(try wanted { $0.mode = .none })
        #expect(try said("http://www.example/") == "direct://\n")
        try await place.write(
            try wanted {
                $0.mode = .pac
                $0.pac = "http://pac.example/a.pac"
            })
        let held = try await place.read(["mode", "autoconfig-url"])
        #expect(held == ["mode": .value("'auto'"), "autoconfig-url": .value("'http://pac.example/a.pac'")])
    }

    @Test func withoutABusNothingIsClaimed() async throws {
        let session = try Session()
        let wanted = try wanted { $0.http = "http://proxy.example:3128" }
        let place = await GNOMEPlace(variables: ["HOME=\(session.root.path)/home", "XDG_RUNTIME_DIR=/nonexistent"])
        await #expect(throws: PlaceError.self) { try await place.write(wanted) }
    }

    @Test func lockedKeysAndWhatAnAdministratorGave() async throws {
        let session = try Session()
        let root = session.root.path
        try FileManager.default.createDirectory(atPath: "\(root)/site.d/locks", withIntermediateDirectories: true)
        try "[system/proxy]\nmode='auto'\n".write(toFile: "\(root)/site.d/00", atomically: true, encoding: .utf8)
        try "/system/proxy/mode\n".write(toFile: "\(root)/site.d/locks/l", atomically: true, encoding: .utf8)
        _ = try session.dconf("compile", "\(root)/site", "\(root)/site.d")
        try "user-db:user\nfile-db:\(root)/site\n".write(toFile: "\(root)/profile", atomically: true, encoding: .utf8)
        session.variables.append("DCONF_PROFILE=\(root)/profile")
        let place = await GNOMEPlace(variables: session.variables, profile: "\(root)/profile")
        // The administrator's value is not the user's.
        #expect(try session.dconf("read", "/system/proxy/mode") == "'auto'\n")
        #expect(try await place.read(["mode"]) == ["mode": .unset])
        let wanted = try wanted { $0.http = "http://proxy.example:3128" }
        do {
            try await place.write(wanted)
            Issue.record("written")
        } catch {
            #expect("\(error)".contains("locked"))
        }
        #expect(try session.dconf("read", "/system/proxy/http/host") == "")
    }
}
