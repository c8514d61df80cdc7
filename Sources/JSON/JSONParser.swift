extension JSONValue {
    /// Nesting beyond this is refused, so that no text exhausts the stack.
    public static let maximumDepth = 64

    /// Reads one JSON text as RFC 8259 defines it, strictly: no byte order mark, no comments, no trailing comma, no
    /// text that is not Unicode (lone surrogates in escapes included), nothing after the value but white space.
    ///
    /// - Parameter maximumSize: the longest text accepted, in octets.
    public init(parsing text: some Collection<UInt8>, maximumSize: Int) throws(JSONError) {
        guard text.count <= maximumSize else { throw JSONError(.tooLarge, at: maximumSize) }
        var parser = JSONParser(text: Array(text))
        self = try parser.document()
    }
}

private struct JSONParser {
    let text: [UInt8]
    var position = 0

    init(text: [UInt8]) {
        self.text = text
    }

    mutating func document() throws(JSONError) -> JSONValue {
        skipSpace()
        let value = try value(depth: 0)
        skipSpace()
        guard position == text.count else { throw JSONError(.trailingText, at: position) }
        return value
    }

    private mutating func value(depth: Int) throws(JSONError) -> JSONValue {
        switch try peek() {
        case UInt8(ascii: "{"): return .object(try object(depth: depth))
        case UInt8(ascii: "["): return .array(try array(depth: depth))
        case UInt8(ascii: "\""): return .string(try string())
        case UInt8(ascii: "t"): return try word("true", .bool(true))
        case UInt8(ascii: "f"): return try word("false", .bool(false))
        case UInt8(ascii: "n"): return try word("null", .null)
        case UInt8(ascii: "-"), UInt8(ascii: "0")...UInt8(ascii: "9"): return try number()
        default: throw JSONError(.unexpectedOctet, at: position)
        }
    }

    private mutating func object(depth: Int) throws(JSONError) -> JSONObject {
        guard depth < JSONValue.maximumDepth else { throw JSONError(.tooDeep, at: position) }
        position += 1
        var object = JSONObject()
        skipSpace()
        if take(UInt8(ascii: "}")) { return object }
        while true {
            guard try peek() == UInt8(ascii: "\"") else { throw JSONError(.unexpectedOctet, at: position) }
            let key = try string()
            skipSpace()
            try expect(UInt8(ascii: ":"))
            skipSpace()
            object.members.append((key, try value(depth: depth + 1)))
            skipSpace()
            if take(UInt8(ascii: "}")) { return object }
            try expect(UInt8(ascii: ","))
            skipSpace()
        }
    }

    private mutating func array(depth: Int) throws(JSONError) -> [JSONValue] {
        guard depth < JSONValue.maximumDepth else { throw JSONError(.tooDeep, at: position) }
        position += 1
        var elements: [JSONValue] = []
        skipSpace()
        if take(UInt8(ascii: "]")) { return elements }
        while true {
            elements.append(try value(depth: depth + 1))
            skipSpace()
            if take(UInt8(ascii: "]")) { return elements }
            try expect(UInt8(ascii: ","))
            skipSpace()
        }
    }

    // MARK: Strings

    private mutating func string() throws(JSONError) -> String {
        position += 1
        let start = position
        while true {
            let octet = try peek()
            if octet == UInt8(ascii: "\"") {
                defer { position += 1 }
                return try unicode(text[start..<position], at: start)
            }
            if octet == UInt8(ascii: "\\") { return try escapedString(from: start) }
            guard octet >= 0x20 else { throw JSONError(.controlCharacter, at: position) }
            position += 1
        }
    }

    private mutating func escapedString(from start: Int) throws(JSONError) -> String {
        var octets = Array(text[start..<position])
        while true {
            let octet = try peek()
            switch octet {
            case UInt8(ascii: "\""):
                position += 1
                return try unicode(octets[...], at: start)
            case UInt8(ascii: "\\"):
                try escape(into: &octets)
            case ..<0x20:
                throw JSONError(.controlCharacter, at: position)
            default:
                octets.append(octet)
                position += 1
            }
        }
    }

