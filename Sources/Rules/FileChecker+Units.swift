/// Units and VPNs.
extension FileChecker {
    static let unitKeys = ["name", "state", "scope", "protective", "relaxing"]
    static let unitSuffixes = [
        ".service", ".socket", ".target", ".mount", ".automount", ".timer", ".path", ".swap", ".slice", ".scope",
    ]

    private enum RunState: String, CaseIterable {
        case running, stopped
    }

    mutating func unit(_ value: TOMLValue) -> StateAction.Unit? {
        guard let members = table(value, "{ name = \"sshd.service\", state = \"stopped\" }") else { return nil }
        let problems = diagnostics.count
        var name: String?
        var state: RunState?
        var unit = StateAction.Unit(name: "", isRunning: false)
        for entry in members {
            switch entry.key {
            case "name": name = unitName(entry.value)
            case "state": state = choice(entry.value)
            case "scope": unit.scope = choice(entry.value) ?? unit.scope
            case "protective": unit.isProtective = boolean(entry.value) ?? true
            case "relaxing": unit.isRelaxing = boolean(entry.value) ?? true
            default: unknownKey(entry, in: "a unit", known: Self.unitKeys)
            }
        }
        guard diagnostics.count == problems, need(["name": name != nil, "state": state != nil], of: "unit", value),
            let name, let state
        else { return nil }
        if unit.isProtective, unit.isRelaxing, state == .running {
            error(.contradictory, value.position, "a unit that protects does not lower protection by running")
            return nil
        }
        unit.name = name
        unit.isRunning = state == .running
        return unit
    }

    /// systemd.unit(5): letters, digits, `:-_.\` and an `@` before an instance, with the suffix of its kind.
    mutating func unitName(_ value: TOMLValue) -> String? {
        guard let name = string(value, expected: "the name of a unit, such as \"sshd.service\"") else { return nil }
        let suffix = Self.unitSuffixes.first { name.hasSuffix($0) && name.utf8.count > $0.utf8.count }
        let isName =
            name.utf8.count <= 255 && name.utf8.first != UInt8(ascii: "@")
            && name.utf8.allSatisfy { octet in
                switch octet {
                case 0x30...0x39, 0x41...0x5A, 0x61...0x7A: true
                default: ":-_.\\@".utf8.contains(octet)
                }
            }
        guard suffix != nil, isName else {
            error(
                .badValue, value.position,
                suffix == nil
                    ? "expected a unit with its suffix, such as \"sshd.service\""
                        + (isName ? Self.suffixHint(for: name) : "")
                    : "a unit's name has up to 255 letters, digits and :-_.\\@, and does not begin with @")
            return nil
        }
        if let suffix, name.hasSuffix("@\(suffix)") {
            error(
                .badValue, value.position,
                "this is a template: say which instance of it, such as \"\(name.dropLast(suffix.utf8.count))NAME\(suffix)\""
            )
            return nil
        }
        return name
    }

    /// The suffix that is missing or misspelt, or those that there are.
    static func suffixHint(for name: String) -> String {
        let dot = name.lastIndex(of: ".") ?? name.endIndex
        let (stem, found) = (name[..<dot], String(name[dot...]))
        // Devices come and go by themselves.
        let suffix =
            found.isEmpty
            ? ".service" : found == ".device" ? nil : Spelling.nearest(to: found, among: unitSuffixes)
        guard !stem.isEmpty, let suffix else { return "; known are \(unitSuffixes.joined(separator: ", "))" }
        return "; did you mean \"\(stem)\(suffix)\"?"
    }

    static let connectionKeys = ["networkmanager", "wg-quick", "unit"]
    static let vpnKeys = connectionKeys + ["state", "portal"]

    private enum VPNState: String, CaseIterable {
        case up, down
    }

    mutating func vpn(_ value: TOMLValue) -> StateAction.VPN? {
        guard let members = table(value, "{ networkmanager = \"corp-vpn\", state = \"up\" }") else { return nil }
        let problems = diagnostics.count
        var connections: [(connection: StateAction.VPN.Connection, key: TOMLMember)] = []
        var state: VPNState?
        var portal = StateAction.VPN.Portal.wait
        for entry in members {
            switch entry.key {
            case "networkmanager":
                if let name = connectionName(entry.value) { connections.append((.networkManager(name), entry)) }
            case "wg-quick":
                if let name = wireGuardName(entry.value) { connections.append((.wgQuick(name), entry)) }
            case "unit": if let name = unitName(entry.value) { connections.append((.unit(name), entry)) }
            case "state": state = choice(entry.value)
            case "portal": portal = choice(entry.value) ?? portal
            default: unknownKey(entry, in: "a vpn", known: Self.vpnKeys)
            }
        }
        guard diagnostics.count == problems else { return nil }
        if connections.count > 1 {
            error(.badValue, connections[1].key.position, "a vpn has one connection: make two rules of it")
            return nil
        }
        let names = Spelling.list(Self.connectionKeys.map { "\"\($0)\"" }, "or")
        guard let connection = connections.first?.connection else {
            error(.missingKey, value.position, "the vpn needs \(names)")
            return nil
        }
        guard need(["state": state != nil], of: "vpn", value), let state else { return nil }
        return StateAction.VPN(connection: connection, isUp: state == .up, portal: portal)
    }

    /// A connection's name or UUID; it is handed over as one value of D-Bus.
    mutating func connectionName(_ value: TOMLValue) -> String? {
        guard let name = string(value, expected: "the name of a connection") else { return nil }
        guard (1...255).contains(name.utf8.count), name.utf8.allSatisfy({ $0 >= 0x20 && $0 != 0x7F }) else {
            error(.badValue, value.position, "a connection's name has 1 to 255 octets and no control characters")
            return nil
        }
        return name
    }

    /// wg-quick(8) takes names that match `[a-zA-Z0-9_=+.-]{1,15}`.
    mutating func wireGuardName(_ value: TOMLValue) -> String? {
        guard let name = string(value, expected: "the name of an interface") else { return nil }
        let isName =
            (1...15).contains(name.utf8.count)
            && name.utf8.allSatisfy { octet in
                switch octet {
                case 0x30...0x39, 0x41...0x5A, 0x61...0x7A: true
                default: "_=+.-".utf8.contains(octet)
                }
            } && name != "." && name != ".."
        if !isName {
            error(.badValue, value.position, "wg-quick takes names of 1 to 15 of A-Z a-z 0-9 _ = + . -")
        }
        return isName ? name : nil
    }
}
