import Foundation
import Glibc
import Platform
import ProbeProtocol
import Testing

/// A directory that goes with the test.
final class Scratch: Sendable {
    let path = NSTemporaryDirectory() + "probe-\(UInt64.random(in: 0 ... .max))"

    init() throws { try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true) }
    deinit { try? FileManager.default.removeItem(atPath: path) }

    /// An executable script.
    func script(_ name: String, _ text: String) throws -> String {
        let file = "\(path)/\(name)"
        try text.write(toFile: file, atomically: true, encoding: .utf8)
        chmod(file, 0o755)
        // A child of another test may hold it open for writing until it executes something: ETXTBSY. A lease is given
        // where nobody does.
        let descriptor = open(file, O_RDONLY | O_CLOEXEC)
        defer { close(descriptor) }
        for _ in 0..<1_000 where !Self.isAtRest(descriptor) { poll(nil, 0, 1) }
        return file
    }

    private static func isAtRest(_ descriptor: Int32) -> Bool {
        // F_SETLEASE of fcntl(2), which Swift's module lacks.
        fcntl(descriptor, 1_024, F_RDLCK) == 0 && fcntl(descriptor, 1_024, F_UNLCK) == 0
    }
}

/// Runs a program to its end.
@discardableResult
func run(_ arguments: String..., expecting status: Int32? = 0) throws -> String {
    let process = Process()
    let output = Pipe()
    process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
    process.arguments = arguments
    process.standardOutput = output
    process.standardError = FileHandle.nullDevice
    process.standardInput = FileHandle.nullDevice
    try process.run()
    let said = try output.fileHandleForReading.readToEnd() ?? Data()
    process.waitUntilExit()
    if let status {
        try #require(process.terminationStatus == status, "\(arguments.joined(separator: " "))")
    }
    return String(decoding: said, as: UTF8.self)
}

/// A key and a certificate for it that nobody else has signed.
struct Identity {
    static let elliptic = try? Identity("ec", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256")
    static let other = try? Identity("other", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256")
    static let rsa = try? Identity("rsa", "-newkey", "rsa:2048")
    static let edwards = try? Identity("ed", "-newkey", "ed25519")
    private static let directory: Scratch? = {
        // Nobody lets go of what is static.
        atexit { Identity.directory.map { try? FileManager.default.removeItem(atPath: $0.path) } }
        return try? Scratch()
    }()

    let certificate: String
    let key: String
    /// As `openssl` computes it.
    let pin: SPKIPin

    private init(_ name: String, _ kind: String...) throws {
        let directory = try #require(Self.directory).path
        (certificate, key) = ("\(directory)/\(name).crt", "\(directory)/\(name).key")
        let openssl = Process()
        openssl.executableURL = URL(fileURLWithPath: "/usr/bin/openssl")
        openssl.arguments =
            ["req", "-x509", "-nodes", "-days", "1", "-subj", "/CN=inside.example"] + kind
            + ["-keyout", key, "-out", certificate]
        openssl.standardError = FileHandle.nullDevice
        try openssl.run()
        openssl.waitUntilExit()
        try run("openssl", "pkey", "-in", key, "-pubout", "-outform", "DER", "-out", "\(directory)/\(name).der")
        let digest = try run("openssl", "dgst", "-sha256", "-r", "\(directory)/\(name).der")
        pin = try #require(SPKIPin(String(digest.prefix(64))))
    }
}

/// `openssl s_server`, which ends with the test.
final class TLSServer {
    let port: UInt16
    private let process = Process()
    private let output = Pipe()

    /// - Parameter prefix: what runs it, such as `nsenter --net=FILE`.
    init(
        _ identity: Identity?, on address: String = "127.0.0.1", through prefix: [String] = [], options: [String] = []
    ) throws {
        process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
        process.arguments =
            prefix + ["openssl", "s_server", "-accept", "\(address):0", "-www"]
            + (identity.map { ["-cert", $0.certificate, "-key", $0.key] } ?? ["-nocert"]) + options
        process.standardOutput = output
        process.standardError = FileHandle.nullDevice
        process.standardInput = FileHandle.nullDevice
        try process.run()
        var said = ""
        var found: UInt16?
        while found == nil, let more = try output.fileHandleForReading.read(upToCount: 1), !more.isEmpty {
            said += String(decoding: more, as: UTF8.self)
            guard said.hasSuffix("\n"), let line = said.split(separator: "\n").last, line.hasPrefix("ACCEPT") else {
                continue
            }
            found = line.split(separator: ":").last.flatMap { UInt16($0) }
        }
        port = try #require(found, "no server: \(said)")
        // It says more than the pipe holds.
        output.fileHandleForReading.readabilityHandler = { _ = $0.availableData }
    }

    convenience init(_ identity: Identity, on address: String = "127.0.0.1", _ options: String...) throws {
        try self.init(identity, on: address, options: options)
    }

    deinit {
        output.fileHandleForReading.readabilityHandler = nil
        kill(process.processIdentifier, SIGKILL)
        process.waitUntilExit()
    }
}

/// A server without TLS: each connection is given to a closure on a thread of its own.
final class Listener: @unchecked Sendable {
    let port: UInt16
    private let socket: Int32
    private let counter = Lock(0)

    /// - Parameters:
    ///   - host: the last octet of 127.0.0.…
    ///   - serve: has the connection until it returns.
    init(host: UInt32 = 1, port wanted: UInt16 = 0, _ serve: @escaping @Sendable (Int32) -> Void) throws {
        let socket = Glibc.socket(AF_INET, Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
        self.socket = socket
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_addr.s_addr = in_addr_t(0x7F00_0000 + host).bigEndian
        address.sin_port = wanted.bigEndian
        var length = socklen_t(MemoryLayout<sockaddr_in>.size)
        let isBound = withUnsafeMutablePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                bind(socket, $0, length) == 0 && listen(socket, 64) == 0 && getsockname(socket, $0, &length) == 0
            }
        }
        try #require(isBound)
        port = UInt16(bigEndian: address.sin_port)
        let counter = counter
        Thread.detachNewThread {
            while true {
                let connection = accept(socket, nil, nil)
                guard connection >= 0 else { return }
                _ = fcntl(connection, F_SETFD, FD_CLOEXEC)
                counter.withLock { $0 += 1 }
                Thread.detachNewThread {
                    serve(connection)
                    close(connection)
                }
            }
        }
    }

    var connections: Int { counter.withLock { $0 } }

    /// Nobody listens at its port any more.
    func stop() { shutdown(socket, Int32(SHUT_RDWR)) }

    deinit {
        stop()
        close(socket)
    }

    /// Returns when the peer is gone, without having said anything.
    static func waitForEnd(_ connection: Int32) {
        var buffer = [UInt8](repeating: 0, count: 4_096)
        while read(connection, &buffer, buffer.count) > 0 {}
    }

    static func send(_ octets: some Collection<UInt8>, to connection: Int32) {
        var rest = Array(octets)[...]
        while !rest.isEmpty {
            let count = rest.withUnsafeBytes { Glibc.send(connection, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL)) }
            guard count > 0 else { return }
            rest = rest.dropFirst(count)
        }
    }

