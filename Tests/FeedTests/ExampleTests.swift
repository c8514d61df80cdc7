import Environment
import Feed
import Foundation
import Glibc
import JSON
import Platform
import Testing
import WiFi

/// The programs that people copy, as processes that read a feed of the test's own.
@Suite(.timeLimit(.minutes(5))) struct ExampleTests {
    /// One of them; it ends with this object.
    private final class Example {
        private let process = Process()
        private let connection: FileDescriptor
        private var reader: LineReader

        init(_ name: String, _ arguments: [String]) throws {
            let program = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
                .deletingLastPathComponent().appendingPathComponent(".build/debug/example-\(name)")
            let pair = try UnixSocket.pair()
            process.executableURL = program
            process.arguments = arguments
            process.standardInput = FileHandle.nullDevice
            process.standardOutput = FileHandle(fileDescriptor: pair.childEnd)
            process.standardError = FileHandle.nullDevice
            try process.run()
            let connection = pair.release()
            _ = fcntl(connection.rawValue, F_SETFL, 0)
            UnixSocket.limitWaiting(connection.rawValue, seconds: 20)
            reader = LineReader(connection.rawValue, maximumLine: 1 << 16)
            self.connection = connection
        }

        deinit { kill(process.processIdentifier, SIGKILL) }

        func next() -> [UInt8]? { reader.next().map { Array($0) } }

        /// The lines up to one that is wanted.
        func lines(until isWanted: (String) -> Bool) throws -> [String] {
            var lines: [String] = []
            while true {
                let octets = next()
                let line = String(decoding: try #require(octets, "after \(lines.suffix(3))"), as: UTF8.self)
                lines.append(line)
                if isWanted(line) { return lines }
            }
        }

        /// What a bar shows, up to what is wanted.
        func shown(until isWanted: (JSONValue) -> Bool) throws -> JSONValue {
            while true {
                let octets = next()
                let value = try JSONValue(parsing: try #require(octets), maximumSize: 1 << 16)
                if isWanted(value) { return value }
            }
        }

        func status() -> Int32 {
            process.waitUntilExit()
            return process.terminationStatus
        }
    }

    private func event(_ kind: EnvironmentChange.Kind, on interface: InterfaceReference? = Samples.interface)
        -> FeedEvent
    {
        FeedEvent(EnvironmentChange(time: Canaries.time, interface: interface, kind: kind))
    }

    private func network(_ ssid: SSID?, _ security: Security) -> WiFiNetwork {
        WiFiNetwork(ssid: ssid, bssid: Samples.bssid, security: security)
    }

    // MARK: print-changes

    @Test func changesArePrintedWithoutAnythingThatATerminalObeys() async throws {
        let bench = try Bench()
        defer { withExtendedLifetime(bench) {} }
        let example = try Example("print-changes", [bench.path])
        let first = "now: Canary-Net-7f3a (wpa2-psk), connectivity internet"
        _ = try example.lines { $0 == first }
        let ssid = try #require(SSID(utf8: "Corp-Staff"))
        await bench.publish([
            event(.joined(network(ssid, .wpa2Enterprise))), event(.joined(network(Samples.hostile, .open))),
            event(.left(network(ssid, .wpa2PSK), Cause(reason: 3))),
            event(.linkUp, on: InterfaceReference(index: 4, name: "a\u{1b}[2J")),
        ])
        let lines = try example.lines { $0.hasSuffix(": up") }
        #expect(
            lines.filter { $0.contains(": ") && !$0.hasPrefix("connected") } == [
                "wlan0: joined Corp-Staff (wpa2-enterprise)",
                #"wlan0: joined \x1b]0;x\x07\xe2\x80\xae\x00\xff\x9b (open)"#,
                "wlan0: left Corp-Staff (wpa2-psk), reason 3", #"a\x1b[2J: up"#,
            ])
        await bench.publish(Samples.changes.map { event($0) } + [event(.suspended, on: nil)])
        for line in try example.lines(until: { $0 == "going to sleep" }) {
            #expect(line.unicodeScalars.allSatisfy { $0.value >= 0x20 && $0.value != 0x7F && $0 != "\u{202e}" })
            #expect(!line.hasPrefix("missed"))
        }
    }

    @Test func withheldNamesAndALostAgentAreSaid() async throws {
        let first = try Bench(permission: .notDetermined)
        let example = try Example("print-changes", [first.path])
        _ = try example.lines { $0 == "connected: names are withheld (notDetermined)" }
        await first.publish([event(.joined(Canaries.wifi))])
        let told = try example.lines { $0.contains("joined") }.last
        #expect(told == "wlan0: joined a network whose name is not told (wpa2-psk)")
        await first.end()
        _ = try example.lines { $0.hasPrefix("nothing is known: the agent does not answer: ") }
        let second = try Bench(at: first.path)
        defer { withExtendedLifetime((first, second)) {} }
        let lines = try example.lines { $0.hasPrefix("now: Canary-Net-7f3a") }
        #expect(lines.contains { $0.hasPrefix("missed at least ") })
    }

    // MARK: status-line

    @Test(arguments: [("waybar", ["class", "text", "tooltip"]), ("i3blocks", ["full_text"])] as [(String, [String])])
    func aBarIsToldWhatIsTheCaseAndNoMarkup(bar: String, keys: [String]) async throws {
        let key = bar == "waybar" ? "text" : "full_text"
        let bench = try Bench()
        defer { withExtendedLifetime(bench) {} }
        let example = try Example("status-line", [bar, bench.path])
        let first = try example.shown { $0[key]?.string == "Canary-Net-7f3a" }
        #expect(first.object?.members.map(\.key) == keys)
        // The interface with the way to the internet.
        let interface = InterfaceReference(index: 1, name: "wlan0")
        let markup = try #require(SSID(utf8: "<b>\"&amp;'</b>\n"))
        await bench.publish([event(.joined(network(markup, .wpa3SAE)), on: interface)])
        _ = try example.shown { $0[key]?.string == #"&lt;b&gt;&quot;&amp;amp;&#39;&lt;/b&gt;\x0a"# }
        await bench.publish([event(.joined(network(Samples.hostile, .open)), on: interface)])
        let open = try example.shown { $0[key]?.string == #"\x1b]0;x\x07\xe2\x80\xae\x00\xff\x9b"# }
        #expect((open["class"] ?? open["color"])?.string == (bar == "waybar" ? "unsafe" : "#c05020"))
        await bench.publish([event(.associating(network(markup, .open)), on: interface)])
        _ = try example.shown { $0[key]?.string == "…" }
        await bench.publish([event(.suspended, on: nil)])
        _ = try example.shown { $0[key]?.string == "?" }
        await bench.publish([event(.resumed, on: nil), event(.joined(network(nil, .wpa2PSK)), on: interface)])
        _ = try example.shown { $0[key]?.string == "Wi-Fi" }
        await bench.end()
        // What was known is not shown as if it were still true.
        _ = try example.shown { $0[key]?.string == "?" }
    }

    @Test(arguments: [[], ["i4blocks"], ["waybar", "a", "b"]] as [[String]])
    func aBarThatIsNotKnownIsAMistake(words: [String]) throws {
        let example = try Example("status-line", words)
        #expect(example.next() == nil && example.status() == 64)
    }
}
