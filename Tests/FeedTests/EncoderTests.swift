import Environment
import Feed
import Foundation
import JSON
import Netlink
import Platform
import Testing
import WiFi

@Suite struct EncoderTests {
    /// Every line of every kind goes through the schema that ships, by a validator that is not ours.
    @Test func everyLineIsOfTheSchema() throws {
        var encoder = FeedEncoder()
        var lines = Samples.events.map { encoder.line(for: $0).octets }
        lines.append(encoder.snapshotLine(of: Samples.crowdedEnvironment, permission: .full).octets)
        lines.append(encoder.snapshotLine(of: NetworkEnvironment(), permission: .full).octets)
        lines.append(encoder.snapshotLine(of: Samples.crowdedEnvironment, permission: .denied).octets)
        encoder.disclosure = Canaries.disclosure
        for permission in FeedPermission.allCases {
            lines.append(encoder.snapshotLine(of: Samples.crowdedEnvironment, permission: permission).octets)
            lines.append(Canaries.snapshot(encoder, permission).octets)
        }
        for event in Samples.events + Canaries.events {
            let line = encoder.line(for: event)
            lines += [line.octets, line.octets(disclosing: Canaries.disclosure)]
        }
        lines += Samples.explanations.map { encoder.explanationLine(of: $0).octets }
        lines += Samples.events.map { encoder.replayedLine(for: $0).octets }
        lines += Samples.summaries.map { encoder.summaryLine(of: $0).octets }
        let tests = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        let validator = Process()
        validator.executableURL = tests.appendingPathComponent("validate-lines")
        validator.arguments = [tests.deletingLastPathComponent().path + "/Config/schema/event.schema.json"]
        let input = Pipe()
        let output = Pipe()
        validator.standardInput = input
        validator.standardOutput = output
        try validator.run()
        try input.fileHandleForWriting.write(contentsOf: Data(lines.joined()))
        try input.fileHandleForWriting.close()
        let complaints = String(decoding: try output.fileHandleForReading.readToEnd() ?? Data(), as: UTF8.self)
        validator.waitUntilExit()
        #expect(validator.terminationStatus == 0, "\(complaints)")
        #expect(complaints.hasSuffix("\(lines.count) lines, 0 wrong\n"))
    }

    @Test func linesAreNumberedWithoutHoles() {
        var encoder = FeedEncoder()
        let sequences = Samples.events.map { encoder.line(for: $0).sequence }
        #expect(sequences == (1...UInt64(sequences.count)).map { $0 })
    }

    @Test func aNameIsItsOctets() throws {
        var encoder = FeedEncoder()
        let twins = ["caf\u{e9}", "cafe\u{301}"].map { name in
            var network = Samples.network
            network.ssid = SSID(utf8: name)
            let change = EnvironmentChange(time: Samples.time, interface: Samples.interface, kind: .joined(network))
            return encoder.line(for: FeedEvent(change)).json?["wifi"]?["ssid_hex"]?.string
        }
        #expect(twins == ["636166c3a9", "63616665cc81"])
    }

    @Test func aNameThatIsNoTextHasNone() throws {
        var encoder = FeedEncoder()
        var network = Samples.network
        network.ssid = Samples.hostile
        let change = EnvironmentChange(time: Samples.time, interface: Samples.interface, kind: .joined(network))
        let wifi = encoder.line(for: FeedEvent(change)).json?["wifi"]
        #expect(wifi?["ssid"]?.isNull == true)
        #expect(wifi?["ssid_hex"]?.string == "1b5d303b7807e280ae00ff9b")
    }

