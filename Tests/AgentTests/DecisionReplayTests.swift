@testable import Agent
import Environment
import Feed
import Foundation
import JSON
import Netlink
import Platform
import Rules
import TestSupport
import Testing
import WiFi

/// Writes a feed as the agent does: the lines of a change, then what the rules decide on the environment after it.
private struct Recorder {
    var environment = NetworkEnvironment()
    var engine: RuleEngine
    var encoder = FeedEncoder()
    var lines: [UInt8] = []
    var now: Int64 = 3_600_000_000
    var decisions: [String] = []

    init(_ ruleSet: RuleSet) {
        engine = RuleEngine(ruleSet: ruleSet)
    }

    func time(_ boottime: Int64) -> Timestamp { Timestamp(wall: 1_796_040_000_000_000 + boottime, boottime: boottime) }

    /// What a reader gets first.
    mutating func snapshot() {
        lines =
            encoder.snapshotLine(of: environment, permission: .full, at: time(now)) { [engine] fields in
                fields.names("networks", engine.networks.map(\.name))
                fields.names("rules", engine.activeRules)
            }.octets
    }

    mutating func start() {
        perform(engine.update(environment, at: time(now)))
    }

    /// Lets the agent's timer run up to a moment.
    mutating func wait(_ microseconds: Int64) {
        let end = now + microseconds
        while let due = engine.nextDeadline, due <= end {
            now = max(now, due)
            perform(engine.advance(to: time(now)))
        }
        now = end
    }

    mutating func change(
        _ kind: EnvironmentChange.Kind, on interface: Interface? = nil, at boottime: Int64? = nil,
        _ body: (inout NetworkEnvironment) -> Void = { _ in }
    ) {
        body(&environment)
        tell(kind, on: interface, at: boottime)
        perform(engine.update(environment, at: time(now)))
    }

    mutating func tell(_ kind: EnvironmentChange.Kind, on interface: Interface? = nil, at boottime: Int64? = nil) {
        let reference = interface.map { InterfaceReference(index: $0.index, name: $0.name) }
        let change = EnvironmentChange(time: time(boottime ?? now), interface: reference, kind: kind)
        lines += encoder.line(for: FeedEvent(change, in: environment)).octets
    }

    mutating func perform(_ decisions: [Decision]) {
        for decision in decisions {
            guard let event = FeedEvent(decision, at: time(now)) else { continue }
            lines += encoder.line(for: event).octets
            self.decisions.append(event.brief)
        }
    }
}

extension FeedEvent {
    fileprivate var brief: String {
        guard let decision = RecordedDecision(self) else { return type }
        return "\(decision.type) \(decision.name) \(decision.assurance ?? "")"
    }
}

private func link(_ index: Int32, _ name: String, _ kind: LinkKind, isUp: Bool = false) -> Interface {
    var interface = Interface(index: index, name: name, kind: kind)
    if kind == .wifi { interface.wifi = .idle }
    interface.isAdministrativelyUp = isUp
    interface.operationalState = isUp ? .up : .down
    return interface
}

private func network(_ name: String, _ security: Security, bssid: UInt8 = 1) -> WiFiNetwork {
    WiFiNetwork(ssid: SSID(utf8: name), bssid: BSSID(octets: [2, 0, 0, 0, 0, bssid]), security: security)
}

private func rules(_ text: String) throws -> RuleSet {
    let result = RuleSet.load([RuleFile(path: "/test.toml", contents: Array(text.utf8))])
    return try #require(result.ruleSet, "\(result.diagnostics.first?.description ?? "")")
}

