internal import Netlink

extension Collection<UInt8> {
    /// The octets as text that is safe to show: in a terminal, a notification, a report. Not to be compared or parsed.
    ///
    /// Printable UTF-8 stands as it is. Every octet of anything else appears as `\xNN`: invalid octets; control, bidi,
    /// zero-width and format characters, line and paragraph separators, private-use and unassigned code points; spaces
    /// other than U+0020, and that one at either end; combining marks with nothing to combine with. A backslash is
    /// doubled, so that two different names never look the same but for the likeness of printable characters.
    public var displayText: String {
        var text = ""
        var decoder = Unicode.UTF8.ForwardParser()
        var iterator = makeIterator()
        var position = startIndex
        let firstNonSpace = firstIndex { $0 != 0x20 } ?? endIndex
        let trailingSpaces = reversedSpaces
        var left = count
        // Whether the last thing written can carry a combining mark.
        var isBase = false
        while true {
            let length: Int
            var scalar: Unicode.Scalar?
            switch decoder.parseScalar(from: &iterator) {
            case .valid(let encoded):
                length = encoded.count
                scalar = Unicode.UTF8.decode(encoded)
            case .error(let invalid): length = invalid
            case .emptyInput: return text
            }
            let end = index(position, offsetBy: length)
            let isOuterSpace = position < firstNonSpace || left <= trailingSpaces
            if scalar == "\\" {
                text += "\\\\"
                isBase = false
            } else if let scalar, !isOuterSpace, scalar.isShownAsItIs(afterBase: isBase) {
                text.unicodeScalars.append(scalar)
                isBase = scalar != " "
            } else {
                for octet in self[position..<end] { text += "\\x" + CollectionOfOne(octet).hexadecimal }
                isBase = false
            }
            position = end
            left -= length
        }
    }

    private var reversedSpaces: Int {
        var spaces = 0
        for octet in self { spaces = octet == 0x20 ? spaces + 1 : 0 }
        return spaces
    }
}

extension SSID {
    /// The name as text that is safe to show; empty where it has no octets.
    ///
    /// See `displayText` of a collection of octets for what appears as `\xNN`.
    public var display: String { octets.displayText }
}

extension Unicode.Scalar {
    fileprivate func isShownAsItIs(afterBase isBase: Bool) -> Bool {
        if isASCII { return 0x20..<0x7f ~= value }
        // Blank, though counted among the symbols.
        guard self != "\u{2800}", !properties.isDefaultIgnorableCodePoint else { return false }
        switch properties.generalCategory {
        case .control, .format, .surrogate, .privateUse, .unassigned, .lineSeparator, .paragraphSeparator,
            .spaceSeparator:
            return false
        case .nonspacingMark, .spacingMark, .enclosingMark: return isBase
        default: return true
        }
    }
}
