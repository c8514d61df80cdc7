/// A JSON value that was read.
public enum JSONValue: Sendable {
    case null
    case bool(Bool)
    /// A number written without fraction and exponent that fits 64 bits.
    case integer(Int64)
    /// Any other number.
    case number(Double)
    case string(String)
    case array([JSONValue])
    case object(JSONObject)
}

/// The members of a JSON object in the order in which they were written.
///
/// Keys are compared by octets: as Swift strings, two different keys in NFC and NFD would be one. A key that occurs
/// twice keeps both members; looking it up answers the last, as most readers of JSON do.
public struct JSONObject: Sendable {
    public typealias Member = (key: String, value: JSONValue)

    public var members: [Member]

    public init(_ members: [Member] = []) {
        self.members = members
    }

    /// The value of the last member called `key`; in time proportional to the number of members.
    public subscript(key: String) -> JSONValue? {
        members.last { $0.key.utf8.elementsEqual(key.utf8) }?.value
    }
}

/// Each is nil where the value is of another kind.
extension JSONValue {
    public var isNull: Bool { if case .null = self { true } else { false } }
    public var bool: Bool? { if case .bool(let value) = self { value } else { nil } }
    public var string: String? { if case .string(let value) = self { value } else { nil } }
    public var array: [JSONValue]? { if case .array(let value) = self { value } else { nil } }
    public var object: JSONObject? { if case .object(let value) = self { value } else { nil } }

    /// The number as an integer, also where it is written as `1.0` or `1e3`.
    public var integer: Int64? {
        switch self {
        case .integer(let value): value
        case .number(let value): Int64(exactly: value)
        default: nil
        }
    }

    public var number: Double? {
        switch self {
        case .integer(let value): Double(value)
        case .number(let value): value
        default: nil
        }
    }

    /// The member of an object; nil for any other kind of value.
    public subscript(key: String) -> JSONValue? { object?[key] }
}

extension JSONValue: Equatable {
    /// Strings are equal when their octets are.
    public static func == (left: JSONValue, right: JSONValue) -> Bool {
        switch (left, right) {
        case (.null, .null): true
        case (.bool(let left), .bool(let right)): left == right
        case (.integer(let left), .integer(let right)): left == right
        case (.number(let left), .number(let right)): left == right
        case (.string(let left), .string(let right)): left.utf8.elementsEqual(right.utf8)
        case (.array(let left), .array(let right)): left == right
        case (.object(let left), .object(let right)): left == right
        default: false
        }
    }
}

extension JSONObject: Equatable {
    /// The same members in the same order.
    public static func == (left: JSONObject, right: JSONObject) -> Bool {
        left.members.elementsEqual(right.members) {
            $0.key.utf8.elementsEqual($1.key.utf8) && $0.value == $1.value
        }
    }
}

/// Why a text is no JSON, and where.
public struct JSONError: Error, Hashable, Sendable, CustomStringConvertible {
    public enum Reason: String, Hashable, Sendable {
        case tooLarge = "the text is too long"
        case tooDeep = "more than 64 levels of nesting"
        case unexpectedEnd = "the text ends early"
        case unexpectedOctet = "unexpected character"
        case trailingText = "text after the value"
        case badNumber = "malformed number"
        case numberOutOfRange = "number out of range"
        case badEscape = "malformed escape sequence"
        case controlCharacter = "control character in a string"
        case badUnicode = "text that is not Unicode"
    }

    public let reason: Reason
    /// In octets from the beginning of the text.
    public let offset: Int

    public init(_ reason: Reason, at offset: Int) {
        self.reason = reason
        self.offset = offset
    }

    public var description: String { "\(reason.rawValue) at octet \(offset)" }
}
