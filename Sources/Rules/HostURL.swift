internal import Netlink

/// A URL that names a host and perhaps a port, in a grammar so narrow that no reader of a configuration file can
/// take it for something else: no credentials, no quotes, no escapes, no white space. RFC 3986 allows much more.
public struct HostURL: Hashable, Sendable {
    /// Lower case.
    public let scheme: String
    /// A name of letters, digits and hyphens, an IPv4 address, or an IPv6 address without its brackets.
    public let host: String
    /// 1–65535, written without leading zeros.
    public let port: UInt16?
    /// With its leading slash; empty or `/` unless the caller allows more.
    public let path: String

    /// - Parameter allowsPath: also `/` and more of the characters that are nobody's syntax.
    public init?(_ text: String, allowsPath: Bool = false) {
        let octets = Array(text.utf8)
        guard octets.count <= 2_048, octets.allSatisfy({ $0 < 0x80 }), let separator = text.range(of: "://") else {
            return nil
        }
        scheme = String(text[..<separator.lowerBound]).lowercased()
        guard scheme.utf8.allSatisfy({ (0x61...0x7A).contains($0) || (0x30...0x39).contains($0) }), !scheme.isEmpty
        else {
            return nil
        }
        let rest = text[separator.upperBound...]
        let authority = rest.prefix { $0 != "/" }
        path = String(rest[authority.endIndex...])
        guard allowsPath ? HostURL.isPlain(path) : ["", "/"].contains(path) else { return nil }

        var name = authority[...]
        var portText: Substring?
        if name.first == "[" {
            guard let end = name.firstIndex(of: "]") else { return nil }
            let after = name[name.index(after: end)...]
            name = name[name.index(after: name.startIndex)..<end]
            guard let address = IPAddress(String(name)), address.family == .v6 else { return nil }
            host = address.description
            if !after.isEmpty {
                guard after.first == ":" else { return nil }
                portText = after.dropFirst()
            }
        } else {
            if let colon = name.firstIndex(of: ":") {
                portText = name[name.index(after: colon)...]
                name = name[..<colon]
            }
            guard HostURL.isHost(String(name)) else { return nil }
            host = String(name).lowercased()
        }
        guard let portText else {
            port = nil
            return
        }
        guard portText.utf8.first != UInt8(ascii: "0"), portText.utf8.allSatisfy({ (0x30...0x39).contains($0) }),
            let number = UInt16(portText), number > 0
        else { return nil }
        port = number
    }

    /// A name, or an IPv4 address in its usual form: `1.2.3` and `0x7f.1` are addresses to some and names to others.
    private static func isHost(_ text: String) -> Bool {
        guard let name = Domain.normalized(text), !text.hasPrefix("."), !text.hasSuffix("."),
            !name.utf8.contains(UInt8(ascii: "_"))
        else { return false }
        let last = name.split(separator: ".").last ?? ""
        let looksNumeric = last.utf8.first.map { (0x30...0x39).contains($0) } ?? true
        return !looksNumeric || IPAddress(name) != nil
    }

    private static func isPlain(_ path: String) -> Bool {
        path.utf8.allSatisfy { octet in
            switch octet {
            case 0x30...0x39, 0x41...0x5A, 0x61...0x7A: true
            default: "/-._~".utf8.contains(octet)
            }
        }
    }
}

extension StringProtocol {
    /// The first place of `text`, which is ASCII.
    fileprivate func range(of text: String) -> Range<Index>? {
        var start = startIndex
        while start < endIndex {
            if self[start...].utf8.starts(with: text.utf8) {
                return start..<utf8.index(start, offsetBy: text.utf8.count)
            }
            start = index(after: start)
        }
        return nil
    }
}
