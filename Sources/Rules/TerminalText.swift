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

    private static func isPrintable(_ scalar: Unicode.Scalar) -> Bool {
        if scalar.isASCII { return scalar.value >= 0x20 && scalar.value < 0x7F }
        switch scalar.properties.generalCategory {
        case .control, .format, .surrogate, .privateUse, .unassigned, .lineSeparator, .paragraphSeparator: return false
        default: return !scalar.properties.isDefaultIgnorableCodePoint
        }
    }
}
