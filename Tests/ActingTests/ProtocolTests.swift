import ActionProtocol
import Testing

/// What agent and helper say to each other, by values: each end takes the other to be hostile.
@Suite struct ProtocolTests {
    private static let digest = String(repeating: "0a", count: 32)

    private static var full: EventRecord {
        var record = EventRecord(event: "rule.activated")
        record.network = "office"
        record.assurance = "proven"
        record.interface = "wlan0"
        record.interfaceIndex = .max
        record.ssid = [0, 0x22, 0x5C, 0xFF, 0x0A]
        record.bssid = "02:00:00:00:0A:ff"
        record.security = "wpa3"
        record.links = ["wlan0", "eth0"]
        return record
    }

    private static var requests: [HelperRequest] {
        let bare = EventRecord(event: "rule.run")
        return [
            .hold(pass: 0, digest: digest, []),
            .hold(
                pass: UInt64(Int64.max), digest: digest,
                [NamedState(rule: "a", index: 0, record: full), NamedState(rule: "b_-9", index: 65_535, record: bare)]),
            .run(id: 0, digest: digest, NamedAction(rule: "a", edge: .enter, index: 3, record: full)),
            .run(
                id: UInt64(Int64.max), digest: digest, NamedAction(rule: "a", edge: .leave, index: 0, record: bare)),
            .run(
                id: 1, digest: digest,
                NamedAction(
                    rule: "a", edge: .enter, index: 0, consequence: NamedConsequence(.success, index: 0), record: bare)),
            .run(
                id: 1, digest: digest,
                NamedAction(
                    rule: "a", edge: .leave, index: 1, consequence: NamedConsequence(.failure, index: 65_535),
                    record: full)),
            .portal(digest: digest, NamedState(rule: "a", index: 2, record: full)), .cancel(id: 7), .prepare,
            .resetProxy(id: 8),
            .verify(.firewalld), .verify(.networkManager), .protect(after: 0),
            .protect(after: HelperRequest.maximumDelay), .release,
        ]
    }

    private static var reports: [HelperReport] {
        var end = ActionEnd(.failed, because: "it said \"no\"\n\u{0}é")
        end.exit = -1
        end.duration = 12
        end.output = [UInt8](repeating: 0xFF, count: ActionEnd.maximumOutput)
        end.errors = [0, 10, 34]
        (end.outputLost, end.errorsLost) = (.max, 1)
        return [
            .outdated(digest: digest, .hold(pass: 1)), .outdated(digest: digest, .action(id: 1)), .started(id: 2),
            .ended(id: 3, end),
            .ended(id: 4, ActionEnd(.succeeded)), .ended(id: 5, ActionEnd(.cancelled)),
            .state(rule: "a", index: 1, .held), .state(rule: "a", index: 1, .reverted),
            .state(rule: "a", index: 1, .failed(because: "")), .settled(pass: nil), .settled(pass: 7), .noted,
        ]
    }

