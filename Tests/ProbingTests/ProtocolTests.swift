import ProbeProtocol
import Testing

@Suite struct ProtocolTests {
    private static let octets = (0..<32).map { UInt8($0) }
    private static let hexadecimal = "000102030405060708090a0b0c0d0e0f101112131415161718191a1b1c1d1e1f"
    private static let base64 = "AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8="
    private static let pin = SPKIPin(hexadecimal)

    private static func request(_ change: (inout ProbeRequest) -> Void = { _ in }) throws -> ProbeRequest {
        var request = ProbeRequest(
            interfaceName: "wlan0", interfaceIndex: 3, serverName: "inside.example", port: 443,
            addresses: ["192.0.2.1", "2001:db8::1"], purpose: .key([try #require(pin)]))
        change(&request)
        return request
    }

    @Test func readsPinsInBothForms() {
        for text in [Self.hexadecimal, Self.hexadecimal.uppercased(), Self.base64, String(Self.base64.dropLast())] {
            #expect(SPKIPin(text)?.octets == Self.octets)
            #expect(SPKIPin(text)?.description == Self.hexadecimal)
        }
        #expect(SPKIPin(String(repeating: "/", count: 42) + "8=")?.octets == [UInt8](repeating: 255, count: 32))
    }

    private static let noPins: [String] = {
        let (hexadecimal, base64) = (Self.hexadecimal, Self.base64)
        let (shortHexadecimal, stem) = (String(hexadecimal.dropLast()), String(base64.dropLast(2)))
        var texts = ["", "00", "\(hexadecimal)0", shortHexadecimal]
        texts += [" \(base64)", "\(base64)=", base64.replacing("A", with: "-"), "sha256//\(base64)"]
        // Bits left over, padding in excess, padding of another length.
        texts += ["\(stem)9=", "\(stem)==", "\(stem)8A"]
        texts += ["\(shortHexadecimal)g", "\(hexadecimal.dropLast(2))é"]
        return texts
    }()

    @Test(arguments: noPins) func refusesWhatIsNoPin(_ text: String) {
        #expect(SPKIPin(text) == nil)
    }

    @Test func readsTheRequestsItWrites() throws {
        let request = try Self.request()
        #expect(ProbeRequest(line: request.line) == request)
        #expect(request.line.last == UInt8(ascii: "\n"))
        let text = String(decoding: request.line, as: UTF8.self)
        for response in [nil, "OK \"all\" well"] as [String?] {
            let request = try Self.request { $0.purpose = .page(path: "/check-me_1.txt~", response: response) }
            #expect(ProbeRequest(line: request.line) == request)
        }
        let encoded = text.replacing(Self.hexadecimal, with: Self.base64)
        #expect(encoded != text)
        #expect(ProbeRequest(line: Array(encoded.utf8)) == request)
    }

    @Test func refusesRequestsThatCannotBe() throws {
        let changes: [(inout ProbeRequest) -> Void] = [
            { $0.interfaceName = "" }, { $0.interfaceName = "a/b" }, { $0.interfaceName = "a b" },
            { $0.interfaceName = "a\0b" }, { $0.interfaceName = "abcdefghijklmnop" }, { $0.interfaceIndex = 0 },
            { $0.interfaceIndex = .max }, { $0.serverName = "" }, { $0.serverName = "a b" },
            { $0.serverName = "a\0.example" }, { $0.serverName = "bücher.example" },
            { $0.serverName = "inside.example." }, { $0.serverName = "inside..example" },
            { $0.serverName = String(repeating: "a", count: 64) },
            { $0.serverName = String(repeating: "abcdefg.", count: 32) + "a" }, { $0.port = 0 }, { $0.addresses = [] },
            { $0.addresses = ["fe80::1%eth0"] }, { $0.addresses = ["inside.example"] }, { $0.addresses = [""] },
            { $0.addresses = Array(repeating: "192.0.2.1", count: 9) }, { $0.purpose = .key([]) },
            { $0.purpose = .key(Self.pin.map { Array(repeating: $0, count: 3) } ?? []) }, { $0.time = 0 },
            { $0.time = 3_001 },
            { $0.purpose = .page(path: "", response: nil) }, { $0.purpose = .page(path: "check", response: nil) },
            { $0.purpose = .page(path: "/a b", response: nil) },
            { $0.purpose = .page(path: "/a\r\nX:", response: nil) },
            { $0.purpose = .page(path: "/%41", response: nil) }, { $0.purpose = .page(path: "/a?b", response: nil) },
            { $0.purpose = .page(path: "/" + String(repeating: "a", count: 1_024), response: nil) },
            { $0.purpose = .page(path: "/", response: "") }, { $0.purpose = .page(path: "/", response: "a\nb") },
            { $0.purpose = .page(path: "/", response: "é") },
            { $0.purpose = .page(path: "/", response: String(repeating: "a", count: 129)) },
        ]
        for (position, change) in changes.enumerated() {
            #expect(ProbeRequest(line: try Self.request(change).line) == nil, "\(position)")
        }
    }

    @Test func refusesLinesThatAreNoRequests() throws {
        let line = String(decoding: try Self.request().line.dropLast(), as: UTF8.self)
        #expect(ProbeRequest(line: line.utf8) != nil)
        var lines = ["", "{}", "[]", "null", line + line, line + "\n{}", String(line.dropLast())]
        lines.append(line.replacing("\"port\":443", with: "\"port\":443.0"))
        lines.append(line.replacing("\"port\":443", with: "\"port\":\"443\""))
        lines.append(line.replacing("\"port\":443", with: "\"port\":65979"))
        lines.append(line.replacing("\"port\":443", with: "\"port\":443,\"port\":443"))
        lines.append(line.replacing("\"port\":443", with: "\"port\":443,\"proxy\":\"x\""))
        lines.append(line.replacing("[\"192.0.2.1\",", with: "[1,"))
        lines.append(line.replacing("\"port\":443", with: "\"port\":443,\"path\":\"/\""))
        let page = try Self.request { $0.purpose = .page(path: "/", response: "OK") }
        let pageLine = String(decoding: page.line, as: UTF8.self)
        lines.append(pageLine.replacing("\"response\":\"OK\"", with: "\"response\":1"))
        lines.append(pageLine.replacing("\"response\":\"OK\"", with: "\"answer\":\"OK\""))
        lines.append(line + String(repeating: " ", count: ProbeRequest.maximumSize))
        for line in lines {
            #expect(ProbeRequest(line: line.utf8) == nil, "\(line)")
        }
    }

    @Test func readsTheAnswersItWrites() throws {
        let pin = try #require(Self.pin)
        let answers: [ProbeAnswer] = [
            .proven(pin), .pinMismatch(seen: pin), .refused, .unreachable, .timedOut, .tlsFailed(reason: "no \"way\""),
            .interfaceGone, .badRequest, .online, .captured, .unexpected,
        ]
        for answer in answers {
            #expect(ProbeAnswer(line: answer.line) == answer)
            #expect(answer.line.count <= ProbeAnswer.maximumSize)
        }
        // What is not printable never leaves, and no reason is longer than it may be.
        #expect(ProbeAnswer(line: ProbeAnswer.tlsFailed(reason: "a\u{1B}é").line) == .tlsFailed(reason: "a???"))
        let long = ProbeAnswer.tlsFailed(reason: String(repeating: "\"", count: 9_999)).line
        #expect(long.count <= ProbeAnswer.maximumSize)
        #expect(ProbeAnswer(line: long) == .tlsFailed(reason: String(repeating: "\"", count: 128)))
    }

    @Test(arguments: [
        "", "{}", "proven", "{\"outcome\":\"proven\"}", "{\"outcome\":\"proven\",\"pin\":\"00\"}",
        "{\"outcome\":\"proven\",\"seen\":\"\(hexadecimal)\"}",
        "{\"outcome\":\"proven\",\"pin\":\"\(hexadecimal)\",\"pin\":\"\(hexadecimal)\"}",
        "{\"outcome\":\"proven\",\"pin\":\"\(hexadecimal)\",\"note\":1}",
        "{\"outcome\":\"proven\",\"pin\":\"\(hexadecimal)\"}\n{}",
        "{\"outcome\":\"refused\",\"pin\":\"\(hexadecimal)\"}", "{\"outcome\":\"Refused\"}",
        "{\"outcome\":\"refused\",\"outcome\":\"refused\"}", "{\"outcome\":1}", "{\"outcome\":\"cancelled\"}",
        "{\"outcome\":\"tls_failed\"}", "{\"outcome\":\"tls_failed\",\"reason\":\"\\u001b\"}",
        "{\"outcome\":\"tls_failed\",\"reason\":7}",
        "{\"outcome\":\"tls_failed\",\"reason\":\"\(String(repeating: "a", count: 129))\"}",
        "{\"outcome\":\"refused\"}" + String(repeating: " ", count: 512),
    ])
    func refusesLinesThatAreNoAnswers(_ line: String) {
        #expect(ProbeAnswer(line: line.utf8) == nil)
    }
}
