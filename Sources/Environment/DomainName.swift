/// Domain names as resolvers are told them.
enum DomainName {
    /// What a link is told at most; resolvers take fewer (resolv.conf(5): 6 before glibc 2.26).
    private static let limit = 32

    /// In lower case and without the dot at the end, so that they can be compared; nil for what is none.
    static func normalised(_ text: String) -> String? {
        guard (1...254).contains(text.utf8.count) else { return nil }
        var name = ""
        for scalar in text.unicodeScalars {
            // Blanks and commas separate names wherever they are listed.
            guard scalar.value > 0x20, scalar.value != 0x7f, scalar != "," else { return nil }
            name.unicodeScalars.append(
                ("A"..."Z").contains(scalar) ? Unicode.Scalar(UInt8(scalar.value) + 0x20) : scalar)
        }
        if name.hasSuffix(".") { name.removeLast() }
        return name.isEmpty ? nil : name
    }

    /// Each once, in order.
    static func list(_ texts: some Sequence<String>) -> [String] {
        var names: [String] = []
        for name in texts.lazy.compactMap(normalised) where !names.contains(name) {
            names.append(name)
            if names.count == limit { break }
        }
        return names
    }
}