private let everything = """
    [network.office]
    ssid = ["Corp"]
    security = ["wpa2-psk"]
    [network.lab]
    ssid = ["Lab"]
    security = ["personal", "open"]
    stable-for = "3s"
    [network.desk]
    subnet = ["192.0.2.0/24"]
    [rule.work]
    on = "office"
    settle = "2s"
    enter = [ { command = ["/bin/a"] } ]
    leave = [ { command = ["/bin/b"] } ]
    [rule.protect]
    off = ["office", "lab"]
    vpn = { networkmanager = "corp", state = "up" }
    firewall = { zone = "public" }
    accept-weak-evidence = "a test"
    [rule.relax]
    on = "office"
    settle = "5s"
    firewall = { zone = "home" }
    priority = 3
    accept-weak-evidence = "a test"
    [network.secure]
    ssid = ["Secure"]
    security = ["enterprise"]
    [rule.strict]
    off = "secure"
    pam = "require"
    [rule.wired]
    on = { any = [ "wired", { all = [ "lab", "vpn" ] } ] }
    settle = "0s"
    [rule.nowhere]
    on = "offline"
    settle = "1s"
    [rule.short]
    on = "any-wifi"
    time = ["mon-sun 09:00-09:10"]
    [rule.desk]
    on = { all = [ "desk", { not = "open-wifi" } ] }
    """

/// SplitMix64: the same numbers on every machine.
private struct Dice: RandomNumberGenerator {
    var state: UInt64

    mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var value = state
        value = (value ^ (value >> 30)) &* 0xBF58_476D_1CE4_E5B9
        value = (value ^ (value >> 27)) &* 0x94D0_49BB_1331_11EB
        return value ^ (value >> 31)
    }
}

@Suite struct DecisionReplayTests {
    private func replay(_ lines: [UInt8], _ ruleSet: RuleSet) -> (told: [FeedEvent], summary: ReplaySummary) {
        var told: [FeedEvent] = []
        let summary = DecisionReplay.run(lines, by: ruleSet) { told.append($0) }
        return (told, summary)
    }

    /// Whatever happened: the recording replays to what was decided.
    @Test(arguments: 0..<160 as Range<UInt64>)
    func aRecordingDecidesTheSameAgain(seed: UInt64) throws {
        var dice = Dice(state: seed)
        let ruleSet = try rules(everything)
        var recorder = Recorder(ruleSet)
        let wifi = link(3, "wlan0", .wifi)
        let wire = link(4, "eth0", .ethernet, isUp: seed % 2 == 0 || seed % 3 == 0)
        let tunnel = link(5, "tun0", .tunnel)
        recorder.environment.interfaces = [3: wifi, 4: wire, 5: tunnel]
        recorder.start()
        recorder.wait(7_200_000_000)
        if seed % 2 == 0 {
            // The recording begins while something is about to settle.
            let new = network("Corp", .wpa2PSK)
            recorder.change(.joined(new), on: wifi) { $0.interfaces[3]?.wifi = .joined(new) }
        }
        recorder.snapshot()
        let first = recorder.decisions.count
        for _ in 0..<50 { step(&recorder, &dice, wifi, wire, tunnel) }
        recorder.wait(1_000)
        recorder.tell(.dnsChanged(.init()))

        let (told, summary) = replay(recorder.lines, ruleSet)
        #expect(summary.differences.isEmpty, "\(summary.differences)")
        #expect(summary.decisions == summary.recorded)
        #expect(summary.counters.unreadable == 0 && summary.counters.gaps == 0 && summary.counters.early == 0)
        let decided = told.filter { RecordedDecision($0) != nil }.map(\.brief)
        #expect(decided.sorted() == recorder.decisions[first...].sorted())
    }

    /// The same with what a kernel said, through the reducer.
    @Test(arguments: Fixtures.captures)
    func aCaptureDecidesTheSameThroughItsFeed(name: String) throws {
        let ruleSet = try rules(
            """
            [network.personal]
            ssid = ["Seven Oaks", "roam-net", "Library"]
            security = ["personal"]
            [network.others]
            ssid = ["Corp-Staff", "Cafe Amp", "hidden one", "Seven Oaks"]
            security = ["open", "owe", "wep", "unknown", "enterprise"]
            [rule.personal]
            on = "personal"
            settle = "0s"
            enter = [ { command = ["/bin/a"] } ]
            [rule.protect]
            off = "personal"
            settle = "1s"
            firewall = { zone = "public" }
            accept-weak-evidence = "a test"
            [rule.nowhere]
            on = "offline"
            settle = "20s"
            """)
        var capture = try Replay(Fixtures.read(name))
        var recorder = Recorder(ruleSet)
        recorder.now = try #require(capture.start).boottime
        recorder.environment = capture.environment
        recorder.start()
        recorder.wait(60_000_000)
        recorder.snapshot()
        var delay: Int64 = 60_000_000
        while let step = capture.next() {
            delay = max(delay, recorder.now - step.time.boottime)
            recorder.wait(max(step.time.boottime + delay - recorder.now, 0))
            recorder.environment = capture.environment
            for change in step.changes {
                let interface = change.interface.flatMap { capture.environment.interfaces[$0.index] }
                recorder.tell(
                    change.kind, on: interface ?? change.interface.map { link($0.index, $0.name, .unknown) },
                    at: change.time.boottime + delay)
            }
            recorder.perform(recorder.engine.update(recorder.environment, at: recorder.time(recorder.now)))
        }
        let (_, summary) = replay(recorder.lines, ruleSet)
        #expect(summary.differences.isEmpty, "\(summary.differences)")
        #expect(summary.decisions == summary.recorded)
    }

