internal import Netlink

extension FileChecker {
    static let proxyKeys = ["mode", "http", "https", "socks", "pac", "no-proxy", "targets"]

    /// What is written here ends up in files that others read by grammars without an escape, so it is checked by the
    /// narrowest of them.
    mutating func proxy(_ value: TOMLValue) -> StateAction.Proxy? {
        guard let members = table(value, "{ pac = \"https://pac.corp.example/proxy.pac\" }") else { return nil }
        let problems = diagnostics.count
        var mode: StateAction.Proxy.Mode?
        var proxy = StateAction.Proxy(mode: .none)
        for entry in members {
            switch entry.key {
            case "mode": mode = choice(entry.value)
            case "http": proxy.http = proxyServer(entry.value, schemes: ["http", "https"])
            case "https": proxy.https = proxyServer(entry.value, schemes: ["http", "https"])
            case "socks": proxy.socks = proxyServer(entry.value, schemes: ["socks", "socks4", "socks5", "socks5h"])
            case "pac": proxy.pac = scriptURL(entry.value)
            case "no-proxy": proxy.exclusions = exclusions(entry.value)
            case "targets": proxy.targets = targets(entry.value)
            default: unknownKey(entry, in: "a proxy", known: Self.proxyKeys)
            }
        }
        guard diagnostics.count == problems else { return nil }
        let servers = members.filter { ["http", "https", "socks"].contains($0.key) }
        let script = members.first { $0.key == "pac" }
        let implied: StateAction.Proxy.Mode? = script != nil ? .pac : servers.isEmpty ? nil : .manual
        guard let chosen = mode ?? implied else {
            error(
                .missingKey, value.position,
                "the proxy needs \"http\", \"https\", \"socks\", \"pac\" or \"mode\"")
            return nil
        }
        proxy.mode = chosen
        for member in members where !proxy.mode.allows(key: member.key) {
            error(.contradictory, member.position, "\"\(member.key)\" says nothing with mode \"\(chosen.rawValue)\"")
            return nil
        }
        if chosen != implied, chosen == .manual || chosen == .pac {
            let missing = chosen == .pac ? "\"pac\"" : "\"http\", \"https\" or \"socks\""
            error(.missingKey, value.position, "mode \"\(chosen.rawValue)\" needs \(missing)")
            return nil
        }
        return proxy
    }

    private mutating func proxyServer(_ value: TOMLValue, schemes: [String]) -> String? {
        guard let text = string(value) else { return nil }
        guard let url = HostURL(text), schemes.contains(url.scheme), url.port != nil else {
            error(
                .badValue, value.position,
                "expected \"\(schemes[0])://HOST:PORT\" (or \(schemes.dropFirst().joined(separator: ", "))), the port "
                    + "from 1 to 65535, without credentials, path, quotes or escapes")
            return nil
        }
        return text
    }

    private mutating func scriptURL(_ value: TOMLValue) -> String? {
        guard let text = string(value) else { return nil }
        guard let url = HostURL(text, allowsPath: true), ["http", "https"].contains(url.scheme) else {
            error(
                .badValue, value.position,
                "expected \"https://HOST/PATH\", the path of A-Z a-z 0-9 / - . _ ~ only, without credentials or query")
            return nil
        }
        return text
    }

    /// Names, with a leading dot or `*.` for all below, addresses and ranges.
    private mutating func exclusions(_ value: TOMLValue) -> [String] {
        var exclusions: [String] = []
        for (text, position) in strings(value, expected: "a list such as [\"localhost\", \".corp.example\"]") ?? [] {
            let name = text.hasPrefix("*.") ? String(text.dropFirst(2)) : text
            if Domain.normalized(name) != nil && !name.hasSuffix(".") || IPAddress(text) != nil || IPSubnet(text) != nil
            {
                exclusions.append(text)
            } else {
                error(
                    .badValue, position,
                    "expected a host, a domain such as \".corp.example\", an address or a range such as \"10.0.0.0/8\"")
            }
        }
        return exclusions
    }

    private mutating func targets(_ value: TOMLValue) -> Set<StateAction.Proxy.Target> {
        let known = StateAction.Proxy.Target.allCases.map(\.rawValue)
        var targets: Set<StateAction.Proxy.Target> = []
        for (text, position) in strings(value, expected: "a list such as [\"gnome\", \"apt\"]") ?? [] {
            if let target = StateAction.Proxy.Target(rawValue: text) {
                targets.insert(target)
            } else {
                let hint = Spelling.hint(for: text, among: known)
                error(.badValue, position, "expected one of \(known.joined(separator: ", "))\(hint)")
            }
        }
        return targets
    }
}

extension StateAction.Proxy.Mode {
    fileprivate func allows(key: String) -> Bool {
        switch key {
        case "http", "https", "socks", "no-proxy": self == .manual
        case "pac": self == .pac
        default: true
        }
    }
}
