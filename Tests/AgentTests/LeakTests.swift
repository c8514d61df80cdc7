import Environment
import Feed
import Foundation
import Glibc
import Hashing
import JSON
import Netlink
import Platform
import TestSupport
import Testing
import WiFi

/// Names that nobody lists, and keys, go through everything that the agent does, and are found nowhere afterwards.
///
/// The whole agent as a process, unprivileged, in a network namespace of its own; nl80211's messages are the test's.
@Suite(.enabled(if: getuid() == 0, "takes root, for namespaces"), .serialized, .timeLimit(.minutes(3)))
struct LeakTests {
    /// Octets that no log, no file, no error and no process may have, in none of the usual forms.
    struct Canary {
        let name: String
        let octets: [UInt8]

        static let stranger = Canary(name: "unlisted", octets: Array("Canary-Stranger-7f3a".utf8))
        static let odd = Canary(
            name: "odd octets", octets: [0xFF, 0, 0x1B, 0x0A] + Array("\"Canary%n\\odd".utf8) + [0xC3])
        static let optedOut = Canary(name: "opted out", octets: Array("Canary-House_nomap".utf8))
        static let globbed = Canary(name: "by pattern", octets: Array("Globbed-Canary-51".utf8))
        static let hidden = Canary(name: "private", octets: Array("Canary-Private-9b1c".utf8))
        /// As `WPA2` makes it of a passphrase, in messages of drivers that take it.
        static let key = Canary(name: "key", octets: (0..<32).map { UInt8($0 * 7 % 251 + 3) })

        static let names = [stranger, odd, optedOut, globbed, hidden]

        /// The forms of it that are in the octets.
        func forms(in octets: [UInt8]) -> [String] {
            let data = Data(octets)
            let lowered = Data(String(decoding: octets, as: UTF8.self).lowercased().utf8)
            return forms.filter { form in
                data.range(of: Data(form.octets)) != nil || lowered.range(of: Data(form.octets)) != nil
            }.map(\.name)
        }

