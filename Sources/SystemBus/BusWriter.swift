internal import CSystemd

/// Appends values to a message, in the order of its signature.
@safe
public struct BusWriter {
    private let message: OpaquePointer
    /// Whether everything was appended; what is not whole is never sent.
    public private(set) var isWhole = true

    init(_ message: OpaquePointer) {
        unsafe self.message = message
    }

    public mutating func text(_ text: String) {
        note(unsafe text.withCString { unsafe sd_bus_message_append_basic(message, BusWriter.code("s"), $0) })
    }

    public mutating func flag(_ flag: Bool) {
        var value: Int32 = flag ? 1 : 0
        note(unsafe sd_bus_message_append_basic(message, BusWriter.code("b"), &value))
    }

    public mutating func unsigned(_ number: UInt32) {
        var value = number
        note(unsafe sd_bus_message_append_basic(message, BusWriter.code("u"), &value))
    }

    public mutating func unsigned64(_ number: UInt64) {
        var value = number
        note(unsafe sd_bus_message_append_basic(message, BusWriter.code("t"), &value))
    }

    /// - Parameter contents: the signature of what is in it.
    public mutating func structure(_ contents: String, _ body: (inout BusWriter) -> Void) {
        container("r", contents, body)
    }

    /// `a{ss}`
    public mutating func texts(_ members: [String: String]) {
        container("a", "{ss}") { writer in
            for (key, value) in members {
                writer.container("e", "ss") { writer in
                    writer.text(key)
                    writer.text(value)
                }
            }
        }
    }

    /// `a{sv}` of texts.
    public mutating func properties(_ members: [String: String]) {
        container("a", "{sv}") { writer in
            for (key, value) in members {
                writer.container("e", "sv") { writer in
                    writer.text(key)
                    writer.container("v", "s") { $0.text(value) }
                }
            }
        }
    }

    private mutating func container(_ type: Unicode.Scalar, _ contents: String, _ body: (inout BusWriter) -> Void) {
        note(unsafe sd_bus_message_open_container(message, BusWriter.code(type), contents))
        body(&self)
        note(unsafe sd_bus_message_close_container(message))
    }

    private mutating func note(_ code: Int32) { if code < 0 { isWhole = false } }

    private static func code(_ type: Unicode.Scalar) -> CChar { CChar(UInt8(ascii: type)) }
}
