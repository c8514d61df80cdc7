import ActionProtocol
import Foundation
import Glibc
import Platform
import SystemBus
import TestSupport
import Testing

@testable import Acting
@testable import Actions

/// A machine with a `vicinity-act`, PAM's files and accounts of its own, a logind, and whoever starts `vicinity-factor`.
/// The test is the agent, and the person's session.
final class AskingStage {
    static let service = """
        auth required pam_oath.so usersfile=/etc/users.oath window=2 digits=6
        account required pam_permit.so

        """
    private static let secret = "3132333435363738393031323334353637383930"

    static let isPossible =
        Files.exists("/usr/bin/oathtool") && Files.exists(factor)
        && Files.exists("/usr/lib/x86_64-linux-gnu/security/pam_oath.so")

    private static let build = URL(fileURLWithPath: PrivateMachine.program).deletingLastPathComponent().path
    private static let factor = "\(build)/vicinity-factor"

    private static let rules = """
        [network.office]
        ssid = ["Corp-Staff"]
        security = ["wpa2-enterprise"]
        [rule.work]
        on = "office"
        second-factor = { message = "Confirm" }
        enter = [{ command = ["/bin/true"] }]
        """

    /// What the service manager does for a socket with Accept=yes.
    private static let manager = """
        import socket, subprocess
        listener = socket.socket(socket.AF_UNIX)
        listener.bind("/run/vicinity-factor.sock")
        listener.listen()
        while True:
            connection, _ = listener.accept()
            subprocess.Popen(["\(factor)"], stdin=connection)
            connection.close()
        """

    struct Session {
        var kind = "user"
        var type = "wayland"
        var isRemote = false
        var isLocked = false
    }

    let machine: PrivateMachine
    let digest: String
    private let bus: TestBus
    private let login: FakeService
    private let session = Lock(Session())
    private let factors: Child
    private let act: ServingHelper
    private var connection: HelperConnection?
    private let directory: String
    private let dialogues: SessionDialogues

    /// What `vicinity-act` has told the agent.
    private(set) var said = ""

    init() throws {
        let bus = try TestBus()
        self.bus = bus
        directory = bus.directory
        let shown = session
        login = try FakeService("org.freedesktop.login1", at: bus.address) { call in
            let session = shown.withLock { $0 }
            switch (call.member, call.path) {
            case ("Get", "/org/freedesktop/login1/seat/seat0"):
                return .value(.variant(.structure([.text("2"), .path("/session")])))
            case ("GetAll", "/session"):
                return .value(
                    .properties([
                        "Id": .text("2"), "User": .structure([.unsigned(0), .path("/user")]),
                        "Class": .text(session.kind), "Type": .text(session.type), "Remote": .flag(session.isRemote),
                        "Active": .flag(true), "LockedHint": .flag(session.isLocked),
                    ]))
            default: return .unknown
            }
        }
        machine = try PrivateMachine()
        let own = """
            set -e
            mount -t tmpfs -o mode=755 tmpfs /mnt && cp -a /etc /mnt/etc && mount --bind /mnt/etc /etc
            mkdir -p /run/systemd/ask-password
            echo 'HOTP root - \(AskingStage.secret) 0' > /etc/users.oath && chmod 600 /etc/users.oath
            """
        #expect(machine.status(["/bin/sh", "-c", own]) == 0)
        try machine.write("/run/rules/rules.d/a.toml", AskingStage.rules)
        try machine.write("/etc/pam.d/vicinity", AskingStage.service)
        factors = try machine.start(["/usr/bin/python3", "-c", AskingStage.manager])
        act = try machine.helper(under: ["/usr/bin/env", "DBUS_SYSTEM_BUS_ADDRESS=\(bus.address)"])
        let agent = try #require(act.connect())
        connection = agent
        digest = try #require(agent.digest())
        let (socket, program) = (machine.outside("/run/vicinity-dialogue.sock"), "\(bus.directory)/pinentry")
        dialogues = AskingStage.onLoop { SessionDialogues(at: socket, program, by: PinentryProcess()) }
        let path = machine.outside("/run/vicinity-factor.sock")
        #expect(eventually { Files.exists(path) })
    }

    deinit {
        endSession()
        login.stop()
    }

    var agent: HelperConnection {
        guard let connection else { fatalError("it has hung up") }
        return connection
    }

    var dialogue: String { machine.outside("/run/vicinity-dialogue.sock") }

    private static func onLoop<Result: Sendable>(_ body: @escaping @ActionActor @Sendable () -> Result) -> Result {
        let result = Lock<Result?>(nil)
        let done = DispatchSemaphore(value: 0)
        ActionActor.shared.loop.perform {
            let value = ActionActor.assumeIsolated { body() }
            result.withLock { $0 = value }
            done.signal()
        }
        done.wait()
        guard let value = result.withLock({ $0 }) else { fatalError("it has just been set") }
        return value
    }

    func eventually(_ condition: () -> Bool) -> Bool {
        let end = Timestamp.now().boottime + 20_000_000
        while !condition() {
            guard Timestamp.now().boottime < end else { return false }
            usleep(1_000)
        }
        return true
    }

    // MARK: What is there

    func seat(_ change: (inout Session) -> Void) { session.withLock { change(&$0) } }

    func service(_ text: String?) {
        let path = machine.outside("/etc/pam.d/vicinity")
        unlink(path)
        if let text { try? machine.write("/etc/pam.d/vicinity", text) }
    }