    private func step(
        _ recorder: inout Recorder, _ dice: inout Dice, _ wifi: Interface, _ wire: Interface, _ tunnel: Interface
    ) {
        recorder.wait([1_000, 200_000, 1_900_000, 2_100_000, 40_000_000].randomElement(using: &dice) ?? 0)
        let state = recorder.environment.interfaces[3]?.wifi
        switch Int.random(in: 0..<12, using: &dice) {
        case 0...3:
            guard case .joined(let old) = state else {
                let names: [(String, Security)] = [
                    ("Corp", .wpa2PSK), ("Corp", .open), ("Lab", .open), ("Lab", .wpa3SAE), ("Café", .open),
                    ("Secure", .wpa2Enterprise),
                ]
                let (name, security) = names.randomElement(using: &dice) ?? ("", .open)
                let new = network(name, security)
                recorder.change(.associating(new), on: wifi) { $0.interfaces[3]?.wifi = .associating(new) }
                recorder.wait(30_000)
                recorder.change(.joined(new), on: wifi) { $0.interfaces[3]?.wifi = .joined(new) }
                return
            }
            lose(old, &recorder, &dice, wifi)
        case 4:
            guard case .joined(let old) = state else { return }
            recorder.change(.left(old, Cause(circumstance: .rfkill)), on: wifi) { $0.interfaces[3]?.wifi = .idle }
        case 5, 6:
            let isUp = recorder.environment.interfaces[4]?.isUsable ?? false
            recorder.change(isUp ? .linkDown : .linkUp, on: wire) { environment in
                environment.interfaces[4]?.isAdministrativelyUp = !isUp
                environment.interfaces[4]?.operationalState = isUp ? .down : .up
            }
        case 7:
            let isUp = recorder.environment.interfaces[5]?.isUsable ?? false
            recorder.change(isUp ? .linkDown : .linkUp, on: tunnel) { environment in
                environment.interfaces[5]?.isAdministrativelyUp = !isUp
                environment.interfaces[5]?.operationalState = isUp ? .down : .up
            }
        case 8, 9:
            let index: Int32 = Bool.random(using: &dice) ? 3 : 4
            guard let address = IPAddress(Bool.random(using: &dice) ? "192.0.2.7" : "198.51.100.7"),
                let interface = recorder.environment.interfaces[index]
            else { return }
            let entry = InterfaceAddress(address: address, prefixLength: 24)
            let isThere = interface.addresses.contains(entry)
            recorder.change(
                .addressChanged(added: isThere ? [] : [entry], removed: isThere ? [entry] : []), on: interface
            ) { environment in
                if isThere {
                    environment.interfaces[index]?.addresses.remove(entry)
                } else {
                    environment.interfaces[index]?.addresses.insert(entry)
                }
            }
        case 10:
            recorder.change(.suspended) { $0.isSuspended = true }
            recorder.wait(500_000)
            recorder.change(.resumed) { $0.isSuspended = false }
        default: recorder.change(.connectivityChanged(.local)) { $0.connectivity = .local }
        }
    }

