import ActionProtocol
import Foundation
import Glibc
import Platform

/// A machine of the test's own as far as `vicinity-act` can tell: /run, APT's drop-ins and nftables are in namespaces that
/// end with it, so that the unchanged program runs with its usual paths and touches nothing of this one.
final class PrivateMachine {
    struct Impossible: Error {}

    static let isPossible: Bool = {
        guard getuid() == 0, let machine = try? PrivateMachine() else { return false }
        return machine.status(["/usr/bin/strace", "-f", "-o", "/dev/null", "/bin/true"]) == 0
    }()

    static let program = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
        .deletingLastPathComponent().deletingLastPathComponent().appendingPathComponent(".build/debug/vicinity-act")
        .path

    /// Directories whose files matter.
    static let places = ["/run/environment.d", "/run/vicinity", "/etc/apt/apt.conf.d"]
    static let state = "/run/act"
    static let socket = "/run/vicinity-act.sock"
    /// Root is not the agent, as where it is installed.
    static let agent: (name: String, user: UInt32) = ("nobody", 65_534)
    private static let options = ["--config", "/run/rules", "--state-directory", state, "--agent-user", agent.name]
    private static let log = "/run/log"

    private static let setup = """
        set -e
        mount -t tmpfs -o mode=755 tmpfs /run
        mount -t tmpfs -o mode=755 tmpfs /etc/apt/apt.conf.d
        mkdir -p /run/vicinity /run/environment.d /run/rules/rules.d
        if nft add table inet filter && nft add set inet filter trusted '{ type ifname; }'; then echo nft; else echo none; fi
        exec cat
        """

    /// Keeps the namespaces, until this process has gone at the latest.
    private let keeper: Child
    private let input = Pipe()
    /// Whether it has nftables.
    let hasSets: Bool

    init() throws {
        let output = Pipe()
        keeper = try Child(
            ["/usr/bin/unshare", "--mount", "--net", "/bin/sh", "-c", PrivateMachine.setup],
            input: input.fileHandleForReading.fileDescriptor, output: output.fileHandleForWriting.fileDescriptor)
        try? output.fileHandleForWriting.close()
        let word = String(decoding: output.fileHandleForReading.availableData, as: UTF8.self)
        hasSets = word == "nft\n"
        guard !word.isEmpty else { throw Impossible() }
    }

    // MARK: Files

    /// Where a file of it is seen from outside.
    func outside(_ path: String) -> String { "/proc/\(keeper.identifier)/root\(path)" }

    func write(_ path: String, _ text: String) throws {
        try Files.replace(outside(path), with: Array(text.utf8), mode: 0o644)
    }

    func read(_ path: String) -> String? {
        (try? Files.read(outside(path), limit: 1 << 20)).map { String(decoding: $0, as: UTF8.self) }
    }

    /// What files there are, by their path, and what is in them.
    func files(in directories: [String] = places) -> [String: String] {
        var files: [String: String] = [:]
        for directory in directories {
            for name in Files.names(in: outside(directory)) {
                let path = "\(directory)/\(name)"
                files[path] = read(path)
            }
        }
        return files
    }

    /// Everything that a program finds when it starts, to be found again by another one.
    struct Memory {
        fileprivate var files: [String: String]
        fileprivate var hasElement: Bool
    }

    func remember() -> Memory {
        Memory(files: files(in: PrivateMachine.places + [PrivateMachine.state]), hasElement: hasElement)
    }

    func restore(_ memory: Memory) throws {
        for path in files(in: PrivateMachine.places + [PrivateMachine.state]).keys where memory.files[path] == nil {
            unlink(outside(path))
        }
        for (path, text) in memory.files where read(path) != text { try write(path, text) }
        guard memory.hasElement != hasElement else { return }
        _ = status(
            ["/usr/sbin/nft", memory.hasElement ? "add" : "delete", "element inet filter trusted { \(Self.element) }"])
    }

    /// What a rule puts into the set.
    static let element = "lo"

    var hasElement: Bool {
        guard hasSets else { return false }
        return status(["/usr/sbin/nft", "get", "element inet filter trusted { \(Self.element) }"]) == 0
    }

    /// What helpers have logged.
    var log: String { read(PrivateMachine.log) ?? "" }
    func forgetLog() { unlink(outside(PrivateMachine.log)) }

    // MARK: Programs

    /// A program on that machine.
    func start(_ arguments: [String]) throws -> Child {
        let own = "/proc/\(keeper.identifier)/ns"
        let log = FileDescriptor(
            owning: open(outside(PrivateMachine.log), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0o600))
        return try Child(
            ["/usr/bin/nsenter", "--mount=\(own)/mnt", "--net=\(own)/net", "--"] + arguments, errors: log.rawValue)
    }

