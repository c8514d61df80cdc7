import JSON
import Testing

/// The scanner beside the parser: what one takes, the other takes.
@Suite(.timeLimit(.minutes(2))) struct JSONMembersTests {
    private func scan(_ text: [UInt8]) -> (outcome: JSONMembers.Outcome, members: [JSONMembers.Member]) {
        var members: [JSONMembers.Member] = []
        let outcome = JSONMembers.scan(text.span) { members.append($0) }
        return (outcome, members)
    }

    private func isObject(_ outcome: JSONMembers.Outcome) -> Bool {
        if case .object = outcome { true } else { false }
    }

    @Test func tellsMembersWhereTheyStand() throws {
        let text = Array(" {\"a\" : 1, \"b\\u0063\":{\"a\":[2,{\"x\":\"}\"}]},\"\":\"\\\"\"}\r\n".utf8)
        let (outcome, members) = scan(text)
        #expect(outcome == .object(closing: text.count - 3, isEmpty: false))
        #expect(members.map { String(decoding: text[$0.key], as: UTF8.self) } == ["a", "b\\u0063", ""])
        #expect(
            members.map { String(decoding: text[$0.value], as: UTF8.self) } == [
                "1", "{\"a\":[2,{\"x\":\"}\"}]}", "\"\\\"\"",
            ])
        #expect(members.map(\.hasEscapes) == [false, true, false])
        #expect(scan(Array("{ }".utf8)).outcome == .object(closing: 2, isEmpty: true))
    }

    @Test(
        arguments: [
            "", " ", "[]", "1", "\"a\"", "null", "{", "{\"a\"", "{\"a\":", "{\"a\":1", "{\"a\":1,}", "{,}", "{\"a\" 1}",
            "{a:1}", "{\"a\":01}", "{\"a\":1.}", "{\"a\":+1}", "{\"a\":.5}", "{\"a\":1e}", "{\"a\":tru}",
            "{\"a\":truee}",
            "{\"a\":\"\u{1}\"}", "{\"a\":\"\\x\"}", "{\"a\":\"\\u12\"}", "{\"a\":\"\\u12g4\"}", "{\"a\":[1,]}",
            "{\"a\":[1 2]}",
            "{\"a\":{}}}", "{\"a\":[}]}", "{} {}", "\u{feff}{}", "{\"a\":\"\t\"}", "{\"a\":-}", "{\"a\":nul",
        ])
    func refusesWhatIsNoObject(text: String) {
        #expect(!isObject(scan(Array(text.utf8)).outcome))
        let value = try? JSONValue(parsing: Array(text.utf8), maximumSize: 1_000)
        #expect(value?.object == nil)
    }

    @Test func nestingExhaustsNothing() {
        let deep = 100_000
        let text = Array("{\"a\":".utf8) + Array(repeating: UInt8(ascii: "["), count: deep)
        #expect(!isObject(scan(text).outcome))
        #expect(isObject(scan(text + Array(repeating: UInt8(ascii: "]"), count: deep) + [UInt8(ascii: "}")]).outcome))
    }

    /// Mutations of good texts, the same ones each time.
    @Test(arguments: 0..<4 as Range<UInt64>) func agreesWithTheParser(seed: UInt64) {
        let seeds = [
            #"{"time":"2026-11-30T12:00:00Z","type":"network.left","network":"office","minutes":31}"#,
            #"{"a":[1,-2.5e+7,true,false,null,{"b":{}}],"ü€😀":"\u00fc\"\\\/\b\f\n\r\t"}"#,
            #" {"x" : [ ] , "y":{"z":"\ud83d\ude00"}} "#,
        ].map { Array($0.utf8) }
        let splices = [
            "{", "}", "[", "]", ",", ":", "\"", "\\", "\\u", "0", "-", "e", ".", "true", "\n", "\u{1}", "\u{e9}",
            "{\"a\":1}",
        ].map { Array($0.utf8) }
        var generator = SplitMix(state: seed)
        var accepted = 0
        for _ in 0..<5_000 {
            var text = seeds.randomElement(using: &generator) ?? []
            for _ in 0..<Int.random(in: 0...3, using: &generator) {
                let place = Int.random(in: 0...text.count, using: &generator)
                switch Int.random(in: 0..<4, using: &generator) {
                case 0: text.insert(contentsOf: splices.randomElement(using: &generator) ?? [], at: place)
                case 1: if place < text.count { text.remove(at: place) }
                case 2: if place < text.count { text[place] = UInt8.random(in: 0 ... .max, using: &generator) }
                default: text.removeSubrange(place..<min(place + 9, text.count))
                }
            }
            let (outcome, members) = scan(text)
            do throws(JSONError) {
                let value = try JSONValue(parsing: text, maximumSize: 10_000)
                #expect(isObject(outcome) == (value.object != nil), "\(String(decoding: text, as: UTF8.self))")
                guard let object = value.object else { continue }
                accepted += 1
                #expect(members.count == object.members.count)
                for (member, told) in zip(members, object.members) {
                    let raw = try? JSONValue(parsing: Array(text[member.value]), maximumSize: 10_000)
                    #expect(raw == told.value)
                    if !member.hasEscapes { #expect(told.key.utf8.elementsEqual(text[member.key])) }
                }
            } catch {
                // What only matters to who makes something of a string or a number.
                guard error.reason != .badUnicode, error.reason != .numberOutOfRange else { continue }
                #expect(!isObject(outcome), "\(error): \(String(decoding: text, as: UTF8.self))")
            }
        }
        #expect(accepted > 700)
    }
}

/// Steele, Lea and Flood's SplitMix64.
private struct SplitMix: RandomNumberGenerator {
    var state: UInt64

    mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var mixed = state
        mixed = (mixed ^ (mixed >> 30)) &* 0xBF58_476D_1CE4_E5B9
        mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
        return mixed ^ (mixed >> 31)
    }
}
