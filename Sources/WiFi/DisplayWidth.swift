extension StringProtocol {
    /// The columns the text takes in a terminal: two for East Asian wide characters and pictures, none for combining
    /// marks and characters that are not shown, one for everything else.
    ///
    /// Terminals disagree about sequences that a font joins into one picture; the sum of their parts is what most
    /// count.
    public var displayWidth: Int { unicodeScalars.reduce(0) { $0 + $1.displayWidth } }
}

extension Unicode.Scalar {
    /// 0, 1 or 2.
    var displayWidth: Int {
        if value < 0x300 { return 0x20..<0x7f ~= value || value >= 0xa0 && value != 0xad ? 1 : 0 }
        if properties.isDefaultIgnorableCodePoint { return 0 }
        switch properties.generalCategory {
        case .control, .format, .surrogate, .lineSeparator, .paragraphSeparator, .nonspacingMark, .enclosingMark:
            return 0
        default: break
        }
        // Vowels and finals of Hangul join the syllable before them.
        if 0x1160...0x11ff ~= value || 0xd7b0...0xd7ff ~= value { return 0 }
        return isWide ? 2 : 1
    }

    private var isWide: Bool {
        if value < 0x1100 { return false }
        // Regional indicators are pictures in pairs: one column each.
        if properties.isEmojiPresentation { return !(0x1f1e6...0x1f1ff ~= value) }
        return wideRanges.contains { $0 ~= value }
    }
}

/// East Asian Width W and F of Unicode 14, with the gaps of unassigned code points closed and without what is an
/// emoji by default, which the standard library knows.
private let wideRanges: [ClosedRange<UInt32>] = [
    0x1100...0x115f, 0x2329...0x232a, 0x2e80...0x303e, 0x3041...0x3247, 0x3250...0x4dbf, 0x4e00...0xa4c6,
    0xa960...0xa97c, 0xac00...0xd7a3, 0xf900...0xfaff, 0xfe10...0xfe19, 0xfe30...0xfe6b, 0xff01...0xff60,
    0xffe0...0xffe6, 0x16fe0...0x18d08, 0x1aff0...0x1b2fb, 0x1f200...0x1f265, 0x20000...0x2fffd, 0x30000...0x3fffd,
]