    /// Its exit status.
    func status(_ arguments: [String]) -> Int32? { (try? start(arguments))?.status }

    /// Of a `vicinity-act` that serves nobody.
    func act(_ arguments: [String]) -> Int32? { (try? startAct(arguments))?.status }

    func startAct(_ arguments: [String]) throws -> Child {
        try start([PrivateMachine.program] + PrivateMachine.options + arguments)
    }

    /// A `vicinity-act` that serves.
    ///
    /// - Parameter tracer: strace and its options; empty for none.
    func helper(_ arguments: [String] = [], under tracer: [String] = []) throws -> ServingHelper {
        unlink(outside(PrivateMachine.socket))
        return ServingHelper(
            try start(tracer + [PrivateMachine.program] + PrivateMachine.options + arguments),
            at: outside(PrivateMachine.socket))
    }
}

/// A running `vicinity-act`, ended and reaped with this object.
final class ServingHelper {
    private let process: Child
    private let socket: String

    /// How often it is looked for its socket (µs).
    private static let pause: UInt32 = 1_000

    init(_ process: Child, at socket: String) { (self.process, self.socket) = (process, socket) }

    deinit { kill() }

    /// Connects as soon as there is somebody to connect to; nil where it has ended.
    func connect() -> HelperConnection? {
        repeat {
            if let connection = try? UnixSocket.connect(to: socket) { return HelperConnection(connection) }
            usleep(ServingHelper.pause)
        } while process.isRunning
        return nil
    }

    /// Ends it, and waits until it is gone. A tracer ends with it, and would leave it alone if it were killed itself.
    func kill(_ signal: Int32 = SIGKILL) {
        guard process.isRunning else { return }
        let own = "/proc/\(process.identifier)"
        func text(_ path: String) -> String? {
            (try? Files.read(path, limit: 256)).map { String(decoding: $0, as: UTF8.self) }
        }
        let children = text("\(own)/task/\(process.identifier)/children")?.split(separator: " ").first
        let traced = text("\(own)/comm") == "strace\n" ? children.flatMap { Int32($0) } : nil
        _ = Glibc.kill(traced ?? process.identifier, signal)
        _ = process.status
    }

    /// Of one that nobody traces.
    func signal(_ number: Int32) { _ = Glibc.kill(process.identifier, number) }

    /// The exit status; nil where a signal ended it.
    var status: Int32? { process.status }
    var isRunning: Bool { process.isRunning }
}

/// What an agent has in its hands.
final class HelperConnection {
    private let connection: FileDescriptor
    private var reader: LineReader

    /// How long it waits for an answer (s).
    private static let limit = 20

    init(_ connection: consuming FileDescriptor) {
        // What is sent may be more than the socket takes at once.
        _ = fcntl(connection.rawValue, F_SETFL, 0)
        UnixSocket.limitWaiting(connection.rawValue, seconds: HelperConnection.limit)
        reader = LineReader(connection.rawValue, maximumLine: HelperReport.maximumSize)
        self.connection = connection
    }

    var process: Int32? { (try? UnixSocket.peer(of: connection.rawValue))?.process }

    func send(_ octets: [UInt8]) {
        var rest = octets[...]
        while !rest.isEmpty {
            let count = rest.withUnsafeBytes {
                Glibc.send(connection.rawValue, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL))
            }
            guard count > 0 else { return }
            rest = rest.dropFirst(count)
        }
    }

    func ask(_ request: HelperRequest) { send(request.line) }

    /// Nil when the other side has hung up, or says nothing in time.
    func next() -> HelperReport? { reader.next().flatMap { HelperReport(line: $0) } }
    var isHungUpOn: Bool { reader.next() == nil && reader.hasEnded }

    /// What is told until everything has been tried; nil where the other side ended before.
    func hold(_ digest: String, _ rules: [String]) -> [HelperReport]? {
        ask(
            .hold(
                pass: 1, digest: digest,
                rules.map { NamedState(rule: $0, index: 0, record: EventRecord(event: "rule.activated")) }))
        var reports: [HelperReport] = []
        while let report = next() {
            if report == .settled(pass: 1) { return reports }
            reports.append(report)
        }
        return nil
    }

    /// Of the rules as the helper reads them.
    func digest() -> String? {
        ask(.hold(pass: 1, digest: String(repeating: "0", count: 64), []))
        if case .outdated(let digest, _)? = next() { return digest }
        return nil
    }
}
