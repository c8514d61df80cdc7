/// One thing in a name: a scalar, or an octet that is part of none.
struct NameElement: Hashable {
    /// The scalar's value; for an octet 0x110000 and more, so that it is never a scalar, U+FFFD neither.
    let value: UInt32

    init(_ value: UInt32) {
        self.value = value
    }

    init(octet: UInt8) {
        value = NameElement.firstOctet | UInt32(octet)
    }

    private static let firstOctet: UInt32 = 0x11_0000

    /// Nil for an octet.
    var scalar: Unicode.Scalar? { value < NameElement.firstOctet ? Unicode.Scalar(value) : nil }

    static func elements(of octets: [UInt8]) -> [NameElement] {
        var elements: [NameElement] = []
        elements.reserveCapacity(octets.count)
        var position = 0
        while position < octets.count {
            if octets[position] < 0x80 {
                elements.append(NameElement(UInt32(octets[position])))
                position += 1
                continue
            }
            var decoder = Unicode.UTF8.ForwardParser()
            var iterator = octets[position...].makeIterator()
            switch decoder.parseScalar(from: &iterator) {
            case .valid(let encoded):
                elements.append(NameElement(Unicode.UTF8.decode(encoded).value))
                position += encoded.count
            case .error(let length):
                for octet in octets[position..<position + length] { elements.append(NameElement(octet: octet)) }
                position += length
            case .emptyInput: return elements
            }
        }
        return elements
    }

    // MARK: What is seen of it

    var isWhiteSpace: Bool {
        if value < 0x80 { return value == 0x20 || 0x9...0xd ~= value }
        if value < 0x1680 { return value == 0x85 || value == 0xa0 }
        guard value < NameElement.firstOctet else { return false }
        // Blank, though counted among symbols and letters: an empty pattern of Braille, fillers of Hangul.
        if value == 0x2800 || value == 0x3164 || value == 0xffa0 { return true }
        return scalar?.properties.isWhitespace ?? false
    }

    /// Takes no room and leaves no trace. Controls are shown as nothing in most places, and where they are not, that
    /// is luck.
    var isInvisible: Bool {
        if value < 0x80 { return (value < 0x20 || value == 0x7f) && !isWhiteSpace }
        if value < 0x300 { return value < 0xa0 && value != 0x85 || value == 0xad }
        guard !isWhiteSpace, let scalar else { return false }
        // Anchors of annotations.
        if 0xfff9...0xfffb ~= value { return true }
        return scalar.properties.isDefaultIgnorableCodePoint
    }

    var isBidiControl: Bool {
        value == 0x61c || 0x200e...0x200f ~= value || 0x202a...0x202e ~= value || 0x2066...0x2069 ~= value
    }

    var isControl: Bool { value < 0x20 || 0x7f..<0xa0 ~= value || 0x2028...0x2029 ~= value }

    var isASCIILetter: Bool { 0x41...0x5a ~= value || 0x61...0x7a ~= value }

    /// 0 for what is no combining mark.
    var combiningClass: UInt8 {
        guard value >= 0x300, let scalar else { return 0 }
        return scalar.properties.canonicalCombiningClass.rawValue
    }

    /// A combining mark, of any class.
    var isMark: Bool {
        guard value >= 0x300, let scalar else { return false }
        switch scalar.properties.generalCategory {
        case .nonspacingMark, .spacingMark, .enclosingMark: return true
        default: return false
        }
    }

    // MARK: Tables

    /// What it counts as where likeness is asked for; itself for most. To be asked of decomposed names only.
    func appendLikeness(to elements: inout [NameElement]) {
        // The greatest part of all names is of letters that stand for themselves.
        if 0x61...0x7a ~= value, value != 0x69, value != 0x6c, value != 0x6d { return elements.append(self) }
        guard value < NameElement.firstOctet else { return elements.append(self) }
        let count = value < 0x80 ? LookalikeTables.asciiLikenessCount : LookalikeTables.likenessCount
        guard let row = LookalikeTables.likenesses.row(of: value, width: 8, count: count) else {
            return elements.append(self)
        }
        let target = LookalikeTables.likenesses.number(at: row + 4)
        guard target >= 0x20_0000 else { return elements.append(NameElement(target)) }
        let first = Int(target & 0xffff)
        for index in first..<first + Int(target >> 16 & 0x1f) {
            elements.append(NameElement(LookalikeTables.sequences.number(at: index * 4)))
        }
    }

