import Assuan
import Testing

/// Lines as they stand in the protocol, and everything that comes close.
struct AssuanTests {
    private func parse(_ line: [UInt8]) -> AssuanReply {
        line.map { CChar(bitPattern: $0) }.withUnsafeBufferPointer { assuan_parse($0.baseAddress ?? nothing, $0.count) }
    }

    private func parse(_ line: String) -> AssuanReply { parse(Array(line.utf8)) }

    private let nothing = UnsafePointer(UnsafeMutablePointer<CChar>.allocate(capacity: 1))

    private func unescape(_ data: String, capacity: Int = 512) -> [UInt8]? {
        var octets = [CChar](repeating: 0, count: capacity)
        let data = Array(data.utf8CString.dropLast())
        let count = assuan_unescape(data, data.count, &octets, capacity)
        return count < 0 ? nil : octets.prefix(count).map { UInt8(bitPattern: $0) }
    }

    private func escape(_ octets: [UInt8], capacity: Int = 1_000) -> String {
        var escaped = [CChar](repeating: 1, count: capacity)
        let length = assuan_escape(octets.map { CChar(bitPattern: $0) } + [0], &escaped, capacity)
        #expect(length < capacity && escaped[length] == 0)
        return String(decoding: escaped.prefix(length).map { UInt8(bitPattern: $0) }, as: UTF8.self)
    }

    private func escape(_ text: String) -> String { escape(Array(text.utf8)) }

    @Test(arguments: [
        ("OK", ASSUAN_OK), ("OK Pleased to meet you", ASSUAN_OK), ("OK ", ASSUAN_OK), ("D x", ASSUAN_DATA),
        ("D ", ASSUAN_DATA), ("# a comment", ASSUAN_NOTHING), ("#", ASSUAN_NOTHING), ("S KEY value", ASSUAN_NOTHING),
        ("S", ASSUAN_NOTHING), ("ERR 83886179", ASSUAN_ERROR), ("ERR 1 words", ASSUAN_ERROR), ("", ASSUAN_GARBAGE),
        ("ok", ASSUAN_GARBAGE), ("OKAY", ASSUAN_GARBAGE), (" OK", ASSUAN_GARBAGE), ("OK\r", ASSUAN_GARBAGE),
        ("O", ASSUAN_GARBAGE), ("D", ASSUAN_GARBAGE), ("Dx", ASSUAN_GARBAGE), ("ERR", ASSUAN_GARBAGE),
        ("ERR ", ASSUAN_GARBAGE), ("ERR x", ASSUAN_GARBAGE), ("ERR -1", ASSUAN_GARBAGE), ("ERR  1", ASSUAN_GARBAGE),
        ("ERR 1x", ASSUAN_GARBAGE), ("ERR 99999999999", ASSUAN_GARBAGE), ("ERRATUM", ASSUAN_GARBAGE),
        ("INQUIRE KEY", ASSUAN_GARBAGE), ("SETPIN x", ASSUAN_GARBAGE), ("BYE", ASSUAN_GARBAGE),
        ("OK\n", ASSUAN_GARBAGE), ("OK \0", ASSUAN_GARBAGE), ("D x\0y", ASSUAN_GARBAGE),
    ])
    func everyLineIsOneKind(line: String, kind: AssuanKind) { #expect(parse(line).kind == kind) }

    @Test func linesAreAThousandOctetsAtMost() {
        #expect(parse("D " + String(repeating: "x", count: 998)).kind == ASSUAN_DATA)
        #expect(parse("D " + String(repeating: "x", count: 999)).kind == ASSUAN_GARBAGE)
    }

    /// gpg-error's codes, with the source pinentry (5 << 24) and without.
    @Test(arguments: [
        ("ERR 83886179 Operation cancelled <Pinentry>", ASSUAN_DISMISSED), ("ERR 99", ASSUAN_DISMISSED),
        ("ERR 83886194", ASSUAN_DISMISSED), ("ERR 83886194 x", ASSUAN_DISMISSED), ("ERR 83886142", ASSUAN_TIMED_OUT),
        ("ERR 62", ASSUAN_TIMED_OUT), ("ERR 83886194 ", ASSUAN_DISMISSED), ("ERR 0", ASSUAN_FAILED),
        ("ERR 83886081", ASSUAN_FAILED), ("ERR 9999999999", ASSUAN_FAILED),
    ])
    func errorsSayWhatIsTheMatter(line: String, error: AssuanError) {
        #expect(parse(line).kind == ASSUAN_ERROR && parse(line).error == error)
    }

    @Test func escapesAreUndone() {
        #expect(unescape("") == [])
        #expect(unescape("12 34") == Array("12 34".utf8))
        #expect(unescape("%25%2a%2A%C3%A9é") == Array("%**éé".utf8))
        #expect(unescape(String(repeating: "x", count: 512))?.count == 512)
        for data in ["%", "%2", "x%", "%zz", "%2 ", "%+1", "%0A", "%00", "%7F", "%1b", "\t", "\r", "%%25"] {
            #expect(unescape(data) == nil, "\(data)")
        }
        #expect(unescape(String(repeating: "x", count: 513)) == nil)
        #expect(unescape("ab", capacity: 1) == nil)
    }

    @Test func textIsOneLineOfUTF8() {
        #expect(escape("Confirm (100%)\nnow") == "Confirm (100%25)%0Anow")
        #expect(escape("é\u{1F600}\u{10FFFF}\u{A0}") == "é\u{1F600}\u{10FFFF}\u{A0}")
        #expect(escape("\u{1B}[2J\r\t\u{7F}\u{80}\u{9B}x") == "?[2J?????x")
        // Overlong, surrogates, beyond the last character, cut, stray.
        #expect(escape([0xC0, 0xAF, 0x78]) == "??x")
        #expect(escape([0xED, 0xA0, 0x80, 0x78]) == "???x")
        #expect(escape([0xF4, 0x90, 0x80, 0x80, 0x78]) == "????x")
        #expect(escape([0xE2, 0x82]) == "??" && escape([0xF0]) == "?" && escape([0x80, 0xFF]) == "??")
        #expect(escape([0xF0, 0x8F, 0xBF, 0xBF]) == "????" && escape([0xE0, 0x9F, 0xBF]) == "???")
    }

    @Test func textIsCutBetweenCharacters() {
        #expect(escape(Array("abcé".utf8), capacity: 5) == "abc")
        #expect(escape(Array("abcé".utf8), capacity: 6) == "abcé")
        #expect(escape(Array("ab%".utf8), capacity: 5) == "ab")
        #expect(escape(Array("ab%".utf8), capacity: 6) == "ab%25")
        #expect(escape(Array("abc".utf8), capacity: 1) == "")
    }

    /// Whatever is escaped is text, and ASCII comes out again as it was.
    @Test func whatIsEscapedIsText() {
        var generator = SystemRandomNumberGenerator()
        for greatest: UInt8 in [127, 255] {
            for _ in 0..<2_000 {
                let octets = (0..<Int.random(in: 0...40, using: &generator)).map { _ in
                    UInt8.random(in: 1...greatest, using: &generator)
                }
                let escaped = escape(octets)
                #expect(!escaped.unicodeScalars.contains { $0.value < 0x20 || (0x7F...0x9F).contains($0.value) })
                #expect(!escaped.unicodeScalars.contains("\u{FFFD}"))
                _ = parse(octets)
                guard greatest == 127, !octets.contains(UInt8(ascii: "\n")) else { continue }
                #expect(unescape(escaped) == octets.map { $0 < 0x20 || $0 == 0x7F ? UInt8(ascii: "?") : $0 })
            }
        }
    }
}