    private mutating func escape(into octets: inout [UInt8]) throws(JSONError) {
        let start = position
        position += 1
        let letter = try peek()
        position += 1
        switch letter {
        case UInt8(ascii: "\""), UInt8(ascii: "\\"), UInt8(ascii: "/"): octets.append(letter)
        case UInt8(ascii: "b"): octets.append(0x08)
        case UInt8(ascii: "f"): octets.append(0x0C)
        case UInt8(ascii: "n"): octets.append(0x0A)
        case UInt8(ascii: "r"): octets.append(0x0D)
        case UInt8(ascii: "t"): octets.append(0x09)
        case UInt8(ascii: "u"):
            var scalar = try unit(start)
            if scalar & 0xFC00 == 0xD800 {
                guard take(UInt8(ascii: "\\")), take(UInt8(ascii: "u")) else { throw JSONError(.badUnicode, at: start) }
                let low = try unit(start)
                guard low & 0xFC00 == 0xDC00 else { throw JSONError(.badUnicode, at: start) }
                scalar = 0x10000 + (scalar & 0x3FF) << 10 + low & 0x3FF
            }
            guard let scalar = Unicode.Scalar(scalar) else { throw JSONError(.badUnicode, at: start) }
            octets.append(contentsOf: String(scalar).utf8)
        default: throw JSONError(.badEscape, at: start)
        }
    }

    private mutating func unit(_ start: Int) throws(JSONError) -> UInt32 {
        var unit: UInt32 = 0
        for _ in 0..<4 {
            let octet = try peek()
            let digit: UInt8
            switch octet {
            case UInt8(ascii: "0")...UInt8(ascii: "9"): digit = octet - UInt8(ascii: "0")
            case UInt8(ascii: "a")...UInt8(ascii: "f"): digit = octet - UInt8(ascii: "a") + 10
            case UInt8(ascii: "A")...UInt8(ascii: "F"): digit = octet - UInt8(ascii: "A") + 10
            default: throw JSONError(.badEscape, at: start)
            }
            unit = unit << 4 | UInt32(digit)
            position += 1
        }
        return unit
    }

    private func unicode(_ octets: ArraySlice<UInt8>, at start: Int) throws(JSONError) -> String {
        guard let string = String(validating: octets, as: UTF8.self) else { throw JSONError(.badUnicode, at: start) }
        return string
    }

    // MARK: Numbers and words

    private mutating func number() throws(JSONError) -> JSONValue {
        let start = position
        var isIntegral = true
        _ = take(UInt8(ascii: "-"))
        let leading = position
        try digits(start)
        if text[leading] == UInt8(ascii: "0"), position > leading + 1 { throw JSONError(.badNumber, at: start) }
        if take(UInt8(ascii: ".")) {
            isIntegral = false
            try digits(start)
        }
        if take(UInt8(ascii: "e")) || take(UInt8(ascii: "E")) {
            isIntegral = false
            _ = take(UInt8(ascii: "+")) || take(UInt8(ascii: "-"))
            try digits(start)
        }
        let literal = String(decoding: text[start..<position], as: UTF8.self)
        if isIntegral, let value = Int64(literal) { return .integer(value) }
        guard let value = Double(literal), value.isFinite else { throw JSONError(.numberOutOfRange, at: start) }
        return .number(value)
    }

    /// At least one digit.
    private mutating func digits(_ start: Int) throws(JSONError) {
        let first = position
        while position < text.count, text[position] >= UInt8(ascii: "0"), text[position] <= UInt8(ascii: "9") {
            position += 1
        }
        guard position > first else { throw JSONError(.badNumber, at: start) }
    }

    private mutating func word(_ word: StaticString, _ value: JSONValue) throws(JSONError) -> JSONValue {
        let end = position + word.utf8CodeUnitCount
        guard end <= text.count, word.withUTF8Buffer({ $0.elementsEqual(text[position..<end]) }) else {
            throw JSONError(.unexpectedOctet, at: position)
        }
        position = end
        return value
    }

    // MARK: Octets

    private mutating func skipSpace() {
        while position < text.count {
            switch text[position] {
            case 0x20, 0x09, 0x0A, 0x0D: position += 1
            default: return
            }
        }
    }

    private func peek() throws(JSONError) -> UInt8 {
        guard position < text.count else { throw JSONError(.unexpectedEnd, at: position) }
        return text[position]
    }

    private mutating func take(_ octet: UInt8) -> Bool {
        guard position < text.count, text[position] == octet else { return false }
        position += 1
        return true
    }

    private mutating func expect(_ octet: UInt8) throws(JSONError) {
        guard try peek() == octet else { throw JSONError(.unexpectedOctet, at: position) }
        position += 1
    }
}
