internal import WiFi

/// Writes HTML into memory. Text and values of attributes are made safe to show and escaped here, whatever they are, so
/// that no name from anywhere becomes markup; tags and attributes are this program's own words.
struct HTMLWriter {
    private(set) var octets: [UInt8] = []

    typealias Attributes = KeyValuePairs<StaticString, String>

    mutating func element(
        _ tag: StaticString, _ attributes: Attributes = [:], _ body: (inout HTMLWriter) -> Void
    ) {
        open(tag, attributes)
        body(&self)
        raw("</")
        raw(tag)
        raw(">")
    }

    mutating func element(_ tag: StaticString, _ attributes: Attributes = [:], text: String) {
        element(tag, attributes) { $0.text(text) }
    }

    /// One that has no end, as `meta`.
    mutating func open(_ tag: StaticString, _ attributes: Attributes = [:]) {
        raw("<")
        raw(tag)
        for (name, value) in attributes {
            raw(" ")
            raw(name)
            raw("=\"")
            text(value)
            raw("\"")
        }
        raw(">")
    }

    /// One of SVG without anything in it.
    mutating func shape(_ tag: StaticString, _ attributes: Attributes) {
        open(tag, attributes)
        octets.removeLast()
        raw("/>")
    }

    mutating func text(_ text: String) {
        for octet in text.terminalText.utf8 {
            switch octet {
            case UInt8(ascii: "<"): raw("&lt;")
            case UInt8(ascii: ">"): raw("&gt;")
            case UInt8(ascii: "&"): raw("&amp;")
            case UInt8(ascii: "\""): raw("&quot;")
            case UInt8(ascii: "'"): raw("&#39;")
            default: octets.append(octet)
            }
        }
    }

    mutating func raw(_ text: StaticString) {
        text.withUTF8Buffer { unsafe octets.append(contentsOf: $0) }
    }

    /// A length in a drawing, to a tenth.
    static func length(_ value: Double) -> String {
        let tenths = Int((value * 10).rounded())
        guard tenths % 10 != 0 else { return "\(tenths / 10)" }
        return "\(tenths < 0 ? "-" : "")\(abs(tenths) / 10).\(abs(tenths) % 10)"
    }
}
