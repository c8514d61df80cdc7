internal import JSON

/// What the helper is asked: one line of JSON.
public struct ProbeRequest: Hashable, Sendable {
    /// Octets of a line, its LF included; a longer one is refused.
    public static let maximumSize = 4_096
    public static let maximumAddresses = 8
    public static let maximumPins = 2
    /// Octets of a page's path, and of what it has to begin with.
    public static let maximumPath = 1_024
    public static let maximumResponse = 128
    /// Milliseconds for everything.
    public static let maximumTime: Int64 = 3_000

    /// What is to be found out.
    public enum Purpose: Hashable, Sendable {
        /// By TLS: whether the server holds the key of one of these pins.
        case key([SPKIPin])
        /// By HTTP in the clear, which is what captive portals answer in the server's place: whether its own answer
        /// comes. That is the status 204, or a page that begins with `response` (nil: one that says that NetworkManager
        /// is online, in its first words or the header `X-NetworkManager-Status`).
        case page(path: String, response: String?)
    }

    /// The only one that is used.
    public var interfaceName: String
    /// The number it has to have, so that another that took over the name is not used.
    public var interfaceIndex: UInt32
    /// Told to the server where it is a name and no address (SNI), by HTTP in any case.
    public var serverName: String
    public var port: UInt16
    /// Numeric, without a scope; tried in this order.
    public var addresses: [String]
    public var purpose: Purpose
    /// In milliseconds, 1 to `maximumTime`.
    public var time: Int64

    public init(
        interfaceName: String, interfaceIndex: UInt32, serverName: String, port: UInt16, addresses: [String],
        purpose: Purpose, time: Int64 = ProbeRequest.maximumTime
    ) {
        self.interfaceName = interfaceName
        self.interfaceIndex = interfaceIndex
        self.serverName = serverName
        self.port = port
        self.addresses = addresses
        self.purpose = purpose
        self.time = time
    }

    /// Whether it may be asked at all.
    public var isValid: Bool {
        // IFNAMSIZ, and what a name may hold by dev_valid_name of the kernel; nothing is gained by the rest of ASCII.
        (1...15).contains(interfaceName.utf8.count)
            && interfaceName.utf8.allSatisfy { $0 > 0x20 && $0 != 0x7F && $0 != UInt8(ascii: "/") }
            && (1...UInt32(Int32.max)).contains(interfaceIndex)
            && Self.isServerName(serverName)
            && port != 0
            && (1...Self.maximumAddresses).contains(addresses.count)
            && addresses.allSatisfy { (2...45).contains($0.utf8.count) && $0.utf8.allSatisfy(Self.isOfAnAddress) }
            && isPurposeValid
            && (1...Self.maximumTime).contains(time)
    }

    private var isPurposeValid: Bool {
        switch purpose {
        case .key(let pins): (1...Self.maximumPins).contains(pins.count)
        case .page(let path, let response): Self.isPath(path) && response.map(Self.isResponse) ?? true
        }
    }

    /// Whether a text can be the path of a page: an absolute one of letters, digits and `/-._~`.
    public static func isPath(_ text: String) -> Bool {
        text.utf8.first == UInt8(ascii: "/") && text.utf8.count <= maximumPath
            && text.utf8.allSatisfy { isOfAName($0) || "/~".utf8.contains($0) }
    }

    /// Whether a text can be what a page begins with: printable ASCII.
    public static func isResponse(_ text: String) -> Bool {
        (1...maximumResponse).contains(text.utf8.count) && text.utf8.allSatisfy { (0x20...0x7E).contains($0) }
    }

    /// Whether a text can be the name of a server (letters, digits, `-`, `.`, `_`) or its address.
    public static func isServerName(_ text: String) -> Bool {
        (1...253).contains(text.utf8.count)
            && text.split(separator: ".", omittingEmptySubsequences: false).allSatisfy {
                (1...63).contains($0.utf8.count)
            }
            && (text.utf8.allSatisfy(isOfAnAddress)
                || text.utf8.allSatisfy(isOfAName))
    }

    private static func isOfAName(_ octet: UInt8) -> Bool {
        switch octet {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
            UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "."), UInt8(ascii: "_"):
            true
        default: false
        }
    }

    private static func isOfAnAddress(_ octet: UInt8) -> Bool {
        switch octet {
        case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "a")...UInt8(ascii: "f"),
            UInt8(ascii: "A")...UInt8(ascii: "F"), UInt8(ascii: "."), UInt8(ascii: ":"):
            true
        default: false
        }
    }
}

extension ProbeRequest {
    /// The line, LF included.
    public var line: [UInt8] {
        var writer = JSONWriter()
        writer.object { writer in
            writer.field("interface", interfaceName)
            writer.field("index", interfaceIndex)
            writer.field("server", serverName)
            writer.field("port", port)
            writer.array("addresses") { for address in addresses { $0.string(address) } }
            switch purpose {
            case .key(let pins): writer.array("pins") { for pin in pins { $0.hexadecimal(pin.octets) } }
            case .page(let path, let response):
                writer.field("path", path)
                if let response { writer.field("response", response) }
            }
            writer.field("milliseconds", time)
        }
        writer.endLine()
        return writer.octets
    }

    /// Reads a line with or without its LF; nil unless it is exactly what `line` could have written for something
    /// valid, save for white space and the order of the members, and that a pin may stand in base64.
    public init?(line: some Collection<UInt8>) {
        guard let object = ProbeLine.members(of: line, limit: Self.maximumSize),
            let interfaceName = object["interface"]?.string,
            case .integer(let index)? = object["index"], let interfaceIndex = UInt32(exactly: index),
            let serverName = object["server"]?.string,
            case .integer(let number)? = object["port"], let port = UInt16(exactly: number),
            let addresses = object["addresses"]?.array, let purpose = Self.purpose(of: object),
            case .integer(let time)? = object["milliseconds"]
        else { return nil }
        self.init(
            interfaceName: interfaceName, interfaceIndex: interfaceIndex, serverName: serverName, port: port,
            addresses: addresses.compactMap(\.string), purpose: purpose, time: time)
        guard self.addresses.count == addresses.count, isValid else { return nil }
    }

    /// - Parameter object: has six members besides.
    private static func purpose(of object: JSONObject) -> Purpose? {
        if let values = object["pins"]?.array {
            let pins = values.compactMap(\.string).compactMap { SPKIPin($0) }
            return pins.count == values.count && object.members.count == 7 ? .key(pins) : nil
        }
        guard let path = object["path"]?.string else { return nil }
        let response = object["response"]
        guard object.members.count == (response == nil ? 7 : 8), response == nil || response?.string != nil else {
            return nil
        }
        return .page(path: path, response: response?.string)
    }
}

enum ProbeLine {
    /// The object that a line is, no key in it twice.
    static func members(of line: some Collection<UInt8>, limit: Int) -> JSONObject? {
        guard let object = try? JSONValue(parsing: line, maximumSize: limit).object,
            Set(object.members.map { Array($0.key.utf8) }).count == object.members.count
        else { return nil }
        return object
    }
}
