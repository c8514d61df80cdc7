internal import Netlink
internal import Rules

/// A value that a place's grammar has no room for, so that it would be read as something else.
struct UnfitValue: Error, Hashable, CustomStringConvertible {
    /// The setting or the key of the rule that it belongs to. The value itself may be anything, and is not shown.
    let name: String
    let place: String

    var description: String {
        "\(name): the value cannot be written to \(place), where it would be read as something else; correct the rule"
    }

    var placeError: PlaceError { .failed(description) }
}

/// What a proxy's values may consist of, wherever they are written; checked again by whoever writes them.
enum ProxyNotation {
    static let serverSchemes = ["http", "https"]
    static let socksSchemes = ["socks", "socks4", "socks5", "socks5h"]

    static func isServer(_ text: String, _ schemes: [String] = serverSchemes) -> Bool {
        HostURL(text).map { schemes.contains($0.scheme) && $0.port != nil } ?? false
    }

    static func isScript(_ text: String) -> Bool {
        HostURL(text, allowsPath: true).map { serverSchemes.contains($0.scheme) } ?? false
    }

    /// A host, a domain, an address or a range: letters, digits and a few signs that are nobody's syntax.
    static func isExclusion(_ text: String) -> Bool {
        if IPAddress(text) != nil || IPSubnet(text) != nil { return true }
        let name = text.hasPrefix("*.") ? String(text.dropFirst(2)) : text
        return (1...255).contains(name.utf8.count)
            && name.utf8.allSatisfy { octet in
                switch octet {
                case 0x30...0x39, 0x41...0x5A, 0x61...0x7A: true
                default: "-._".utf8.contains(octet)
                }
            }
    }

    static func areExclusions(_ text: String, separator: UInt8) -> Bool {
        text.utf8.split(separator: separator, omittingEmptySubsequences: false).allSatisfy {
            isExclusion(String(decoding: $0, as: UTF8.self))
        }
    }

    /// A host by itself, which no reader takes for a domain, a range or a deeper level.
    static func isPlainHost(_ text: String) -> Bool {
        isExclusion(text) && !text.hasPrefix(".") && !text.hasPrefix("*")
            && !text.utf8.contains { ":/".utf8.contains($0) }
    }
}

/// The proxy of a rule, taken apart: every value has been read by its grammar.
struct ProxyParts {
    let mode: StateAction.Proxy.Mode
    let http: HostURL?
    let https: HostURL?
    let socks: HostURL?
    let pac: HostURL?
    let exclusions: [String]

    init(_ proxy: StateAction.Proxy) throws(UnfitValue) {
        mode = proxy.mode
        http = try Self.server(proxy.http, "http", ProxyNotation.serverSchemes)
        https = try Self.server(proxy.https, "https", ProxyNotation.serverSchemes)
        socks = try Self.server(proxy.socks, "socks", ProxyNotation.socksSchemes)
        if let text = proxy.pac {
            guard ProxyNotation.isScript(text) else { throw UnfitValue(name: "pac", place: "any file") }
            pac = HostURL(text, allowsPath: true)
        } else {
            pac = nil
        }
        guard proxy.exclusions.allSatisfy(ProxyNotation.isExclusion) else {
            throw UnfitValue(name: "no-proxy", place: "any file")
        }
        exclusions = proxy.exclusions
    }

    private static func server(_ text: String?, _ key: String, _ schemes: [String]) throws(UnfitValue) -> HostURL? {
        guard let text else { return nil }
        guard ProxyNotation.isServer(text, schemes) else { throw UnfitValue(name: key, place: "any file") }
        return HostURL(text)
    }
}

extension HostURL {
    var hostText: String { host.utf8.contains(UInt8(ascii: ":")) ? "[\(host)]" : host }

    /// - Parameter scheme: another one than its own.
    func text(as scheme: String? = nil) -> String {
        "\(scheme ?? self.scheme)://\(hostText)\(port.map { ":\($0)" } ?? "")\(path == "/" && port != nil ? "" : path)"
    }
}
