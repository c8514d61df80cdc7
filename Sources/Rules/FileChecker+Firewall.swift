extension FileChecker {
    static let firewallKeys = ["zone", "nft-set", "element"]

    mutating func firewall(_ value: TOMLValue) -> StateAction.Firewall? {
        guard let members = table(value, "{ zone = \"public\" }") else { return nil }
        let problems = diagnostics.count
        var zone: String?
        var set: (family: String, table: String, name: String)?
        var element: (text: String, key: TOMLMember)?
        for entry in members {
            switch entry.key {
            case "zone": zone = zoneName(entry.value)
            case "nft-set": set = setName(entry.value)
            case "element": element = setElement(entry.value).map { ($0, entry) }
            default: unknownKey(entry, in: "a firewall", known: Self.firewallKeys)
            }
        }
        guard diagnostics.count == problems else { return nil }
        switch (zone, set) {
        case (let zone?, nil):
            if let element {
                error(.badValue, element.key.position, "a zone has no elements")
                return nil
            }
            return .zone(zone)
        case (nil, let set?):
            return .set(family: set.family, table: set.table, name: set.name, element: element?.text)
        case (nil, nil):
            error(.missingKey, value.position, "the firewall needs \"zone\" or \"nft-set\"")
        default:
            error(.badValue, value.position, "a firewall has \"zone\" or \"nft-set\", not both")
        }
        return nil
    }

    /// firewalld.zone(5): up to 17 letters, digits, `_` and `-`.
    mutating func zoneName(_ value: TOMLValue) -> String? {
        guard let name = string(value, expected: "the name of a zone, such as \"public\"") else { return nil }
        guard (1...17).contains(name.utf8.count), Self.isWord(name) else {
            error(.badValue, value.position, "a zone's name has 1 to 17 of A-Z a-z 0-9 _ -")
            return nil
        }
        return name
    }

    static let setFamilies = ["ip", "ip6", "inet", "bridge", "netdev"]

    /// As nft(8) writes it: family, table and set.
    mutating func setName(_ value: TOMLValue) -> (family: String, table: String, name: String)? {
        let example = "\"inet filter trusted\""
        guard let text = string(value, expected: "a family, a table and a set, such as \(example)") else { return nil }
        let words = text.split(separator: " ", omittingEmptySubsequences: false).map { String($0) }
        guard words.count == 3, words.dropFirst().allSatisfy({ (1...64).contains($0.utf8.count) && Self.isWord($0) })
        else {
            error(.badValue, value.position, "expected a family, a table and a set, such as \(example)")
            return nil
        }
        guard Self.setFamilies.contains(words[0]) else {
            error(
                .badValue, value.position,
                "no family is called \"\(words[0])\"; known are \(Self.setFamilies.joined(separator: ", "))")
            return nil
        }
        return (words[0], words[1], words[2])
    }

    /// An address, a range or the name of an interface: nothing of nft's syntax.
    mutating func setElement(_ value: TOMLValue) -> String? {
        guard let text = string(value, expected: "an element of the set") else { return nil }
        let isPlain =
            (1...64).contains(text.utf8.count) && text.utf8.first != UInt8(ascii: "-")
            && text.utf8.allSatisfy { octet in
                switch octet {
                case 0x30...0x39, 0x41...0x5A, 0x61...0x7A: true
                default: ".:/_-".utf8.contains(octet)
                }
            }
        if !isPlain {
            error(.badValue, value.position, "an element is an address, a range or the name of an interface")
        }
        return isPlain ? text : nil
    }

    static func isWord(_ text: String) -> Bool {
        text.utf8.allSatisfy { octet in
            switch octet {
            case 0x30...0x39, 0x41...0x5A, 0x61...0x7A, UInt8(ascii: "_"), UInt8(ascii: "-"): true
            default: false
            }
        } && text.utf8.first != UInt8(ascii: "-")
    }
}