    @Test func whatIsWrittenIsRead() {
        for request in Self.requests { #expect(HelperRequest(line: request.line) == request) }
        for report in Self.reports { #expect(HelperReport(line: report.line) == report) }
    }

    /// Cut short anywhere, and with each octet another.
    @Test func damagedLinesAreRefusedOrMeanSomething() {
        for line in Self.requests.map(\.line) {
            for count in 0..<(line.count - 1) { #expect(HelperRequest(line: line.prefix(count)) == nil) }
            for index in line.indices {
                for octet: UInt8 in [0, 0x22, 0x39, 0x7B, 0x80, 0xFF] {
                    var damaged = line
                    damaged[index] = octet
                    guard let read = HelperRequest(line: damaged) else { continue }
                    #expect(HelperRequest(line: read.line) == read)
                }
            }
        }
        for line in Self.reports.map(\.line) where line.count < 2_000 {
            for count in 0..<(line.count - 1) { #expect(HelperReport(line: line.prefix(count)) == nil) }
            for index in line.indices {
                for octet: UInt8 in [0, 0x22, 0x39, 0x7B, 0x80, 0xFF] {
                    var damaged = line
                    damaged[index] = octet
                    guard let read = HelperReport(line: damaged) else { continue }
                    #expect(HelperReport(line: read.line) == read)
                }
            }
        }
    }

    @Test(arguments: [
        "", "null", "[]", "1", "\"release\"", #"{"do":1}"#, #"{"do":"Release"}"#, #"{"do":"release\u0000"}"#,
        #"{"do":"release","do":"release"}"#, #"{"do":"release"}{"#, #"{"do":"protect"}"#,
        #"{"do":"protect","after_ms":-1}"#, #"{"do":"protect","after_ms":60001}"#,
        #"{"do":"protect","after_ms":"1"}"#, #"{"do":"protect","after_ms":1e400}"#,
        #"{"do":"cancel","id":-1}"#, #"{"do":"cancel","id":1.0}"#, #"{"do":"cancel","id":9223372036854775808}"#,
        #"{"do":"cancel","id":1,"id":2}"#, #"{"do":"portal","digest":"DIGEST"}"#,
        #"{"do":"portal","rule":"a","index":0,"record":{"event":"rule.run"}}"#,
        #"{"do":"hold","pass":1,"digest":"DIGEST"}"#,
        #"{"do":"hold","pass":1,"digest":"DIGEST","states":{}}"#,
        #"{"do":"hold","pass":1,"digest":"DIGEST","states":[1]}"#,
        #"{"do":"hold","pass":1,"digest":"00","states":[]}"#, #"{"do":"hold","pass":1,"digest":null,"states":[]}"#,
        #"{"do":"hold","digest":"DIGEST","states":[]}"#, #"{"do":"hold","pass":-1,"digest":"DIGEST","states":[]}"#,
    ])
    func requestsOfNoAgentAreRefused(_ text: String) {
        #expect(HelperRequest(line: Array(text.replacing("DIGEST", with: Self.digest).utf8)) == nil)
    }

    /// Each in the place of the same member of a request that is right.
    @Test(arguments: [
        ("rule", #""-a""#), ("rule", #""""#), ("rule", #""a/b""#), ("rule", #""é""#), ("rule", "1"),
        ("index", "-1"), ("index", "65536"), ("index", "1.0"), ("index", #""1""#), ("edge", #""both""#),
        ("record", "null"), ("record", "{}"), ("record", #"{"event":"rule.other"}"#),
        ("record", #"{"event":"rule.run","network":1}"#), ("record", #"{"event":"rule.run","network":""}"#),
        ("record", #"{"event":"rule.run","network":"$(id)"}"#), ("record", #"{"event":"rule.run","interface":[]}"#),
        ("record", #"{"event":"rule.run","interface":"../x"}"#),
        ("record", #"{"event":"rule.run","interface":"abcdefghijklmnop"}"#),
        ("record", #"{"event":"rule.run","ifindex":0}"#), ("record", #"{"event":"rule.run","ifindex":2147483648}"#),
        ("record", #"{"event":"rule.run","ifindex":"1"}"#), ("record", #"{"event":"rule.run","ssid_hex":"0"}"#),
        ("record", #"{"event":"rule.run","ssid_hex":"zz"}"#), ("record", #"{"event":"rule.run","ssid_hex":false}"#),
        ("record", #"{"event":"rule.run","bssid":"+1:00:00:00:00:00"}"#),
        ("record", #"{"event":"rule.run","bssid":"00:00:00:00:00"}"#),
        ("record", #"{"event":"rule.run","links":"eth0"}"#), ("record", #"{"event":"rule.run","links":[null]}"#),
        ("record", #"{"event":"rule.run","event":"rule.run"}"#),
    ])
    func wrongMembersAreRefused(_ key: String, _ value: String) {
        var members = [
            "do": #""run""#, "id": "1", "digest": "\"\(Self.digest)\"", "rule": #""a""#, "edge": #""enter""#,
            "index": "0", "record": #"{"event":"rule.run"}"#,
        ]
        func line() -> [UInt8] {
            Array(("{" + members.map { "\"\($0)\":\($1)" }.joined(separator: ",") + "}").utf8)
        }
        #expect(HelperRequest(line: line()) != nil)
        members[key] = value
        #expect(HelperRequest(line: line()) == nil)
    }

    /// What follows a second factor is never taken for the action itself, nor for what follows the other end.
    @Test(arguments: [
        #""outcome":"success""#, #""consequence":0"#, #""outcome":null,"consequence":0"#,
        #""outcome":"success","consequence":null"#, #""outcome":"passed","consequence":0"#,
        #""outcome":"Success","consequence":0"#, #""outcome":"success\u0000","consequence":0"#,
        #""outcome":true,"consequence":0"#, #""outcome":["success"],"consequence":0"#,
        #""outcome":"success","consequence":-1"#, #""outcome":"success","consequence":65536"#,
        #""outcome":"success","consequence":0.0"#, #""outcome":"success","consequence":"0""#,
        #""outcome":"success","consequence":[0]"#, #""outcome":"success","consequence":{"command":["/bin/sh"]}"#,
        #""outcome":"success","outcome":"failure","consequence":0"#,
        #""outcome":"success","consequence":0,"consequence":1"#,
    ])
    func wrongConsequencesAreRefused(_ members: String) {
        func line(_ members: String) -> [UInt8] {
            Array(
                (#"{"do":"run","id":1,"digest":"\#(Self.digest)","rule":"a","edge":"enter","index":0,"#
                    + #"\#(members)"record":{"event":"rule.run"}}"#).utf8)
        }
        #expect(HelperRequest(line: line("")) != nil)
        #expect(HelperRequest(line: line(#""outcome":"failure","consequence":7,"#)) != nil)
        #expect(HelperRequest(line: line(members + ",")) == nil)
    }

    @Test(arguments: [
        #"{"is":"settled","is":"settled"}"#, #"{"is":"outdated","digest":"DIGEST","id":"1"}"#,
        #"{"is":"outdated","digest":"DIGEST","id":null}"#, #"{"is":"outdated"}"#,
        #"{"is":"outdated","digest":"DIGEST"}"#,
        #"{"is":"outdated","digest":"DIGEST","id":1,"pass":1}"#, #"{"is":"outdated","digest":"DIGEST","pass":1.5}"#,
        #"{"is":"settled","pass":null}"#, #"{"is":"settled","pass":-1}"#, #"{"is":"started","id":null}"#,
        #"{"is":"ended","id":1}"#, #"{"is":"ended","id":1,"result":"won",REST}"#,
        #"{"is":"ended","id":1,"result":"failed","exit":2147483648,REST}"#,
        #"{"is":"ended","id":1,"result":"failed","exit":"1",REST}"#,
        #"{"is":"ended","id":1,"result":"failed","because":1,REST}"#,
        #"{"is":"ended","id":1,"result":"failed","output":"","errors":"","output_lost":-1,"errors_lost":0}"#,
        #"{"is":"ended","id":1,"result":"failed","output":"f","errors":"","output_lost":0,"errors_lost":0}"#,
        #"{"is":"state","rule":"a","index":0,"outcome":"failed"}"#,
        #"{"is":"state","rule":"a","index":0,"outcome":"gone"}"#,
    ])
    func reportsOfNoHelperAreRefused(_ text: String) {
        let rest = #""output":"","errors":"","output_lost":0,"errors_lost":0"#
        let line = text.replacing("DIGEST", with: Self.digest).replacing("REST", with: rest)
        #expect(HelperReport(line: Array(line.utf8)) == nil)
    }

    @Test func limitsHold() throws {
        let record = EventRecord(event: "rule.run")
        let states = [NamedState](
            repeating: NamedState(rule: "a", index: 0, record: record), count: HelperRequest.maximumStates)
        #expect(HelperRequest(line: HelperRequest.hold(pass: 1, digest: Self.digest, states).line) != nil)
        #expect(
            HelperRequest(line: HelperRequest.hold(pass: 1, digest: Self.digest, states + states.prefix(1)).line) == nil
        )
        let spaces = [UInt8](repeating: 0x20, count: HelperRequest.maximumSize)
        #expect(HelperRequest(line: HelperRequest.release.line + spaces) == nil)
        #expect(HelperReport(line: HelperReport.settled(pass: 1).line + spaces) == nil)
        let deep = String(repeating: "[", count: 100_000)
        #expect(HelperRequest(line: Array(deep.utf8)) == nil)
        #expect(HelperReport(line: Array("{\"is\":\"settled\",\"x\":\(deep.prefix(60_000))".utf8)) == nil)

        // What a command says does not make a line that the agent refuses.
        var end = ActionEnd(.failed, because: String(repeating: "\u{1}", count: 1_021) + "éé")
        end.output = [UInt8](repeating: 1, count: ActionEnd.maximumOutput + 5)
        end.errors = end.output
        let line = HelperReport.ended(id: 1, end).line
        #expect(line.count <= HelperReport.maximumSize)
        guard case .ended(_, let read) = try #require(HelperReport(line: line)) else {
            Issue.record("it is another report")
            return
        }
        #expect(read.output.count == ActionEnd.maximumOutput && read.outputLost == 5 && read.errorsLost == 5)
        #expect(read.because == String(repeating: "\u{1}", count: 1_021) + "…")
    }
}
