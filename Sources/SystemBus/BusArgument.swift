internal import CSystemd

/// What a method or a signal is given, with its type; of the D-Bus Specification, "Type System".
public indirect enum BusArgument: Hashable, Sendable {
    /// `s`
    case text(String)
    /// `o`; a call with one that is no path fails.
    case path(String)
    /// `b`
    case flag(Bool)
    /// `y`
    case octet(UInt8)
    /// `i`
    case signed(Int32)
    /// `u`
    case unsigned(UInt32)
    /// `t`
    case unsigned64(UInt64)
    /// `h`: the caller keeps it, what is sent is a duplicate made at once.
    case descriptor(Int32)
    /// `a…`, each of the signature said.
    case list([BusArgument], of: String)
    /// `(…)`
    case structure([BusArgument])
    /// `{…}`, in a list only.
    case entry(BusArgument, BusArgument)
    /// `v`
    case variant(BusArgument)

    /// `as`
    public static func texts(_ texts: [String]) -> BusArgument { .list(texts.map { .text($0) }, of: "s") }

    /// `a{ss}`, in the order of the keys.
    public static func strings(_ members: [String: String]) -> BusArgument {
        .list(members.sorted { $0.key < $1.key }.map { .entry(.text($0.key), .text($0.value)) }, of: "{ss}")
    }

    /// `a{sv}`, in the order of the keys.
    public static func properties(_ members: [String: BusArgument]) -> BusArgument {
        .list(members.sorted { $0.key < $1.key }.map { .entry(.text($0.key), .variant($0.value)) }, of: "{sv}")
    }

    /// The type, as messages write it.
    public var signature: String {
        switch self {
        case .text: "s"
        case .path: "o"
        case .flag: "b"
        case .octet: "y"
        case .signed: "i"
        case .unsigned: "u"
        case .unsigned64: "t"
        case .descriptor: "h"
        case .list(_, let type): "a\(type)"
        case .structure(let members): "(\(members.map(\.signature).joined()))"
        case .entry(let key, let value): "{\(key.signature)\(value.signature)}"
        case .variant: "v"
        }
    }

    /// False where it is no value of its type, such as a path without a slash.
    package func append(to message: OpaquePointer?) -> Bool {
        switch self {
        case .text(let text): unsafe text.withCString { unsafe basic(message, "s", $0) }
        case .path(let path): unsafe path.withCString { unsafe basic(message, "o", $0) }
        case .flag(let flag): unsafe number(message, "b", Int32(flag ? 1 : 0))
        case .octet(let octet): unsafe number(message, "y", octet)
        case .signed(let value): unsafe number(message, "i", value)
        case .unsigned(let value): unsafe number(message, "u", value)
        case .unsigned64(let value): unsafe number(message, "t", value)
        case .descriptor(let descriptor): unsafe number(message, "h", descriptor)
        case .list(let values, let type): unsafe container(message, "a", type, values)
        case .structure(let members): unsafe container(message, "r", members.map(\.signature).joined(), members)
        case .entry(let key, let value): unsafe container(message, "e", key.signature + value.signature, [key, value])
        case .variant(let value): unsafe container(message, "v", value.signature, [value])
        }
    }

    private func basic(_ message: OpaquePointer?, _ type: Unicode.Scalar, _ value: UnsafeRawPointer) -> Bool {
        unsafe sd_bus_message_append_basic(message, CChar(UInt8(ascii: type)), value) >= 0
    }

    private func number<Number>(_ message: OpaquePointer?, _ type: Unicode.Scalar, _ value: Number) -> Bool {
        unsafe withUnsafeBytes(of: value) { bytes in
            guard let base = bytes.baseAddress else { return false }
            return unsafe basic(message, type, base)
        }
    }

    private func container(
        _ message: OpaquePointer?, _ type: Unicode.Scalar, _ contents: String, _ values: [BusArgument]
    ) -> Bool {
        guard unsafe sd_bus_message_open_container(message, CChar(UInt8(ascii: type)), contents) >= 0 else {
            return false
        }
        for value in values {
            guard unsafe value.append(to: message) else { return false }
        }
        return unsafe sd_bus_message_close_container(message) >= 0
    }
}