    /// It or what it is canonically made of, without putting marks in order.
    func appendDecomposition(to elements: inout [NameElement]) {
        guard 0xc0..<NameElement.firstOctet ~= value else { return elements.append(self) }
        if let syllable = Hangul.index(of: value) {
            elements.append(NameElement(Hangul.leading + syllable / (Hangul.vowelCount * Hangul.finalCount)))
            elements.append(NameElement(Hangul.vowel + syllable / Hangul.finalCount % Hangul.vowelCount))
            let final = syllable % Hangul.finalCount
            if final != 0 { elements.append(NameElement(Hangul.final + final)) }
            return
        }
        let table = LookalikeTables.decompositions
        guard let row = table.row(of: value, width: 12, count: LookalikeTables.decompositionCount) else {
            return elements.append(self)
        }
        // Made of what is made of something, at most four deep.
        NameElement(table.number(at: row + 4)).appendDecomposition(to: &elements)
        let second = table.number(at: row + 8) & 0x1f_ffff
        if second != 0 { elements.append(NameElement(second)) }
    }

    /// What the two make up, where composing does so.
    static func composition(_ first: NameElement, _ second: NameElement) -> NameElement? {
        if Hangul.leading..<Hangul.leading + 19 ~= first.value,
            Hangul.vowel..<Hangul.vowel + Hangul.vowelCount ~= second.value
        {
            let pair = (first.value - Hangul.leading) * Hangul.vowelCount + second.value - Hangul.vowel
            return NameElement(Hangul.syllable + pair * Hangul.finalCount)
        }
        if let syllable = Hangul.index(of: first.value), syllable.isMultiple(of: Hangul.finalCount),
            Hangul.final + 1..<Hangul.final + Hangul.finalCount ~= second.value
        {
            return NameElement(first.value + second.value - Hangul.final)
        }
        guard second.isMark else { return nil }
        // Rare enough to look at every row. Flagged rows, which are not composed, do not equal a scalar.
        let table = LookalikeTables.decompositions
        for row in 0..<LookalikeTables.decompositionCount
        where table.number(at: row * 12 + 8) == second.value && table.number(at: row * 12 + 4) == first.value {
            return NameElement(table.number(at: row * 12))
        }
        return nil
    }
}

extension [NameElement] {
    /// Canonically decomposed (NFD): what two spellings of the same text have in common.
    var decomposed: [NameElement] {
        var elements: [NameElement] = []
        elements.reserveCapacity(count)
        for element in self { element.appendDecomposition(to: &elements) }
        elements.sortMarks { $0.combiningClass < $1.combiningClass }
        return elements
    }

    /// Composed (NFC) from what is decomposed.
    var composed: [NameElement] {
        var elements: [NameElement] = []
        var starter: Int?
        var lastClass: UInt8 = 0
        for element in self {
            let itsClass = element.combiningClass
            // A mark is kept from its base by another of the same class, and anything by what stands between.
            if let base = starter, base == elements.count - 1 || lastClass < itsClass,
                let whole = NameElement.composition(elements[base], element)
            {
                elements[base] = whole
                continue
            }
            if itsClass == 0 { starter = elements.count }
            lastClass = itsClass
            elements.append(element)
        }
        return elements
    }

    /// Sorts each run of combining marks; those that are not `precedes`d keep their order.
    mutating func sortMarks(by precedes: (NameElement, NameElement) -> Bool) {
        // Insertion: there are 32 at most, few of which are marks.
        for index in indices.dropFirst() where self[index].combiningClass != 0 {
            var place = index
            while place > 0, self[place - 1].combiningClass != 0, precedes(self[place], self[place - 1]) {
                swapAt(place, place - 1)
                place -= 1
            }
        }
    }
}

/// Syllables are made of their parts by arithmetic (Unicode 3.12).
private enum Hangul {
    static let syllable: UInt32 = 0xac00
    static let leading: UInt32 = 0x1100
    static let vowel: UInt32 = 0x1161
    /// One before the first final: a syllable without one has number 0.
    static let final: UInt32 = 0x11a7
    static let vowelCount: UInt32 = 21
    static let finalCount: UInt32 = 28

    static func index(of value: UInt32) -> UInt32? { 0xac00...0xd7a3 ~= value ? value - syllable : nil }
}

extension StaticString {
    /// The number in the four characters from `offset` on.
    fileprivate func number(at offset: Int) -> UInt32 {
        precondition(offset >= 0 && offset + 4 <= utf8CodeUnitCount)
        var number: UInt32 = 0
        for index in offset..<offset + 4 { number = number << 6 | UInt32(utf8Start[index] &- 0x30) }
        return number
    }

    /// Where among `count` rows of `width` characters the one starts that begins with `value`.
    fileprivate func row(of value: UInt32, width: Int, count: Int) -> Int? {
        var low = 0
        var high = count
        while low < high {
            let middle = (low + high) / 2
            let found = number(at: middle * width)
            if found == value { return middle * width }
            if found < value { low = middle + 1 } else { high = middle }
        }
        return nil
    }
}
