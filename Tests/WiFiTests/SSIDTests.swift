import Testing
import WiFi

@Suite struct SSIDTests {
    @Test func equalityIsOfOctets() throws {
        let composed = try #require(SSID(utf8: "Caf\u{e9}"))
        let decomposed = try #require(SSID(utf8: "Cafe\u{301}"))
        #expect(composed.text == decomposed.text)
        #expect(composed != decomposed)
        #expect(Set([composed, decomposed]).count == 2)
        for (left, right) in [("trail", "trail "), ("home", "Home"), ("a", "a\u{0}"), ("", "\u{0}")] {
            #expect(SSID(utf8: left) != SSID(utf8: right))
        }
    }

    @Test func lengths() {
        #expect(SSID(octets: [])?.octets == [])
        #expect(SSID(octets: [UInt8](repeating: 0xff, count: 32))?.hexadecimal == String(repeating: "ff", count: 32))
        #expect(SSID(octets: [UInt8](repeating: 0, count: 33)) == nil)
        #expect(SSID(utf8: String(repeating: "é", count: 16)) != nil)
        #expect(SSID(utf8: String(repeating: "é", count: 17)) == nil)
    }

    @Test func hexadecimal() {
        #expect(SSID(hexadecimal: "436f72702D5374616666")?.text == "Corp-Staff")
        #expect(SSID(hexadecimal: "")?.octets == [])
        for text in ["4", "4g", "43 6f", "0x43", String(repeating: "41", count: 33), "４３"] {
            #expect(SSID(hexadecimal: text) == nil)
        }
    }

    @Test func hiddenNames() {
        for (octets, isHidden) in [([], true), ([0], true), ([0, 0, 0], true), ([0, 0x41], false), ([0x20], false)]
            as [([UInt8], Bool)]
        {
            #expect(SSID(octets: octets)?.isHidden == isHidden)
        }
    }
}

@Suite struct DisplayTests {
    @Test(
        arguments: [
            ("", ""), ("Home", "Home"), ("a b", "a b"), ("Café", "Café"), ("Cafe\u{301}", "Cafe\u{301}"),
            ("日本語", "日本語"), ("שלום", "שלום"), ("हिन्दी", "हिन्दी"), ("☕🏠", "☕🏠"), ("a\"b'c", "a\"b'c"),
            ("a\\b", "a\\\\b"), ("\\x41", "\\\\x41"),
            // Spaces.
            (" ", "\\x20"), ("  ", "\\x20\\x20"), (" a b ", "\\x20a b\\x20"), ("trail ", "trail\\x20"),
            ("a\u{a0}b", "a\\xc2\\xa0b"), ("a\u{3000}b", "a\\xe3\\x80\\x80b"), ("\u{2003}", "\\xe2\\x80\\x83"),
            // Controls.
            ("\u{0}", "\\x00"), ("a\u{0}b", "a\\x00b"), ("a\nb\r\t", "a\\x0ab\\x0d\\x09"), ("\u{7f}", "\\x7f"),
            ("\u{1b}[2J", "\\x1b[2J"), ("\u{1b}]0;pwned\u{7}", "\\x1b]0;pwned\\x07"), ("\u{9b}31m", "\\xc2\\x9b31m"),
            // Bidi, zero-width, format, separators.
            ("a\u{202e}b", "a\\xe2\\x80\\xaeb"), ("\u{2066}x\u{2069}", "\\xe2\\x81\\xa6x\\xe2\\x81\\xa9"),
            ("Corp\u{200b}", "Corp\\xe2\\x80\\x8b"), ("\u{200d}", "\\xe2\\x80\\x8d"), ("\u{200f}", "\\xe2\\x80\\x8f"),
            ("\u{feff}x", "\\xef\\xbb\\xbfx"), ("a\u{ad}b", "a\\xc2\\xadb"), ("\u{2028}", "\\xe2\\x80\\xa8"),
            ("\u{2029}", "\\xe2\\x80\\xa9"), ("☕\u{fe0f}", "☕\\xef\\xb8\\x8f"), ("\u{e0041}", "\\xf3\\xa0\\x81\\x81"),
            ("\u{61c}", "\\xd8\\x9c"), ("\u{600}1", "\\xd8\\x801"), ("\u{fff9}a", "\\xef\\xbf\\xb9a"),
            // Blank though letters or symbols.
            ("\u{3164}", "\\xe3\\x85\\xa4"), ("\u{115f}", "\\xe1\\x85\\x9f"), ("\u{2800}", "\\xe2\\xa0\\x80"),
            // Private use, unassigned.
            ("\u{e000}", "\\xee\\x80\\x80"), ("\u{378}", "\\xcd\\xb8"),
            // Marks with nothing to combine with.
            ("\u{301}a", "\\xcc\\x81a"), ("a \u{301}", "a \\xcc\\x81"), ("\u{1b}\u{301}", "\\x1b\\xcc\\x81"),
            ("\\\u{301}", "\\\\\\xcc\\x81"), ("a\u{301}\u{302}", "a\u{301}\u{302}"),
        ])
    func names(name: String, shown: String) throws {
        let ssid = try #require(SSID(utf8: name))
        #expect(Array(ssid.display.unicodeScalars) == Array(shown.unicodeScalars))
    }

