import CommandLine
import Foundation
import Glibc
import JSON
import Feed
import Platform
import TestSupport
import Testing

/// The whole agent as a process: unprivileged, in a network namespace of its own where it is offline.
///
/// Root makes the namespace and owns the rule files; without root there is nothing that can be tested here.
@Suite(.enabled(if: getuid() == 0, "takes root: rule files have to be root's"), .serialized, .timeLimit(.minutes(2)))
struct AgentProgramTests {
    /// Directories as the agent wants them: rules of root's, the rest its own.
    private final class Place {
        let directory = "/run/vicinity-test-\(UInt32.random(in: 0 ... .max))"
        private var started: [Process] = []

        init(rules: String) throws {
            for name in ["", "/etc", "/etc/rules.d"] { try make(name, owner: 0) }
            for name in ["/run", "/state", "/log"] { try make(name, owner: 65_534) }
            try rules.write(toFile: directory + "/etc/rules.d/a.toml", atomically: true, encoding: .utf8)
        }

        deinit {
            // A test that failed has ended none of them, and whoever waits for their output would wait for ever.
            for process in started where process.isRunning { kill(process.processIdentifier, SIGKILL) }
            try? FileManager.default.removeItem(atPath: directory)
        }

        private func make(_ name: String, owner: UInt32) throws {
            try FileManager.default.createDirectory(
                atPath: directory + name, withIntermediateDirectories: false, attributes: [.posixPermissions: 0o755])
            chown(directory + name, owner, owner)
        }

        var socket: String { directory + "/run/events.sock" }

        /// - Parameters:
        ///   - bus: in the place of the system's.
        ///   - environment: added to it.
        func agent(_ arguments: [String] = [], bus: String? = nil, environment: [String: String] = [:]) throws
            -> Process
        {
            try? FileManager.default.removeItem(atPath: socket)
            let build = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
                .deletingLastPathComponent().appendingPathComponent(".build/debug")
            // An ordinary user may not be able to enter the directory of the build.
            try ControlBus.copyProgram(build.path + "/vicinityd", to: directory)
            let process = Process()
            process.executableURL = URL(fileURLWithPath: "/usr/bin/unshare")
            process.arguments =
                ["--net", "setpriv", "--reuid", "nobody", "--regid", "nogroup", "--clear-groups", "--no-new-privs"]
                + [directory + "/vicinityd", "--config", directory + "/etc", "--runtime-directory", directory + "/run"]
                + ["--state-directory", directory + "/state", "--log-directory", directory + "/log"] + arguments
            process.standardError = FileHandle.nullDevice
            process.environment = ProcessInfo.processInfo.environment
                .merging(bus.map { ["DBUS_SYSTEM_BUS_ADDRESS": $0] } ?? [:]) { $1 }
                .merging(environment) { $1 }
            try process.run()
            started.append(process)
            return process
        }

        /// Connects as soon as there is somebody to connect to.
        /// The reader gets what was told before it came as well: it asks for what came after a line of another life.
        func connect(to process: Process) throws -> FeedClient {
            var request = FeedRequest()
            request.since = ("0000000000000000", 0)
            while true {
                if let client = try? FeedClient(connectingTo: socket, request: request, patience: 20) { return client }
                guard process.isRunning else { throw CocoaError(.fileNoSuchFile) }
                sched_yield()
            }
        }
    }

    private static let offline = """
        [rule.alone]
        on = "offline"
        settle = "0s"
        enter = [ { command = ["/bin/sh", "-c", "echo entered >> \\"$0\\"; cat > /dev/null", "FILE"] } ]
        """

    private func read(_ client: inout FeedClient, until type: String) -> [JSONValue] {
        var lines: [JSONValue] = []
        while let line = client.next() {
            guard let value = try? JSONValue(parsing: line, maximumSize: 1 << 16) else { continue }
            lines.append(value)
            if value["type"]?.string == type { return lines }
        }
        return lines
    }

