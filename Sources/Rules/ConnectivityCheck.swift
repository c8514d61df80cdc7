public import Netlink
internal import ProbeProtocol

/// A page that shows how far packets get, to be asked for where no network manager looks: `[connectivity]` of the
/// agent's configuration.
public struct ConnectivityCheck: Hashable, Sendable {
    /// A name or an address.
    public var host: String
    public var port: UInt16
    public var path: String
    /// Nil: asked of the name servers of the link.
    public var address: IPAddress?
    /// What the page begins with; nil: what NetworkManager expects.
    public var response: String?
}

extension FileChecker {
    static let connectivityKeys = ["url", "address", "response"]

    /// `[connectivity]`; nil where nothing is to be asked.
    mutating func connectivity(_ value: TOMLValue) -> ConnectivityCheck? {
        guard case .table(let members) = value.content else {
            wrongType(value, expected: "a table such as { url = \"http://check.example/\" }")
            return nil
        }
        let problems = diagnostics.count
        var server: HostURL?
        var address: IPAddress?
        var response: String?
        for entry in members {
            switch entry.key {
            case "url": server = checkedPage(entry.value)
            case "address":
                guard let text = string(entry.value) else { break }
                address = IPAddress(text)
                if address == nil || address?.isUnspecified == true {
                    error(.badValue, entry.value.position, "expected an IP address such as \"198.51.100.7\"")
                }
            case "response":
                response = string(entry.value)
                if let text = response, !ProbeRequest.isResponse(text) {
                    error(.badValue, entry.value.position, "expected 1 to 128 printable ASCII characters")
                }
            default: unknownKey(entry, in: "[connectivity]", known: Self.connectivityKeys)
            }
        }
        guard diagnostics.count == problems else { return nil }
        guard let server else {
            if !members.isEmpty { error(.missingKey, value.position, "[connectivity] needs \"url\"") }
            return nil
        }
        return ConnectivityCheck(
            host: server.host, port: server.port ?? 80, path: server.path.isEmpty ? "/" : server.path,
            address: address ?? IPAddress(server.host), response: response)
    }

    private mutating func checkedPage(_ value: TOMLValue) -> HostURL? {
        guard let text = string(value) else { return nil }
        guard let url = HostURL(text, allowsPath: true), ["http", "https"].contains(url.scheme),
            ProbeRequest.isPath(url.path.isEmpty ? "/" : url.path)
        else {
            error(
                .badValue, value.position,
                "expected \"http://HOST/PATH\", the path of A-Z a-z 0-9 / - . _ ~ only and at most 1,024 characters")
            return nil
        }
        guard url.scheme == "http" else {
            error(
                .badValue, value.position,
                "expected http: a captive portal cannot answer for an https server, and so would not be seen")
            return nil
        }
        return url
    }
}