    @Test func evidenceAndCost() throws {
        var encoder = FeedEncoder()
        var evidence = LinkEvidence()
        let address = try #require(IPAddress("192.0.2.1"))
        evidence.gateways = [Gateway(address: address, hardwareAddress: Samples.bssid), Gateway(address: address)]
        evidence.searchDomains = ["corp.example"]
        evidence.authentication = EAPDemands(certificationAuthority: true, serverName: false)
        func line(_ kind: EnvironmentChange.Kind, _ interface: InterfaceReference?) -> String {
            let octets = encoder.line(
                for: FeedEvent(EnvironmentChange(time: Samples.time, interface: interface, kind: kind))
            ).octets
            let text = String(decoding: octets, as: UTF8.self)
            return text.split(separator: "\"type\":").last.map { String($0) } ?? ""
        }
        #expect(
            line(.evidenceChanged(evidence), Samples.interface)
                == #""evidence.changed","interface":"wlan0","ifindex":4,"evidence":{"gateways":["#
                + #"{"address":"192.0.2.1","mac":"02:00:00:00:00:00"},{"address":"192.0.2.1","mac":null}],"#
                + #""search":["corp.example"],"authentication":{"certification_authority":true,"server_name":false}}}"#
                + "\n")
        #expect(
            line(.evidenceChanged(LinkEvidence()), Samples.interface)
                == #""evidence.changed","interface":"wlan0","ifindex":4,"evidence":{"gateways":[],"search":null,"#
                + #""authentication":null}}"# + "\n")
        #expect(line(.meteredChanged(nil), nil) == #""evidence.changed","metered":null}"# + "\n")
        #expect(line(.meteredChanged(true), nil) == #""evidence.changed","metered":true}"# + "\n")
    }

    /// However much there is to tell, what places the machine is told first.
    @Test func theSnapshotHasTheEvidenceOfPhysicalLinks() throws {
        let line = FeedEncoder().snapshotLine(of: Samples.crowdedEnvironment, permission: .full)
        let interfaces = try #require(line.json?["interfaces"]?.array)
        #expect(interfaces.count > 1)
        #expect(interfaces[0]["evidence"]?["authentication"]?["certification_authority"]?.bool == true)
        #expect(interfaces[0]["evidence"]?["gateways"]?.array?.count == 4)
        #expect(interfaces.allSatisfy { ($0["kind"]?.string == "wifi") == ($0["evidence"] != nil) })
        #expect(line.json?["metered"]?.isNull == true)
    }

    @Test func timeIsWrittenInUTC() {
        var encoder = FeedEncoder()
        let line = encoder.line(for: FeedEvent(.agentStopped, at: Samples.time))
        #expect(line.json?["time"]?.string == "2026-11-30T12:19:19.588123Z")
        #expect(line.json?["boottime_us"]?.integer == 123_456_789)
    }

    @Test(arguments: [
        (0, "1970-01-01T00:00:00.000000Z"), (-1, "1969-12-31T23:59:59.999999Z"),
        (951_782_400_000_000, "2000-02-29T00:00:00.000000Z"), (4_107_542_399_999_999, "2100-02-28T23:59:59.999999Z"),
    ])
    func civilTime(_ microseconds: Int64, _ text: String) {
        #expect(CivilTime(utc: microseconds).iso8601 == text)
    }

    @Test func whoMayNotKnowLearnsNothing() throws {
        let line = FeedEncoder().snapshotLine(of: Samples.crowdedEnvironment, permission: .denied)
        let keys = Set(line.json?.object?.members.map(\.key) ?? [])
        #expect(keys == ["schema", "seq", "id", "time", "boottime_us", "type", "permission", "as_of_seq"])
    }
}

@Suite struct TextTests {
    /// Nothing that a stranger chose acts on a terminal: neither control characters nor octets that are no text.
    @Test func hostileNamesAreHarmless() throws {
        var encoder = FeedEncoder()
        let text = FeedText(isColored: false)
        for event in Samples.events {
            let shown = try #require(text.text(of: encoder.line(for: event).octets.dropLast()))
            for scalar in shown.unicodeScalars {
                let category = scalar.properties.generalCategory
                #expect(category != .control && category != .format, "\(shown.debugDescription)")
            }
        }
    }

