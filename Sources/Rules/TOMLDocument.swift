internal import CToml

/// A value of a TOML document with its place; members of tables stand in the order of the text.
struct TOMLValue {
    enum Content {
        case table([TOMLMember])
        case array([TOMLValue])
        case string(String)
        case integer(Int64)
        case boolean(Bool)
        case float
        case date
    }

    struct Position: Hashable {
        var line: Int
        var column: Int
    }

    let content: Content
    let position: Position

    /// What it is, for messages.
    var kind: String {
        switch content {
        case .table: "a table"
        case .array: "a list"
        case .string: "a string"
        case .integer: "a number"
        case .float: "a floating-point number"
        case .boolean: "a boolean"
        case .date: "a date or time"
        }
    }
}

struct TOMLMember {
    let key: String
    let position: TOMLValue.Position
    let value: TOMLValue
}

struct TOMLError: Error {
    enum Reason {
        case syntax, tooLarge, tooDeep, outOfMemory
    }

    let reason: Reason
    let position: TOMLValue.Position
    let message: String
}

extension TOMLValue {
    /// Larger files are refused: a hundred thousand networks fit.
    static let maximumSize = 16 << 20

    /// Reads a whole document.
    static func parse(_ text: [UInt8]) throws(TOMLError) -> [TOMLMember] {
        var problem = ctoml_error()
        let document = unsafe text.withUnsafeBufferPointer {
            unsafe ctoml_parse($0.baseAddress, $0.count, maximumSize, &problem)
        }
        guard let document = unsafe document else { throw TOMLError(problem) }
        defer { unsafe ctoml_free(document) }
        return unsafe members(of: ctoml_root(document))
    }

    private static func members(of node: OpaquePointer?) -> [TOMLMember] {
        unsafe (0..<ctoml_count(node)).map { index in
            let child = unsafe ctoml_child(node, index)
            return unsafe TOMLMember(
                key: string(ctoml_key(child)), position: Position(ctoml_key_position(child)), value: value(of: child))
        }
    }

    private static func value(of node: OpaquePointer?) -> TOMLValue {
        let content: Content
        switch unsafe ctoml_node_kind(node) {
        case ctoml_table: content = unsafe .table(members(of: node))
        case ctoml_array:
            content = unsafe .array((0..<ctoml_count(node)).map { unsafe value(of: ctoml_child(node, $0)) })
        case ctoml_string: content = unsafe .string(string(ctoml_string_value(node)))
        case ctoml_integer: content = unsafe .integer(ctoml_integer_value(node))
        case ctoml_boolean: content = unsafe .boolean(ctoml_boolean_value(node))
        case ctoml_float: content = .float
        default: content = .date
        }
        return unsafe TOMLValue(content: content, position: Position(ctoml_node_position(node)))
    }

    private static func string(_ text: ctoml_text) -> String {
        unsafe String(decoding: UnsafeRawBufferPointer(start: text.octets, count: text.length), as: UTF8.self)
    }
}

extension TOMLValue.Position {
    fileprivate init(_ position: ctoml_position) {
        self.init(line: Int(position.line), column: Int(position.column))
    }
}

extension TOMLError {
    fileprivate init(_ problem: borrowing ctoml_error) {
        reason =
            switch problem.reason {
            case ctoml_too_large: .tooLarge
            case ctoml_too_deep: .tooDeep
            case ctoml_out_of_memory: .outOfMemory
            default: .syntax
            }
        position = TOMLValue.Position(problem.position)
        message = unsafe withUnsafeBytes(of: problem.message) {
            unsafe String(decoding: $0.prefix { $0 != 0 }, as: UTF8.self)
        }
    }
}
