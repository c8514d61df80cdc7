internal import Platform

/// A drop-in of APT's, apt.conf(5), of our own. That grammar has no escape for `"`, and knows hooks that run as root: what
/// stands between quotes has to be ours to the last letter.
@ActionActor
public final class APTPlace: Place {
    nonisolated static let http = "Acquire::http::Proxy"
    nonisolated static let https = "Acquire::https::Proxy"
    /// Hosts that are reached without a proxy, blanks between them.
    nonisolated static let direct = "DIRECT"

    private let file: OwnFile

    /// - Parameter root: of another tree than the machine's.
    public init(root: String = "") {
        // APT passes over .tmp without a word.
        file = OwnFile("\(root)/etc/apt/apt.conf.d", "90vicinity", temporary: ".90vicinity.tmp")
    }

    public func read(_ names: Set<String>) throws(PlaceError) -> Settings? {
        guard Files.exists(file.directory) else { return nil }
        let held = APTPlace.parse(try file.read() ?? [])
        return Dictionary(uniqueKeysWithValues: names.map { ($0, held[$0] ?? .unset) })
    }

    public func tidy() { file.tidy() }

    public func write(_ settings: Settings) throws(PlaceError) {
        let merged = APTPlace.parse(try file.read() ?? []).merging(settings) { $1 }
        let lines: [String]
        do throws(UnfitValue) { lines = try APTPlace.lines(merged) } catch { throw error.placeError }
        let text = (["# Written by Vicinity; it goes away with the rule that asks for it."] + lines).joined(
            separator: "\n")
        try file.write(lines.isEmpty ? nil : Array("\(text)\n".utf8))
    }

    nonisolated static func lines(_ settings: Settings) throws(UnfitValue) -> [String] {
        for name in settings.keys where ![http, https, direct].contains(name) {
            throw UnfitValue(name: name, place: "APT's configuration")
        }
        var lines: [String] = []
        for name in [http, https] {
            guard case .value(let value) = settings[name] else { continue }
            guard value == "DIRECT" || ProxyNotation.isServer(value, ["http", "https", "socks5h"]) else {
                throw UnfitValue(name: name, place: "APT's configuration")
            }
            lines.append("\(name) \"\(value)\";")
        }
        guard case .value(let value) = settings[direct] else { return lines }
        let hosts = value.split(separator: " ", omittingEmptySubsequences: false).map(String.init)
        guard hosts.allSatisfy(ProxyNotation.isPlainHost) else {
            throw UnfitValue(name: "no-proxy", place: "APT's configuration")
        }
        return lines + hosts.flatMap { host in [http, https].map { "\($0)::\(host) \"DIRECT\";" } }
    }

    /// Reads what `lines` writes, and nothing else.
    nonisolated static func parse(_ contents: [UInt8]) -> Settings {
        var settings: Settings = [:]
        var hosts: [String] = []
        for line in contents.split(separator: UInt8(ascii: "\n")) {
            let words = line.split(separator: UInt8(ascii: " ")).map { String(decoding: $0, as: UTF8.self) }
            guard words.count == 2, words[1].hasPrefix("\""), words[1].hasSuffix("\";"), words[1].utf8.count > 3 else {
                continue
            }
            let value = String(words[1].dropFirst().dropLast(2))
            if [http, https].contains(words[0]) {
                settings[words[0]] = .value(value)
            } else if words[0].hasPrefix("\(http)::") {
                hosts.append(String(words[0].dropFirst(http.count + 2)))
            }
        }
        if !hosts.isEmpty { settings[direct] = .value(hosts.joined(separator: " ")) }
        return settings
    }
}
