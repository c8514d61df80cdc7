internal import CSystemd

/// A value of a message, taken out of it.
public enum BusValue: Hashable, Sendable {
    case text(String)
    case number(Int64)
    case flag(Bool)
    /// Their beginning: a certificate is not kept, only that there is one.
    case octets([UInt8])
    case list([BusValue])
    case dictionary([String: BusValue])
    /// A floating-point number, a descriptor, or a dictionary whose keys are no text.
    case other

    public var text: String? { if case .text(let text) = self { text } else { nil } }
    public var number: Int64? { if case .number(let number) = self { number } else { nil } }
    public var flag: Bool? { if case .flag(let flag) = self { flag } else { nil } }
    public var octets: [UInt8]? { if case .octets(let octets) = self { octets } else { nil } }
    public var list: [BusValue]? { if case .list(let values) = self { values } else { nil } }
    public var dictionary: [String: BusValue]? { if case .dictionary(let members) = self { members } else { nil } }

    public subscript(key: String) -> BusValue? { dictionary?[key] }

    public static let octetLimit = 256
    /// Values of one message, and how deep they may nest; sd-bus itself allows 64 levels.
    private static let countLimit = 8_192
    private static let depthLimit = 12

    /// All values of a message; nil where there are more than anybody has a use for.
    package static func contents(of message: OpaquePointer) -> [BusValue]? {
        var budget = countLimit
        return unsafe values(in: message, depth: 0, &budget)
    }

    /// The values up to the end of the container, or of the message.
    private static func values(in message: OpaquePointer, depth: Int, _ budget: inout Int) -> [BusValue]? {
        var values: [BusValue] = []
        while true {
            var type: CChar = 0
            var contents: UnsafePointer<CChar>?
            let result = unsafe sd_bus_message_peek_type(message, &type, &contents)
            guard result > 0 else { return result == 0 ? values : nil }
            budget -= 1
            let inner = unsafe contents.map { unsafe String(cString: $0) } ?? ""
            guard budget > 0, depth < depthLimit,
                let value = unsafe value(in: message, Character(Unicode.Scalar(UInt8(type))), inner, depth, &budget)
            else { return nil }
            values.append(value)
        }
    }

    private static func value(
        in message: OpaquePointer, _ type: Character, _ inner: String, _ depth: Int, _ budget: inout Int
    ) -> BusValue? {
        switch type {
        case "s", "o", "g":
            var text: UnsafePointer<CChar>?
            guard unsafe read(message, type, &text), let text = unsafe text else { return nil }
            return .text(unsafe String(cString: text))
        case "b":
            var flag: Int32 = 0
            return unsafe read(message, type, &flag) ? .flag(flag != 0) : nil
        case "y": return unsafe number(in: message, type, UInt8(0))
        case "n": return unsafe number(in: message, type, Int16(0))
        case "q": return unsafe number(in: message, type, UInt16(0))
        case "i": return unsafe number(in: message, type, Int32(0))
        case "u": return unsafe number(in: message, type, UInt32(0))
        case "x": return unsafe number(in: message, type, Int64(0))
        case "t": return unsafe number(in: message, type, UInt64(0))
        case "a" where inner == "y":
            var octets: UnsafeRawPointer?
            var count = 0
            guard unsafe sd_bus_message_read_array(message, CChar(UInt8(ascii: "y")), &octets, &count) >= 0 else {
                return nil
            }
            let buffer = unsafe UnsafeRawBufferPointer(start: octets, count: min(count, octetLimit))
            return .octets(unsafe Array(buffer))
        case "a" where inner.hasPrefix("{s"):
            guard let entries = unsafe contents(in: message, "a", inner, depth, &budget) else { return nil }
            var members: [String: BusValue] = [:]
            for case .list(let pair) in entries where pair.count == 2 {
                if let key = pair[0].text { members[key] = pair[1] }
            }
            return .dictionary(members)
        case "a" where inner.hasPrefix("{"), "d", "h":
            return unsafe sd_bus_message_skip(message, type == "a" ? "a\(inner)" : "\(type)") >= 0 ? .other : nil
        case "a", "r", "e": return unsafe contents(in: message, type, inner, depth, &budget).map { .list($0) }
        case "v": return unsafe contents(in: message, "v", inner, depth, &budget)?.first
        default: return nil
        }
    }

    private static func contents(
        in message: OpaquePointer, _ type: Character, _ inner: String, _ depth: Int, _ budget: inout Int
    ) -> [BusValue]? {
        guard let code = type.asciiValue, unsafe sd_bus_message_enter_container(message, CChar(code), inner) >= 0,
            let values = unsafe values(in: message, depth: depth + 1, &budget),
            unsafe sd_bus_message_exit_container(message) >= 0
        else { return nil }
        return values
    }

    private static func number<Integer: FixedWidthInteger>(
        in message: OpaquePointer, _ type: Character, _ zero: Integer
    ) -> BusValue? {
        var number = zero
        return unsafe read(message, type, &number) ? .number(Int64(clamping: number)) : nil
    }

    private static func read(_ message: OpaquePointer, _ type: Character, _ value: UnsafeMutableRawPointer) -> Bool {
        guard let code = type.asciiValue else { return false }
        return unsafe sd_bus_message_read_basic(message, CChar(code), value) > 0
    }
}