    func code(_ counter: Int) throws -> String {
        let (process, output) = (Process(), Pipe())
        process.executableURL = URL(fileURLWithPath: "/usr/bin/oathtool")
        process.arguments = ["--hotp", "--counter=\(counter)", AskingStage.secret]
        process.standardOutput = output
        try process.run()
        process.waitUntilExit()
        return String(decoding: output.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
            .trimmingCharacters(in: .newlines)
    }

    /// - Parameter answer: what it does when it is asked, in the words of a shell.
    func pinentry(_ answer: String) {
        let script = """
            #!/bin/sh
            echo $$ > \(directory)/process
            echo OK Pleased to meet you
            while read -r line; do
                echo "$line" >> \(directory)/heard
                case "$line" in
                GETPIN) echo . > \(directory)/asked; \(answer);;
                *) echo OK;;
                esac
            done
            """
        try? Files.replace("\(directory)/pinentry", with: Array(script.utf8), mode: 0o755)
    }

    func pinentry(code counter: Int) {
        pinentry("echo D \((try? code(counter)) ?? "none"); echo OK")
    }

    func hasNoPinentry() { unlink("\(directory)/pinentry") }

    var heard: String { text("heard") }

    private func text(_ name: String) -> String {
        (try? Files.read("\(directory)/\(name)", limit: 1 << 20)).map { String(decoding: $0, as: UTF8.self) } ?? ""
    }

    // MARK: Asking

    var factor: NamedFactor {
        NamedFactor(rule: "work", edge: .enter, index: index, network: "office", session: "2", limit: 60_000)
    }

    /// Of the second factor among the rule's actions.
    private let index = 0

    func request(_ id: UInt64) -> HelperRequest { .ask(id: id, digest: digest, factor) }

    /// What comes of it, shown where it has to be shown.
    func ask(_ id: UInt64) -> FactorAnswer? {
        agent.ask(request(id))
        return answer(id)
    }

    func answer(_ id: UInt64) -> FactorAnswer? {
        while let report = agent.next() {
            said += String(decoding: report.line, as: UTF8.self)
            switch report {
            case .dialogue(id, user: 0): show()
            case .answered(id, let answer): return answer
            default: return nil
            }
        }
        return nil
    }

    func show() {
        let dialogues = dialogues
        AskingStage.onLoop { dialogues.show() }
    }

    /// Up to where the person would answer.
    func begin(_ id: UInt64) {
        unlink("\(directory)/asked")
        agent.ask(request(id))
        #expect(agent.next() == .dialogue(id: id, user: 0))
        show()
        #expect(eventually { Files.exists("\(directory)/asked") })
    }

    /// What somebody else hears who connects before the person's session does.
    func strangerHears() -> String {
        let script = """
            import os, socket
            os.setresuid(4711, 4711, 4711)
            connection = socket.socket(socket.AF_UNIX)
            connection.connect("/run/vicinity-dialogue.sock")
            connection.settimeout(20)
            try:
                data = connection.recv(100)
            except ConnectionResetError:
                data = b""
            os._exit(len(data))
            """
        return machine.status(["/usr/bin/python3", "-c", script]) == 0 ? "" : "something"
    }

    /// As a password agent does.
    func answerOnConsole(_ answer: String) {
        let script = """
            import glob, os, socket, time
            end = time.monotonic() + 20
            while time.monotonic() < end:
                for path in glob.glob("/run/systemd/ask-password/ask.*"):
                    lines = dict(line.split("=", 1) for line in open(path).read().splitlines() if "=" in line)
                    if "Socket" in lines:
                        socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM).sendto(b"\(answer)", lines["Socket"])
                        while os.path.exists(path) and time.monotonic() < end:
                            os.sched_yield()
                        os._exit(0)
            os._exit(1)
            """
        #expect(machine.status(["/usr/bin/python3", "-c", script]) == 0)
    }

    // MARK: Ending

    func endSession() {
        let dialogues = dialogues
        AskingStage.onLoop { dialogues.end() }
    }

    func killAct() { act.kill() }

    func hangUp() { connection = nil }

    var pinentryProcess: Int32 { Int32(text("process").trimmingCharacters(in: .newlines)) ?? 0 }

    func killPinentry() { kill(pinentryProcess, SIGKILL) }

    /// A process that has ended may wait for its parent.
    func isGone(_ process: Int32) -> Bool {
        eventually {
            guard let stat = try? Files.read("/proc/\(process)/stat", limit: 4_096) else { return true }
            return String(decoding: stat, as: UTF8.self).contains(") Z ")
        }
    }

    func pinentryIsGone() -> Bool { isGone(pinentryProcess) }

    private func children(of process: Int32) -> [Int32] {
        let list = (try? Files.read("/proc/\(process)/task/\(process)/children", limit: 4_096)) ?? []
        return String(decoding: list, as: UTF8.self).split(separator: " ").compactMap { Int32($0) }
    }

    /// The `vicinity-factor`s that run.
    private var factorProcesses: [Int32] {
        children(of: factors.identifier).filter { process in
            let stat = (try? Files.read("/proc/\(process)/stat", limit: 4_096)) ?? []
            return !stat.isEmpty && !String(decoding: stat, as: UTF8.self).contains(") Z ")
        }
    }

    func killFactor() { for process in factorProcesses { kill(process, SIGKILL) } }

    func factorIsGone() -> Bool { eventually { factorProcesses.isEmpty } }
}
