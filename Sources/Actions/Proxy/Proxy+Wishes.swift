internal import Netlink
public import Rules

extension StateAction.Proxy {
    /// Which places it is put into, and what they hold then.
    ///
    /// A place that cannot express the mode is left as it is: variables know no script, and APT neither a script nor
    /// SOCKS 4. The names that a place gets are the same for every mode, so that nothing of an earlier rule remains.
    ///
    /// - Throws: `PlaceError.failed` where a value is no proxy by the strict grammar of rule files.
    public func wishes() throws(PlaceError) -> [(place: PlaceName, settings: Settings)] {
        let parts: ProxyParts
        do throws(UnfitValue) { parts = try ProxyParts(self) } catch { throw error.placeError }
        var wishes: [(place: PlaceName, settings: Settings)] = []
        func add(_ place: PlaceName, _ target: Target, _ settings: Settings?) {
            if targets.contains(target), let settings { wishes.append((place, settings)) }
        }
        add(.proxyFile, .file, parts.forProxyFile)
        add(.apt, .apt, parts.forAPT)
        // What a manager was given by environment.d(5) cannot be taken from it, only covered.
        let variables = parts.variables?.mapValues { $0 == .unset ? .value("") : $0 }
        add(.environment, .environment, variables)
        add(.userEnvironment, .environment, variables)
        add(.gnome, .gnome, parts.forGNOME)
        add(.kde, .kde, parts.forKDE)
        return wishes
    }
}

extension ProxyParts {
    // MARK: Files of our own

    var forProxyFile: Settings {
        func setting(_ text: String?) -> Setting { text.map { .value($0) } ?? .unset }
        return [
            "mode": .value(mode.rawValue), "http": setting(http?.text()), "https": setting(https?.text()),
            "socks": setting(socks?.text()), "pac": setting(pac?.text()),
            "no-proxy": setting(exclusions.isEmpty ? nil : exclusions.joined(separator: ",")),
        ]
    }

    /// What is not named goes through SOCKS where there is that, and else directly, as it does everywhere.
    var forAPT: Settings? {
        var names: Settings = [
            APTPlace.http: .value("DIRECT"), APTPlace.https: .value("DIRECT"), APTPlace.direct: .unset,
        ]
        switch mode {
        case .none: return names
        case .pac, .auto: return nil
        case .manual: break
        }
        // APT speaks SOCKS 5 alone, and has the proxy look up names. Where it needs another one it would take a way
        // around the proxy that the rule names.
        if socks?.scheme == "socks4", http == nil || https == nil { return nil }
        let tunnel = socks.flatMap { $0.scheme == "socks4" ? nil : $0.text(as: "socks5h") }
        guard http != nil || https != nil || tunnel != nil else { return nil }
        names[APTPlace.http] = .value(http?.text() ?? tunnel ?? "DIRECT")
        names[APTPlace.https] = .value(https?.text() ?? tunnel ?? "DIRECT")
        let hosts = exclusions.filter(ProxyNotation.isPlainHost)
        if !hosts.isEmpty { names[APTPlace.direct] = .value(hosts.joined(separator: " ")) }
        return names
    }

    // MARK: Variables

    /// Those that have nothing to say are taken away, also where somebody else set them. `HTTP_PROXY` is never set: a
    /// web server hands a header of that name to its CGI programs (httpoxy), so careful programs ignore it.
    var variables: Settings? {
        guard mode == .none || mode == .manual else { return nil }
        var settings = Dictionary(uniqueKeysWithValues: ProxyVariables.names.map { ($0, Setting.unset) })
        func set(_ names: [String], _ value: String?) {
            for name in names { if let value { settings[name] = .value(value) } }
        }
        set(["http_proxy"], http?.text())
        set(["https_proxy", "HTTPS_PROXY"], https?.text())
        set(["all_proxy", "ALL_PROXY"], socks.map { $0.text(as: $0.scheme == "socks" ? "socks5h" : nil) })
        let list = exclusions.map { $0.hasPrefix("*.") ? String($0.dropFirst()) : $0 }
        set(["no_proxy", "NO_PROXY"], list.isEmpty ? nil : list.joined(separator: ","))
        return settings
    }

    // MARK: Desktops

    /// Written out, also where it is what the schema says: what a user set for other proxies must not apply to ours, the
    /// password for one least of all.
    var forGNOME: Settings {
        var settings: [String: String] = [
            "autoconfig-url": "''", "ignore-hosts": "@as []", "use-same-proxy": "false",
            "http/use-authentication": "false",
        ]
        settings["mode"] =
            switch mode {
            case .none: "'none'"
            case .manual: "'manual'"
            case .pac, .auto: "'auto'"
            }
        if let pac { settings["autoconfig-url"] = "'\(pac.text())'" }
        if !exclusions.isEmpty {
            settings["ignore-hosts"] = "[\(exclusions.map { "'\($0)'" }.joined(separator: ", "))]"
        }
        for (name, url) in [("http", http), ("https", https), ("ftp", nil), ("socks", socks)] {
            settings["\(name)/host"] = "'\(url?.host ?? "")'"
            settings["\(name)/port"] = "\(url?.port ?? 0)"
        }
        return settings.mapValues { .value($0) }
    }

    /// As KDE's own settings write it: the port after a blank.
    var forKDE: Settings {
        func server(_ url: HostURL?, _ scheme: String? = nil) -> Setting {
            guard let url, let port = url.port else { return .unset }
            return .value("\(scheme ?? url.scheme)://\(url.hostText) \(port)")
        }
        let type =
            switch mode {
            case .none: "0"
            case .manual: "1"
            case .pac: "2"
            case .auto: "3"
            }
        return [
            "ProxyType": .value(type), "httpProxy": server(http), "httpsProxy": server(https), "ftpProxy": .unset,
            "socksProxy": server(socks, "socks"),
            "Proxy Config Script": pac.map { .value($0.text()) } ?? .unset,
            "NoProxyFor": exclusions.isEmpty
                ? .unset
                : .value(exclusions.map { $0.hasPrefix("*.") ? String($0.dropFirst()) : $0 }.joined(separator: ",")),
            "ReversedException": .value("false"),
        ]
    }
}