    @Test func aRoamNamesBothAccessPoints() throws {
        var encoder = FeedEncoder()
        let change = EnvironmentChange(
            time: Samples.time, interface: Samples.interface,
            kind: .roamed(Samples.network, previous: BSSID("02:00:00:00:00:01")))
        let shown = try #require(
            FeedText(isColored: false).text(of: encoder.line(for: FeedEvent(change)).octets.dropLast()))
        #expect(shown.hasSuffix("Corp-Staff  wpa2-psk  channel 1  -30 dBm  02:00:00:00:00:00  from 02:00:00:00:00:01"))
    }

    @Test func evidenceInWords() throws {
        var encoder = FeedEncoder()
        func text(_ kind: EnvironmentChange.Kind) -> String {
            let change = EnvironmentChange(time: Samples.time, interface: Samples.interface, kind: kind)
            let shown = FeedText(isColored: false).text(of: encoder.line(for: FeedEvent(change)).octets.dropLast())
            return String(shown?.split(separator: "wlan0     ").last ?? "")
        }
        var evidence = LinkEvidence()
        #expect(text(.evidenceChanged(evidence)) == "no gateway")
        evidence.gateways = [
            Gateway(address: try #require(IPAddress("192.0.2.1")), hardwareAddress: Samples.bssid),
            Gateway(address: try #require(IPAddress("fe80::1"))),
        ]
        evidence.searchDomains = ["corp.example", "\u{1b}[2J"]
        evidence.authentication = EAPDemands(certificationAuthority: true, serverName: true)
        #expect(
            text(.evidenceChanged(evidence))
                == "via 192.0.2.1  02:00:00:00:00:00  via fe80::1  domain corp.example, \\x1b[2J  "
                + "802.1X demands an authority and a name")
        evidence = LinkEvidence()
        evidence.searchDomains = []
        evidence.authentication = EAPDemands(certificationAuthority: false, serverName: false)
        #expect(text(.evidenceChanged(evidence)) == "no gateway  no domain  802.1X demands nothing")
        #expect(text(.meteredChanged(true)).hasSuffix("metered"))
        #expect(text(.meteredChanged(false)).hasSuffix("not metered"))
    }

    /// `vicinity status` tells what holds, and what is wrong as `vicinity check` would write it.
    @Test func aSnapshotTellsRulesAndProblems() throws {
        let line = """
            {"time":"2026-11-30T12:00:00.123456Z","type":"environment.snapshot","permission":"full","route":null,\
            "networks":["offline"],"rules":["vpn","away"],"actions":[],"holds":["lock"],\
            "problems":["a.toml:3:6: error: no \\u001b\\n    3 | on = \\"x\\"\\n      |      ^","no room"]}
            """
        let shown = try #require(FeedText(isColored: false).text(of: Array(line.utf8)))
        #expect(
            shown.split(separator: "\n").dropFirst() == [
                "  gateway        no way out", "  networks       offline", "  rules          vpn, away",
                "  held           lock", "  problem        a.toml:3:6: error: no \\x1b",
                "                     3 | on = \"x\"", "                       |      ^",
                "  problem        no room",
            ])
    }

    @Test(arguments: [(0, "no problems"), (1, "1 problem, see"), (2, "2 problems, see")])
    func aReloadTellsWhetherAnythingIsWrong(problems: Int, expected: String) throws {
        var encoder = FeedEncoder()
        let line = encoder.line(for: FeedEvent(.agentReloaded(problems: problems), at: Samples.time))
        #expect(try #require(FeedText(isColored: false).text(of: line.octets.dropLast())).contains(expected))
    }

    @Test func whatIsNoLineIsNotShown() {
        #expect(FeedText(isColored: false).text(of: Array("{}".utf8)) == nil)
        #expect(FeedText(isColored: false).text(of: Array("\u{1b}[2J".utf8)) == nil)
    }
}
