import Foundation
import Glibc
import Platform
import ProbeProtocol
import Probing
import Testing

extension ProbingTests {
    /// The prober and a service manager's socket.
    @Suite(.serialized) struct SocketTests {
        private let pin: SPKIPin
        private let scratch: Scratch

        init() throws {
            pin = try #require(Identity.elliptic).pin
            scratch = try Scratch()
            chmod(scratch.path, 0o755)
        }

        /// A helper that would be spawned answers `refused`.
        private var paths: ProbePaths {
            get throws {
                var paths = ProbePaths.helper(
                    try scratch.script("fallback", "#!/bin/sh\ncat >&2; echo '{\"outcome\":\"refused\"}'\n"))
                paths.socket = "\(scratch.path)/probe.sock"
                return paths
            }
        }

        /// Serves the socket with a closure for each connection, on a thread of its own.
        private func serve(_ answer: @escaping @Sendable (Int32) -> Void) throws -> Closing {
            let listener = try UnixSocket.listen(at: "\(scratch.path)/probe.sock", mode: 0o600).release()
            _ = fcntl(listener, F_SETFL, 0)
            Thread.detachNewThread {
                while true {
                    let connection = accept(listener, nil, nil)
                    guard connection >= 0 else { return }
                    answer(connection)
                    close(connection)
                }
            }
            return Closing(descriptor: listener)
        }

        private final class Closing {
            let descriptor: Int32
            init(descriptor: Int32) { self.descriptor = descriptor }
            deinit {
                shutdown(descriptor, Int32(SHUT_RDWR))
                close(descriptor)
            }
        }

        private static let isRoot = geteuid() == 0

        /// The real helper under the real socket activation.
        @Test(
            .enabled(if: isRoot && access("/usr/bin/systemd-socket-activate", X_OK) == 0, "takes root and systemd"))
        func worksBehindTheServiceManager() throws {
            let identity = try #require(Identity.elliptic)
            let server = try TLSServer(identity)
            let paths = try paths
            let activator = Process()
            activator.executableURL = URL(fileURLWithPath: "/usr/bin/systemd-socket-activate")
            activator.arguments = ["--accept", "--inetd", "--listen=\(paths.socket)", ProbePaths.spawning.helper]
            activator.standardError = FileHandle.nullDevice
            try activator.run()
            defer {
                kill(activator.processIdentifier, SIGKILL)
                activator.waitUntilExit()
            }
            let stage = try Stage(paths: paths)
            stage.play { access(paths.socket, F_OK) == 0 && (try? UnixSocket.connect(to: paths.socket)) != nil }
            for _ in 0..<3 {
                #expect(try Stage.outcome(of: .local(server.port, identity.pin), paths: paths) == .proven(identity.pin))
            }
        }

        @Test(.enabled(if: isRoot, "takes root")) func asksWhoeverRootLetListen() throws {
            let line = ProbeAnswer.proven(pin).line
            let closing = try serve { connection in
                var request: [UInt8] = []
                var buffer = [UInt8](repeating: 0, count: 4_096)
                while case let count = read(connection, &buffer, buffer.count), count > 0 {
                    request += buffer[..<count]
                }
                // Up to the end of the stream: the request is whole.
                if ProbeRequest(line: request) != nil { Listener.send(line, to: connection) }
            }
            let outcome = try withExtendedLifetime(closing) {
                try Stage.outcome(of: .local(443, pin), paths: paths)
            }
            #expect(outcome == .proven(pin))
        }

        @Test(.enabled(if: isRoot, "takes root")) func givesUpOnAServiceThatDoesNotAnswer() throws {
            let hangs = try serve {
                Listener.waitForEnd($0); sleepUntilGone($0)
            }
            let late = try withExtendedLifetime(hangs) {
                try Stage.result(of: .local(443, pin, timeout: 300_000), paths: paths)
            }
            #expect(late.outcome == .timedOut)
            #expect((0.4...1.0).contains(late.duration))
            let closes = try serve { _ in }
            let none = try withExtendedLifetime(closes) { try Stage.outcome(of: .local(443, pin), paths: paths) }
            #expect(none.failure != nil, "\(none)")
            let talks = try serve { Listener.send([UInt8](repeating: 0x20, count: 1 << 20), to: $0) }
            let much = try withExtendedLifetime(talks) { try Stage.outcome(of: .local(443, pin), paths: paths) }
            #expect(much.failure == "the helper said too much")
        }

        @Test func spawnsWhereNobodyListens() throws {
            let paths = try paths
            #expect(try Stage.outcome(of: .local(443, pin), paths: paths) == .refused)
            // A socket that somebody left behind.
            _ = try UnixSocket.listen(at: paths.socket, mode: 0o600)
            #expect(access(paths.socket, F_OK) == 0)
            #expect(try Stage.outcome(of: .local(443, pin), paths: paths) == .refused)
        }

        /// Another user who got hold of the path would say what he likes.
        @Test(.enabled(if: isRoot, "takes root")) func asksNobodyElse() throws {
            let paths = try paths
            let listener = try UnixSocket.listen(at: paths.socket, mode: 0o666)
            // Who listens is noted by the last listen(2).
            let impostor = Process()
            impostor.executableURL = URL(fileURLWithPath: "/usr/bin/setpriv")
            impostor.arguments = [
                "--reuid", "65534", "--clear-groups", "/usr/bin/python3", "-c",
                """
                import socket, sys
                listener = socket.socket(fileno=0)
                listener.setblocking(True)
                listener.listen(8)
                print("ready", flush=True)
                while True:
                    connection, _ = listener.accept()
                    connection.sendall(\(literal(ProbeAnswer.proven(pin).line)))
                    connection.close()
                """,
            ]
            let ready = Pipe()
            impostor.standardOutput = ready
            impostor.standardInput = FileHandle(fileDescriptor: listener.rawValue, closeOnDealloc: false)
            try impostor.run()
            defer {
                kill(impostor.processIdentifier, SIGKILL)
                impostor.waitUntilExit()
            }
            _ = try ready.fileHandleForReading.read(upToCount: 1)
            let connection = try UnixSocket.connect(to: paths.socket)
            #expect(try UnixSocket.peer(of: connection.rawValue).user == 65_534)
            #expect(try Stage.outcome(of: .local(443, pin), paths: paths) == .refused)
        }

        private func literal(_ octets: [UInt8]) -> String {
            "bytes([" + octets.map(String.init).joined(separator: ",") + "])"
        }
    }
}

/// Returns when the peer closed its end in both directions.
private func sleepUntilGone(_ connection: Int32) {
    var entry = pollfd(fd: connection, events: 0, revents: 0)
    _ = poll(&entry, 1, 10_000)
}
