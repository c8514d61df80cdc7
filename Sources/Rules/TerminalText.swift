/// Text from files, made fit for a terminal.
enum TerminalText {
    /// Control, format and unassigned characters as the `\xNN` of their UTF-8 octets, a tab as one space.
    static func escaped(_ text: String) -> String {
        var result = ""
        for scalar in text.unicodeScalars {
            if scalar == "\t" {
                result.append(" ")
            } else if isPrintable(scalar) {
                result.unicodeScalars.append(scalar)
            } else {
                for octet in String(scalar).utf8 {
                    let digits = String(octet, radix: 16)
                    result += "\\x" + (digits.utf8.count < 2 ? "0" : "") + digits
                }
            }
        }
        return result
    }

    /// Columns that escaped text takes.
    static func width(of text: String) -> Int {
        text.unicodeScalars.reduce(0) { $0 + width(of: $1) }
    }

    private static func isPrintable(_ scalar: Unicode.Scalar) -> Bool {
        if scalar.isASCII { return scalar.value >= 0x20 && scalar.value < 0x7F }
        switch scalar.properties.generalCategory {
        case .control, .format, .surrogate, .privateUse, .unassigned, .lineSeparator, .paragraphSeparator: return false
        default: return !scalar.properties.isDefaultIgnorableCodePoint
        }
    }

    private static func width(of scalar: Unicode.Scalar) -> Int {
        switch scalar.value {
        case ..<0x300: 1
        // East Asian wide characters (UAX #11) in their main blocks, and emoji.
        case 0x1100...0x115F, 0x2E80...0x303E, 0x3041...0xA4CF, 0xAC00...0xD7A3, 0xF900...0xFAFF, 0xFE30...0xFE6F,
            0xFF00...0xFF60, 0xFFE0...0xFFE6, 0x1F300...0x1F64F, 0x1F900...0x1F9FF, 0x20000...0x3FFFD:
            2
        default:
            switch scalar.properties.generalCategory {
            case .nonspacingMark, .enclosingMark: 0
            default: 1
            }
        }
    }
}
