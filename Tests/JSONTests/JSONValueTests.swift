import JSON
import Testing

@Suite struct JSONValueTests {
    private func parse(_ text: String) throws(JSONError) -> JSONValue {
        try JSONValue(parsing: text.utf8, maximumSize: 100_000)
    }

    @Test(
        arguments: zip(
            [
                " null\r\n", "true", "[false\t]", "0", "-0", "-12", "9223372036854775807", "9223372036854775808", "1.0",
                "1E+2", "5e-1", #""\/\b\u00E9""#, "{}", #"{"a":{"b":[]}}"#, "\"\u{7F}\u{2028}\"",
            ],
            [
                .null, .bool(true), .array([.bool(false)]), .integer(0), .integer(0), .integer(-12), .integer(.max),
                .number(9_223_372_036_854_775_808), .number(1), .number(100), .number(0.5), .string("/\u{8}\u{E9}"),
                .object(JSONObject()), .object(JSONObject([("a", .object(JSONObject([("b", .array([]))])))])),
                .string("\u{7F}\u{2028}"),
            ] as [JSONValue]))
    func reads(text: String, expected: JSONValue) throws {
        #expect(try parse(text) == expected)
    }

    @Test(
        arguments: [
            ("", .unexpectedEnd, 0), ("  ", .unexpectedEnd, 2), ("nul", .unexpectedOctet, 0),
            ("True", .unexpectedOctet, 0),
            ("1 2", .trailingText, 2), ("{} x", .trailingText, 3), ("01", .badNumber, 0), ("-", .badNumber, 0),
            ("1.", .badNumber, 0), (".5", .unexpectedOctet, 0), ("1e", .badNumber, 0), ("+1", .unexpectedOctet, 0),
            ("1e999", .numberOutOfRange, 0), ("0x10", .trailingText, 1), ("NaN", .unexpectedOctet, 0),
            ("[1,]", .unexpectedOctet, 3), ("[1 2]", .unexpectedOctet, 3), ("[", .unexpectedEnd, 1),
            ("{\"a\"}", .unexpectedOctet, 4), ("{\"a\":1,}", .unexpectedOctet, 7), ("{a:1}", .unexpectedOctet, 1),
            ("{\"a\":1", .unexpectedEnd, 6), ("\"abc", .unexpectedEnd, 4), ("\"a\nb\"", .controlCharacter, 2),
            ("\"\\t\u{1}\"", .controlCharacter, 3), ("\"\\x41\"", .badEscape, 1), ("\"\\u12g4\"", .badEscape, 1),
            ("\"\\ud800\"", .badUnicode, 1), ("\"\\ud800\\u0041\"", .badUnicode, 1), ("\"\\udc00\"", .badUnicode, 1),
            ("\"\\ud800\\ud800\"", .badUnicode, 1),
            ("'a'", .unexpectedOctet, 0), ("// x\n1", .unexpectedOctet, 0), ("\u{FEFF}1", .unexpectedOctet, 0),
            ("\u{A0}1", .unexpectedOctet, 0),
        ] as [(String, JSONError.Reason, Int)])
    func refuses(text: String, reason: JSONError.Reason, offset: Int) {
        #expect(throws: JSONError(reason, at: offset)) { try parse(text) }
    }

    @Test(
        arguments: [[0xFF], [0xC0, 0x80], [0xED, 0xA0, 0x80], [0xE2, 0x82], [0xF4, 0x90, 0x80, 0x80]] as [[UInt8]])
    func refusesInvalidUTF8(octets: [UInt8]) {
        let quote = UInt8(ascii: "\"")
        #expect(throws: JSONError(.badUnicode, at: 1)) {
            try JSONValue(parsing: [quote] + octets + [quote], maximumSize: 100)
        }
        #expect(throws: JSONError(.badUnicode, at: 1)) {
            try JSONValue(parsing: [quote] + octets + Array(#"\n""#.utf8), maximumSize: 100)
        }
    }

    @Test func limitsSizeAndDepth() throws {
        #expect(throws: JSONError(.tooLarge, at: 3)) { try JSONValue(parsing: "1234".utf8, maximumSize: 3) }
        let deepest = String(repeating: "[", count: 64) + String(repeating: "]", count: 64)
        _ = try parse(deepest)
        #expect(throws: JSONError(.tooDeep, at: 64)) { try parse("[\(deepest)]") }
        #expect(throws: JSONError(.tooDeep, at: 64 * 5)) { try parse(String(repeating: #"{"a":"#, count: 99_999 / 5)) }
    }

    @Test func keepsKeysApartThatStringsHoldEqual() throws {
        let value = try parse(#"{"Caf\u00e9":1,"Cafe\u0301":2,"a":3,"a":4}"#)
        #expect(value["Caf\u{E9}"] == .integer(1))
        #expect(value["Cafe\u{301}"] == .integer(2))
        #expect(value["a"] == .integer(4))
        #expect(value["b"] == nil)
        #expect(JSONValue.string("Caf\u{E9}") != .string("Cafe\u{301}"))
        #expect(value.object?.members.count == 4)
    }

    @Test func answersNilForAnotherKind() throws {
        #expect(try parse("1.0").integer == 1)
        #expect(try parse("1.5").integer == nil)
        #expect(try parse("7").number == 7)
        #expect(try parse("\"7\"").integer == nil)
        #expect(try parse("null").isNull)
        #expect(try parse("[]").object == nil)
        #expect(try parse("1")["a"] == nil)
    }

    @Test func survivesRandomText() throws {
        var generator = SeededGenerator(state: 42)
        let alphabet = Array(#"{}[]",:\u0123456789aeE+-.truefalsn "#.utf8) + [0xFF, 0xC3, 0xA9, 0x00]
        for _ in 0..<20_000 {
            let text = (0..<Int.random(in: 0...24, using: &generator)).map { _ in
                alphabet.randomElement(using: &generator) ?? 0
            }
            guard let value = try? JSONValue(parsing: text, maximumSize: 100) else { continue }
            var writer = JSONWriter()
            writer.value(value)
            #expect(try JSONValue(parsing: writer.octets, maximumSize: 1_000) == value)
        }
    }
}

/// SplitMix64, so that a failure comes back.
private struct SeededGenerator: RandomNumberGenerator {
    var state: UInt64

    mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var value = state
        value = (value ^ value >> 30) &* 0xBF58_476D_1CE4_E5B9
        value = (value ^ value >> 27) &* 0x94D0_49BB_1331_11EB
        return value ^ value >> 31
    }
}