    @Test(
        arguments: [
            // An octet that starts nothing, a CSI of one octet, a surrogate, an overlong slash, one beyond U+10FFFF, a
            // sequence that ends early.
            ("ff", "\\xff"), ("9b33 316d", "\\x9b31m"), ("eda080", "\\xed\\xa0\\x80"), ("c0af", "\\xc0\\xaf"),
            ("f4908080", "\\xf4\\x90\\x80\\x80"), ("61e282", "a\\xe2\\x82"), ("e28261", "\\xe2\\x82a"),
            ("e282c3a9", "\\xe2\\x82é"), ("20ff20", "\\x20\\xff\\x20"), ("f09f8fa0f09f", "🏠\\xf0\\x9f"),
            ("00ff41", "\\x00\\xffA"),
            // Noncharacters, which are valid but cannot be written in a literal.
            ("efb790", "\\xef\\xb7\\x90"), ("efbfbf", "\\xef\\xbf\\xbf"), ("f48fbfbe", "\\xf4\\x8f\\xbf\\xbe"),
        ])
    func unusualOctets(hexadecimal: String, shown: String) throws {
        let ssid = try #require(SSID(octets: octets(hexadecimal)))
        #expect(Array(ssid.display.unicodeScalars) == Array(shown.unicodeScalars))
        if hexadecimal == "ff" {
            let longest = try #require(SSID(octets: [UInt8](repeating: 0xff, count: 32)))
            #expect(longest.display == String(repeating: shown, count: 32))
        }
    }

    /// What is shown can be read back, so that no two names look alike, and holds nothing that moves a cursor.
    @Test func randomNamesReadBack() {
        var generator = SeededGenerator(state: 2)
        let pieces: [[UInt8]] = [
            [0x5c], [0x20], Array("x41".utf8), Array("é".utf8), Array("\u{202e}".utf8), [0xe2, 0x80], [0x1b], [0xff],
            Array("\u{301}".utf8), Array("語".utf8),
        ]
        for round in 0..<20_000 {
            var name = generator.octets(upTo: 32)
            if round.isMultiple(of: 2) {
                name = (0..<6).flatMap { _ in pieces[Int.random(in: 0..<pieces.count, using: &generator)] }
            }
            let shown = name.displayText
            #expect(readBack(shown) == name)
            #expect(shown.unicodeScalars.allSatisfy { $0.value >= 0x20 && !(0x7f..<0xa1 ~= $0.value) })
        }
    }

    private func readBack(_ shown: String) -> [UInt8] {
        var octets: [UInt8] = []
        var rest = Array(shown.utf8)[...]
        while let octet = rest.popFirst() {
            guard octet == UInt8(ascii: "\\") else {
                octets.append(octet)
                continue
            }
            if rest.popFirst() == UInt8(ascii: "x") {
                octets += WiFiTests.octets(String(decoding: rest.prefix(2), as: UTF8.self))
                rest = rest.dropFirst(2)
            } else {
                octets.append(octet)
            }
        }
        return octets
    }

    @Test(
        arguments: [
            ("", 0), ("Home", 4), ("Café", 4), ("Cafe\u{301}", 4), ("日本語", 6), ("ｗｉｄｅ", 8), ("ﾊﾝｶｸ", 4),
            ("한국", 4), ("\u{1112}\u{1161}\u{11ab}", 2), ("🏠", 2), ("☕", 2), ("✓", 1), ("🇫🇮", 2), ("〈", 2), ("〿", 1),
            ("שלום", 4), ("\u{200b}", 0), ("\u{ad}", 0), ("\u{1b}", 0), ("\u{7f}", 0), ("\u{a0}", 1), ("𠮷", 2),
            ("हि", 2), ("䷀", 1), ("\\xff", 4),
        ])
    func widths(text: String, columns: Int) {
        #expect(text.displayWidth == columns)
    }
}
