import Environment
import Feed
import Foundation
import JSON
import Platform
import Testing

/// The commands about rules, as processes: their exit status, and what programs read.
@Suite(.timeLimit(.minutes(2))) struct CommandLineTests {
    private final class Place {
        let directory = NSTemporaryDirectory() + "vicinity-commands-\(UInt64.random(in: 0 ... .max))"

        init(_ rules: String = CommandLineTests.rules) throws {
            try FileManager.default.createDirectory(atPath: directory, withIntermediateDirectories: false)
            try rules.write(toFile: file, atomically: true, encoding: .utf8)
        }

        deinit { try? FileManager.default.removeItem(atPath: directory) }

        var file: String { directory + "/a.toml" }
    }

    private static let rules = """
        [network.office]
        ssid = ["Corp-Staff"]
        security = ["wpa2-enterprise"]
        bssid = ["02:00:5e:10:00:00/28"]
        [network.home]
        ssid = ["Seven Oaks"]
        ssid-hex = ["00ff1b5b324a"]
        security = ["wpa2-psk", "wpa3-sae"]
        private = true
        [network.subnet]
        subnet = ["10.1.0.0/16"]
        interface = ["eth7"]
        [rule.nas]
        on = "home"
        enter = [ { command = ["/usr/local/bin/mount-nas"] } ]
        leave = [ { command = ["/usr/local/bin/unmount-nas"] } ]
        [rule.away]
        off = ["office", "home"]
        vpn = { networkmanager = "corp-vpn", state = "up" }
        accept-weak-evidence = "a test"
        [rule.open]
        on = "open-wifi"
        vpn = { networkmanager = "corp-vpn", state = "down" }
        priority = -1
        accept-weak-evidence = "a test"
        [rule.watched]
        on = "any-wifi"
        mode = "observe"
        notify = { summary = "hello" }
        [rule.morning]
        on = "any-wifi"
        time = ["mon-fri 08:00-10:00"]
        [rule.there]
        on = "subnet"
        enter = [ { command = ["/bin/true"] } ]
        """

    private struct Outcome {
        let status: Int32
        let output: [UInt8]
        let complaint: String

        var text: String { String(decoding: output, as: UTF8.self) }
        var json: JSONValue? { try? JSONValue(parsing: output, maximumSize: 1 << 20) }
    }

    private static let program = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
        .deletingLastPathComponent().deletingLastPathComponent().appendingPathComponent(".build/debug/vicinity")

    @Test func whoStopsReadingTakesNoMistakesForNone() throws {
        for (rules, status) in [("[rule.a]\nx = 1\n", Int32(65)), ("# nothing\n", 0)] {
            let place = try Place(rules)
            let process = Process()
            process.executableURL = Self.program
            process.arguments = ["check", place.file]
            let output = Pipe()
            process.standardOutput = output
            try output.fileHandleForReading.close()
            try process.run()
            process.waitUntilExit()
            #expect(process.terminationReason == .exit && process.terminationStatus == status)
        }
    }

    private func vicinity(_ arguments: [String], input: String? = nil) throws -> Outcome {
        let process = Process()
        process.executableURL = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
            .deletingLastPathComponent().deletingLastPathComponent().appendingPathComponent(".build/debug/vicinity")
        process.arguments = arguments
        let (output, complaint, source) = (Pipe(), Pipe(), Pipe())
        process.standardOutput = output
        process.standardError = complaint
        process.standardInput = source
        try process.run()
        try source.fileHandleForWriting.write(contentsOf: Data((input ?? "").utf8))
        try source.fileHandleForWriting.close()
        let octets = try output.fileHandleForReading.readToEnd() ?? Data()
        let words = try complaint.fileHandleForReading.readToEnd() ?? Data()
        process.waitUntilExit()
        return Outcome(
            status: process.terminationStatus, output: Array(octets), complaint: String(decoding: words, as: UTF8.self))
    }

    private func keys(_ value: JSONValue?) -> [String] { value?.object?.members.map(\.key) ?? [] }

    private func names(_ value: JSONValue?) -> [String] { value?.array?.compactMap { $0["name"]?.string } ?? [] }

    private func strings(_ value: JSONValue?) -> [String] { value?.array?.compactMap(\.string) ?? [] }

    private func isPrintable(_ octets: [UInt8]) -> Bool {
        octets.allSatisfy { (0x20...0x7E).contains($0) || $0 == 0x0A }
    }

    // MARK: simulate

    private func simulate(_ arguments: String...) throws -> Outcome {
        let place = try Place()
        return try vicinity(["simulate", "--rules", place.directory, "--format", "json"] + arguments)
    }

    /// The contract of the machine-readable answer.
    @Test func simulateHasExactlyTheseKeys() throws {
        let outcome = try simulate("--ssid", "Seven Oaks", "--security", "wpa2-psk")
        #expect(outcome.status == 0)
        #expect(outcome.complaint.isEmpty)
        let json = try #require(outcome.json)
        #expect(keys(json) == ["networks", "rules", "actions"])
        for network in json["networks"]?.array ?? [] {
            #expect(
                keys(network) == ["name", "assurance", "matched_by", "excluded_by", "undecided_by", "evidence"])
        }
        for rule in json["rules"]?.array ?? [] {
            #expect(keys(rule) == ["name", "active", "because", "file", "line"])
        }
        for action in json["actions"]?.array ?? [] {
            #expect(keys(action).prefix(5) == ["rule", "edge", "kind", "summary", "index"])
        }
        let home = json["networks"]?.array?.first
        #expect(home?["name"]?.string == "home" && home?["assurance"]?.string == "keyed")
        #expect(strings(home?["matched_by"]) == ["ssid", "security"])
        #expect(strings(home?["excluded_by"]).isEmpty && strings(home?["undecided_by"]).isEmpty)
        let rule = json["rules"]?.array?.first
        #expect(rule?["active"]?.bool == true && rule?["line"]?.integer == 13)
        #expect(rule?["file"]?.string?.hasSuffix("/a.toml") == true)
        #expect(rule?["because"]?.string?.hasPrefix("on home, keyed: ssid listed") == true)
        let action = json["actions"]?.array?.first
        #expect(action?["rule"]?.string == "nas" && action?["edge"]?.string == "enter")
        #expect(action?["kind"]?.string == "command" && action?["index"]?.integer == 0 && action?["skipped"] == nil)
    }

    @Test(
        arguments: [
            ("Seven Oaks", "wpa2-psk", "home keyed ssid,security  "),
            ("Seven Oaks", "open", "home unknown ssid security "),
            ("Corp-Staff", "wpa2-enterprise", "office unknown ssid,security  bssid"),
            ("Corp-Staff", "unknown", "office unknown ssid security "), ("seven oaks", "wpa2-psk", ""),
        ])
    func simulateTellsWhatSpeaksForANetworkAndWhatAgainst(ssid: String, security: String, expected: String) throws {
        let json = try simulate("--ssid", ssid, "--security", security).json
        let described = (json?["networks"]?.array ?? []).filter {
            ["office", "home"].contains($0["name"]?.string)
        }
        let lines = described.map { network in
            let kinds = ["matched_by", "excluded_by", "undecided_by"].map {
                strings(network[$0]).joined(separator: ",")
            }
            return
                "\(network["name"]?.string ?? "") \(network["assurance"]?.string ?? "") \(kinds.joined(separator: " "))"
        }
        #expect(lines == (expected.isEmpty ? [] : [expected]))
    }

    @Test func simulateTakesAnAddressOnlyWhereItDecidesNothing() throws {
        let unknown = try simulate("--interface-kind", "ethernet", "--interface", "eth7")
        #expect(unknown.complaint.contains("--address"))
        let network = unknown.json?["networks"]?.array?.first { $0["name"]?.string == "subnet" }
        #expect(strings(network?["undecided_by"]) == ["subnet"])
        let there = try simulate("--interface-kind", "ethernet", "--interface", "eth7", "--address", "10.1.2.3/16")
        #expect(there.complaint.isEmpty)
        #expect(there.json?["actions"]?.array?.contains { $0["rule"]?.string == "there" } == true)
    }

    @Test func simulateSaysWhatIsSkipped() throws {
        let json = try simulate("--ssid", "Café", "--security", "open").json
        let skipped = (json?["actions"]?.array ?? []).map { action in
            "\(action["rule"]?.string ?? "") \(action["edge"]?.string ?? ""): \(action["skipped"]?.string ?? "done")"
        }
        #expect(skipped.first == "away hold: done")
        #expect(skipped.contains { $0.hasPrefix("open hold: networkmanager corp-vpn is up to rule away (") })
    }

    @Test func simulateKnowsTheTime() throws {
        for (moment, isActive) in [("mon 09:30", true), ("Mon 07:59", false), ("sat 09:30", false)] {
            let json = try simulate("--ssid", "x", "--time", moment).json
            let rule = json?["rules"]?.array?.first { $0["name"]?.string == "morning" }
            #expect(rule?["active"]?.bool == isActive, "\(moment)")
        }
    }

    @Test func simulateLooksAtAllLinks() throws {
        let json = try simulate("--ssid", "Seven Oaks", "--security", "wpa2-psk", "--also", "ethernet", "--vpn").json
        let built = ["any-wifi", "wired", "vpn"]
        #expect(names(json?["networks"]).filter { built.contains($0) } == built)
        let offline = try simulate("--offline").json
        #expect(names(offline?["networks"]) == ["offline"])
    }

    @Test func simulateNeedsNoUnicodeInNames() throws {
        let outcome = try simulate("--ssid-hex", "00ff1b5b324a", "--security", "wpa3-sae")
        #expect(names(outcome.json?["networks"]).first == "home")
        #expect(isPrintable(outcome.output))
    }

    @Test(
        arguments: [
            [], ["--ssid", String(repeating: "x", count: 33)], ["--ssid", "a", "--ssid-hex", "61"],
            ["--ssid-hex", "6"], ["--ssid-hex", "zz"], ["--ssid", "a", "--security", "personal"],
            ["--ssid", "a", "--bssid", "02:00"], ["--ssid", "a", "--akm", "8"],
            ["--ssid", "a", "--address", "10.0.0.1"],
            ["--ssid", "a", "--address", "10.0.0.1/33"], ["--ssid", "a", "--time", "09:30"],
            ["--ssid", "a", "--time", "mon 24:00"], ["--ssid", "a", "--offline"], ["--ssid", "a", "--proven", "home"],
            ["--ssid", "a", "--proven", "\u{1b}[2J"], ["--interface-kind", "ethernet", "--ssid", "a"],
            ["--interface-kind", "tunnel"], ["--ssid", "a", "--also", "wifi:\(String(repeating: "y", count: 33))"],
            ["--ssid", "a", "--also", "ethernet:x"], ["--ssid", "a", "--metered", "--unmetered"],
            ["--ssid", "a", "--interface", ""], ["--ssid", "a", "operand"], ["--ssid"], ["--nonsense\u{1b}"],
            ["--ssid", "a", "--gateway-mac", "x"], ["--ssid", "a", "--authentication", "some"],
            ["--ssid", "a", "--format", "xml"], ["--ssid", "a", "--dns-suffix", ""],
        ])
    func simulateRefusesWhatItDoesNotUnderstand(arguments: [String]) throws {
        let place = try Place()
        let outcome = try vicinity(["simulate", "--rules", place.file] + arguments)
        #expect(outcome.status == 64)
        #expect(outcome.output.isEmpty && !outcome.complaint.isEmpty)
        #expect(!outcome.complaint.utf8.contains(0x1b))
    }

    @Test func simulateNamesAMemberOfAFamily() throws {
        let complaint = try simulate("--ssid", "a", "--security", "enterprise").complaint
        #expect(complaint.hasPrefix("vicinity: --security is one protection, such as wpa2-enterprise; "))
    }

    @Test func brokenFilesAreSaidToBeBroken() throws {
        let place = try Place("[rule.a]\nof = \"office\"\n")
        let recording = place.directory + "/feed.jsonl"
        try "".write(toFile: recording, atomically: true, encoding: .utf8)
        for command in [["simulate", "--ssid", "x"], ["rules"], ["why", "a"], ["replay", recording]] {
            let outcome = try vicinity(command + ["--rules", place.directory])
            #expect(outcome.status == 65, "\(command)")
            #expect(outcome.output.isEmpty)
            #expect(outcome.complaint.contains("a.toml:2:1: error: "))
            #expect(try vicinity(command + ["--rules", place.directory + "/nowhere"]).status == 66)
        }
    }

    @Test func unownedDirectoriesAreFineHere() throws {
        let place = try Place()
        chmod(place.directory, 0o777)
        #expect(try vicinity(["simulate", "--ssid", "x", "--rules", place.directory]).status == 0)
    }

    // MARK: hold, release, run

    @Test(
        arguments: [
            ["hold"], ["hold", "a"], ["hold", "a", "maybe"], ["hold", "a", "release"], ["hold", "a", "on", "b"],
            ["hold", "a", "on", "--for"], ["hold", "a", "on", "--for", "2"], ["hold", "a", "on", "--for", "0s"],
            ["hold", "a", "on", "--for", "2d"], ["hold", "a", "on", "--for", "-1h"], ["hold", "a", "on", "--until"],
            ["hold", "\u{1b}[2J", "\u{1b}"], ["release"], ["release", "a", "b"], ["run"], ["run", "a", "b"],
        ])
    func ordersThatCannotBeFollowedAreRefused(arguments: [String]) throws {
        let outcome = try vicinity(arguments)
        #expect(outcome.status == 64 && outcome.output.isEmpty)
        #expect(outcome.complaint.contains("usage: vicinity \(arguments[0]) ") && !outcome.complaint.contains("\u{1b}"))
    }

    // MARK: rules

    @Test func rulesListsWhatTheFilesSay() throws {
        let place = try Place()
        let outcome = try vicinity(["rules", "--rules", place.directory, "--format", "json"])
        #expect(outcome.status == 0 && isPrintable(outcome.output))
        let json = try #require(outcome.json)
        #expect(names(json["rules"]) == ["nas", "away", "open", "watched", "morning", "there"])
        #expect(names(json["networks"]) == ["office", "home", "subnet"])
        let away = json["rules"]?.array?[1]
        #expect(away?["when"]?.string == "off office and home")
        #expect(away?["holds"]?.isNull == true)
        #expect(away?["hold"]?.array?.first?["summary"]?.string == "networkmanager corp-vpn up")
        let text = try vicinity(["rules", "--rules", place.directory]).text
        #expect(text.contains("\naway ") && text.contains("off office and home"))
        #expect(text.contains("priority -1") && text.contains("observes") && text.contains("a.toml:13"))
    }

    // MARK: why

    @Test func whyWithoutAnAgentJudgesThePresentPlace() throws {
        let place = try Place()
        let outcome = try vicinity(["why", "away", "--rules", place.directory, "--format", "json"])
        #expect(outcome.status == 0)
        let explanation = outcome.json?["explanation"]
        #expect(explanation?["kind"]?.string == "rule" && explanation?["line"]?.integer == 17)
        #expect(explanation?["lines"]?.array?.isEmpty == false)
        let unknown = try vicinity(["why", "awya", "--rules", place.directory])
        #expect(unknown.status == 68)
        #expect(unknown.text.contains("did you mean \"away\"?"))
        #expect(try vicinity(["why", "\u{1b}[2J", "--rules", place.directory]).status == 68)
        #expect(try vicinity(["why", String(repeating: "x", count: 100_000)]).status == 68)
        #expect(try vicinity(["why", "a", "b"]).status == 64)
        #expect(try vicinity(["why", "away", "--socket", place.directory + "/none"]).status == 69)
    }

    /// An agent that answers as it likes.
    private struct Answering: Sendable {
        let loop: EventLoop
        let server: FeedServer

        init(_ place: Place, _ permission: FeedPermission, _ explanations: [Explanation]) throws {
            loop = try EventLoop()
            let encoder = FeedEncoder()
            server = try FeedServer(
                at: place.directory + "/events.sock", on: loop, permission: { _ in permission }, encoder: { encoder },
                snapshot: { encoder.snapshotLine(of: NetworkEnvironment(), permission: $0) },
                explain: { name in
                    explanations.filter { name.isEmpty || $0.name == name }.map { encoder.explanationLine(of: $0) }
                })
            try loop.start()
        }

        func stop() {
            loop.perform { [self] in
                server.stop()
                loop.stop()
            }
        }
    }

    @Test func whyAsksTheAgent() throws {
        let place = try Place()
        var explanation = Explanation(
            kind: .rule, name: "nas", truth: .yes, text: "on home\u{1b}[2J", file: "/etc/x\u{7}.toml", line: 3,
            since: Timestamp(wall: 1_796_040_000_000_000, boottime: 0), lines: ["+ on home\u{202e}"])
        explanation.isOfLastGoodRules = true
        let network = Explanation(kind: .network, name: "home", truth: .yes, text: "on home, keyed")
        let agent = try Answering(place, .full, [explanation, network])
        defer { agent.stop() }
        let socket = ["--socket", place.directory + "/events.sock"]
        let outcome = try vicinity(["why", "nas"] + socket)
        #expect(outcome.status == 0)
        #expect(outcome.text.hasPrefix("rule nas holds, since 20"))
        #expect(outcome.text.contains("last good rules"))
        for scalar in outcome.text.unicodeScalars where scalar != "\n" {
            #expect(scalar.properties.generalCategory != .control && scalar.properties.generalCategory != .format)
        }
        let everything = try vicinity(["why", "--format", "json"] + socket)
        #expect(everything.output.split(separator: 0x0A).count == 2)
        let rules = try vicinity(["rules", "--rules", place.directory, "--format", "json"] + socket).json
        let holding = (rules?["rules"]?.array ?? []).filter { $0["holds"]?.bool == true }
        #expect(holding.compactMap { $0["name"]?.string } == ["nas"])
        let here = (rules?["networks"]?.array ?? []).map { $0["on"]?.bool }
        #expect(here == [false, true, false])
    }

    @Test func whoMayNotKnowIsNotToldWhy() throws {
        let place = try Place()
        let agent = try Answering(place, .denied, [])
        defer { agent.stop() }
        let outcome = try vicinity(["why", "nas", "--socket", place.directory + "/events.sock"])
        #expect(outcome.status == 77 && outcome.output.isEmpty)
        #expect(outcome.complaint.contains("you may not see where this machine is"))
    }

    // MARK: replay

    @Test func replayReadsAFileOrStandardInput() throws {
        let place = try Place()
        let encoder = FeedEncoder()
        var environment = NetworkEnvironment()
        environment.interfaces[3] = Interface(index: 3, name: "wlan0", kind: .wifi)
        let snapshot = encoder.snapshotLine(of: environment, permission: .full, at: .now()) { fields in
            fields.names("networks", ["offline"])
            fields.names("rules", ["away"])
        }
        let recording = String(decoding: snapshot.octets, as: UTF8.self) + "nonsense\n"
        let path = place.directory + "/feed.jsonl"
        try recording.write(toFile: path, atomically: true, encoding: .utf8)
        let options = ["--rules", place.directory, "--expect-same"]
        let outcome = try vicinity(["replay", path] + options)
        #expect(outcome.status == 0)
        #expect(outcome.text == "0 decisions, all as recorded\n1 unreadable line\n")
        let json = try vicinity(["replay", "-", "--format", "json"] + options, input: recording)
        #expect(json.status == 0)
        #expect(json.json?["type"]?.string == "replay.finished")
        #expect(json.json?["replay"]?["differing"]?.integer == 0)
        let changed = try vicinity(
            ["replay", "-"] + options, input: recording.replacingOccurrences(of: "[\"away\"]", with: "[]"))
        #expect(changed.status == 1)
        #expect(changed.text.contains("rule away: recorded does not hold in the beginning, now holds"))
        #expect(try vicinity(["replay", "-"] + options, input: "\u{1b}[2J\n").status == 65)
        #expect(try vicinity(["replay", path + "x"] + options).status == 66)
        #expect(try vicinity(["replay"] + options).status == 64)
    }

    @Test func theHelpNamesEveryCommand() throws {
        let help = try vicinity(["help"]).text
        for command in ["simulate", "rules", "why", "replay"] {
            #expect(help.contains("\n  \(command) "))
            #expect(try vicinity(["help", command]).text.contains("usage: vicinity \(command)"))
        }
        let unknown = try vicinity(["help", "simulat"])
        #expect(unknown.status == 64 && unknown.output.isEmpty)
        #expect(unknown.complaint.contains("unknown command simulat"))
    }

    @Test(
        arguments: ["watch", "status", "why", "rules", "check", "simulate", "record", "replay", "reload", "version"])
    func theHelpFitsATerminal(command: String) throws {
        for topic in [["help"], ["help", command]] {
            #expect(try vicinity(topic).text.split(separator: "\n").allSatisfy { $0.count <= 80 })
        }
    }

    @Test func argumentsTooManyOrTooFewAreNamed() throws {
        #expect(try vicinity(["status", "now"]).complaint.hasPrefix("vicinity: now is one argument too many\n"))
        #expect(try vicinity(["replay"]).complaint.hasPrefix("vicinity: a recorded feed is missing\n"))
    }

    // MARK: check

    @Test func checkTakesDirectories() throws {
        let place = try Place("[rule.a]\nof = \"office\"\n")
        for path in [place.directory, place.file] {
            let outcome = try vicinity(["check", path])
            #expect(outcome.status == 65)
            #expect(outcome.text.contains("a.toml:2:1: error: "))
        }
        // The agent's own directory, whose rule files are one below.
        let whole = place.directory + "/whole"
        try FileManager.default.createDirectory(atPath: whole + "/rules.d", withIntermediateDirectories: true)
        try "mode = \"observe\"\n".write(toFile: whole + "/vicinity.toml", atomically: true, encoding: .utf8)
        let empty = try vicinity(["check", whole + "/rules.d"])
        #expect(empty.status == 0 && empty.complaint.contains("no rule files"))
        try FileManager.default.copyItem(atPath: place.file, toPath: whole + "/rules.d/a.toml")
        #expect(try vicinity(["check", whole]).text.contains("rules.d/a.toml:2:1: error: "))
        try FileManager.default.removeItem(atPath: whole + "/rules.d/a.toml")
        try "mode = \"on\"\n".write(toFile: whole + "/vicinity.toml", atomically: true, encoding: .utf8)
        #expect(try vicinity(["check", whole]).text.contains("vicinity.toml:1:8: error: "))
    }

    // MARK: watch

    @Test func watchTellsAFeedFromACapture() throws {
        let place = try Place()
        let feed = place.directory + "/feed.jsonl"
        try "{}\n".write(toFile: feed, atomically: true, encoding: .utf8)
        let outcome = try vicinity(["watch", "--replay", feed])
        #expect(outcome.status == 65 && outcome.complaint.contains("`vicinity replay`"))
        #expect(try vicinity(["watch", "--replay", feed + "x"]).status == 66)
    }
}
