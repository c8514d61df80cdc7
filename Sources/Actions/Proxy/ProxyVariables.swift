internal import Rules

/// The variables by which programs learn of a proxy, and lines `NAME=value` of them.
enum ProxyVariables {
    static let names = [
        "http_proxy", "https_proxy", "ftp_proxy", "all_proxy", "no_proxy", "HTTP_PROXY", "HTTPS_PROXY", "FTP_PROXY",
        "ALL_PROXY", "NO_PROXY",
    ]

    /// The lines, in the order of `names`; an empty value takes an inherited variable away.
    static func lines(_ settings: Settings, for place: String) throws(UnfitValue) -> [String] {
        for name in settings.keys where !names.contains(name) { throw UnfitValue(name: name, place: place) }
        var lines: [String] = []
        for name in names {
            guard case .value(let value) = settings[name] else { continue }
            guard isFit(value, for: name) else { throw UnfitValue(name: name, place: place) }
            lines.append("\(name)=\(value)")
        }
        return lines
    }

    static func parse(_ text: [UInt8]) -> Settings {
        var settings: Settings = [:]
        for line in text.split(separator: UInt8(ascii: "\n")) {
            let parts = line.split(separator: UInt8(ascii: "="), maxSplits: 1, omittingEmptySubsequences: false)
            guard parts.count == 2 else { continue }
            let name = String(decoding: parts[0], as: UTF8.self)
            if names.contains(name) { settings[name] = .value(String(decoding: parts[1], as: UTF8.self)) }
        }
        return settings
    }

    private static func isFit(_ value: String, for name: String) -> Bool {
        if value.isEmpty { return true }
        if name.lowercased() == "no_proxy" { return ProxyNotation.areExclusions(value, separator: UInt8(ascii: ",")) }
        return ProxyNotation.isServer(value, ProxyNotation.serverSchemes + ProxyNotation.socksSchemes)
    }
}