    /// Connects to a port of this machine.
    static func connect(to port: UInt16) -> Int32 {
        let socket = Glibc.socket(AF_INET, Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_addr.s_addr = in_addr_t(0x7F00_0001).bigEndian
        address.sin_port = port.bigEndian
        let code = withUnsafePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                Glibc.connect(socket, $0, socklen_t(MemoryLayout<sockaddr_in>.size))
            }
        }
        if code == 0 { return socket }
        close(socket)
        return -1
    }
}

/// Stands between a client and a server and keeps what each said.
final class Relay: Sendable {
    let listener: Listener
    private let said: Lock<(client: [UInt8], server: [UInt8])>
    private let ends: DispatchSemaphore

    var port: UInt16 { listener.port }

    /// What was said until the first connection ended.
    func transcript() -> (client: [UInt8], server: [UInt8]) {
        #expect(ends.wait(timeout: .now() + 10) == .success)
        return said.withLock { $0 }
    }

    init(to port: UInt16) throws {
        let said = Lock((client: [UInt8](), server: [UInt8]()))
        let ends = DispatchSemaphore(value: 0)
        self.said = said
        self.ends = ends
        listener = try Listener { client in
            let server = Listener.connect(to: port)
            defer {
                close(server)
                ends.signal()
            }
            var buffer = [UInt8](repeating: 0, count: 65_536)
            while true {
                var entries = [
                    pollfd(fd: client, events: Int16(POLLIN), revents: 0),
                    pollfd(fd: server, events: Int16(POLLIN), revents: 0),
                ]
                guard poll(&entries, 2, 10_000) > 0 else { return }
                let isClient = entries[0].revents != 0
                let count = read(isClient ? client : server, &buffer, buffer.count)
                guard count > 0 else { return }
                said.withLock { said in
                    if isClient { said.client += buffer[..<count] } else { said.server += buffer[..<count] }
                }
                Listener.send(buffer[..<count], to: isClient ? server : client)
            }
        }
    }
}
