import Testing
import WiFi

@Suite struct NameSkeletonTests {
    @Test(
        arguments: [
            // White space and what is not seen.
            ("Corp", "Corp "), ("Corp", " Corp"), ("Corp", "\u{a0}Corp\u{3000}"), ("Corp", "Corp\t\r\n"),
            ("Corp Net", "Corp  Net"), ("Corp Net", "Corp\u{a0}Net"), ("Corp Net", "Corp\u{2003} Net"),
            ("Corp Net", "Corp\u{3164}Net"), ("Corp Net", "Corp\u{ffa0}Net"), ("Corp Net", "Corp\u{2800}Net"),
            ("Corp", "Co\u{200b}rp"),
            ("Corp", "Corp\u{200d}"), ("Corp", "\u{feff}Corp"), ("Corp", "C\u{ad}orp"), ("Corp", "Corp\u{fe0f}"),
            ("Corp", "\u{202e}Corp\u{202c}"), ("Corp", "\u{2066}Corp\u{2069}"), ("Corp", "Corp\u{e0041}"),
            ("Corp", "C\u{34f}orp"), ("Corp", "Corp\u{0}"), ("Corp", "\u{1b}Corp\u{7f}"), ("Corp", "Corp\u{9b}"),
            ("Corp Net", "Corp\u{85}Net"),
            ("Corp", "Corp \u{200b} "), ("Corp", "Corp\u{fff9}"), (" ", "\u{200b}"), (" ", "\u{a0}\u{3000}"),
            // What stands between words.
            ("Corp-Net", "Corp_Net"), ("Corp-Net", "Corp Net"), ("Corp-Net", "Corp\u{2013}Net"),
            ("Corp-Net", "Corp - Net"), ("Corp-Net", "Corp--Net"), ("Corp-", "Corp_ "), ("-Corp", " _Corp"),
            ("Corp-Net", "Corp\u{2010}Net"), ("Corp-Net", "Corp\u{ff3f}Net"),
            // Case.
            ("Corp", "corp"), ("CORP", "corp"), ("ÉCOLE", "école"), ("МОСКВА", "москва"), ("ЖУК", "жук"),
            ("Straße", "STRAẞE"), ("ΑΘΗΝΑ", "Αθηνα".replacing("ν", with: "Ν")),
            // One spelling and another.
            ("Caf\u{e9}", "Cafe\u{301}"), ("\u{1e69}", "s\u{307}\u{323}"), ("\u{1e69}", "s\u{323}\u{307}"),
            ("\u{d55c}\u{ae00}", "\u{1112}\u{1161}\u{11ab}\u{1100}\u{1173}\u{11af}"), ("\u{212b}", "\u{c5}"),
            ("\u{2126}", "\u{3a9}"), ("\u{f900}", "\u{8c48}"), ("\u{1fa7}", "\u{3c9}\u{314}\u{342}\u{345}"),
            ("\u{1d15e}", "\u{1d157}\u{1d165}"), ("\u{95c}", "\u{921}\u{93c}"), ("\u{344}x", "\u{308}\u{301}x"),
            // Confusables.
            ("Corp", "C\u{43e}rp"), ("Corp", "С\u{43e}\u{433}\u{440}"), ("Corp", "C0rp"), ("IT", "lT"), ("IT", "1T"),
            ("IT", "|T"), ("Bank", "\u{412}ank"), ("Hotel", "\u{397}otel"), ("Hotel", "Hot\u{435}l"),
            ("Corp", "\u{ff23}\u{ff4f}\u{ff52}\u{ff50}"), ("ｄｗ", "dw"),
            ("Corp", "\u{1d402}\u{1d428}\u{1d42b}\u{1d429}"),
            ("modern", "rnodern"), ("modern", "modem"), ("Joe's", "Joe\u{2019}s"), ("Guest", "Gue\u{455}t"),
            ("path/x", "path\u{2215}x"), ("a", "\u{251}"), ("Caf\u{e9}", "C\u{430}f\u{435}\u{301}"),
            ("Wi-Fi", "W\u{456}-F\u{456}"), ("9", "\u{1fbf9}"), ("\u{2fa1d}", "\u{2a600}"), ("カ", "ｶ"),
            ("x", "\u{445}"), ("ⅷ", "viii"), ("㎏", "㎏ "),
            // Several at once.
            ("Corp-Net 1", "\u{200b}\u{421}\u{41e}RP_\u{a0}N\u{435}t  l "),
        ])
    func alike(left: String, right: String) throws {
        let (left, right) = (try #require(SSID(utf8: left)), try #require(SSID(utf8: right)))
        #expect(left != right)
        let skeleton = try #require(left.skeleton)
        #expect(skeleton == right.skeleton)
        #expect(skeleton.hashValue == right.skeleton?.hashValue)
    }

    @Test(
        arguments: [
            ("Corp", "Corps"), ("Corp", "Cor"), ("Corp", "C"), ("Corp", " "), ("Corp Net", "CorpNet"),
            ("Corp-Net", "CorpNet"), ("Corp", "Corp-"), ("Corp", "_Corp"), ("Café", "Cafe"), ("Café", "Cafè"),
            ("Corn", "Corv"), ("Νν", "νΝ"), ("Set", "5et"), ("Fast", "Sast"), ("Ruby", "yuby"), ("Guest", "Gyest"),
            ("a\u{328}", "ai"), ("a", "b"), ("2", "3"), ("日本", "日木"), ("Ж", "К"), ("한", "하"), ("\u{fffd}", "?"),
            ("a\u{301}\u{301}", "a\u{301}"), ("Corp.", "Corp"), ("Corp!", "Corp?"), ("ab", "ba"), ("☕", "🏠"),
        ])
    func unlike(left: String, right: String) throws {
        let (left, right) = (try #require(SSID(utf8: left)), try #require(SSID(utf8: right)))
        #expect(left.skeleton != right.skeleton)
    }

    /// Octets that are no text are like nothing but themselves.
    @Test(
        arguments: [
            ("ff", "fe"), ("ff", "ffff"), ("ff", "efbfbd"), ("436f7270ff", "436f7270"), ("ff", "c3bf"), ("c0af", "2f"),
            ("eda080", "efbfbd"), ("e9", "c3a9"), ("61e282", "61"), ("f4908080", "f48fbfbf"), ("ff20", "20"),
            ("c3", "c4"), ("80", "00"), ("ff2d", "ff"),
        ])
    func octetsAreOpaque(left: String, right: String) throws {
        let (left, right) = (try #require(SSID(hexadecimal: left)), try #require(SSID(hexadecimal: right)))
        #expect(left.skeleton != nil)
        #expect(left.skeleton != right.skeleton)
    }

    @Test func textAroundOctetsIsStillSeen() throws {
        #expect(SSID(hexadecimal: "436f7270ff20")?.skeleton == SSID(hexadecimal: "634f5250ff")?.skeleton)
        #expect(SSID(hexadecimal: "436f7270ff20")?.skeleton != nil)
    }

    @Test func namesThatAreNotTold() throws {
        for octets in [[], [0], [UInt8](repeating: 0, count: 32)] {
            let ssid = try #require(SSID(octets: octets))
            #expect(ssid.skeleton == nil)
            #expect(ssid.oddities == [])
        }
        #expect(SSID(utf8: " ")?.skeleton != nil)
        #expect(SSID(utf8: "\u{0}\u{1}")?.skeleton != nil)
    }

    /// Canonical equivalence as the standard library knows it.
    @Test func equalTextIsAlike() throws {
        var generator = SeededGenerator(state: 11)
        var twins = 0
        for _ in 0..<20_000 {
            let (left, right) = (text(using: &generator), text(using: &generator))
            guard left == right, let one = SSID(utf8: left), let other = SSID(utf8: right), one != other else {
                continue
            }
            twins += 1
            #expect(one.skeleton == other.skeleton, "\(one.hexadecimal) \(other.hexadecimal)")
            #expect(explanation(of: one, lookingLike: other) == "differs only in Unicode normalisation (NFC/NFD)")
        }
        #expect(twins > 50)
    }

    private func text(using generator: inout SeededGenerator) -> String {
        let pieces: [Unicode.Scalar] = ["\u{e9}", "e", "\u{301}", "\u{323}", "\u{1eb9}"]
        var text = "e"
        for _ in 0..<Int.random(in: 1...3, using: &generator) {
            text.unicodeScalars.append(pieces[Int.random(in: 0..<pieces.count, using: &generator)])
        }
        return text
    }

    /// Every name has one, which does not change with what is not seen.
    @Test func randomNames() throws {
        var generator = SeededGenerator(state: 12)
        let pieces = [
            "\u{200b}", " ", "\u{301}", "е", "m", "_", "é", "\u{ff}", "한", "I", "\u{323}", "𝐀", "\u{202e}", "½",
        ]
        for round in 0..<5_000 {
            var octets = generator.octets(upTo: 32)
            if round.isMultiple(of: 2) {
                octets = (0..<8).flatMap { _ in Array(pieces[Int.random(in: 0..<pieces.count, using: &generator)].utf8)
                }
                octets.removeLast(Int.random(in: 0...2, using: &generator))
            }
            let ssid = try #require(SSID(octets: octets))
            #expect((ssid.skeleton == nil) == ssid.isHidden)
            #expect(ssid.skeleton == SSID(octets: octets)?.skeleton)
            #expect(explanation(of: ssid, lookingLike: ssid) == "is the same")
            if !ssid.isHidden, let padded = SSID(octets: octets + [0x20]) {
                #expect(padded.skeleton == ssid.skeleton)
                #expect(explanation(of: padded, lookingLike: ssid).hasPrefix("differs only in "))
            }
            #expect(Set(ssid.oddities).count == ssid.oddities.count)
            #expect(ssid.oddities.contains(.notUTF8) == (ssid.text == nil))
            #expect(ssid.oddities.allSatisfy { $0.description.isPrintableASCII })
        }
    }

    /// 5 to 20 ms in a release build; a table that is built or read through for each takes minutes here.
    @Test func isFast() throws {
        let names = try ["Corp-Staff", "Café Straße Москва", "日本語 한국어"].map { try #require(SSID(utf8: $0)) }
        let took = ContinuousClock().measure {
            for round in 0..<10_000 { withExtendedLifetime(names[round % names.count].skeleton) {} }
        }
        #expect(took < .seconds(5))
    }
}

@Suite struct NameOddityTests {
    @Test(
        arguments: [
            ("Corp", []), ("Corp Net-5_x!", []), ("Café", []), ("日本語", []), ("Москва", []), ("☕\u{fe0f}", []),
            ("👩\u{200d}💻", []), ("می\u{200c}خواهم", []), ("Joe\u{2019}s iPhone", []), ("Corp – Gäste", []),
            ("Işık", []), ("WiFi он", []), ("Corpノ", []), ("Løvås", []), ("한국", []), ("क्\u{200d}ष", []),
            (" Corp", [.leadingWhiteSpace(" ")]), ("Corp ", [.trailingWhiteSpace(" ")]),
            (" ", [.leadingWhiteSpace(" "), .trailingWhiteSpace(" ")]), ("\u{a0}x", [.leadingWhiteSpace("\u{a0}")]),
            ("x\u{3000}", [.trailingWhiteSpace("\u{3000}")]), ("x\u{3164}", [.trailingWhiteSpace("\u{3164}")]),
            ("x \u{200b}", [.trailingWhiteSpace(" "), .invisible("\u{200b}")]),
            ("a\u{a0}b", [.unusualWhiteSpace("\u{a0}")]), ("a\u{2003}b", [.unusualWhiteSpace("\u{2003}")]),
            ("Co\u{200b}rp\u{200b}", [.invisible("\u{200b}")]), ("Corp\u{200d}", [.invisible("\u{200d}")]),
            ("C\u{200d}orp", [.invisible("\u{200d}")]), ("C\u{ad}orp", [.invisible("\u{ad}")]),
            ("\u{feff}Corp", [.invisible("\u{feff}")]), ("a\u{fe0f}", [.invisible("\u{fe0f}")]),
            ("Corp\u{e0041}", [.invisible("\u{e0041}")]), ("a\u{202e}b", [.bidiControl("\u{202e}")]),
            (
                "a\u{200f}\u{61c}\u{2069}",
                [.bidiControl("\u{200f}"), .bidiControl("\u{61c}"), .bidiControl("\u{2069}")]
            ),
            ("a\u{0}b", [.control("\u{0}")]), ("a\u{1b}[2Jb\u{1b}", [.control("\u{1b}")]), ("a\nb", [.control("\n")]),
            ("a\u{9b}b", [.control("\u{9b}")]), ("a\u{2028}b", [.control("\u{2028}")]),
            ("\u{7f}", [.control("\u{7f}")]),
            ("a\t", [.trailingWhiteSpace("\t"), .control("\t")]),
            ("Cafe\u{301}", [.notNFC]), ("\u{212b}", [.notNFC]), ("s\u{307}\u{323}", [.notNFC]),
            ("\u{e9}\u{323}", [.notNFC]), ("\u{1112}\u{1161}", [.notNFC]), ("\u{d558}\u{11ab}", [.notNFC]),
            ("\u{95c}", [.notNFC]), ("\u{f900}", [.notNFC]), ("x\u{301}", []), ("\u{921}\u{93c}", []),
            ("s\u{323}\u{301}", [.notNFC]), ("\u{1e63}\u{301}", []), ("\u{d55c}\u{11ab}", []), ("\u{301}a", []),
            ("e\u{30b}\u{301}", []), ("\u{e9}\u{30b}", []),
            ("C\u{43e}rp", [.lookalike("\u{43e}")]),
            ("C\u{43e}r\u{440}", [.lookalike("\u{43e}"), .lookalike("\u{440}")]),
            ("Corp-St\u{430}ff", [.lookalike("\u{430}")]), ("\u{391}dmin", [.lookalike("\u{391}")]),
            ("\u{1d402}orp", [.lookalike("\u{1d402}")]), ("\u{ff23}orp", [.lookalike("\u{ff23}")]),
            ("p\u{251}ypal", [.lookalike("\u{251}")]),
        ] as [(String, [NameOddity])])
    func oddities(name: String, expected: [NameOddity]) throws {
        #expect(try #require(SSID(utf8: name)).oddities == expected)
    }

    @Test func octetsThatAreNotUTF8() throws {
        for hexadecimal in ["ff", "436f7270e9", "c0af", "eda080", "e282"] {
            #expect(try #require(SSID(hexadecimal: hexadecimal)).oddities == [.notUTF8])
        }
        #expect(SSID(hexadecimal: "20ff65cc81")?.oddities == [.leadingWhiteSpace(" "), .notUTF8, .notNFC])
    }

    /// Of scalars that are canonically equivalent as the standard library has it, no more than one is composed; and so
    /// are pairs that equal none of those.
    @Test func composedFormIsTheStandardLibrarys() throws {
        let ranges: [Range<UInt32>] = [
            0xa0..<0x3100, 0xf900..<0x10000, 0x11000..<0x11a00, 0x1d100..<0x1d200, 0x2f800..<0x2fa20,
            0xac00..<0xac80,
        ]
        var composed: [String: Int] = [:]
        for scalar in ranges.joined().compactMap(Unicode.Scalar.init) {
            guard let age = scalar.properties.age, age.major <= 15 else { continue }
            let text = String(scalar)
            composed[text, default: 0] += try isComposed(text) ? 1 : 0
        }
        #expect(composed.values.allSatisfy { $0 <= 1 })
        #expect(composed.count { $0.value == 0 } > 50)
        for base in "AEIOUaeiouNnSsZzxqαωъи".unicodeScalars {
            for mark in (0x300..<0x370 as Range<UInt32>).compactMap(Unicode.Scalar.init) {
                // Marks that stand for others.
                guard try isComposed("x" + String(mark)), mark != "\u{34f}" else { continue }
                let pair = String(base) + String(mark)
                #expect(try isComposed(pair) == ((composed[pair] ?? 0) == 0), "\(base) \(mark.value)")
            }
        }
    }

    private func isComposed(_ text: String) throws -> Bool {
        try !#require(SSID(utf8: text)).oddities.contains(.notNFC)
    }

    @Test func descriptions() {
        for (oddity, text) in [
            (.trailingWhiteSpace(" "), "ends in a space"), (.leadingWhiteSpace("\u{a0}"), "begins with U+00A0"),
            (.invisible("\u{e0041}"), "has the invisible U+E0041"),
            (.control("\u{7}"), "has the control character U+0007"),
            (.notUTF8, "is not UTF-8"),
        ] as [(NameOddity, String)] {
            #expect(oddity.description == text)
        }
    }
}

@Suite struct NameExplanationTests {
    @Test(
        arguments: [
            ("Corp ", "Corp", "differs only in a trailing space"),
            ("Corp", "Corp ", "differs only in the lack of a trailing space"),
            ("  Corp", "Corp", "differs only in 2 leading spaces"),
            ("\u{a0}Corp", "Corp", "differs only in leading U+00A0"),
            ("Corp\u{a0}", "Corp ", "differs only in trailing U+00A0 for a trailing space"),
            ("Cafe\u{301}", "Caf\u{e9}", "differs only in Unicode normalisation (NFC/NFD)"),
            ("s\u{307}\u{323}", "s\u{323}\u{307}", "differs only in Unicode normalisation (NFC/NFD)"),
            ("corp", "CORP", "differs only in upper and lower case"),
            ("ÉCOLE", "école", "differs only in upper and lower case"),
            ("C\u{43e}rp", "Corp", "differs only in U+043E for \"o\""),
            ("C0rp", "Corp", "differs only in \"0\" for \"o\""),
            ("Corp", "C\u{43e}rp", "differs only in \"o\" for U+043E"),
            ("modem", "modern", "differs only in \"m\" for \"rn\""),
            ("rnodern", "modern", "differs only in \"rn\" for \"m\""),
            ("modern", "rnodern", "differs only in \"m\" for \"rn\""),
            ("Corp\u{200b}", "Corp", "differs only in the invisible U+200B"),
            ("Corp", "Co\u{7}rp", "differs only in the lack of the invisible U+0007"),
            ("Co\u{200b}rp", "Cor\u{200b}p", "differs only in where its invisible characters are"),
            ("Corp_Net", "Corp-Net", "differs only in \"_\" for \"-\""),
            ("Corp Net", "Corp  Net", "differs only in \" \" for \"  \""),
            ("Corp\u{a0}Net", "Corp Net", "differs only in U+00A0 for \" \""),
            ("c\u{43e}rp ", "Corp", "differs in a trailing space, upper and lower case and U+043E for \"o\""),
            ("Corp", "Corp", "is the same"), ("Corp", "Home", "does not look like it"),
            ("", "\u{0}", "does not look like it"),
            (
                "\u{430}\u{435}\u{43e}\u{440}\u{441}\u{445}", "aeopcx",
                "differs in U+0430 for \"a\", U+0435 for \"e\", U+043E for \"o\", U+0440 for \"p\" and 2 more"
            ),
        ])
    func explanations(name: String, other: String, expected: String) throws {
        let (name, other) = (try #require(SSID(utf8: name)), try #require(SSID(utf8: other)))
        #expect(explanation(of: name, lookingLike: other) == expected)
    }

    /// Whatever two names are, there is an answer, and it is fit for a log.
    @Test func randomNames() throws {
        var generator = SeededGenerator(state: 13)
        let pieces: [[UInt8]] = [
            Array("m".utf8), Array("rn".utf8), [0x20], Array("-".utf8), Array("\u{2014}".utf8), Array("é".utf8),
            Array("e\u{301}".utf8), Array("\u{323}".utf8), [0xff], Array("\u{200b}".utf8), Array("І".utf8), [0x31],
            Array("\"".utf8), Array("''".utf8), Array("\\".utf8), [0x1b], Array("¾".utf8), Array("\u{345}".utf8),
        ]
        var alike = 0
        for _ in 0..<30_000 {
            let names = try (0..<2).map { _ in
                try #require(SSID(octets: (0..<3).flatMap { _ in pieces.randomElement(using: &generator) ?? [] }))
            }
            let text = explanation(of: names[0], lookingLike: names[1])
            #expect(text.isPrintableASCII)
            let isTwin = names[0] != names[1] && names[0].skeleton != nil && names[0].skeleton == names[1].skeleton
            #expect(text.hasPrefix("differs ") == isTwin)
            alike += isTwin ? 1 : 0
        }
        #expect(alike > 30)
    }
}

extension String {
    fileprivate var isPrintableASCII: Bool { utf8.allSatisfy { 0x20..<0x7f ~= $0 } }
}
