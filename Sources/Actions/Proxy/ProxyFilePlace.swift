internal import JSON
internal import Platform
internal import Rules

/// For everything that has no place of its own: /run/vicinity/proxy.json, and the variables alone in proxy.env, of the
/// syntax of systemd's EnvironmentFile=.
///
/// The agent's group can make files in that directory, so nothing there is believed that is not ours.
@ActionActor
public final class ProxyFilePlace: Place {
    private let json: OwnFile
    private let variables: OwnFile

    /// - Parameter root: of another tree than the machine's.
    public init(root: String = "") {
        json = OwnFile("\(root)/run/vicinity", "proxy.json", temporary: ".proxy.json.tmp")
        variables = OwnFile("\(root)/run/vicinity", "proxy.env", temporary: ".proxy.env.tmp")
    }

    public func read(_ names: Set<String>) throws(PlaceError) -> Settings? {
        let held = ProxyFilePlace.parse(try json.read() ?? [])
        return Dictionary(uniqueKeysWithValues: names.map { ($0, held[$0] ?? .unset) })
    }

    /// The variables follow from what is read.
    public func tidy() throws(PlaceError) {
        json.tidy()
        variables.tidy()
        let held = ProxyFilePlace.parse(try json.read() ?? [])
        let wanted = held.isEmpty ? nil : try ProxyFilePlace.environment(held)
        if try variables.read() != wanted { try variables.write(wanted) }
    }

    public func write(_ settings: Settings) throws(PlaceError) {
        let merged = ProxyFilePlace.parse(try json.read() ?? []).merging(settings) { $1 }.filter { $0.value != .unset }
        do throws(UnfitValue) {
            try ProxyFilePlace.check(merged)
        } catch {
            throw error.placeError
        }
        guard !merged.isEmpty else {
            try variables.write(nil)
            return try json.write(nil)
        }
        // The second is the one that is read back: until it is there nothing has been done.
        try variables.write(ProxyFilePlace.environment(merged))
        try json.write(ProxyFilePlace.text(merged))
    }

    private nonisolated static func check(_ settings: Settings) throws(UnfitValue) {
        for (name, setting) in settings {
            guard case .value(let value) = setting else { continue }
            let isFit =
                switch name {
                case "mode": ["manual", "pac", "auto", "none"].contains(value)
                case "http", "https": ProxyNotation.isServer(value)
                case "socks": ProxyNotation.isServer(value, ProxyNotation.socksSchemes)
                case "pac": ProxyNotation.isScript(value)
                case "no-proxy": ProxyNotation.areExclusions(value, separator: UInt8(ascii: ","))
                default: false
                }
            guard isFit else { throw UnfitValue(name: name, place: "/run/vicinity/proxy.json") }
        }
    }

    private nonisolated static func value(_ name: String, _ settings: Settings) -> String? {
        if case .value(let value) = settings[name] { value } else { nil }
    }

    private nonisolated static func text(_ settings: Settings) -> [UInt8] {
        var writer = JSONWriter()
        writer.object { writer in
            writer.field("mode", value("mode", settings) ?? "none")
            writer.field("http", value("http", settings))
            writer.field("https", value("https", settings))
            writer.field("socks", value("socks", settings))
            writer.field("pac", value("pac", settings))
            writer.array("no_proxy") { writer in
                for name in value("no-proxy", settings)?.split(separator: ",") ?? [] { writer.string(String(name)) }
            }
        }
        writer.endLine()
        return writer.octets
    }

    private nonisolated static func parse(_ text: [UInt8]) -> Settings {
        guard let value = try? JSONValue(parsing: text, maximumSize: 64 << 10) else { return [:] }
        var settings: Settings = [:]
        for key in ProxyNotation.keys where key != "no-proxy" {
            if let text = value[key]?.string { settings[key] = .value(text) }
        }
        let exclusions = (value["no_proxy"]?.array ?? []).compactMap(\.string)
        if !exclusions.isEmpty { settings["no-proxy"] = .value(exclusions.joined(separator: ",")) }
        return settings
    }

    /// Without variables where they could not say it.
    private nonisolated static func environment(_ settings: Settings) throws(PlaceError) -> [UInt8] {
        do throws(UnfitValue) {
            let proxy = ProxyParts.proxy(in: settings) ?? .init(mode: .none)
            let parts = try ProxyParts(proxy)
            let lines = try ProxyVariables.lines(
                (parts.variables ?? [:]).mapValues { $0 == .unset ? .value("") : $0 }, for: "/run/vicinity/proxy.env")
            return Array(
                (["# mode \(proxy.mode.rawValue); proxy.json says the rest"] + lines).joined(separator: "\n").utf8) + [
                    10
                ]
        } catch {
            throw error.placeError
        }
    }
}

extension ProxyParts {
    /// The proxy that `ProxyFilePlace` holds; nil for none.
    static func proxy(in settings: Settings) -> StateAction.Proxy? {
        func value(_ name: String) -> String? { if case .value(let value) = settings[name] { value } else { nil } }
        guard let mode = value("mode").flatMap(StateAction.Proxy.Mode.init(rawValue:)) else { return nil }
        return .init(
            mode: mode, http: value("http"), https: value("https"), socks: value("socks"), pac: value("pac"),
            exclusions: (value("no-proxy")?.split(separator: ",") ?? []).map(String.init))
    }
}
