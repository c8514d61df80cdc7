import Environment
import Feed
import JSON
import Netlink
import Platform
import Testing
import WiFi

@testable import CommandLine

/// What `vicinity status` shows, made from the feed's own lines.
@Suite struct StatusScreenTests {
    private static let noon: Int64 = 1_796_040_000_000_000

    private func value(_ text: String) throws -> JSONValue { try JSONValue(parsing: text.utf8, maximumSize: 1 << 16) }

    private func snapshot(_ ssid: [UInt8]) throws -> JSONValue {
        var environment = NetworkEnvironment()
        var link = Interface(index: 3, name: "wlan0", kind: .wifi)
        link.isAdministrativelyUp = true
        link.operationalState = .up
        link.wifi = .joined(WiFiNetwork(ssid: SSID(octets: ssid), bssid: nil, security: .wpa2PSK, signal: -48))
        environment.interfaces[3] = link
        environment.interfaces[9] = Interface(index: 9, name: "docker0", kind: .virtual)
        environment.connectivity = .portal
        let line = FeedEncoder().snapshotLine(of: environment, permission: .full, at: Timestamp(wall: 0, boottime: 0)) {
            $0.names("networks", ["home"])
            $0.names("rules", ["nas"])
            $0.names("actions", ["away"])
            $0.problems(["/etc/x\u{1b}.toml:2:1: error: unknown key\n  off = 1\n  ^", "bus: no name"])
        }
        return try JSONValue(parsing: line.octets.dropLast(), maximumSize: 1 << 16)
    }

    private func screen(_ ssid: [UInt8] = Array("Seven Oaks".utf8)) throws -> StatusScreen {
        var screen = StatusScreen(snapshot: try snapshot(ssid))
        screen.explanations = try [
            #"{"kind":"network","name":"home","text":"on home, keyed","since":"2026-11-29T12:00:00.000000Z","#
                + #""lines":["+ ssid listed (/etc/a.toml:2:1)","+ security wpa2-psk allowed (/etc/a.toml:3:1)"]}"#,
            #"{"kind":"rule","name":"nas","truth":"yes","text":"on home, keyed: ssid listed (/etc/a.toml:2:1)"}"#,
        ].map { try value("{\"explanation\":\($0)}") }
        screen.actions = try [
            ("started", 0, #"{"id":1,"rule":"nas","index":0,"kind":"command"}"#),
            ("failed", 1, #"{"id":1,"rule":"nas","index":0,"kind":"command","exit":3,"errors":"one\ntwo\u001b\n"}"#),
            ("started", 9, #"{"id":2,"rule":"nas","index":1,"kind":"unit"}"#),
        ].map { end, second, action in
            try value(#"{"type":"action.\#(end)","time":"2026-11-30T11:00:0\#(second).000000Z","action":\#(action)}"#)
        }
        return screen
    }

    @Test func itTellsEverythingOnOneScreen() throws {
        let lines = try screen().lines(width: nil, isColored: false, now: Self.noon)
        let text = lines.joined(separator: "\n")
        #expect(lines[0].hasPrefix("here        home  keyed, by ssid listed, security wpa2-psk allowed; since 2026-"))
        #expect(text.contains("\nlinks       wlan0  wifi  joined  Seven Oaks  wpa2-psk  -48 dBm"))
        #expect(text.contains("\n            1 more that place nothing\n"))
        #expect(text.contains("\ninternet    a captive portal is in the way\n"))
        #expect(text.contains("\nrules       nas  on home, keyed\n"))
        #expect(text.contains("nas, command 0: failed  exit 3, two\\x1b\n"))
        #expect(text.contains("nas, unit 1: runs\n") && text.contains("\nrunning     away\n"))
        #expect(text.contains("\nproblems    /etc/x\\x1b.toml:2:1: error: unknown key\n              off = 1\n"))
        #expect(text.contains("`vicinity check`") && text.contains("`vicinity doctor`"))
        #expect(lines.count <= 24)
    }

    private static let names: [[UInt8]] = [
        Array("\u{1b}[2J\n\rproblems    none".utf8), [0xFF, 0xFE, 0x00], Array("\u{202e}evil\u{200b}".utf8),
        Array(String(repeating: "漢", count: 10).utf8), Array(repeating: 0x0A, count: 32), [],
    ]

    @Test(arguments: names, [30, 60, 80, 200]) func hostileNamesFitAndAreEscaped(ssid: [UInt8], width: Int) throws {
        for line in try screen(ssid).lines(width: width, isColored: false, now: Self.noon) {
            #expect(line.displayWidth <= width, "\(line)")
            for scalar in line.unicodeScalars {
                #expect(scalar.properties.generalCategory != .control && scalar.properties.generalCategory != .format)
            }
        }
    }

    @Test func colourIsOnlyWhereItIsWanted() throws {
        let (plain, colored) = try (
            screen().lines(width: 80, isColored: false, now: Self.noon),
            screen().lines(width: 80, isColored: true, now: Self.noon)
        )
        #expect(!plain.joined().contains("\u{1b}"))
        let stripped = colored.map { line in
            line.split(separator: "\u{1b}", omittingEmptySubsequences: false).enumerated().map { index, part in
                index == 0 ? String(part) : String(part.drop { $0 != "m" }.dropFirst())
            }.joined()
        }
        #expect(stripped == plain && colored != plain)
    }

    @Test func namesThatAreWithheldAreSaidToBe() throws {
        let line =
            #"{"permission":"hashed","networks":["lab"],"route":{"ifindex":3},"problem_count":2,"#
            + #""interfaces":[{"interface":"wlan0","kind":"wifi","usable":true,"#
            + #""wifi":{"state":"joined","security":"wpa2-psk","wifi_environment":"sha256:00112233445566778899"}}]}"#
        let text = try StatusScreen(snapshot: value(line)).lines(width: 80, isColored: false, now: Self.noon)
            .joined(separator: "\n")
        #expect(text.hasPrefix("permission  hashed: names are withheld\n") && text.contains("adduser"))
        #expect(text.contains("(name withheld, 66778899)") && text.contains("\nhere        lab\n"))
        #expect(!text.contains("gateway") && text.contains("\nproblems    2, which you may not see"))
        #expect(text.contains("\nrules       none that you may see\n"))
    }

    @Test(arguments: ["{}", "[]", "null", #"{"interfaces":[1,{}],"networks":"x","held":[{}],"problems":[1,""]}"#])
    func whatIsNoSnapshotIsNoCrash(text: String) throws {
        #expect(!(try StatusScreen(snapshot: value(text)).lines(width: 60, isColored: true, now: 0)).isEmpty)
    }

    @Test(
        arguments: [
            ("", 5, [""]), ("aa bb cc", 5, ["aa bb", "cc"]), ("aaaaaaa", 3, ["aaa", "aaa", "a"]),
            ("漢漢漢", 4, ["漢漢", "漢"]),
            ("a  b", 2, ["a", "b"]),
        ])
    func wordsAreWrapped(text: String, width: Int, lines: [String]) {
        #expect(text.wrapped(to: width).filter { !$0.isEmpty || text.isEmpty } == lines)
    }
}