        private var forms: [(name: String, octets: [UInt8])] {
            let hexadecimal = octets.map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }
            var texts = [
                ("hexadecimal", hexadecimal.joined()), ("with colons", hexadecimal.joined(separator: ":")),
                ("SHA-256", SHA256.hexadecimal(octets)), ("for people", octets.displayText.lowercased()),
            ]
            for padding in 0..<3 {
                let text = Data([UInt8](repeating: 0, count: padding) + octets).base64EncodedString()
                let middle = text.dropFirst(padding == 0 ? 0 : 4).prefix((octets.count - 3) / 3 * 4)
                texts.append(("base64", String(middle)))
            }
            // The longest run that is text is what a careless escape leaves of it.
            let run = octets.split { !(0x20..<0x7F).contains($0) || $0 == 0x5C || $0 == 0x22 }.max {
                $0.count < $1.count
            }
            return [("raw", octets)] + texts.map { ($0.0, Array($0.1.utf8)) }
                + (run.map { $0.count >= 8 ? [("run", Array($0))] : [] } ?? [])
        }
    }

    /// The agent, its directories, its kernel and a journal.
    final class Stage {
        let directory = "/run/vicinity-test-\(UInt32.random(in: 0 ... .max))"
        let bus: TestBus
        let process = Process()
        private let radio = Pipe()
        private let journal: Int32
        private let received = Received()

        final class Received: Sendable {
            private let octets = Lock([UInt8]())
            func withLock<Result: Sendable>(_ body: (inout [UInt8]) -> Result) -> Result { octets.withLock(body) }
        }

        private let build = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
            .deletingLastPathComponent().appendingPathComponent(".build/debug")
        /// What commands have said, and may say nothing of.
        private(set) var said: [(words: [String], output: [UInt8])] = []

        init(rules: String, configuration: String) throws {
            bus = try TestBus()
            for (name, owner) in [
                ("", 0), ("/etc", 0), ("/etc/rules.d", 0), ("/run", 65_534), ("/state", 65_534), ("/log", 65_534),
                ("/journal", 0),
            ] as [(String, UInt32)] {
                try FileManager.default.createDirectory(
                    atPath: directory + name, withIntermediateDirectories: false, attributes: [.posixPermissions: 0o755]
                )
                chown(directory + name, owner, owner)
            }
            try rules.write(toFile: directory + "/etc/rules.d/a.toml", atomically: true, encoding: .utf8)
            try configuration.write(toFile: directory + "/etc/vicinity.toml", atomically: true, encoding: .utf8)
            for program in ["replaying-agent", "vicinity"] {
                try TestBus.copyProgram(build.path + "/" + program, to: directory)
            }
            journal = try Self.listen(at: directory + "/journal/socket")
            Self.collect(journal, into: received)
            mkdir("/run/systemd", 0o755)
            mkdir("/run/systemd/journal", 0o755)
            let output = directory + "/errors"
            #expect(FileManager.default.createFile(atPath: output, contents: nil))
            process.executableURL = URL(fileURLWithPath: "/usr/bin/unshare")
            let script = """
                mount --bind "$1/journal" /run/systemd/journal
                ip link add index 3 name wlan0 type veth peer name far index 4
                ip link set wlan0 up
                ip link set far up
                exec setpriv --reuid nobody --regid nogroup --clear-groups --no-new-privs "$1/replaying-agent" \
                    "$1/etc" "$1/run" "$1/state" "$1/log"
                """
            process.arguments = ["--net", "--mount", "sh", "-ec", script, "sh", directory]
            process.standardInput = radio
            process.standardError = FileHandle(forWritingAtPath: output)
            process.standardOutput = FileHandle(forWritingAtPath: output)
            process.environment = ProcessInfo.processInfo.environment
                .merging(["DBUS_SYSTEM_BUS_ADDRESS": bus.address, "JOURNAL_STREAM": "1:1"]) { $1 }
            try process.run()
        }

        deinit {
            if process.isRunning {
                kill(process.processIdentifier, SIGKILL)
                process.waitUntilExit()
            }
            shutdown(journal, Int32(SHUT_RDWR))
            close(journal)
            try? FileManager.default.removeItem(atPath: directory)
        }

        private static func listen(at path: String) throws -> Int32 {
            let descriptor = Glibc.socket(AF_UNIX, Int32(SOCK_DGRAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
            var address = sockaddr_un()
            address.sun_family = sa_family_t(AF_UNIX)
            withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: path.utf8) }
            let result = withUnsafePointer(to: &address) {
                $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                    bind(descriptor, $0, socklen_t(MemoryLayout<sockaddr_un>.size))
                }
            }
            guard result == 0 else { throw SystemError("bind", path) }
            chmod(path, 0o666)
            return descriptor
        }

        /// What the journal was sent so far.
        var entries: [UInt8] { received.withLock { $0 } }

        /// Whoever writes to a journal that nobody reads waits.
        private static func collect(_ descriptor: Int32, into received: Received) {
            let thread = Thread {
                var buffer = [UInt8](repeating: 0, count: 1 << 18)
                while true {
                    let count = recv(descriptor, &buffer, buffer.count, 0)
                    guard count > 0 else { return }
                    received.withLock { $0 += buffer[..<count] }
                }
            }
            thread.start()
        }

        /// See `ReplayingAgent`.
        func radio(_ words: String...) throws {
            try radio.fileHandleForWriting.write(contentsOf: Data((words.joined(separator: " ") + "\n").utf8))
        }

        var socket: String { directory + "/run/events.sock" }

        func reader() throws -> FeedClient {
            var request = FeedRequest()
            request.since = ("0000000000000000", 0)
            while true {
                if let client = try? FeedClient(connectingTo: socket, request: request, patience: 20) { return client }
                try #require(process.isRunning)
                sched_yield()
            }
        }

        /// - Parameter user: 65533 is one who may not see names.
        @discardableResult
        func vicinity(_ words: [String], as user: UInt32 = 65_533) throws -> (status: Int32, output: [UInt8]) {
            let command = Process()
            command.executableURL = URL(fileURLWithPath: "/usr/bin/setpriv")
            command.arguments =
                ["--reuid", "\(user)", "--regid", "\(user)", "--clear-groups", directory + "/vicinity"] + words
            command.environment = ["DBUS_SYSTEM_BUS_ADDRESS": bus.address, "LC_ALL": "C.UTF-8", "PATH": "/usr/bin"]
            let pipe = Pipe()
            command.standardOutput = pipe
            command.standardError = pipe
            command.standardInput = FileHandle.nullDevice
            try command.run()
            let octets = [UInt8](try pipe.fileHandleForReading.readToEnd() ?? Data())
            command.waitUntilExit()
            said.append((words, octets))
            return (command.terminationStatus, octets)
        }

        /// Each file below the directory, with what is in it, besides programs and what the test wrote.
        func files() throws -> [(path: String, contents: [UInt8])] {
            let names = try #require(FileManager.default.subpaths(atPath: directory))
            return names.filter { !["replaying-agent", "vicinity"].contains($0) && !$0.hasPrefix("etc/") }.compactMap {
                let path = directory + "/" + $0
                var status = stat()
                guard lstat(path, &status) == 0, status.st_mode & S_IFMT == S_IFREG else { return nil }
                return ($0, (try? Files.read(path, limit: 1 << 26)) ?? [])
            }
        }
    }

    private static let rules = """
        [network.hidden]
        ssid = ["Canary-Private-9b1c"]
        private = true
        [network.glob]
        ssid-glob = ["Globbed-*"]
        [network.office]
        ssid = ["Corp-Staff"]
        [rule.anywhere]
        on = "any-wifi"
        settle = "0s"
        ready = "link"
        enter = [ { command = ["/bin/false"] } ]
        [rule.glob]
        on = "glob"
        settle = "0s"
        [rule.mine]
        on = "hidden"
        settle = "0s"
        user-hold = true
        """

    private func read(_ client: inout FeedClient, _ type: String, _ isWanted: (JSONValue) -> Bool = { _ in true })
        throws
        -> JSONValue
    {
        while let line = client.next() {
            let value = try JSONValue(parsing: line, maximumSize: 1 << 16)
            if value["type"]?.string == type, isWanted(value) { return value }
        }
        throw SystemError("feed", type, code: ETIME)
    }

    private func visit(_ stage: Stage, _ octets: [UInt8], _ number: UInt8, _ client: inout FeedClient) throws {
        try stage.radio("connect", octets.hexadecimal, "\(number)")
        let joined = try read(&client, "wifi.joined")
        #expect(joined["wifi"]?["ssid_hex"]?.string == octets.hexadecimal)
        _ = try read(&client, "network.entered")
    }

    @Test func namesAndKeysAreNowhereAfterwards() throws {
        let stage = try Stage(rules: Self.rules, configuration: "[permission]\ndefault = \"hashed\"\n")
        var client = try stage.reader()
        _ = client.next()
        var number: UInt8 = 1
        for canary in Canary.names {
            try visit(stage, canary.octets, number, &client)
            // A driver that roams by itself tells the key with it.
            try stage.radio("roam", canary.octets.hexadecimal, "\(number + 100)", Canary.key.octets.hexadecimal)
            _ = try read(&client, "wifi.roamed")
            try ask(stage)
            try stage.radio("disconnect")
            _ = try read(&client, "network.left")
            number += 1
        }
        // A network that is listed, for what is to be found.
        try visit(stage, Array("Corp-Staff".utf8), 90, &client)
        // Mistakes in files are told without the line that they are in.
        let file = stage.directory + "/etc/rules.d/a.toml"
        try Self.rules.replacing("[\"Canary-Private-9b1c\"]", with: "[\"Canary-Private-9b1c\", 7]")
            .write(toFile: file, atomically: true, encoding: .utf8)
        kill(stage.process.processIdentifier, SIGHUP)
        #expect(try read(&client, "agent.reloaded")["agent"]?["problems"]?.integer == 1)
        try ask(stage)
        try Self.rules.write(toFile: file, atomically: true, encoding: .utf8)
        kill(stage.process.processIdentifier, SIGHUP)
        _ = try read(&client, "agent.reloaded")
        try rotate(stage)
        kill(stage.process.processIdentifier, SIGTERM)
        stage.process.waitUntilExit()
        try inspect(stage)
    }

    /// Everything that people and programs ask, who may not know.
    private func ask(_ stage: Stage) throws {
        let socket = ["--socket", stage.socket]
        for words in [
            ["status"], ["status", "--format", "json"], ["why"], ["why", "hidden"], ["why", "mine"], ["why", "glob"],
            ["doctor"], ["permission"], ["reload"], ["watch", "--since", "1h", "--for", "x"],
        ] {
            try stage.vicinity(words + socket)
        }
        for words in [
            ["hold", "mine", "on"], ["release", "mine"], ["hold", "anywhere", "off"], ["run", "anywhere"],
            ["analytics"], ["analytics", "hash", "x", "--state-directory", stage.directory + "/state"],
            ["history", "--file", stage.directory + "/state/history.jsonl"],
        ] {
            try stage.vicinity(words)
        }
        // Root may know, and history and analytics have nothing to tell all the same.
        let history = ["--file", stage.directory + "/state/history.jsonl"]
        #expect(try stage.vicinity(["history"] + history, as: 0).status == 0)
        try stage.vicinity(["why", "glob", "--at", "now"] + history, as: 0)
        try stage.vicinity(["analytics", "status"], as: 0)
        var request = FeedRequest()
        request.since = ("0000000000000000", 0)
        request.follows = false
        // A process's words and variables are for everybody to read.
        let process = "/proc/\(stage.process.processIdentifier)"
        for file in ["cmdline", "environ"] {
            let octets = try Files.read("\(process)/\(file)", limit: 1 << 22)
            for canary in Canary.names + [.key] { #expect(canary.forms(in: octets).isEmpty, "\(file)") }
        }
        var status = stat()
        // Of one that may be dumped it would be its user's.
        #expect(stat("\(process)/environ", &status) == 0 && status.st_uid == 0)
    }

    private func rotate(_ stage: Stage) throws {
        let line = try stage.vicinity(["watch", "--since", "1h", "--format", "json", "--socket", stage.socket, "x"])
        #expect(line.status == 64)
        let rotated = try stage.vicinity(
            ["analytics", "rotate-key", "--config", stage.directory + "/etc", "--state-directory"]
                + [stage.directory + "/state", "--socket", stage.socket], as: 0)
        #expect(rotated.status == 0, "\(String(decoding: rotated.output, as: UTF8.self))")
    }

    private func inspect(_ stage: Stage) throws {
        let files = try stage.files()
        let log = try #require(files.first { $0.path == "log/analytics.jsonl" }).contents
        let lines = try log.split(separator: UInt8(ascii: "\n")).map { try JSONValue(parsing: $0, maximumSize: 4_096) }
        // It has been through, and there is something to find.
        let places = lines.filter { $0["type"]?.string == "network.entered" }.map { line in
            "\(line["network"]?.string ?? "") \(line["wifi_environment"]?.string?.split(separator: ":").first ?? "")"
        }
        #expect(
            places == [
                "unlisted hmac-sha256", "unlisted hmac-sha256", "unlisted nomap", "glob hmac-sha256",
                "hidden hmac-sha256", "office sha256",
            ])
        let journal = stage.entries
        #expect(Data(journal).range(of: Data("VICINITY_WIFI_ENVIRONMENT=hmac-sha256:".utf8)) != nil)
        #expect(files.contains { $0.path == "state/history.jsonl" && !$0.contents.isEmpty })
        for canary in Canary.names + [.key] {
            for (path, contents) in files {
                // The last good rules are the rule files once more, root's own words.
                if path == "state/rules.json", canary.name == "private" { continue }
                #expect(canary.forms(in: contents).isEmpty, "\(canary.name) in \(path)")
            }
            #expect(canary.forms(in: journal).isEmpty, "\(canary.name) in the journal")
            for (words, output) in stage.said {
                #expect(canary.forms(in: output).isEmpty, "\(canary.name) in what \(words) says")
            }
        }
    }

    /// What is looked for would be found.
    @Test func aLeakWouldBeSeen() {
        for canary in Canary.names + [.key] {
            let display = canary.octets.displayText
            let leaks: [[UInt8]] = [
                canary.octets, Array(canary.octets.hexadecimal.utf8),
                Array(canary.octets.hexadecimal.uppercased().utf8),
                Array(SHA256.hexadecimal(canary.octets).utf8), Array(display.utf8),
                Array(Data([1, 2] + canary.octets).base64EncodedString().utf8),
            ]
            for leak in leaks {
                #expect(!canary.forms(in: Array("some ".utf8) + leak + Array(" text".utf8)).isEmpty)
            }
            #expect(canary.forms(in: Array(HashKey.random().hash(canary.octets).utf8)).isEmpty)
        }
    }
}
