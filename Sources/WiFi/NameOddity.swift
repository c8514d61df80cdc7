/// Something about a network's name that a person does not see or does not expect.
public enum NameOddity: Hashable, Sendable {
    /// It begins with white space, this first.
    case leadingWhiteSpace(Unicode.Scalar)
    /// It ends in white space, this last.
    case trailingWhiteSpace(Unicode.Scalar)
    /// White space between words other than U+0020.
    case unusualWhiteSpace(Unicode.Scalar)
    /// A character of no width, or one that is ignored where it is not understood.
    case invisible(Unicode.Scalar)
    /// One that changes the direction or order in which others are shown.
    case bidiControl(Unicode.Scalar)
    /// A control character, a line or paragraph separator.
    case control(Unicode.Scalar)
    /// Octets that are not UTF-8.
    case notUTF8
    /// Text not composed as keyboards do (NFC): an equal one with other octets exists.
    case notNFC
    /// A character that looks like an ASCII letter or digit, in a word that has ASCII letters.
    case lookalike(Unicode.Scalar)
}

extension NameOddity: CustomStringConvertible {
    /// Printable ASCII, to follow the name: "ends in a space".
    public var description: String {
        switch self {
        case .leadingWhiteSpace(let scalar): "begins with \(scalar.article)"
        case .trailingWhiteSpace(let scalar): "ends in \(scalar.article)"
        case .unusualWhiteSpace(let scalar): "has the unusual white space \(scalar.codePoint)"
        case .invisible(let scalar): "has the invisible \(scalar.codePoint)"
        case .bidiControl(let scalar): "has \(scalar.codePoint), which changes the direction of text"
        case .control(let scalar): "has the control character \(scalar.codePoint)"
        case .notUTF8: "is not UTF-8"
        case .notNFC: "is not in Unicode's composed form (NFC)"
        case .lookalike(let scalar): "has \(scalar.codePoint), which looks like an ASCII character, among ASCII letters"
        }
    }
}

extension SSID {
    /// What is odd about the name, each thing once; empty for most names, and where no name is told (`isHidden`).
    public var oddities: [NameOddity] {
        guard !isHidden else { return [] }
        let name = NameElement.elements(of: octets)
        var oddities: [NameOddity] = []
        func add(_ oddity: NameOddity) {
            if !oddities.contains(oddity) { oddities.append(oddity) }
        }
        // What is not seen at an end does not keep white space from being there.
        let seen = name.indices.filter { !name[$0].isInvisible }
        let words = seen.filter { !name[$0].isWhiteSpace }
        if let first = seen.first, name[first].isWhiteSpace, let scalar = name[first].scalar {
            add(.leadingWhiteSpace(scalar))
        }
        if let last = seen.last, name[last].isWhiteSpace, let scalar = name[last].scalar {
            add(.trailingWhiteSpace(scalar))
        }
        for (index, element) in name.enumerated() {
            guard let scalar = element.scalar else {
                add(.notUTF8)
                continue
            }
            if element.isControl {
                add(.control(scalar))
            } else if element.isBidiControl {
                add(.bidiControl(scalar))
            } else if element.isInvisible {
                if !isOrdinary(index, in: name) { add(.invisible(scalar)) }
            } else if element.isWhiteSpace, scalar != " ", let first = words.first, let last = words.last,
                first...last ~= index
            {
                add(.unusualWhiteSpace(scalar))
            }
        }
        if octets.contains(where: { $0 >= 0x80 }), name.decomposed.composed != name { add(.notNFC) }
        for scalar in lookalikes(in: name) { add(.lookalike(scalar)) }
        return oddities
    }

    /// Whether what is not seen belongs there: the selectors of emoji, and the joiners within emoji and within words
    /// of the scripts that need them, all of which come after Latin, Greek, Cyrillic and Armenian.
    private func isOrdinary(_ index: Int, in name: [NameElement]) -> Bool {
        guard index > 0, let before = name[index - 1].scalar else { return false }
        switch name[index].value {
        case 0xfe0e, 0xfe0f: return !before.isASCII && before.properties.isEmoji
        case 0x200c, 0x200d:
            guard index + 1 < name.count else { return false }
            return [name[index - 1], name[index + 1]].allSatisfy { element in
                guard element.value >= 0x590, let properties = element.scalar?.properties else { return false }
                return properties.isAlphabetic || properties.isEmoji || element.isMark
            }
        default: return false
        }
    }

    private func lookalikes(in name: [NameElement]) -> [Unicode.Scalar] {
        name.split { $0.isWhiteSpace || $0.value < 0x80 && !$0.isASCIILetter && !(0x30...0x39 ~= $0.value) }
            .filter { $0.contains(where: \.isASCIILetter) }
            .joined().filter(\.looksASCII).compactMap(\.scalar)
    }
}

extension NameElement {
    /// Whether it looks like ASCII letters or digits alone, without being one of them or of an alphabet that has them.
    fileprivate var looksASCII: Bool {
        guard value >= 0x80, !isInvisible, !isLatin, let scalar, scalar.properties.isAlphabetic || isNumber else {
            return false
        }
        var parts: [NameElement] = []
        var like: [NameElement] = []
        appendDecomposition(to: &parts)
        for part in parts { part.appendLikeness(to: &like) }
        return like.allSatisfy { $0.isASCIILetter || 0x30...0x39 ~= $0.value }
    }

    /// Of the alphabets of languages; phonetic letters are not.
    private var isLatin: Bool { 0xaa...0x24f ~= value || 0x1e00...0x1eff ~= value }

    private var isNumber: Bool { scalar?.properties.numericType != nil }
}

extension Unicode.Scalar {
    /// `U+0430`.
    var codePoint: String {
        let digits = String(value, radix: 16, uppercase: true)
        return "U+" + String(repeating: "0", count: max(0, 4 - digits.count)) + digits
    }

    fileprivate var article: String { self == " " ? "a space" : codePoint }
}