    /// The link is lost; for a second nobody knows whether it comes back.
    private func lose(_ old: WiFiNetwork, _ recorder: inout Recorder, _ dice: inout Dice, _ wifi: Interface) {
        let outcome = Int.random(in: 0..<3, using: &dice)
        let lost = recorder.now
        recorder.environment.interfaces[3]?.wifi = .unknown
        recorder.perform(recorder.engine.update(recorder.environment, at: recorder.time(recorder.now)))
        recorder.wait(30_000)
        if outcome > 0 {
            // Something else happens meanwhile.
            recorder.change(.dnsChanged(DNSConfiguration(searchDomains: ["a\(recorder.now)"])))
            recorder.wait(970_000)
        }
        switch outcome {
        case 0:
            var new = old
            new.bssid = BSSID(octets: [2, 0, 0, 0, 0, 9])
            recorder.change(.roamed(new, previous: old.bssid), on: wifi) { $0.interfaces[3]?.wifi = .joined(new) }
        case 1:
            recorder.change(.left(old, Cause(reason: 3)), on: wifi, at: lost) { $0.interfaces[3]?.wifi = .idle }
        default:
            let new = network("Lab", .wpa2PSK)
            recorder.tell(.left(old, Cause(reason: 3)), on: wifi, at: lost)
            recorder.change(.joined(new), on: wifi) { $0.interfaces[3]?.wifi = .joined(new) }
        }
    }
}

/// Recordings written by hand.
@Suite struct RecordedFeedTests {
    private static let start: Int64 = 5_000_000_000

    /// A line at a moment in milliseconds after the beginning; `id` and `seq` where it has a number.
    private func line(
        _ milliseconds: Int64, _ type: String, _ body: String, sequence: Int? = nil, agent: String = "00000000000000aa"
    ) -> String {
        let boottime = Self.start + milliseconds * 1_000
        let time = Timestamp(wall: 1_796_040_000_000_000 + boottime, boottime: boottime)
        let id = sequence.map { "\"\(agent):\($0)\"" } ?? "null"
        return """
            {"schema":"vicinity/1","seq":\(sequence.map { "\($0)" } ?? "null"),"id":\(id),\
            "time":"\(CivilTime(utc: time.wall).iso8601)","boottime_us":\(boottime),"type":"\(type)"\(body)}

            """
    }