    /// What programs are told, and what PAM stacks are told, is the same.
    @Test func whetherASecondFactorIsNeededIsOneAnswer() throws {
        let bus = try ControlBus()
        let place = try Place(rules: "")
        func rules(_ demand: String) throws {
            let text = """
                [rule.alone]
                on = "offline"
                settle = "0s"
                accept-weak-evidence = "a test"
                pam = "\(demand)"
                """
            try text.write(toFile: place.directory + "/etc/rules.d/a.toml", atomically: true, encoding: .utf8)
        }
        try rules("skip")
        let process = try place.agent(bus: bus.address)
        defer { kill(process.processIdentifier, SIGKILL) }
        var client = try place.connect(to: process)
        #expect(read(&client, until: "rule.activated").last?["type"]?.string == "rule.activated")
        let program = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
            .deletingLastPathComponent().appendingPathComponent(".build/debug/vicinity").path
        func vicinity(_ words: String...) throws -> ControlBus.Outcome {
            let end = Timestamp.now().boottime + 20_000_000
            while true {
                let outcome = try bus.start([program, "second-factor"] + words, as: .tester).outcome()
                // It may not have its name yet.
                if outcome.status != 69 || Timestamp.now().boottime > end { return outcome }
            }
        }
        func pam() throws -> String {
            let connection = try UnixSocket.connect(to: place.directory + "/run/second-factor.sock")
            UnixSocket.limitWaiting(connection.rawValue, seconds: 20)
            var buffer = [UInt8](repeating: 0, count: 128)
            let count = UnixSocket.receive(into: &buffer, on: connection.rawValue) ?? 0
            let words = String(decoding: buffer[..<max(count, 0)], as: UTF8.self).split(separator: " ")
            return words.count == 3 ? String(words[1]) : ""
        }
        let skipped = try vicinity("status")
        #expect(skipped.status == 0 && skipped.output.contains("rule alone holds and lets it be skipped"), "\(skipped)")
        #expect(skipped.output.hasSuffix("a.toml:5\n"))
        #expect(try pam() == "skip")
        let required = try vicinity("require")
        #expect(required.status == 0 && required.output == "the second factor may be skipped here\n", "\(required)")
        try rules("require")
        kill(process.processIdentifier, SIGHUP)
        #expect(read(&client, until: "agent.reloaded").last?["type"]?.string == "agent.reloaded")
        let needed = try vicinity("status")
        #expect(
            needed.status == 1 && needed.output.contains("rule alone holds and says pam = \"require\""), "\(needed)")
        #expect(try pam() == "needed")
        // There is no logind here, so nobody can be asked.
        #expect(try vicinity("require").status == 75)
        kill(process.processIdentifier, SIGTERM)
        process.waitUntilExit()
        #expect(try bus.start([program, "second-factor", "status"], as: .tester).outcome().status == 69)
    }

    /// A rule fires once, whatever happens to the agent: a clean end, `kill -9`, a reload.
    @Test func aRestartEntersNothingAgain() throws {
        let file = "/tmp/vicinity-test-\(UInt32.random(in: 0 ... .max))"
        defer { unlink(file) }
        let place = try Place(rules: Self.offline.replacingOccurrences(of: "FILE", with: file))
        for (life, ending) in [SIGTERM, SIGKILL, SIGTERM].enumerated() {
            let process = try place.agent()
            var client = try place.connect(to: process)
            let snapshot = client.next()
            if life == 0 { _ = read(&client, until: "action.succeeded") }
            kill(process.processIdentifier, SIGHUP)
            let lines = read(&client, until: "agent.reloaded")
            #expect(lines.last?["type"]?.string == "agent.reloaded")
            #expect(snapshot != nil)
            kill(process.processIdentifier, ending)
            process.waitUntilExit()
            #expect(ending == SIGKILL || process.terminationStatus == 0)
        }
        let runs = try String(contentsOfFile: file, encoding: .utf8)
        #expect(runs == "entered\n")
    }

    @Test func aBrokenFileLeavesTheLastGoodRulesAndSaysSo() throws {
        let place = try Place(rules: "[rule.alone]\non = \"offline\"\nsettle = \"0s\"\n")
        let process = try place.agent()
        defer {
            process.terminate()
            process.waitUntilExit()
        }
        var client = try place.connect(to: process)
        _ = client.next()
        try "[rule.alone]\nof = \"offline\"\n".write(
            toFile: place.directory + "/etc/rules.d/a.toml", atomically: true, encoding: .utf8)
        kill(process.processIdentifier, SIGHUP)
        #expect(read(&client, until: "agent.reloaded").last?["agent"]?["problems"]?.integer == 1)
        var again = try place.connect(to: process)
        let line = again.next()
        let snapshot = try JSONValue(parsing: try #require(line), maximumSize: 1 << 16)
        #expect(snapshot["rules"]?.array?.compactMap(\.string) == ["alone"])
        #expect(snapshot["problems"]?.array?.first?.string?.contains("a.toml:2:1") == true)
    }

    /// Whoever installs, edits or removes a file has to do no more than that.
    @Test func changedFilesAreReadByThemselves() throws {
        let place = try Place(rules: "[rule.alone]\non = \"offline\"\nsettle = \"0s\"\n")
        let process = try place.agent()
        defer {
            process.terminate()
            process.waitUntilExit()
        }
        var client = try place.connect(to: process)
        _ = client.next()
        func problems(after change: () throws -> Void) throws -> Int? {
            try change()
            return read(&client, until: "agent.reloaded").last?["agent"]?["problems"]?.integer.map { Int($0) }
        }
        let rules = place.directory + "/etc/rules.d"
        let second = rules + "/b.toml"
        #expect(
            try problems {
                try "[rule.b]\non = \"offline\"\n".write(toFile: second, atomically: true, encoding: .utf8)
            } == 0)
        // Not the same as before, but not right either; written in place this time.
        #expect(try problems { try "[rule.b]\nx".write(toFile: second, atomically: false, encoding: .utf8) } == 1)
        #expect(try problems { unlink(second) } == 0)
        #expect(try problems { chmod(rules, 0o777) } == 1)
        #expect(try problems { chmod(rules, 0o755) } == 0)
        #expect(try problems { rename(rules, rules + ".old") } == 0)
        #expect(try problems { rename(rules + ".old", rules) } == 0)
        // The agent's own configuration as well, in a directory that was not there.
        #expect(
            try problems {
                try FileManager.default.createDirectory(
                    atPath: place.directory + "/etc/vicinity.toml.d", withIntermediateDirectories: false,
                    attributes: [.posixPermissions: 0o755])
                try "mod = 1\n".write(
                    toFile: place.directory + "/etc/vicinity.toml.d/a.toml", atomically: true, encoding: .utf8)
            } == 1)
        #expect(
            try problems {
                try "mode = \"observe\"\n".write(
                    toFile: place.directory + "/etc/vicinity.toml.d/a.toml", atomically: true, encoding: .utf8)
            } == 0)
    }

    /// A mistake in a file does not end all protection at the next boot either.
    @Test func theLastGoodRulesOutliveARestart() throws {
        let place = try Place(rules: "[rule.alone]\non = \"offline\"\nsettle = \"0s\"\n")
        let file = place.directory + "/etc/rules.d/a.toml"
        for broken in [nil, "[rule.alone]\n", "[rule.alone\n"] {
            if let broken { try broken.write(toFile: file, atomically: true, encoding: .utf8) }
            let process = try place.agent()
            var client = try place.connect(to: process)
            let line = client.next()
            let snapshot = try JSONValue(parsing: try #require(line), maximumSize: 1 << 16)
            #expect(snapshot["rules"]?.array?.compactMap(\.string) == ["alone"])
            #expect(snapshot["problems"]?.array?.isEmpty == (broken == nil))
            kill(process.processIdentifier, SIGKILL)
            process.waitUntilExit()
        }
        // What is kept may be anything by then; it is judged like any other file.
        for kept in ["", "{", "{\"rules\":[{\"path\":\"x\",\"contents\":\"[rule.b]\"}]}", "[]"] {
            try kept.write(toFile: place.directory + "/state/rules.json", atomically: true, encoding: .utf8)
            chown(place.directory + "/state/rules.json", 65_534, 65_534)
            let process = try place.agent()
            var client = try place.connect(to: process)
            let line = client.next()
            let snapshot = try JSONValue(parsing: try #require(line), maximumSize: 1 << 16)
            #expect(snapshot["rules"]?.array?.isEmpty == true)
            kill(process.processIdentifier, SIGKILL)
            process.waitUntilExit()
        }
    }

    /// What people and programs ask of an agent that runs.
    @Test func itIsAskedByCommands() throws {
        let place = try Place(
            rules: Self.offline.replacing("FILE", with: "/dev/null")
                + "\n[rule.other]\non = \"offline\"\nsettle = \"0s\"\n")
        let process = try place.agent()
        defer {
            process.terminate()
            process.waitUntilExit()
        }
        var client = try place.connect(to: process)
        _ = read(&client, until: "action.succeeded")
        func vicinity(_ words: String...) throws -> (status: Int32, output: String) {
            let command = Process()
            command.executableURL = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
                .deletingLastPathComponent().deletingLastPathComponent().appendingPathComponent(".build/debug/vicinity")
            command.arguments = words
            let output = Pipe()
            command.standardOutput = output
            command.standardError = FileHandle.nullDevice
            try command.run()
            let text = String(decoding: try output.fileHandleForReading.readToEnd() ?? Data(), as: UTF8.self)
            command.waitUntilExit()
            return (command.terminationStatus, text)
        }
        let screen = try vicinity("status", "--socket", place.socket)
        #expect(screen.status == 0 && screen.output.hasPrefix("here        offline  claimed"))
        #expect(
            screen.output.contains("\nrules       alone  since ")
                && screen.output.contains("alone, command 0: succeeded"))
        let status = try vicinity("status", "--format", "json", "--socket", place.socket)
        let json = try JSONValue(parsing: Array(status.output.utf8), maximumSize: 1 << 16)
        for key in ["permission", "interfaces", "networks", "rules", "actions", "holds", "counters", "problems"] {
            #expect(json[key] != nil, "\(key)")
        }
        let doctor = try vicinity("doctor", "--format", "json", "--socket", place.socket)
        let checks = try JSONValue(parsing: Array(doctor.output.utf8), maximumSize: 1 << 16)["checks"]?.array ?? []
        func found(_ subject: String) -> String? {
            checks.first { $0["subject"]?.string == subject }?["status"]?.string
        }
        // The version, and that its memory is not dumped, can be seen of any agent that runs.
        #expect(found("version") == "ok" && found("memory") == "ok" && found("permission") == "ok")
        let history = try vicinity("history", "--file", place.directory + "/state/history.jsonl", "--rule", "alone")
        let types = history.output.split(separator: "\n").map { $0.split(separator: " ")[2] }
        #expect(types.starts(with: ["rule.activated", "action.started", "action.succeeded"]))
        let past = try vicinity("why", "alone", "--at", "now", "--file", place.directory + "/state/history.jsonl")
        #expect(past.status == 0 && past.output.contains("rule alone held, since "))
        // One that follows ends with the agent; what has been told before comes first.
        let follower = Process()
        follower.executableURL = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
            .deletingLastPathComponent().deletingLastPathComponent().appendingPathComponent(".build/debug/vicinity")
        follower.arguments = [
            "watch", "--since", "1h", "--rule", "other", "--format", "json", "--socket", place.socket,
        ]
        let lines = Pipe()
        follower.standardOutput = lines
        follower.standardError = FileHandle.nullDevice
        try follower.run()
        var told: [UInt8] = []
        while told.count(where: { $0 == UInt8(ascii: "\n") }) < 2 {
            let more = lines.fileHandleForReading.availableData
            guard !more.isEmpty else { break }
            told += more
        }
        process.terminate()
        told += try lines.fileHandleForReading.readToEnd() ?? Data()
        follower.waitUntilExit()
        #expect(follower.terminationStatus == 69)
        let values = try told.split(separator: UInt8(ascii: "\n")).map {
            try JSONValue(parsing: $0, maximumSize: 1 << 16)
        }
        #expect(values.map { $0["type"]?.string } == ["environment.snapshot", "rule.activated"])
        #expect(values.last?["rule"]?["name"]?.string == "other")
    }

    @Test func theCommandReloads() throws {
        let place = try Place(rules: "[rule.alone]\non = \"offline\"\nsettle = \"0s\"\n")
        let process = try place.agent()
        defer {
            process.terminate()
            process.waitUntilExit()
        }
        var client = try place.connect(to: process)
        _ = client.next()
        #expect(VicinityCommand.run(["vicinity", "reload", "--socket", place.socket]) == 0)
        try "[rule.alone]\n".write(
            toFile: place.directory + "/etc/rules.d/a.toml", atomically: true, encoding: .utf8)
        #expect(VicinityCommand.run(["vicinity", "reload", "--socket", place.socket]) == 65)
        #expect(VicinityCommand.run(["vicinity", "reload", "--socket", place.directory + "/none"]) == 69)
    }

    /// What `vicinity why` asks, of the agent itself.
    @Test func itSaysWhy() throws {
        let place = try Place(rules: "[rule.alone]\non = \"offline\"\nsettle = \"0s\"\n")
        let process = try place.agent()
        defer {
            process.terminate()
            process.waitUntilExit()
        }
        var client = try place.connect(to: process)
        _ = client.next()
        #expect(try why("alone", place)["kind"]?.string == "rule")
        let alone = try why("alone", place)
        #expect(alone["truth"]?.string == "yes" && alone["text"]?.string == "on offline, claimed: link none up")
        #expect(alone["file"]?.string?.hasSuffix("/etc/rules.d/a.toml") == true && alone["line"]?.integer == 1)
        #expect(alone["since"]?.string?.hasSuffix("Z") == true)
        #expect(alone["lines"]?.array?.compactMap(\.string) == ["+ on offline, claimed: link none up"])
        #expect(alone["last_good"] == nil)
        #expect(try why("offline", place)["kind"]?.string == "network")
        #expect(try why("", place)["name"]?.string == "offline")
        let unknown = try why("alnoe", place)
        #expect(unknown["kind"]?.isNull == true)
        #expect(unknown["text"]?.string?.contains("did you mean \"alone\"?") == true)
        try "[rule.other".write(toFile: place.directory + "/etc/rules.d/a.toml", atomically: true, encoding: .utf8)
        kill(process.processIdentifier, SIGHUP)
        _ = read(&client, until: "agent.reloaded")
        #expect(try why("alone", place)["last_good"]?.bool == true)
    }

    /// The first explanation of a name.
    private func why(_ name: String, _ place: Place) throws -> JSONValue {
        var request = FeedRequest()
        request.why = name
        var client = try FeedClient(connectingTo: place.socket, request: request)
        _ = client.next()
        let line = client.next()
        let answer = try JSONValue(parsing: try #require(line), maximumSize: 1 << 16)
        return try #require(answer["explanation"])
    }

    /// A hold from the command line, through a reload and a `kill -9`, to its end; and who may not.
    @Test func aHoldIsSaidByCommandAndOutlivesTheAgent() throws {
        let place = try Place(
            rules: Self.offline.replacing("FILE", with: "/dev/null")
                + "\nuser-hold = true\n[rule.never]\non = \"any-wifi\"\nenter = [{ command = [\"/bin/true\"] }]\n")
        let bus = try ControlBus()
        let program = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
            .deletingLastPathComponent().appendingPathComponent(".build/debug/vicinity").path
        try ControlBus.copyProgram(program, to: place.directory)
        func vicinity(_ words: String..., as caller: ControlBus.Caller = .tester) throws -> ControlBus.Outcome {
            while true {
                let outcome = try bus.start([place.directory + "/vicinity"] + words, as: caller).outcome()
                // The agent that has just been started may still wait for its name.
                guard outcome.status == 69, isRunning else { return outcome }
            }
        }
        var isRunning = false
        #expect(try vicinity("hold", "alone", "off").status == 69)
        var process = try place.agent(bus: bus.address)
        defer {
            process.terminate()
            process.waitUntilExit()
        }
        var client = try place.connect(to: process)
        _ = read(&client, until: "action.succeeded")
        isRunning = true
        let held = try vicinity("hold", "alone", "off", "--for", "2h")
        #expect(held.status == 0 && held.output.hasPrefix("rule alone is held off until 20"), "\(held.complaint)")
        let told = read(&client, until: "rule.deactivated").last
        #expect(told?["rule"]?["because"]?.string?.hasPrefix("held off by root until ") == true)
        kill(process.processIdentifier, SIGHUP)
        _ = read(&client, until: "agent.reloaded")
        kill(process.processIdentifier, SIGKILL)
        process.waitUntilExit()
        process = try place.agent(bus: bus.address)
        client = try place.connect(to: process)
        let line = client.next()
        let snapshot = try JSONValue(parsing: try #require(line), maximumSize: 1 << 16)
        #expect(snapshot["rules"]?.array?.isEmpty == true)
        #expect(snapshot["holds"]?.array?.first?.string?.hasPrefix("alone off by root until ") == true)
        let hold = snapshot["held"]?.array?.first
        #expect(hold?["rule"]?.string == "alone" && hold?["state"]?.string == "off" && hold?["by"]?.string == "root")
        #expect(hold?["until_network_change"]?.bool == false && hold?["until"]?.string?.hasSuffix("Z") == true)
        #expect(try why("alone", place)["text"]?.string?.hasPrefix("held off by root until ") == true)
        let status = try vicinity("status", "--socket", place.socket)
        #expect(status.output.contains("\nheld        alone off by root until "))
        // One that tries the agent out is told of no bus that it has no part in.
        #expect(snapshot["problems"]?.array?.isEmpty == true)

        // Somebody else has to be asked by polkit, which is not here.
        let refused = try vicinity("release", "alone", as: .stranger)
        #expect(refused.status == 77 && refused.complaint.contains("polkit does not run"))
        #expect(try vicinity("release", "alone").output == "rule alone is released\n")
        #expect(try vicinity("release", "alone").output == "nobody holds rule alone\n")
        #expect(try vicinity("hold", "alone", "on", "--until-network-change", as: .stranger).status == 0)
        #expect(try vicinity("release", "alone", as: .stranger).status == 0)
        #expect(try vicinity("run", "never", as: .stranger).status == 77)
        #expect(try vicinity("run", "never").status == 0)
        var ran: String?
        while ran != "never", let line = read(&client, until: "action.succeeded").last {
            ran = line["action"]?["rule"]?.string
        }
        #expect(ran == "never")
        let unknown = try vicinity("run", "nevre")
        #expect(unknown.status == 68 && unknown.complaint.contains("did you mean \"never\"?"))
        #expect(try vicinity("hold", "alone", "on", "--for", "9h").status == 64)

        // After another boot nobody holds anything.
        #expect(try vicinity("hold", "alone", "off").status == 0)
        kill(process.processIdentifier, SIGKILL)
        process.waitUntilExit()
        let file = place.directory + "/state/activations.json"
        let saved = try String(contentsOfFile: file, encoding: .utf8)
        let boot = try String(contentsOfFile: "/proc/sys/kernel/random/boot_id", encoding: .utf8)
            .trimmingCharacters(in: .whitespacesAndNewlines)
        #expect(saved.contains("\"holds\":[{\"rule\":\"alone\",\"on\":false,\"by\":\"root\""))
        for broken in [
            saved.replacing(boot, with: "another"), saved.replacing("\"on\":false", with: "\"on\":0"),
            saved.replacing("\"since\":", with: "\"since\":9"), String(saved.dropLast(3)),
        ] {
            try broken.write(toFile: file, atomically: true, encoding: .utf8)
            chown(file, 65_534, 65_534)
            process = try place.agent(bus: bus.address)
            client = try place.connect(to: process)
            let line = client.next()
            let snapshot = try JSONValue(parsing: try #require(line), maximumSize: 1 << 16)
            #expect(snapshot["holds"]?.array?.isEmpty == true && snapshot["rules"]?.array?.count == 1)
            kill(process.processIdentifier, SIGKILL)
            process.waitUntilExit()
        }
    }

    @Test func rulesThatOthersCanWriteAreRefused() throws {
        let place = try Place(rules: "[rule.alone]\non = \"offline\"\nsettle = \"0s\"\n")
        chmod(place.directory + "/etc/rules.d", 0o777)
        let process = try place.agent()
        defer {
            process.terminate()
            process.waitUntilExit()
        }
        var client = try place.connect(to: process)
        let line = client.next()
        let snapshot = try JSONValue(parsing: try #require(line), maximumSize: 1 << 16)
        #expect(snapshot["rules"]?.array?.isEmpty == true)
        #expect(snapshot["problems"]?.array?.first?.string?.contains("rules.d") == true)
    }

    /// What a program in a PAM stack is told.
    private func factor(_ place: Place) throws -> Substring? {
        let connection = try UnixSocket.connect(to: place.directory + "/run/second-factor.sock")
        UnixSocket.limitWaiting(connection.rawValue, seconds: 20)
        var buffer = [UInt8](repeating: 0, count: 128)
        let count = UnixSocket.receive(into: &buffer, on: connection.rawValue) ?? 0
        return String(decoding: buffer[..<count], as: UTF8.self).split(separator: " ").dropFirst().first
    }

    /// Nobody is there to give it, and killing the agent is no way around it.
    @Test func aKilledAgentLetsNobodyOff() throws {
        let skip = "[rule.skip]\non = \"offline\"\nsettle = \"0s\"\naccept-weak-evidence = \"x\"\npam = \"skip\"\n"
        let demand =
            "[rule.ask]\non = \"offline\"\nsettle = \"0s\"\nready = \"link\"\nsecond-factor = { message = \"x\" }\n"
        for (rules, answer) in [(skip, "skip"), (skip + demand, "needed")] as [(String, Substring)] {
            let place = try Place(rules: rules)
            for life in 0..<3 {
                let process = try place.agent()
                var client = try place.connect(to: process)
                _ = client.next()
                if life == 0 { _ = read(&client, until: answer == "skip" ? "rule.activated" : "action.failed") }
                #expect(try factor(place) == answer, "life \(life)")
                kill(process.processIdentifier, SIGKILL)
                process.waitUntilExit()
                unlink(place.directory + "/run/second-factor.sock")
            }
        }
    }

    @Test func theServiceManagerIsToldHowItIs() throws {
        let place = try Place(rules: "[rule.alone]\non = \"offline\"\n")
        let manager = try NotifySocket(in: place.directory)
        let process = try place.agent(
            environment: ["NOTIFY_SOCKET": manager.path, "WATCHDOG_USEC": "100000", "JOURNAL_STREAM": "1:1"])
        let ready = try manager.next()
        #expect(ready[0] == "READY=1" && ready[1].hasPrefix("STATUS=0 networks, 1 rules"))
        for _ in 0..<2 { #expect(try manager.next() == ["WATCHDOG=1"]) }
        kill(process.processIdentifier, SIGHUP)
        let reloading = try manager.next(except: ["WATCHDOG=1"])
        #expect(reloading[0] == "RELOADING=1" && reloading[1].hasPrefix("MONOTONIC_USEC="))
        #expect(try manager.next(except: ["WATCHDOG=1"])[0] == "READY=1")
        process.terminate()
        #expect(try manager.next(except: ["WATCHDOG=1"]) == ["STOPPING=1"])
        process.waitUntilExit()
        #expect(process.terminationStatus == 0)
    }

    @Test func itRefusesToBeRoot() throws {
        let process = Process()
        process.executableURL = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
            .deletingLastPathComponent().deletingLastPathComponent().appendingPathComponent(".build/debug/vicinityd")
        process.standardError = FileHandle.nullDevice
        try process.run()
        process.waitUntilExit()
        #expect(process.terminationStatus == 77)
    }
}