    private func snapshot(
        _ milliseconds: Int64 = 0, of sequence: Int = 0, networks: String = "", rules: String = "",
        interface: String = #""usable":true,"addresses":["192.0.2.7/24"],"wifi":{"state":"idle"}"#
    ) -> String {
        line(
            milliseconds, "environment.snapshot",
            #","permission":"full","as_of_seq":\#(sequence),"networks":[\#(networks)],"rules":[\#(rules)],"route":null,"#
                + #""dns":{"servers":[],"search":[]},"connectivity":"local","interfaces":["#
                + #"{"interface":"wlan0","ifindex":3,"kind":"wifi",\#(interface)}]"#)
    }

    private func wifi(_ security: String = "wpa2-psk", bssid: Int = 1, more: String = "") -> String {
        #","interface":"wlan0","ifindex":3,"wifi":{"ssid":"Corp","ssid_hex":"436f7270","#
            + #""bssid":"02:00:00:00:00:0\#(bssid)","security":"\#(security)"\#(more)}"#
    }

    private func decisions(_ lines: String, _ text: String = office) throws -> (brief: [String], summary: ReplaySummary)
    {
        var told: [String] = []
        let summary = DecisionReplay.run(Array(lines.utf8), by: try rules(text)) { told.append($0.brief) }
        return (told, summary)
    }

    private static let office = """
        [network.office]
        ssid = ["Corp"]
        security = ["wpa2-psk"]
        [rule.work]
        on = "office"
        enter = [ { command = ["/bin/a"] } ]
        """

    @Test func decidesWithoutActing() throws {
        let (told, summary) = try decisions(
            snapshot() + line(1_000, "wifi.joined", wifi(), sequence: 1)
                + line(
                    1_001, "network.entered", #","network":{"name":"office","assurance":"keyed","previous":null}"#,
                    sequence: 2)
                + line(9_000, "dns.changed", #","dns":{"servers":[],"search":[]}"#, sequence: 3))
        #expect(told == ["network.entered office keyed", "rule.activated work ", "action.started"])
        #expect(summary.recorded == 1 && summary.decisions == 2)
        #expect(
            summary.differences.map { "\($0.name): \($0.recorded), \($0.replayed)" } == [
                "work: nothing more, rule.activated"
            ])
    }

    @Test func whatHeldInTheBeginningIsNoDecision() throws {
        let joined =
            #""usable":true,"addresses":["192.0.2.7/24"],"wifi":{"state":"joined","ssid":"Corp","#
            + #""ssid_hex":"436f7270","bssid":"02:00:00:00:00:01","security":"wpa2-psk"}"#
        let recording = snapshot(of: 7, networks: #""office""#, rules: #""work""#, interface: joined)
        let (told, summary) = try decisions(
            recording + line(60_000, "agent.reloaded", #","agent":{"problems":0}"#, sequence: 8))
        #expect(told.isEmpty && summary.differences.isEmpty)
        let (_, other) = try decisions(
            snapshot(of: 7, interface: joined)
                + line(60_000, "agent.reloaded", #","agent":{"problems":0}"#, sequence: 8))
        #expect(!other.differences.isEmpty)
    }

    @Test func aLossThatWasHeldBackFreezesWhatSettles() throws {
        let left = line(2_000, "wifi.left", wifi() + #","cause":{"reason":3}"#, sequence: 3)
        let recording =
            snapshot() + line(1_000, "wifi.joined", wifi(), sequence: 1)
            + line(
                1_000, "network.entered", #","network":{"name":"office","assurance":"keyed","previous":null}"#,
                sequence: 2)
            + left
            + line(
                3_001, "network.left", #","network":{"name":"office","assurance":"keyed","previous":null,"minutes":0}"#,
                sequence: 4)
        let (told, summary) = try decisions(recording)
        #expect(told == ["network.entered office keyed", "network.left office keyed"])
        #expect(summary.differences.isEmpty)
    }

    @Test func evidenceIsTakenIn() throws {
        let text = """
            [network.desk]
            gateway-mac = ["02:00:5e:10:00:01"]
            dns-suffix = ["corp.example"]
            [network.metered-desk]
            interface = ["eth0"]
            subnet = ["192.0.2.0/24"]
            [rule.cheap]
            on = "metered"
            settle = "0s"
            """
        let gateway =
            #","interface":"eth0","ifindex":4,"evidence":{"gateways":[{"address":"192.0.2.1","#
            + #""mac":"02:00:5e:10:00:01"}],"search":["x.corp.example"],"authentication":null}"#
        let (told, summary) = try decisions(
            snapshot() + line(1, "evidence.changed", #","metered":true"#, sequence: 1)
                + line(10, "link.up", #","interface":"eth0","ifindex":4,"kind":"ethernet""#, sequence: 2)
                + line(20, "evidence.changed", gateway, sequence: 3)
                + line(
                    30, "address.changed",
                    #","interface":"eth0","ifindex":4,"address":{"added":["192.0.2.9/24"],"removed":[]}"#, sequence: 4)
                + line(9_000, "evidence.changed", #","metered":null"#, sequence: 5), text)
        #expect(
            told.filter { $0.hasPrefix("network") } == [
                "network.entered desk claimed", "network.entered metered-desk claimed",
            ])
        #expect(told.contains("rule.activated cheap "))
        #expect(summary.counters.unreadable == 0 && summary.counters.unknownInterfaces == 0)
    }

    @Test func aRecordedProofAnswersTheProbe() throws {
        let text = Self.office.replacingOccurrences(
            of:
                "security = [\"wpa2-psk\"]",
            with: """
                security = ["wpa2-psk"]
                probe = { url = "https://inside.corp.example/", address = "10.1.0.2", \
                spki-sha256 = ["AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA="] }
                """)
        func network(_ milliseconds: Int64, _ type: String, _ assurance: String, _ previous: String, _ sequence: Int)
            -> String
        {
            line(
                milliseconds, type,
                #","network":{"name":"office","assurance":"\#(assurance)","previous":\#(previous)}"#, sequence: sequence
            )
        }
        let (told, summary) = try decisions(
            snapshot() + line(1_000, "wifi.joined", wifi(), sequence: 1)
                + network(1_000, "network.entered", "keyed", "null", 2)
                + network(1_200, "network.assurance_changed", "proven", "\"keyed\"", 3)
                + line(3_000, "rule.activated", #","rule":{"name":"work","file":"/f","line":4}"#, sequence: 4)
                // Long after the lifetime of one proof: it was repeated.
                + line(1_900_000, "agent.reloaded", #","agent":{"problems":0}"#, sequence: 5)
                + network(2_000_000, "network.assurance_changed", "keyed", "\"proven\"", 6), text)
        #expect(
            told.filter { $0.hasPrefix("network") } == [
                "network.entered office keyed", "network.assurance_changed office proven",
                "network.assurance_changed office keyed",
            ])
        #expect(summary.differences.isEmpty, "\(summary.differences)")
    }

    @Test func anotherAgentOnTheSameAssociationEntersNothingAgain() throws {
        let joined =
            #""usable":true,"addresses":["192.0.2.7/24"],"wifi":{"state":"joined","ssid":"Corp","#
            + #""ssid_hex":"436f7270","bssid":"02:00:00:00:00:01","security":"wpa2-psk"}"#
        let (told, summary) = try decisions(
            snapshot() + line(1_000, "wifi.joined", wifi(), sequence: 1)
                + line(9_000, "agent.stopped", "", sequence: 2)
                + snapshot(20_000, of: 2, networks: #""office""#, rules: #""work""#, interface: joined)
                + line(30_000, "agent.reloaded", #","agent":{"problems":0}"#, sequence: 3, agent: "00000000000000bb"))
        #expect(told == ["network.entered office keyed", "rule.activated work ", "action.started"])
        #expect(summary.counters.restarts == 1)
        #expect(summary.counters.gaps == 0)
    }

    @Test func linesFromBeforeTheSnapshotComeBeforeIt() throws {
        let joined =
            #""usable":true,"addresses":["192.0.2.7/24"],"wifi":{"state":"joined","ssid":"Corp","#
            + #""ssid_hex":"436f7270","bssid":"02:00:00:00:00:01","security":"wpa2-psk"}"#
        let (told, summary) = try decisions(
            snapshot(60_000, of: 2, networks: #""office""#, rules: #""work""#, interface: joined)
                + line(1_000, "wifi.joined", wifi(), sequence: 1)
                + line(1_500, "link.up", #","interface":"wlan0","ifindex":3"#, sequence: 2)
                + line(70_000, "wifi.left", wifi() + #","cause":{}"#, sequence: 3))
        #expect(told == ["network.left office keyed", "rule.deactivated work "])
        #expect(summary.counters.early == 2)
    }

    /// Garbage is counted and never fatal.
    @Test func whatIsNoLineIsCounted() throws {
        let good = line(1_000, "wifi.joined", wifi(), sequence: 1)
        let garbage = [
            "", "{", "null", "[]", #"{"schema":"vicinity/2"}"#, #"{"schema":"vicinity/1","type":"wifi.joined"}"#,
            String(good.dropLast(40)), "\u{1b}[2J\u{0}", String(repeating: "[", count: 10_000),
            String(repeating: "x", count: 100_000),
            good.replacingOccurrences(of: "\"boottime_us\":5001000000", with: "\"boottime_us\":9223372036854775807"),
            good.replacingOccurrences(of: "\"boottime_us\":5001000000", with: "\"boottime_us\":-1"),
            good.replacingOccurrences(of: "2026-", with: "99999999999999-"),
        ]
        let (told, summary) = try decisions(
            snapshot() + garbage.map { $0.hasSuffix("\n") ? $0 : $0 + "\n" }.joined() + good
                + line(2_000, "some.day", #","new":1"#, sequence: 2) + line(9_000, "agent.stopped", "", sequence: 3))
        #expect(told == ["network.entered office keyed", "rule.activated work ", "action.started"])
        #expect(summary.counters.unreadable == garbage.count - 1)
    }

    /// Values of the wrong kind in lines that are otherwise right.
    @Test func hostileValuesHarmNothing() throws {
        let values = [
            "null", "true", "-1", "1e300", "99999999999", "\"\"", "\"\\u0000\"", "[]", "[[]]", "{}", "[{\"a\":1}]",
            "[\"300.1.1.1/99\",\"::/129\",7]",
        ]
        let keys = [
            "interface", "ifindex", "wifi", "address", "route", "dns", "connectivity", "evidence", "metered", "network",
            "rule", "kind", "interfaces", "networks", "rules", "as_of_seq",
        ]
        let types = [
            "environment.snapshot", "wifi.joined", "wifi.left", "wifi.roamed", "wifi.channel_changed", "link.up",
            "address.changed", "route.changed", "dns.changed", "evidence.changed", "network.entered", "network.left",
            "rule.activated", "feed.gap",
        ]
        var recording = snapshot()
        var sequence = 1
        for type in types {
            for key in keys {
                for value in values {
                    let index = key == "ifindex" ? "" : #","ifindex":3"#
                    recording += line(Int64(sequence), type, "\(index),\"\(key)\":\(value)", sequence: sequence)
                    sequence += 1
                }
            }
        }
        let (_, summary) = try decisions(recording)
        #expect(summary.counters.lines == sequence)
    }

    /// What `watch --direct` tells.
    @Test func aRecordingOfNoAgentHasNothingToCompareWith() throws {
        let direct = snapshot().replacingOccurrences(of: #""networks":[],"rules":[],"#, with: "")
        let (told, summary) = try decisions(
            direct + line(1_000, "wifi.joined", wifi(), sequence: 1) + line(9_000, "agent.stopped", "", sequence: 2))
        #expect(told == ["network.entered office keyed", "rule.activated work ", "action.started"])
        #expect(!summary.isComparable && summary.differences.isEmpty)
    }

    @Test func interfacesThatNobodyDescribedAreSaid() throws {
        let (_, summary) = try decisions(
            snapshot() + line(1, "link.up", #","interface":"eth0","ifindex":4"#, sequence: 1)
                + line(2, "link.up", #","interface":"eth1","ifindex":5,"kind":"ethernet""#, sequence: 2))
        #expect(summary.counters.unknownInterfaces == 1)
    }

    /// Octets changed, lines lost, doubled and out of order.
    @Test(arguments: 0..<300 as Range<UInt64>)
    func aMutilatedRecordingHarmsNothing(seed: UInt64) throws {
        var dice = Dice(state: seed)
        let network = #","network":{"name":"office","assurance":"keyed","previous":null,"minutes":0}"#
        var recording = snapshot()
        for round in 0..<6 as Range<Int64> {
            let sequence = Int(round) * 4
            let start = round * 7_000
            recording += line(start + 1_000, "wifi.joined", wifi(), sequence: sequence + 1)
            recording += line(start + 1_001, "network.entered", network, sequence: sequence + 2)
            recording += line(start + 5_000, "wifi.left", wifi() + #","cause":{}"#, sequence: sequence + 3)
            recording += line(start + 6_000, "network.left", network, sequence: sequence + 4)
        }
        var octets = Array(recording.utf8)
        for _ in 0..<Int.random(in: 1..<40, using: &dice) {
            let place = Int.random(in: 0..<octets.count, using: &dice)
            switch Int.random(in: 0..<4, using: &dice) {
            case 0: octets[place] = UInt8.random(in: 0...255, using: &dice)
            case 1: octets[place] = UInt8(ascii: "9")
            case 2: octets.removeSubrange(place..<min(place + Int.random(in: 1..<200, using: &dice), octets.count))
            default:
                let end = min(place + Int.random(in: 1..<400, using: &dice), octets.count)
                octets.insert(contentsOf: octets[place..<end], at: Int.random(in: 0..<octets.count, using: &dice))
            }
        }
        _ = DecisionReplay.run(octets, by: try rules(everything)) { _ in }
    }

    @Test func missingLinesAreSaid() throws {
        let (_, summary) = try decisions(
            snapshot() + line(1, "agent.reloaded", "", sequence: 1) + line(2, "agent.reloaded", "", sequence: 5)
                + line(3, "feed.gap", #","gap":{"lost":3}"#))
        #expect(summary.counters.gaps == 2)
    }
}
